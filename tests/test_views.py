"""What results show of themselves: reprs, notebooks, LaTeX, data frames and figures; and the functions of the API."""

from __future__ import annotations

import math
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import spanscore as ss
from calls import content

GOLD, BASE, TUNED = (f"examples/{name}.jsonl" for name in ("gold", "base", "tuned"))
HOSTILE = '<script>alert("x")</script><b>&_%$#{}~^\\ \x1b[31m'


def hostile(label: str = HOSTILE) -> ss.Result:
    gold = ss.Corpus.from_arrays(["d", "e"], [0, 1], [0, 0], [3, 2], [label, "A"])
    pred = ss.Corpus.from_arrays(["d", "e"], [0, 1], [0, 0], [3, 3], [label, "A"], score=[0.5, 0.25])
    return ss.score(gold, {label: pred, "b": gold}, ["exact", "iou"], ci=0.95)


def test_types_that_are_not_looked_for_are_marked_everywhere() -> None:
    text = "Ann Lee met Bob"
    spans = [{"start": 0, "end": 7, "label": "PERSON"}, {"start": 12, "end": 15, "label": "PERSON"}]
    gold = ss.Corpus.from_documents([{"id": "d", "text": text, "spans": spans}])
    pred = ss.Corpus.from_documents([{"id": "d", "spans": [{"start": 0, "end": 7, "label": "URL"}]}])
    result = ss.score(gold, pred, ["exact", "leak"]).with_settings(not_looked_for=["PERSON"])
    exact, leak = (line for line in str(result).splitlines() if "PERSON" in line)
    assert re.search(r"PERSON \(not looked for\) +– +– +–", exact)
    assert re.search(r"PERSON \(not looked for\) +– +0\.500 +–", leak)  # which predictions of another type cover
    assert parsed(result._repr_html_()).text.count("PERSON (not looked for)") == 2
    nothing = ss.Corpus.from_documents([{"id": "d", "spans": []}])
    none = ss.score(gold, nothing, ["exact", "leak"]).with_settings(not_looked_for=["PERSON"])
    exact, leak = (line for line in str(none).splitlines() if "PERSON" in line)
    assert re.search(r"PERSON \(not looked for\) +– +– +–", exact)
    assert re.search(r"PERSON \(not looked for\) +– +0\.000 +–", leak)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(html: str) -> Tags:
    found = Tags()
    found.feed(html)
    return found


def test_the_usual_call() -> None:
    result = ss.score(GOLD, BASE, ["iou"], ci=0.95)
    assert result.f1 == result.f == result["iou"].f
    assert (result.precision, result.recall) == (result["iou"].precision, result["iou"].recall)
    assert re.fullmatch(r"Result\(iou: P 0\.\d{3}, R 0\.\d{3}, F1 0\.542\)", repr(result))
    assert re.fullmatch(r"Scores\(pred, iou: P 0\.\d{3}, R 0\.\d{3}, F1 0\.542\)", repr(result["iou"]))


def test_f1_is_that_of_beta_one() -> None:
    one, two = (ss.score(GOLD, BASE, "exact", beta=beta) for beta in (1, 2))
    assert two.f1 == one.f
    assert two.f != one.f


def test_several_scores_have_no_single_f1() -> None:
    with pytest.raises(ss.UsageError, match=r'this result has 2 scores; choose one of \["exact", "pred"\]'):
        _ = ss.score(GOLD, BASE, ["exact", "iou"]).f1


def test_reprs_are_short() -> None:
    systems = {f"s{i}": BASE for i in range(6)}
    assert repr(ss.score(GOLD, systems, "exact")).endswith("; … 2 more)")
    compared = ss.compare(GOLD, {"base": BASE, "tuned": TUNED}, "exact", permutations=100)
    assert re.fullmatch(r"Comparison\(base, tuned by exact; \d of 3 differences significant\)", repr(compared))
    agreed = ss.agree({"a": GOLD, "b": BASE}, "exact")
    assert re.fullmatch(r"Agreement\(a, b: alpha 0\.\d{3}\)", repr(agreed))
    assert re.fullmatch(r"Sweep\(base, exact: AP 0\.\d{3}\)", repr(ss.sweep(GOLD, {"base": BASE}, "exact")))


