"""Cohen's kappa and Krippendorff's alpha are those of scikit-learn and of the krippendorff package."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import spanscore as ss

WORDS = ["Ann", "met", "Bob", "in", "Oslo"]
STARTS = [sum(len(word) + 1 for word in WORDS[:i]) for i in range(len(WORDS))]
TAGS = np.array(["O", "PER", "LOC", "ORG"])


def corpus(values: np.ndarray) -> ss.Corpus:
    """The documents that an annotator has (-1: missing), with a span for each word that has a tag."""
    return ss.Corpus.from_documents(
        {
            "id": f"d{doc}",
            "text": " ".join(WORDS),
            "spans": [
                {"start": at, "end": at + len(word), "label": TAGS[tag]}
                for at, word, tag in zip(STARTS, WORDS, row, strict=True)
                if tag
            ],
        }
        for doc, row in enumerate(values.tolist())
        if row[0] >= 0
    )


@pytest.mark.parametrize("seed", range(25))
def test_coefficients(seed: int) -> None:
    import krippendorff
    from sklearn.metrics import cohen_kappa_score

    generator = np.random.default_rng(seed)
    documents, annotators = int(generator.integers(3, 30)), int(generator.integers(2, 5))
    truth = generator.integers(0, 4, (documents, len(WORDS)))
    values = np.where(
        generator.random((annotators, documents, len(WORDS))) < 0.7,
        truth,
        generator.integers(0, 4, (annotators, documents, len(WORDS))),
    )
    values[generator.random((annotators, documents)) < 0.15] = -1
    values[:, 0] = np.maximum(values[:, 0], 0)
    found = ss.agree({str(i): corpus(one) for i, one in enumerate(values)}, "exact", ci=ss.Bootstrap(0.9, 10))
    for pair in found.pairs:
        a, b = (values[int(name)].ravel() for name in (pair.first, pair.second))
        both = (a >= 0) & (b >= 0)
        assert pair.kappa.value == pytest.approx(cohen_kappa_score(a[both], b[both]), abs=1e-9)
        for label, one in pair.kappa_by_type.items():
            code = TAGS.tolist().index(label)
            marked = a[both] == code, b[both] == code
            if not any(side.any() for side in marked):  # undefined; scikit-learn warns of it
                assert np.isnan(one.value)
                continue
            assert one.value == pytest.approx(cohen_kappa_score(*marked, labels=[False, True]), abs=1e-9)
    table = np.where(values.reshape(annotators, -1) < 0, np.nan, values.reshape(annotators, -1))
    assert found.alpha.value == pytest.approx(krippendorff.alpha(table, level_of_measurement="nominal"), abs=1e-9)
    for label, one in found.alpha_by_type.items():
        binary = np.where(np.isnan(table), np.nan, table == TAGS.tolist().index(label))
        assert one.value == pytest.approx(krippendorff.alpha(binary, level_of_measurement="nominal"), abs=1e-9)


def long_spans(values: np.ndarray) -> list[dict[str, Any]]:
    """The documents that an annotator has, as lines of words, with a span for each run of words with one tag."""
    documents = []
    for doc, row in enumerate(values.tolist()):
        words = [f"w{number}" for number in range(len(row))]
        starts = [sum(len(word) + 1 for word in words[:i]) for i in range(len(words))]
        spans: list[dict[str, Any]] = []
        for number, tag in enumerate(row):
            end = starts[number] + len(words[number])
            if tag > 0 and number and row[number - 1] == tag:
                spans[-1]["end"] = end
            elif tag > 0:
                spans.append({"start": starts[number], "end": end, "label": str(TAGS[tag])})
        if row[0] >= 0:
            documents.append({"id": f"d{doc}", "text": " ".join(words), "spans": spans})
    return documents


@pytest.mark.parametrize("seed", range(25))
def test_coefficients_of_one_file_with_spans_of_several_words(seed: int) -> None:
    """The annotators of one corpus; kappa also on the tokens that at least one of the two marked."""
    import krippendorff
    from sklearn.metrics import cohen_kappa_score

    generator = np.random.default_rng(1000 + seed)
    documents, annotators, words = (int(generator.integers(*ends)) for ends in ((4, 40), (2, 6), (8, 60)))
    truth = np.repeat(generator.integers(0, 4, (documents, words)), 3, axis=1)[:, :words]
    shape = (annotators, documents, words)
    values = np.where(generator.random(shape) < 0.8, truth, generator.integers(0, 4, shape))
    values[generator.random((annotators, documents)) < 0.2] = -1
    values[:, 0] = np.maximum(values[:, 0], 0)
    merged: dict[str, dict[str, list[dict[str, Any]]]] = {}
    texts = {}
    for number, one in enumerate(values):
        for document in long_spans(one):
            texts[document["id"]] = document["text"]
            merged.setdefault(document["id"], {})[f"a{number}"] = document["spans"]
    corpus = ss.Corpus.from_documents(
        {
            "id": name,
            "text": texts[name],
            "meta": {"annotators": ",".join(by)},
            "spans": [{**span, "attrs": {"annotator": who}} for who, spans in by.items() for span in spans],
        }
        for name, by in merged.items()
    )
    found = ss.agree(corpus, "exact", ci=ss.Bootstrap(0.9, 10))
    assert found.annotators == tuple(f"a{number}" for number in range(annotators))
    for pair in found.pairs:
        a, b = (values[int(name[1:])].ravel() for name in (pair.first, pair.second))
        both = (a >= 0) & (b >= 0)
        assert pair.kappa.tokens == both.sum()
        assert pair.kappa.value == pytest.approx(cohen_kappa_score(a[both], b[both]), abs=1e-9)
        marked = both & ((a > 0) | (b > 0))
        assert pair.kappa_marked.value == pytest.approx(cohen_kappa_score(a[marked], b[marked]), abs=1e-9)
    table = np.where(values.reshape(annotators, -1) < 0, np.nan, values.reshape(annotators, -1))
    assert found.alpha.value == pytest.approx(krippendorff.alpha(table, level_of_measurement="nominal"), abs=1e-9)
    for label, one in found.alpha_by_type.items():
        binary = np.where(np.isnan(table), np.nan, table == TAGS.tolist().index(label))
        assert one.value == pytest.approx(krippendorff.alpha(binary, level_of_measurement="nominal"), abs=1e-9)
