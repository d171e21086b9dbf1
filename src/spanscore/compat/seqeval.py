"""seqeval's functions with the numbers of seqeval 1.2.2, computed on columns.

Replace `from seqeval.metrics import f1_score` by `from spanscore.compat.seqeval import f1_score`.

>>> gold = [["O", "O", "O", "B-MISC", "I-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]]
>>> predicted = [["O", "O", "B-MISC", "I-MISC", "I-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]]
>>> float(f1_score(gold, predicted))
0.5
>>> print(classification_report(gold, predicted))
              precision    recall  f1-score   support
<BLANKLINE>
        MISC       0.00      0.00      0.00         1
         PER       1.00      1.00      1.00         1
<BLANKLINE>
   micro avg       0.50      0.50      0.50         2
   macro avg       0.50      0.50      0.50         2
weighted avg       0.50      0.50      0.50         2
<BLANKLINE>
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.compat.tag_chunks import STACK, default_chunks, strict_chunks
from spanscore.corpus import LabelTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spanscore.corpus.columns import Bools, Floats, Ints, Longs

    Tags = Sequence[Sequence[str]]
    Scores = tuple[Any, Any, Any, Any]

__all__ = [
    "BILOU",
    "IOB1",
    "IOB2",
    "IOBES",
    "IOE1",
    "IOE2",
    "UndefinedMetricWarning",
    "accuracy_score",
    "classification_report",
    "f1_score",
    "get_entities",
    "performance_measure",
    "precision_recall_fscore_support",
    "precision_score",
    "recall_score",
]

IOB1, IOB2, IOE1, IOE2, IOBES, BILOU = "IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU"
"""The schemes; seqeval's own classes are accepted too."""
_OURS = {"IOB1": "IOB1", "IOB2": "IOB2", "IOE1": "IOE1", "IOE2": "IOE2", "IOBES": "IOBES", "BILOU": "BILUO"}
AVERAGES = (None, "micro", "macro", "weighted")
ALL_NUMBERS = ("precision", "recall", "f-score")


class UndefinedMetricWarning(UserWarning):
    """A score is 0 / 0 and was set to 0; seqeval warns with the class of this name in scikit-learn."""


@dataclass(frozen=True)
class _Counts:
    """The counts of each type that has an entity on either side, in the order of names."""

    names: list[str]
    tp: Longs
    predicted: Longs
    annotated: Longs


def f1_score(
    y_true: Tags,
    y_pred: Tags,
    *,
    average: str | None = "micro",
    suffix: bool = False,
    mode: str | None = None,
    sample_weight: Sequence[int] | None = None,
    zero_division: str | int = "warn",
    scheme: Any = None,
) -> Any:
    """Return the F1 score of entities: micro, macro or weighted, or with `average=None` one per type.

    Without `mode="strict"` and a scheme, entities are found as in conlleval. `sample_weight` has no effect, as in
    seqeval.
    """
    _check(y_true, y_pred, average)
    counts = _counted(y_true, y_pred, scheme=scheme if mode == "strict" else None, suffix=suffix)
    return _scores(counts, average, ("f-score",), 1.0, zero_division)[2]


def precision_score(
    y_true: Tags,
    y_pred: Tags,
    *,
    average: str | None = "micro",
    suffix: bool = False,
    mode: str | None = None,
    sample_weight: Sequence[int] | None = None,
    zero_division: str | int = "warn",
    scheme: Any = None,
) -> Any:
    """Return the fraction of predicted entities that are correct; arguments as in `f1_score`."""
    _check(y_true, y_pred, average)
    counts = _counted(y_true, y_pred, scheme=scheme if mode == "strict" else None, suffix=suffix)
    return _scores(counts, average, ("precision",), 1.0, zero_division)[0]


def recall_score(
    y_true: Tags,
    y_pred: Tags,
    *,
    average: str | None = "micro",
    suffix: bool = False,
    mode: str | None = None,
    sample_weight: Sequence[int] | None = None,
    zero_division: str | int = "warn",
    scheme: Any = None,
) -> Any:
    """Return the fraction of annotated entities that were found; arguments as in `f1_score`."""
    _check(y_true, y_pred, average)
    counts = _counted(y_true, y_pred, scheme=scheme if mode == "strict" else None, suffix=suffix)
    return _scores(counts, average, ("recall",), 1.0, zero_division)[1]


def precision_recall_fscore_support(
    y_true: Tags,
    y_pred: Tags,
    *,
    average: str | None = None,
    warn_for: tuple[str, ...] = ALL_NUMBERS,
    beta: float = 1.0,
    sample_weight: Sequence[int] | None = None,
    zero_division: str | int = "warn",
    suffix: bool = False,
) -> Scores:
    """Return precision, recall, F-beta and the number of annotated entities: averaged, or one per type."""
    if beta < 0:
        raise ValueError("beta should be >=0 in the F-beta score")
    _check(y_true, y_pred, average)
    counts = _counted(y_true, y_pred, scheme=None, suffix=suffix)
    return _scores(counts, average, warn_for, beta, zero_division)


