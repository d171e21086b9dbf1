"""Write same-data.md: one document scored by every scheme, with the reasons why the numbers differ."""

from __future__ import annotations

from pathlib import Path

import spanscore as ss
from spanscore.result.tables import shown

TEXT = "Dr. Anna Lee of Acme Oslo rang Bob on 3 May 2024 from 22 33 44 55."
GOLD = (
    ("Anna Lee", "PERSON", "Q1"),
    ("Acme Oslo", "ORGANIZATION", "Q2"),
    ("Bob", "PERSON", "Q3"),
    ("3 May 2024", "DATE", None),
    ("22 33 44 55", "PHONE", None),
)
PREDICTED = (
    ("Dr. Anna Lee", "PERSON", "Q1"),
    ("Acme", "ORGANIZATION", "Q2"),
    ("Oslo", "LOCATION", "Q4"),
    ("Bob", "PERSON", "Q3"),
    ("May 2024", "DATE", None),
    ("22 33 44 55", "ID", None),
    ("rang", "LOCATION", None),
)
WHY = {
    "exact": "Only Bob has the same boundaries and type.",
    "exact(typed=false)": "The phone number counts too: its boundaries are right.",
    "token": "Every token counts: of twelve, Oslo, the day and the four of the phone number are not found as what they are.",
    "token.pii": "Types are forgotten: Dr, its full stop and rang are wrong, and the day is not found.",
    "char": "The same by characters: long spans weigh more.",
    "char.pii": "What masking would hide: all but the day, and the spaces after it and in Acme Oslo. It hides Dr. and rang too.",
    "iou": "At IoU 0.9 only Bob is near enough. Neighbours of one type are merged first, so Oslo and rang are one prediction of six.",
    "iou(threshold=0.5)": "At 0.5 Anna Lee (8 of 12 characters) and the date (8 of 10) are found; Acme (4 of 9) is not.",
    "iou(threshold=0.5, unit=token)": "In tokens the organization is half covered (1 of 2), which is enough.",
    "iou.pii": "Types are forgotten before neighbours are merged: Acme Oslo rang Bob becomes one prediction, too long for either gold span. The phone number is found.",
    "presidio": "Spans are seen as tokens; unions with several predictions come out a little larger.",
    "presidio.pii": "The same without types.",
    "sixway.strict": "One strict of seven predictions. Acme and Oslo both take the organization, so six are possible, not five.",
    "sixway.flexible": "Anna Lee (ratio 8/12) and the date (8/10) are exact; Acme (4/9) is incorrect, being below the half.",
    "sixway.partial": "The phone number under another type counts half.",
    "sets::span": "neleval's strong_mention_match: boundaries alone, as exact without types.",
    "sets::span+type": "strong_typed_mention_match: as exact.",
    "strong_link_match": "Of the linked mentions only Bob has the same boundaries and the same entity.",
    "overlap-maxmax::span": "Every mention counts the share that its best counterpart covers, whatever the types.",
    "overlap-sumsum::span": "Acme and Oslo together cover more of the organization than either.",
    "b_cubed": "Mentions are compared by boundaries: only Bob and the phone number are on both sides. Those without an entity are one cluster.",
    "sandbox.instance": "The same start, length and kind: Bob.",
    "sandbox.instance-relax": "The same start, a length off by two at most: none of the others begins right and is that near.",
    "sandbox.token": "Tokens by white space, at the same offset, by kind.",
    "semeval.strict": "Pairs, one to one: five, one of them correct in boundaries and type. One prediction of the organization's two is left over.",
    "semeval.exact": "The phone number is correct too.",
    "semeval.partial": "Three pairs that overlap count half.",
    "semeval.type": "Four pairs have the same type.",
}


def main() -> None:
    """Score the document and write the page."""
    Path(__file__).with_name("same-data.md").write_text(page(), encoding="utf-8")


def page() -> str:
    """The page as Markdown."""
    result = ss.score(corpus(GOLD, text=True), corpus(PREDICTED), list(WHY))
    lines = [
        "# One document, every scheme",
        "",
        "<!-- Written by same_data.py; change that, and run it again. -->",
        "",
        "The same gold spans and the same predictions, scored by every scheme. None of these numbers is wrong: they answer different",
        "questions. Say which one you report; its signature does.",
        "",
        f"> {TEXT}",
        "",
        "| gold | predicted |",
        "| :--- | :--- |",
        *(f"| {gold} | {pred} |" for gold, pred in side_by_side()),
        "",
        "| measure | P | R | F1 | why |",
        "| :--- | ---: | ---: | ---: | :--- |",
    ]
    for scores in result.scores:
        name = repr(scores.measure)
        numbers = " | ".join(map(shown, (scores.precision, scores.recall, scores.f)))
        lines.append(f"| `{name}` | {numbers} | {WHY[name]} |")
    return "\n".join(lines) + "\n"


def corpus(rows: tuple[tuple[str, str, str | None], ...], *, text: bool = False) -> ss.Corpus:
    """The document with these spans."""
    spans = [
        {
            "start": TEXT.index(part),
            "end": TEXT.index(part) + len(part),
            "label": label,
            "attrs": {} if entity is None else {"kbid": entity},
        }
        for part, label, entity in rows
    ]
    return ss.Corpus.from_documents([{"id": "call", "spans": spans, **({"text": TEXT} if text else {})}])


def side_by_side() -> list[tuple[str, str]]:
    """Each gold span with what was predicted there."""
    rows = []
    left = list(PREDICTED)
    for part, label, entity in GOLD:
        start, end = TEXT.index(part), TEXT.index(part) + len(part)
        near = [one for one in left if TEXT.index(one[0]) < end and TEXT.index(one[0]) + len(one[0]) > start]
        left = [one for one in left if one not in near]
        rows.append((_named(part, label, entity), ", ".join(_named(*one) for one in near)))
    return rows + [("", _named(*one)) for one in left]


def _named(part: str, label: str, entity: str | None) -> str:
    return f"{part} ({label}{'' if entity is None else ', ' + entity})"


if __name__ == "__main__":
    main()