def test_html_escapes_labels_and_has_no_style_of_its_own() -> None:
    result = hostile()
    page = parsed(result._repr_html_())
    assert set(page.tags) == {"div", "table", "tr", "th", "td", "span", "p"}
    assert '<script>alert("x")</script><b>' in page.text
    assert "\x1b" not in result._repr_html_()
    assert "color:#" not in result._repr_html_()  # readable on light and dark ground
    assert "0.000–" in page.text  # an interval


def test_html_of_comparison_sweep_and_agreement() -> None:
    gold = ss.Corpus.from_arrays(["d"], [0], [0], [3], [HOSTILE], text=["abc"])
    pred = ss.Corpus.from_arrays(["d"], [0], [0], [3], [HOSTILE], score=[0.5], text=["abc"])
    shown: list[Any] = [
        ss.compare(gold, {HOSTILE: pred, "b": gold}, "exact", permutations=20),
        ss.sweep(gold, {HOSTILE: pred}, "exact"),
        ss.agree({HOSTILE: pred, "b": gold}, "exact"),
    ]
    for one in shown:
        page = parsed(one._repr_html_())
        assert set(page.tags) <= {"div", "table", "tr", "th", "td", "span", "p", "b", "sup"}
        assert "<script>" in page.text


def test_long_tables_are_cut() -> None:
    labels = [f"L{i}" for i in range(300)]
    gold = ss.Corpus.from_arrays(["d"], [0] * 300, range(300), range(1, 301), labels)
    page = parsed(ss.score(gold, gold, "exact")._repr_html_())
    assert page.tags.count("tr") == 201
    assert "101 more rows" in page.text


def test_latex() -> None:
    table = hostile().to_latex()
    lines = table.splitlines()
    assert lines[:2] == [r"\begin{tabular}{lllrrrrrrrr}", r"\toprule"]
    assert lines[3] == r"\midrule"
    assert r"\bottomrule" in lines
    assert r"{\footnotesize [" in table
    body = next(line for line in lines if "script" in line)
    assert r"\&\_\%\$\#\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}" in body
    assert len(re.findall(r"(?<!\\)&", body)) == 10
    compared = ss.compare(GOLD, {"base": BASE, "tuned": TUNED}, "token", permutations=2000, alpha=0.5).to_latex()
    assert r"$^{\mathrm{" in compared
    assert r"\textbf{" in compared


def test_frames() -> None:
    result = ss.score(GOLD, {"base": BASE, "tuned": TUNED}, ["iou", "exact"], ci=0.95)
    frame = result.to_pandas()
    assert list(frame.columns)[:6] == ["system", "measure", "type", "by", "slice", "average"]
    assert {"precision_low", "f_high", "tp", "signature"} <= set(frame.columns)
    pd.testing.assert_frame_equal(pd.DataFrame(result), frame)
    other = result.to_polars()
    assert other.height == len(frame) == result.to_arrow().num_rows
    assert pl.DataFrame(result).height == other.height
    overall = frame[(frame.system == "tuned") & (frame.measure == "iou") & frame.type.isna() & frame.average.isna()]
    assert overall.recall.item() == result["iou", "tuned"].recall
    assert result.to_dict()["schema"] == "spanscore.results/1"
    assert result.to_dict()["results"][0]["system"] == "base"


def test_frames_of_the_others() -> None:
    compared = ss.compare(GOLD, {"base": BASE, "tuned": TUNED}, "exact", permutations=100)
    assert list(compared.to_pandas().number) == ["precision", "recall", "f"]
    assert [one["letter"] for one in compared.to_dict()["systems"]] == ["a", "b"]
    swept = ss.sweep(GOLD, {"base": BASE}, "exact")
    assert swept.to_polars().columns == ["system", "measure", "type", "threshold", "precision", "recall", "f"]
    assert swept.to_dict()["schema"] == "spanscore.sweep/1"
    agreed = ss.agree({"a": GOLD, "b": BASE}, "exact")
    alpha = agreed.to_pandas().query("what == 'alpha' and type.isna()").value.item()
    assert alpha == agreed.alpha.value
    assert agreed.to_dict()["schema"] == "spanscore.agreement/1"
    assert agreed.to_arrow().num_rows == len(agreed.records())


