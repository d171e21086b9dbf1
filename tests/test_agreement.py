"""Agreement of annotators: coefficients by their definitions, missing documents, and the command."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import spanscore as ss
from calls import run, write
from spanscore.analysis import gate
from spanscore.analysis.gate_conditions import Condition
from spanscore.report.agreement import matrices

WORDS = ["Ann", "met", "Bob", "in", "Oslo", "again"]
TEXT = " ".join(WORDS)
STARTS = [sum(len(word) + 1 for word in WORDS[:i]) for i in range(len(WORDS))]
TAGS = st.lists(st.sampled_from(["O", "PER", "LOC"]), min_size=len(WORDS), max_size=len(WORDS))
ANNOTATIONS = st.dictionaries(st.sampled_from(["d1", "d2", "d3"]), TAGS, min_size=1)


def corpus(documents: dict[str, list[str]]) -> ss.Corpus:
    """An annotator's tags as spans of single words."""
    return ss.Corpus.from_documents(
        {
            "id": name,
            "text": TEXT,
            "spans": [
                {"start": at, "end": at + len(word), "label": tag}
                for at, word, tag in zip(STARTS, WORDS, tags, strict=True)
                if tag != "O"
            ],
        }
        for name, tags in documents.items()
    )


def kappa(pairs: list[tuple[str, str]]) -> float:
    """Cohen's kappa by its definition."""
    total = len(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    chance = sum(first[value] * second[value] for value in first) / total**2 if total else 1
    return (sum(a == b for a, b in pairs) / total - chance) / (1 - chance) if chance != 1 else math.nan


def alpha(units: list[list[str]]) -> float:
    """Krippendorff's alpha by its definition: the coincidences of values inside units."""
    coincidences: Counter[tuple[str, str]] = Counter()
    for unit in units:
        for (i, a), (j, b) in product(enumerate(unit), repeat=2):
            if i != j:
                coincidences[a, b] += 1 / (len(unit) - 1)  # type: ignore[assignment] # a weight
    counts: Counter[str] = Counter()
    for (a, _), weight in coincidences.items():
        counts[a] += weight
    total = sum(counts.values())
    observed = sum(weight for (a, b), weight in coincidences.items() if a != b)
    expected = sum(counts[a] * counts[b] for a, b in product(counts, repeat=2) if a != b) / (total - 1) if total else 0
    return 1 - observed / expected if expected else math.nan


@given(st.lists(ANNOTATIONS, min_size=2, max_size=4))
def test_coefficients_are_what_their_definitions_say(annotators: list[dict[str, list[str]]]) -> None:
    assume(all(set(a) & set(b) for a in annotators for b in annotators))
    found = ss.agree({f"a{i}": corpus(one) for i, one in enumerate(annotators)}, "exact", ci=ss.Bootstrap(0.9, 20))
    for pair in found.pairs:
        a, b = (annotators[int(name[1:])] for name in (pair.first, pair.second))
        values = [both for name in sorted(set(a) & set(b)) for both in zip(a[name], b[name], strict=True)]
        assert pair.kappa.value == pytest.approx(kappa(values), nan_ok=True)
        assert pair.kappa.tokens == len(values)
        marked = [both for both in values if both != ("O", "O")]
        assert pair.kappa_marked.value == pytest.approx(kappa(marked), nan_ok=True)
        for label, one in pair.kappa_by_type.items():
            binary = [(str(x == label), str(y == label)) for x, y in values]
            assert one.value == pytest.approx(kappa(binary), nan_ok=True)
    units = [
        [one[name][i] for one in annotators if name in one] for name in ("d1", "d2", "d3") for i in range(len(WORDS))
    ]
    units = [unit for unit in units if len(unit) > 1]
    assert found.alpha.value == pytest.approx(alpha(units), nan_ok=True)
    for label, one in found.alpha_by_type.items():
        assert one.value == pytest.approx(alpha([[str(x == label) for x in unit] for unit in units]), nan_ok=True)


def test_intervals_contain_the_value_and_shrink_with_more_documents() -> None:
    tags = [["PER", "O", "PER", "O", "LOC", "O"], ["PER", "O", "O", "O", "LOC", "PER"], ["O"] * 6]
    few, many = (
        ss.agree(
            {
                "a": corpus({f"d{i}": tags[0] for i in range(count)}),
                "b": corpus({f"d{i}": tags[i % 3] for i in range(count)}),
            },
            "exact",
        )
        for count in (12, 120)
    )
    widths = []
    for found in (few, many):
        for one in (found.alpha, found.pairs[0].kappa):
            assert one.interval[0] <= one.value <= one.interval[1]
        widths.append(found.alpha.interval[1] - found.alpha.interval[0])
    assert widths[1] < widths[0] / 2


def test_the_command(tmp_path: Path) -> None:
    for name, tags in (("ann", ["PER", "O", "PER", "O", "LOC", "O"]), ("bob", ["PER", "O", "O", "O", "LOC", "O"])):
        lines = [
            {
                "id": one.id,
                "text": one.text,
                "spans": [{"start": s.start, "end": s.end, "label": s.label} for s in one.spans],
            }
            for one in corpus({"d1": tags, "d2": tags}).documents()
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    said, _ = run("agree", "ann.jsonl", "bob.jsonl", "-m", "exact", "--json", "out.json", cwd=tmp_path)
    assert "kappa, all tokens" in said
    assert "alpha" in said
    record = json.loads((tmp_path / "out.json").read_text())
    assert record["pairs"][0]["scores"][0]["f"] == pytest.approx(0.8)
    assert record["pairs"][0]["kappa"]["tokens"] == 12
    for wrong, reason in (
        (["ann.jsonl"], "two annotators"),
        (["ann.jsonl", "bob.jsonl", "--tokenizer", "x"], "tokenizer 'x'"),
    ):
        assert reason in run("agree", *wrong, cwd=tmp_path, code=2)[1]
    with pytest.raises(ss.InputError, match="no document in common"):
        ss.agree({"a": corpus({"d1": ["O"] * 6}), "b": corpus({"d2": ["O"] * 6})})


def test_names_of_annotators_change_no_interval() -> None:
    tags = ["PER", "O", "PER", "O", "LOC", "O"]
    first = corpus({f"d{i}": tags for i in range(8)})
    second = corpus({f"d{i}": tags if i % 3 else ["O", *tags[1:]] for i in range(8)})
    one, two = (ss.agree({a: first, b: second}, "exact") for a, b in (("a", "b"), ("zeta", "alpha")))
    assert one.pairs[0].kappa.interval[0] < one.pairs[0].kappa.interval[1]
    for name in ("kappa", "kappa_marked", "kappa_by_type"):
        assert getattr(one.pairs[0], name) == getattr(two.pairs[0], name)
    assert (one.alpha, one.alpha_by_type) == (two.alpha, two.alpha_by_type)


def test_complete_agreement_has_no_interval_that_is_a_point() -> None:
    same = corpus({f"d{i}": ["PER", "O", "PER", "O", "LOC", "O"][i % 3 :] + ["O"] * (i % 3) for i in range(4)})
    found = ss.agree({"a": same, "b": same}, "exact")
    pair = found.pairs[0]
    for one in (found.alpha, pair.kappa, pair.kappa_marked, *found.alpha_by_type.values()):
        assert one.value == pytest.approx(1)
        assert all(map(math.isnan, one.interval))
    interval = pair.result["exact"].interval(found.bootstrap)
    assert interval is not None
    assert interval.f[0] < 0.9


def test_only_shared_documents_need_text() -> None:
    """A document that one annotator has alone is compared with nothing."""
    tags = ["PER", "O", "PER", "O", "LOC", "O"]
    alone = ss.Corpus.from_documents([{"id": "alone", "spans": [{"start": 0, "end": 3, "label": "PER"}]}])
    both = corpus({"d1": tags})
    found = ss.agree({"a": ss.Corpus.concat([both, alone]), "b": corpus({"d1": tags, "d2": tags})}, "exact")
    assert (found.pairs[0].documents, found.alpha.tokens, found.alpha.value) == (1, 6, 1.0)
    with pytest.raises(ss.InputError, match='the document "alone" has neither text nor tokens'):
        ss.agree({"a": alone, "b": alone}, "exact")


def test_the_command_reports_what_was_read(tmp_path: Path) -> None:
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / "d.txt").write_text("Ann met Bob")
    (tmp_path / "ann" / "d.ann").write_text("T1\tPERSON 0 3\tAnn\nT2\tPERSON 8 11\tBob\nR1\tmet Arg1:T1 Arg2:T2\n")
    spans = [{"start": 0, "end": 3, "label": "Person"}, {"start": 8, "end": 11, "label": "person"}]
    (tmp_path / "bob.jsonl").write_text(json.dumps({"id": "d", "text": "Ann met Bob", "spans": spans}) + "\n")
    _, said = run("agree", "ann", "bob.jsonl", cwd=tmp_path)
    assert "ann: brat (" in said
    assert "bob.jsonl: spanscore (" in said
    assert "1 document, 2 spans" in said
    assert "left out: relations (1)" in said
    assert "the labels PERSON of ann and Person, person of bob are different labels" in said
    assert run("agree", "ann", "bob.jsonl", "-q", cwd=tmp_path)[1] == ""


THREE = {
    "ann": {"d1": ["PER", "O", "PER", "O", "LOC", "O"], "d2": ["PER", "O", "O", "O", "O", "O"], "d3": ["O"] * 6},
    "bob": {"d1": ["PER", "O", "LOC", "O", "LOC", "O"], "d2": ["O", "O", "O", "O", "LOC", "O"]},
    "cid": {"d1": ["PER", "O", "O", "O", "LOC", "PER"], "d3": ["O"] * 6},
}


def one_file(path: Path) -> None:
    """All annotators in one file, which says who saw what."""
    lines: dict[str, dict[str, Any]] = {}
    for who, documents in THREE.items():
        for one in corpus(documents).documents():
            line = lines.setdefault(
                str(one.id), {"id": one.id, "text": one.text, "spans": [], "meta": {"annotators": ""}}
            )
            line["meta"]["annotators"] += f",{who}" if line["meta"]["annotators"] else who
            line["spans"] += [
                {"start": s.start, "end": s.end, "label": s.label, "attrs": {"annotator": who}} for s in one.spans
            ]
    write(path, list(lines.values()))


def test_one_file_with_several_annotators_is_like_several_files(tmp_path: Path) -> None:
    one_file(tmp_path / "all.jsonl")
    apart = ss.agree({name: corpus(documents) for name, documents in THREE.items()}, "exact")
    whole = ss.agree(tmp_path / "all.jsonl", "exact")
    assert whole.annotators == apart.annotators == ("ann", "bob", "cid")
    assert (whole.alpha, whole.alpha_by_type) == (apart.alpha, apart.alpha_by_type)
    for ours, theirs in zip(whole.pairs, apart.pairs, strict=True):
        assert (ours.documents, ours.kappa, ours.kappa_marked) == (theirs.documents, theirs.kappa, theirs.kappa_marked)
        assert ours.result["exact"].counts == theirs.result["exact"].counts
        assert ours.result["exact"].confusion == theirs.result["exact"].confusion
    with pytest.raises(ss.UsageError, match="this one names 0 annotators"):
        ss.agree(corpus(THREE["ann"]))


def test_pairs_without_a_common_document_are_left_out() -> None:
    tags = THREE["ann"]["d1"]
    found = ss.agree(
        {"a": corpus({"d1": tags}), "b": corpus({"d1": tags, "d2": tags}), "c": corpus({"d2": tags})}, "exact"
    )
    assert [(pair.first, pair.second) for pair in found.pairs] == [("a", "b"), ("b", "c")]
    assert found.warnings == ("a and c have no document in common; they are not compared.",)


def test_agreement_of_all_pairs_pools_their_counts() -> None:
    found = ss.agree({name: corpus(documents) for name, documents in THREE.items()}, "exact")
    right, both = 0, 0
    for a, b in combinations(THREE, 2):
        for name in THREE[a].keys() & THREE[b].keys():
            pairs = list(zip(THREE[a][name], THREE[b][name], strict=True))
            right += sum(x == y != "O" for x, y in pairs)
            both += sum(tag != "O" for pair in pairs for tag in pair)
    (pooled,) = found.scores
    assert pooled.f == pytest.approx(2 * right / both)
    interval = pooled.interval(found.bootstrap)
    assert interval is not None
    assert interval.f[0] < pooled.f < interval.f[1]


def test_disagreements_with_the_majority_of_three() -> None:
    """Where two of three agree, only the third is wrong; nobody is scored on a document that she did not see."""
    found = ss.agree({name: corpus(documents) for name, documents in THREE.items()}, "exact").disagreements
    assert found is not None
    wrong = {(one.document, one.side, one.span.label) for one in found.errors("exact")}
    assert wrong == {
        ("d1 (ann)", "predicted", "PER"),
        ("d1 (bob)", "predicted", "LOC"),
        ("d1 (cid)", "predicted", "PER"),
        ("d2 (ann)", "predicted", "PER"),
        ("d2 (bob)", "predicted", "LOC"),
    }
    assert found["exact"].by("meta.annotator")["cid"].counts["annotated"] == 2  # PER and LOC of d1; nothing in d3
    same = {name: corpus({"d1": documents["d1"]}) for name, documents in THREE.items()}
    each = ss.agree(same, "exact").disagreements
    assert each is not None
    assert [(one.system, one.counts["tp"], one.counts["annotated"]) for one in each.scores] == [
        ("ann", 2, 2),
        ("bob", 2, 2),
        ("cid", 2, 2),
    ]


def test_the_matrix_shows_what_only_one_marked_in_the_first_row_and_column() -> None:
    text = ["Ann met Bob in Oslo"]
    places = ([0, 8, 15], [3, 11, 19])
    first = ss.Corpus.from_arrays(["d"], [0, 0, 0], *places, ["PER", "PER", "LOC"], text=text)
    second = ss.Corpus.from_arrays(["d"], [0, 0, 0], [0, 4, 15], [3, 7, 19], ["PER", "LOC", "ORG"], text=text)
    lines = [line.split() for line in matrices(ss.agree({"a": first, "b": second}, "exact")).splitlines()]
    assert lines == [
        ["a", "\\", "b,", "exact", "(only", "a)", "LOC", "PER", "ORG"],
        ["(only", "b)", "·", "1", "·", "·"],
        ["LOC", "·", "·", "·", "1"],
        ["PER", "1", "·", "1", "·"],
        ["ORG", "·", "·", "·", "·"],
    ]


def test_agreement_beside_scores_and_as_baseline(tmp_path: Path) -> None:
    one_file(tmp_path / "all.jsonl")
    said, _ = run("agree", "all.jsonl", "-m", "exact", "-o", "agreed", cwd=tmp_path)
    assert "ann \\ bob, exact" in said
    assert "(only ann)" in said
    record = json.loads((tmp_path / "agreed" / "agreement.json").read_text())
    assert {"first": "PER", "second": "PER", "count": 1} in record["pairs"][0]["confusion"]
    assert {"first": "PER", "second": "LOC", "count": 1} in record["pairs"][0]["confusion"]
    page = (tmp_path / "agreed" / "report.html").read_text()
    assert "Disagreements of ann, bob, cid; gold: the majority" in page
    whole = next(row for row in record["results"] if row["type"] is None)
    score = ("score", "all.jsonl", "all.jsonl", "--gold-format", "spanscore", "-m", "exact", "--annotator", "ann")
    shown, _ = run(*score, "--agreement", "agreed/agreement.json", "--ci", "0.95", "-o", "out", cwd=tmp_path)
    low, high = whole["interval"]["f"]
    own = json.loads((tmp_path / "out" / "results.json").read_text())
    f = own["results"][0]["f"]
    assert f"annotators agree at F1 {whole['f']:.3f} [{low:.3f}, {high:.3f}]; all has {f:.3f} (exact)." in shown
    assert own["settings"]["agreement"]["annotators"] == ["ann", "bob", "cid"]
    call = ("gate", "out", "--baseline", "agreed/agreement.json", "--max-drop")
    passed, _ = run(*call, "f=0.1", cwd=tmp_path)
    assert f"above the annotators' {whole['f']:.4f}" in passed
    assert "the agreement of annotators has only F" in run(*call, "recall=0.1", cwd=tmp_path, code=2)[1]
    assert (
        "no F1 by iou"
        in run(*score[:-4], "-m", "iou", "--annotator", "ann", "--agreement", "agreed", cwd=tmp_path, code=2)[1]
    )
    wrong = run(*score, "--agreement", "out/results.json", cwd=tmp_path, code=2)[1]
    assert "not a file of spanscore agree --json" in wrong


def test_a_system_below_the_annotators_fails_the_gate(tmp_path: Path) -> None:
    """Unless the difference may be due to chance."""
    row = {
        "measure": "exact",
        "type": None,
        "f": 0.9,
        "beta": 1.0,
        "system": "annotators",
        "interval": {"f": [0.88, 0.92]},
    }
    agreed = {"schema": "spanscore.agreement/1", "annotators": ["a", "b"], "level": 0.95, "results": [row]}
    (tmp_path / "agreement.json").write_text(json.dumps(agreed))
    checks = {}
    for name, half in (("sharp", 0.01), ("wide", 0.2)):
        mine = {
            **row,
            "system": name,
            "f": 0.8,
            "precision": 0.8,
            "recall": 0.8,
            "interval": {"f": [0.8 - half, 0.8 + half]},
        }
        (tmp_path / f"{name}.json").write_text(json.dumps({"schema": "spanscore.results/1", "results": [mine]}))
        rows = gate.read_results(str(tmp_path / f"{name}.json"))
        condition = Condition.parse("f=0.05", rows, "drop")
        before = gate.read_baseline(str(tmp_path / "agreement.json"))
        (checks[name],) = gate.checks(rows, [condition], before, lower_bound=False)
    assert not checks["sharp"].passed
    assert "0.1000 below the annotators' 0.9000 (allowed 0.05 below)" in checks["sharp"].message
    assert checks["wide"].passed
    assert "not significant" in checks["wide"].message