def classification_report(
    y_true: Tags,
    y_pred: Tags,
    digits: int = 2,
    suffix: bool = False,
    output_dict: bool = False,
    mode: str | None = None,
    sample_weight: Sequence[int] | None = None,
    zero_division: str | int = "warn",
    scheme: Any = None,
) -> Any:
    """Return the scores per type and their averages, as text or as a dictionary.

    In strict mode without a scheme, the prefixes of the gold tags decide: IOB2, IOE2, IOBES or BILOU.
    """
    _check(y_true, y_pred, None)
    if mode == "strict":
        scheme = scheme if _scheme_name(scheme) in _OURS else _detected(y_true, suffix=suffix)
    counts = _counted(y_true, y_pred, scheme=scheme if mode == "strict" else None, suffix=suffix)
    if not output_dict and not counts.names:
        raise ValueError("There is no entity on either side to report.")
    per_type = _scores(counts, None, ALL_NUMBERS, 1.0, zero_division)
    rows = list(zip(counts.names, *per_type, strict=True))
    averages = [
        (f"{name} avg", *_scores(counts, name, ALL_NUMBERS, 1.0, zero_division))
        for name in AVERAGES
        if name is not None
    ]
    if output_dict:
        heads = ("precision", "recall", "f1-score", "support")
        return {name: dict(zip(heads, numbers, strict=True)) for name, *numbers in (*rows, *averages)}
    width = max(*map(len, counts.names), len("weighted avg"), digits)
    head = f"{'':>{width}s} " + "".join(f" {name:>9}" for name in ("precision", "recall", "f1-score", "support"))

    def line(name: str, p: float, r: float, f: float, support: int) -> str:
        return f"{name:>{width}s} " + "".join(f" {number:>9.{digits}f}" for number in (p, r, f)) + f" {support:>9}"

    return "\n".join([head, "", *(line(*row) for row in rows), "", *(line(*row) for row in averages), ""])


def accuracy_score(y_true: Sequence[Any], y_pred: Sequence[Any]) -> float:
    """Return the fraction of tags that are the same, O included."""
    same, tags, _ = _tag_columns(y_true, y_pred)
    return int(np.count_nonzero(same)) / tags


def performance_measure(y_true: Sequence[Any], y_pred: Sequence[Any]) -> dict[str, int]:
    """Count tags, not entities: TP, FP, FN and TN, where O is negative."""
    same, _, (annotated, predicted) = _tag_columns(y_true, y_pred)
    found = {
        "TP": same & annotated,
        "FP": ~same & predicted,
        "FN": annotated & ~predicted,
        "TN": ~annotated & ~predicted,
    }
    return {name: int(np.count_nonzero(column)) for name, column in found.items()}


def get_entities(seq: Sequence[Any], suffix: bool = False) -> list[tuple[str, int, int]]:
    """Return the type, first and last tag of each entity; tags of nested lists are counted with an O after each.

    >>> get_entities(["B-PER", "I-PER", "O", "B-LOC"])
    [('PER', 0, 1), ('LOC', 3, 3)]
    """
    nested = seq if any(isinstance(one, list) for one in seq) else [seq]
    (found,), names, _ = default_chunks([nested], suffix=suffix)
    rows = zip(found.type.tolist(), found.begin.tolist(), found.end.tolist(), strict=True)
    return [(names[kind], begin, end - 1) for kind, begin, end in rows]


def _check(y_true: Tags, y_pred: Tags, average: str | None) -> None:
    if average not in AVERAGES:
        raise ValueError(f"average has to be one of {AVERAGES}")
    if {*map(type, y_true), *map(type, y_pred)} != {list}:
        raise TypeError("Found input variables without list of list.")
    sizes = [list(map(len, side)) for side in (y_true, y_pred)]
    if sizes[0] != sizes[1]:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples:\n{sizes[0]}\n{sizes[1]}",
        )


def _scheme_name(scheme: Any) -> str | None:
    return scheme if isinstance(scheme, str) else getattr(scheme, "__name__", None)


def refuse_unknown_scheme(scheme: Any) -> None:
    """Raise an error if a scheme is given that seqeval does not have."""
    if scheme is not None and _scheme_name(scheme) not in _OURS:
        raise ValueError(f"There is no scheme {_scheme_name(scheme)}; choose one of {', '.join(_OURS)}.")


