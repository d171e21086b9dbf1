"""Corpora from objects in memory, and back.

The layouts are those of formats, a room above this one, so that the functions are found by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from spanscore.arguments import checked
from spanscore.spec import from_above

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spanscore.corpus.corpus import Corpus


def _layout(name: str) -> Any:
    return from_above("formats.in_memory", name)


class InMemory:
    """The methods of a corpus that read objects of other libraries, or make them."""

    @classmethod
    @checked
    def from_tags(
        cls,
        tokens: Iterable[Sequence[str]],
        tags: Iterable[Sequence[str]],
        *,
        scheme: str = "auto",
        repair: str = "begin",
        ids: Sequence[str | int] | None = None,
    ) -> Corpus:
        """Build a corpus from lists of tokens and of their tags; the text is the tokens joined by spaces.

        Arguments are passed to the format `hf`. With `repair="discard"`, only spans that the scheme allows are kept.
        """
        return cast("Corpus", _layout("from_tags")(tokens, tags, scheme=scheme, repair=repair, ids=ids))

    @classmethod
    @checked
    def from_spacy(cls, docs: Iterable[Any], *, group: str = "", ids: Sequence[str | int] | None = None) -> Corpus:
        """Build a corpus from spaCy documents: their entities, or the spans of a group.

        An id is `doc.user_data["id"]`, or the document's number.
        """
        return cast("Corpus", _layout("from_spacy")(docs, group=group, ids=ids))

    @classmethod
    @checked
    def from_hf(
        cls,
        data: Iterable[Any],
        *,
        texts: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
        ids: Sequence[str | int] | None = None,
        **options: Any,
    ) -> Corpus:
        """Build a corpus from a Hugging Face dataset (or rows) of tokens and tags, or from the output of a pipeline.

        Tags that are numbers take their names from the dataset's features or from `names`. Output of a token
        classification pipeline is a list of results per text. Options are passed to the format `hf`, such as `tags`.
        """
        return cast("Corpus", _layout("from_hf")(data, texts=texts, names=names, ids=ids, **options))

    @classmethod
    @checked
    def from_presidio(
        cls,
        results: Iterable[Iterable[Any]],
        texts: Sequence[str] | None = None,
        *,
        ids: Sequence[str | int] | None = None,
    ) -> Corpus:
        """Build a corpus from results of Presidio Analyzer: a list of RecognizerResult (or dictionaries) per text."""
        return cast("Corpus", _layout("from_presidio")(results, texts, ids=ids))

    @classmethod
    @checked
    def from_gliner(
        cls, results: Iterable[Any], texts: Sequence[str] | None = None, *, ids: Sequence[str | int] | None = None
    ) -> Corpus:
        """Build a corpus from GLiNER's predictions, a list of entities per text, or from its training examples."""
        return cast("Corpus", _layout("from_gliner")(results, texts, ids=ids))

    @classmethod
    @checked
    def from_presidio_evaluator(cls, data: Iterable[Any], column: str = "annotation") -> Corpus:
        """Build a corpus from data of presidio-evaluator: InputSamples, or the frame that `predict_dataset` returns.

        A frame has both sides, so choose one: the column `annotation` or `prediction`. A frame has no text; it is
        rebuilt from the tokens, with spaces between them.
        """
        return cast("Corpus", _layout("from_presidio_evaluator")(data, column))

    @classmethod
    def from_pandas(cls, frame: Any, **fields: Any) -> Corpus:
        """Build a corpus from a data frame (pandas, polars or Arrow) with a row per span, or one per document.

        Columns are `id`, `start`, `end`, `label`, and if there are any, `score` and `text`; arguments give other names,
        as those of the format `records`: `from_pandas(frame, label="entity_type", spans="entities")`. A row without a
        start is a document without spans.
        """
        return cast("Corpus", _layout("from_pandas")(frame, **fields))

    def to_pandas(self, *, text: bool = False) -> Any:
        """Return a pandas data frame with a row per span, and a row without offsets for each document without spans.

        With `text`, there is a column with the whole text of the document.
        """
        return _layout("to_pandas")(self, text=text)

    def to_spacy(self, nlp: Any = None, *, language: str = "xx", group: str = "") -> list[Any]:
        """Return spaCy documents with entities, or with spans in a group, tokenized by `nlp` or for a language.

        Entities do not overlap, and spans begin and end at tokens; a warning counts what is lost.
        """
        return cast("list[Any]", _layout("to_spacy")(self, nlp, language=language, group=group))
