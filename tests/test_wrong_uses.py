"""Wrong arguments in Python: an error of spanscore's own with one sentence, never a TypeError from within."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest

import spanscore
from spanscore import arguments
from spanscore.compat.presidio import SpanEvaluator as Evaluator
from spanscore.errors import UsageError
from spanscore.pipeline import Job
from spanscore.testing import pytest as assertions

ss: Any = spanscore
SpanEvaluator: Any = Evaluator
assert_recall: Any = assertions.assert_recall
G, B, T = (f"examples/{name}.jsonl" for name in ("gold", "base", "tuned"))
REPLAY = f"replay(file={B})"
C: Any = ss.Corpus
CHECKED = arguments.checked(lambda: None).__code__
"""The code of every function whose arguments are checked."""

WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "map": (lambda: ss.score(G, B, "iou", label_map={"PERSON": 3}), "a label map must be .*, not a mapping to int"),
    "map number": (lambda: ss.score(G, B, "iou", gold_map=3), "a label map must be"),
    "no map": (lambda: ss.score(G, B, "iou", label_map="no.yaml"), "no.yaml: cannot read the label map"),
    "run map": (lambda: ss.run(G, REPLAY, "never", label_map="no.yaml"), "no.yaml: cannot read the label map"),
    "beta": (lambda: ss.score(G, B, "iou", beta="x"), "beta must be a number, not str"),
    "by": (lambda: ss.score(G, B, "iou", by=[3]), "by must be text or a list of text, not a list with int"),
    "measures": (lambda: ss.score(G, B, [3]), "measures must be"),
    "jobs": (lambda: ss.score(G, B, "iou", jobs="x"), "jobs must be a whole number, not str"),
    "sweep": (lambda: ss.sweep(G, T, "iou", beta="x"), "beta must be a number"),
    "run jobs": (lambda: ss.run(G, REPLAY, "never", jobs="x"), "jobs must be a whole number"),
    "run threshold": (lambda: ss.run(G, REPLAY, "never", threshold="a"), "threshold must be a number"),
    "run entities": (
        lambda: ss.run(G, REPLAY, "never", entities=5),
        "entities must be text or a list of text, not int",
    ),
    "run output": (lambda: ss.run(G, REPLAY, None), "output must be a path, not None"),
    "plan": (lambda: ss.plan(recall="x"), "recall must be a number or None, not str"),
    "resamples": (lambda: ss.Bootstrap(0.95, resamples="x"), "resamples must be a whole number"),
    "report": (lambda: ss.report(3, "x.html"), "results must be a path or a Result, not int"),
    "read": (lambda: ss.read(3), "path must be a path, not int"),
    "result": (lambda: ss.score(G, B, "iou")[0], r"key must be text or a tuple \(text, text\), not int"),
    "perturb": (lambda: ss.perturb(None, "typos"), "corpus must be .*, not None"),
    "rate": (lambda: ss.perturb(G, "typos", rate="x"), "rate must be a number"),
    "stress": (lambda: ss.stress(G, REPLAY, ["typos", 3]), "perturbations must be .* with str, int"),
    "tags": (lambda: C.from_tags(None, None), "tokens must be a list of a list of text, not None"),
    "hf": (lambda: C.from_hf(None), "data must be a list, not None"),
    "evaluator": (lambda: C.from_presidio_evaluator(None), "data must be a list, not None"),
    "documents": (lambda: C.from_documents(5), "documents must be a list of a mapping, not int"),
    "frame": (lambda: SpanEvaluator().calculate_score_on_df(None), "results_df must be a list, not None"),
    "assert": (lambda: assert_recall("x", "PERSON", at_least=0.5), "result must be a Result, not str"),
    "limit": (
        lambda: assert_recall(ss.score(G, B, "iou"), "PERSON", at_least="0.5"),
        "at_least must be a number, not str",
    ),
    "gate": (lambda: ss.gate(3, min="iou.recall=0.5"), "results must be a path or a Result, not int"),
    "check": (lambda: ss.check(3), "files must be a path or a Corpus, not int"),
    "convert": (lambda: ss.convert(G, None), "target must be a path, not None"),
    "detect": (lambda: ss.detect("x", REPLAY), "corpus must be a Corpus, not str"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_errors_in_one_sentence(name: str) -> None:
    call, words = WRONG[name]
    with pytest.raises(ss.SpanscoreError, match=words) as caught:
        call()
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)
    assert not Path("never").exists()


def test_maps_may_be_paths(tmp_path: Path) -> None:
    (tmp_path / "map.yaml").write_text("PERSON: NAME\n")
    wanted = ss.score(G, B, "iou", label_map={"PERSON": "NAME"})
    for path in (tmp_path / "map.yaml", str(tmp_path / "map.yaml")):
        assert ss.score(G, B, "iou", label_map=path).scores[0].signature == wanted.scores[0].signature
    both = ss.score(G, B, "iou", gold_map=tmp_path / "map.yaml", pred_map={"PERSON": "NAME"})
    assert both.recall == wanted.recall
    found = ss.run(G, REPLAY, tmp_path / "out", label_map=tmp_path / "map.yaml")
    assert "NAME" in found["iou"].by_type


def test_every_declared_type_is_a_class_or_checked_by_the_function_itself() -> None:
    """A type that is neither would refuse every value."""
    modules = [
        import_module(one.name) for one in walk_packages(spanscore.__path__, "spanscore.") if "__main__" not in one.name
    ]
    own = [one for module in modules for one in vars(module).values() if isinstance(one, type)]
    aliases = {name for module in modules for name, one in vars(module).items() if not isinstance(one, type)}
    classes = {one.__name__ for one in own} - aliases
    functions = [one for module in modules for one in vars(module).values() if callable(one)]
    functions += [getattr(one, "__func__", one) for kind in own for one in vars(kind).values()]
    decorated = [one for one in functions if getattr(one, "__code__", None) is CHECKED]
    assert len(decorated) > 30
    declared = [one.annotation for f in decorated for one in inspect.signature(f).parameters.values()]
    declared += [str(one.type) for kind in (Job, ss.Bootstrap) for one in fields(kind)]
    for annotation in declared:
        parsed = ast.walk(ast.parse(annotation, mode="eval")) if isinstance(annotation, str) else ()
        names = {one.id for one in parsed if isinstance(one, ast.Name)}
        known = {"str", "int", "float", "bool", "Path", "Callable", "Mapping", "Literal"}
        known |= {*arguments.LISTS, *arguments.OPEN, *arguments.CHOICES}
        assert names - known <= classes, annotation


def test_values_that_are_no_choice_are_refused(tmp_path: Path) -> None:
    """Each was taken for something else: text that should have been left out was masked."""
    for text in ("none", "hidden", "Hide", "no", None):
        with pytest.raises(UsageError, match="text must be 'show', 'mask' or 'hide', not"):
            ss.run(G, REPLAY, tmp_path / "out", text=text)
        with pytest.raises(UsageError, match="text must be 'show', 'mask' or 'hide', not"):
            ss.score(G, B, "exact").save(tmp_path / "out", text=text)
        if text is not None:
            with pytest.raises(UsageError, match="text must be 'show', 'mask', 'hide' or None, not"):
                ss.report(ss.score(G, B, "exact"), tmp_path / "r.html", text=text)
    for name in ("shared_types", "resolve_gold"):
        with pytest.raises(UsageError, match=f"{name} must be True or False, not str"):
            ss.score(G, B, "exact", **{name: "false"})
    for name in ("shared_types", "resume", "allow_missing_mappings"):
        with pytest.raises(UsageError, match=f"{name} must be True or False, not str"):
            ss.run(G, REPLAY, tmp_path / "out", **{name: "no"})
    for align in ("none", "taxonom"):
        with pytest.raises(UsageError, match=f"There is no alignment '{align}'"):
            ss.run(G, REPLAY, tmp_path / "out", align=align)
        with pytest.raises(UsageError, match=f"There is no alignment '{align}'"):
            ss.score(G, B, "exact", align=align)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ss.score(G, B, gold_fromat="conll"), "no argument of score 'gold_fromat'; did you mean 'gold_format'"),
        (
            lambda: ss.compare(G, {"a": B, "b": B}, permuttions=9),
            "no argument of compare 'permuttions'; did you mean 'per",
        ),
        (lambda: ss.sweep(G, B, bin=3), "no argument of sweep 'bin'; did you mean 'bins'"),
        (lambda: ss.run(G, REPLAY, score_treshold=0.5), "did you mean 'score_threshold'"),
        (lambda: ss.run(G, REPLAY, entites=["A"]), "no argument of run 'entites'; did you mean 'entities'"),
        (lambda: ss.run(G, REPLAY, taxonmy="x"), "did you mean 'taxonomy'"),
        (lambda: ss.convert("a", "b", to_fromat="csv"), "no argument of convert 'to_fromat'; did you mean 'to_format'"),
        (lambda: ss.score(G, B, keep_found=True), "no argument of score 'keep_found'"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_misspelled_arguments_are_named_with_what_was_meant(call: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        call()


def test_too_few_arguments_name_the_function() -> None:
    with pytest.raises(TypeError, match=r"^score\(\): missing a required argument: 'pred'"):
        ss.score(G)