def _counted(y_true: Tags, y_pred: Tags, *, scheme: Any, suffix: bool) -> _Counts:
    if scheme:
        refuse_unknown_scheme(scheme)
        sides, types, size = strict_chunks([y_true, y_pred], _OURS[str(_scheme_name(scheme))], suffix=suffix)
    else:
        sides, types, size = default_chunks([y_true, y_pred], suffix=suffix)
    annotated, predicted = (side.counts(len(types)) for side in sides)
    tp = sides[0].shared(sides[1], size, len(types))
    present = np.flatnonzero(annotated + predicted)
    order = np.array(sorted(present.tolist(), key=lambda code: types[code]), np.int64)
    return _Counts([types[code] for code in order.tolist()], tp[order], predicted[order], annotated[order])


def _scores(
    counts: _Counts, average: str | None, warn_for: tuple[str, ...], beta: float, zero_division: str | int
) -> Scores:
    """Return the scores, by the same operations in the same order as seqeval, so that all digits agree."""
    tp, predicted, annotated = counts.tp, counts.predicted, counts.annotated
    if average == "micro":
        tp, predicted, annotated = (np.array([column.sum()]) for column in (tp, predicted, annotated))
    precision = _ratio(tp, predicted, "precision", "predicted", warn_for, zero_division)
    recall = _ratio(tp, annotated, "recall", "true", warn_for, zero_division)
    if zero_division == "warn" and warn_for == ("f-score",) and (predicted[annotated == 0] == 0).any():
        _warn("F-score is", "true nor predicted", len(annotated))
    if np.isposinf(beta):
        f_score = recall
    else:
        below = beta**2 * precision + recall
        below[below == 0.0] = 1
        f_score = (1 + beta**2) * precision * recall / below
    if average is None:
        return precision, recall, f_score, annotated
    support = sum(annotated)
    if average == "weighted" and annotated.sum() == 0:
        undefined = 0.0 if zero_division in ("warn", 0) else 1.0
        of_predicted = undefined if predicted.sum() == 0 else 0.0
        return of_predicted, undefined, of_predicted, support
    weights = annotated if average == "weighted" else None
    mean = [np.average(column, weights=weights) for column in (precision, recall, f_score)]
    return mean[0], mean[1], mean[2], support


def _ratio(
    above: Longs, below: Longs, number: str, lacking: str, warn_for: tuple[str, ...], zero_division: str | int
) -> Floats:
    undefined = below == 0
    ratio: Floats = above / np.where(undefined, 1, below)
    if undefined.any():
        ratio[undefined] = 0.0 if zero_division in ("warn", 0) else 1.0
        if zero_division == "warn" and number in warn_for:
            what = f"{number.title()} and F-score are" if "f-score" in warn_for else f"{number.title()} is"
            _warn(what, lacking, len(ratio))
    return ratio


def _warn(what: str, lacking: str, size: int) -> None:
    where = "due to" if size == 1 else "in labels with"
    hint = "Use `zero_division` parameter to control this behavior."
    message = f"{what} ill-defined and being set to 0.0 {where} no {lacking} samples. {hint}"
    warnings.warn(message, UndefinedMetricWarning, stacklevel=STACK)


def _tag_columns(y_true: Sequence[Any], y_pred: Sequence[Any]) -> tuple[Bools, int, tuple[Bools, Bools]]:
    """Return where tags agree, how many gold tags there are, and where they are not O on either side."""
    sides: list[Iterable[str]] = [y_true, y_pred]
    if any(isinstance(one, list) for one in y_true):
        sides = [chain.from_iterable(y_true), chain.from_iterable(y_pred)]
    table = LabelTable(O=0)
    codes: list[Ints] = [np.fromiter(map(table.__getitem__, side), np.int32) for side in sides]
    size = min(map(len, codes))
    annotated, predicted = codes[0][:size], codes[1][:size]
    return annotated == predicted, len(codes[0]), (annotated != 0, predicted != 0)


def _detected(y_true: Tags, *, suffix: bool) -> str:
    """Return the scheme of gold tags, by their prefixes."""
    prefixes = {tag[-1:] if suffix else tag[:1] for tag in set(chain.from_iterable(y_true))}
    for scheme, needed, allowed in (
        (IOB2, {"B"}, {"I", "O", "B"}),
        (IOE2, {"E"}, {"I", "O", "E"}),
        (IOBES, {"B", "E"}, {"I", "O", "B", "E", "S"}),
        (IOBES, {"S"}, {"S"}),
        (BILOU, {"B", "L"}, {"I", "O", "B", "L", "U"}),
        (BILOU, {"U"}, {"U"}),
    ):
        if needed <= prefixes <= allowed:
            return scheme
    raise ValueError(f"This scheme is not supported: {', '.join(sorted(prefixes))}")