def test_figures() -> None:
    result = ss.score(GOLD, BASE, "iou", ci=0.95)
    bars = result.plot()
    assert [one.name for one in bars.data] == ["precision", "recall", "F1"]
    assert bars.data[1].y[0] == result.recall
    assert bars.data[1].error_y.array[0] == pytest.approx(
        result["iou"].interval(result.bootstrap).recall[1] - result.recall  # type: ignore[union-attr,arg-type]
    )
    matrix = result.plot("matrix")
    assert sum(int(count or 0) for row in matrix.data[0].text for count in row) == sum(result["iou"].confusion.values())
    curve = result.plot("curve")
    assert all(0 <= value <= 1 for value in (*curve.data[0].x, *curve.data[0].y))
    assert list(ss.sweep(GOLD, {"base": BASE}, "iou").plot().data[0].x) == list(curve.data[0].x)
    both = ss.compare(GOLD, {"base": BASE, "tuned": TUNED}, "iou", permutations=10).plot()
    assert list(both.layout.xaxis.ticktext) == ["base, iou", "tuned, iou"]


def test_figures_escape_and_refuse() -> None:
    result = hostile()
    assert "<script>" not in result.plot("matrix", "exact", HOSTILE).to_json()
    assert "<script>" not in result.plot("bars", "exact", HOSTILE).to_json()
    with pytest.raises(ss.UsageError, match="did you mean 'bars'"):
        result.plot("bar")
    with pytest.raises(ss.UsageError, match="a matrix shows one measure of one system"):
        result.plot("matrix")
    with pytest.raises(ss.UsageError, match="the result has no measure sixway"):
        result.plot(measure="sixway")
    with pytest.raises(ss.UsageError, match="scores"):
        ss.score(GOLD, GOLD, "exact").plot("curve")


def test_gate_on_a_result_and_on_a_folder(tmp_path: Path) -> None:
    result = ss.score(GOLD, TUNED, "iou", ci=0.95)
    result.save(tmp_path / "out")
    for one in (result, tmp_path / "out"):
        assert ss.gate(one, min="recall=0.5")
        failed = ss.gate(one, min=["recall=0.99", "PERSON:recall=0.1"], lower_bound=True)
        assert not failed
        assert repr(failed) == "Gate(2 checks, 1 failed)"
        assert str(failed).startswith("FAIL  pred iou all recall: the lower bound of recall is 0.")
    assert not ss.gate(ss.score(GOLD, BASE, "iou"), max_drop="f=0.01", baseline=result)
    with pytest.raises(ss.UsageError, match="needs a baseline"):
        ss.gate(result, max_drop="f=0.01")
    with pytest.raises(ss.UsageError, match="at least one condition"):
        ss.gate(result)
    with pytest.raises(ss.UsageError, match="latency"):
        ss.gate(result, max="latency.p95=1")


def test_convert_and_check(tmp_path: Path) -> None:
    target = tmp_path / "gold.parquet"
    assert ss.convert(GOLD, target) == {}
    assert ss.read(target).fingerprint == ss.read(GOLD).fingerprint
    lost = ss.convert(
        ss.read(BASE).with_columns(text=ss.read(GOLD).text), tmp_path / "base.spacy.json", to_format="spacy"
    )
    assert lost["scores"] == len(ss.read(BASE).start)
    assert ss.check(target)


def test_run_and_report(tmp_path: Path) -> None:
    result = ss.run(GOLD, f"replay(file={BASE})", tmp_path / "out", ci=0.9)
    assert result.bootstrap is not None
    assert (tmp_path / "out" / "metrics.json").exists()
    assert not math.isnan(result["iou"].recall)
    page = ss.report(tmp_path / "out", tmp_path / "again.html", text="mask")
    assert page == tmp_path / "again.html"
    assert b"Lukas Brandt" not in content(page)
    with pytest.raises(ss.UsageError, match="name the page to write"):
        ss.report(result)
