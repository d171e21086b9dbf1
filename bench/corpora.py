"""Made-up corpora for the benchmarks: gold with text, and a system that is right about two times in three."""

from __future__ import annotations

import json
import random
from pathlib import Path

LABELS = (
    "PERSON", "LOCATION", "ORGANIZATION", "DATE_TIME", "EMAIL_ADDRESS", "PHONE_NUMBER", "URL", "US_SSN", "AGE", "ID",
)  # fmt: skip
WORDS = [
    "the",
    "patient",
    "was",
    "seen",
    "by",
    "at",
    "on",
    "for",
    "with",
    "and",
    "her",
    "his",
    "their",
    "office",
    "report",
    "visited",
    "called",
    "from",
    "to",
    "in",
    "after",
    "before",
    "results",
    "normal",
    "follow",
    "up",
    "scheduled",
    "clinic",
    "ward",
    "family",
    "history",
    "noted",
    "during",
    "evening",
    "morning",
    "returned",
    "home",
    "stable",
]
NAMES = [
    "Ada",
    "Boris",
    "Chidi",
    "Dolores",
    "Emeka",
    "Farah",
    "Goran",
    "Hana",
    "Ivo",
    "Jun",
    "Kwame",
    "Lena",
    "Mbali",
    "Nils",
    "Oksana",
    "Petra",
    "Qadir",
    "Rosa",
    "Sven",
    "Tuva",
]


def document(number: int, spans: int, rng: random.Random) -> tuple[dict[str, object], dict[str, object]]:
    """Return a gold document of words with names in it, and a system's predictions for it."""
    pieces: list[str] = []
    at = 0
    gold: list[dict[str, object]] = []
    pred: list[dict[str, object]] = []
    for _ in range(spans):
        filler = " ".join(rng.choices(WORDS, k=rng.randint(4, 9))) + " "
        name = " ".join(rng.choices(NAMES, k=rng.randint(1, 3)))
        start = at + len(filler)
        end = start + len(name)
        label = rng.choice(LABELS)
        gold.append({"start": start, "end": end, "label": label})
        fate = rng.random()
        score = round(rng.uniform(0.3, 1.0), 2)
        if fate < 0.65:
            pred.append({"start": start, "end": end, "label": label, "score": score})
        elif fate < 0.77:
            pred.append({"start": start, "end": end - rng.randint(1, 2), "label": label, "score": score})
        elif fate < 0.89:
            pred.append({"start": start, "end": end, "label": rng.choice(LABELS), "score": score})
        else:
            pred.append({"start": at, "end": at + len(filler) - 1, "label": label, "score": score})
        pieces += [filler, name, " "]
        at = end + 1
    return (
        {"id": f"doc-{number:07d}", "text": "".join(pieces), "spans": gold},
        {"id": f"doc-{number:07d}", "spans": pred},
    )


def write(folder: Path, documents: int, spans: int = 8, seed: int = 7) -> tuple[Path, Path]:
    """Write gold and predictions of this size, unless they exist; the same seed gives the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / f"gold-{documents}x{spans}.jsonl", folder / f"pred-{documents}x{spans}.jsonl"
    if not all(path.exists() for path in paths):
        rng = random.Random(seed)
        with paths[0].open("w") as gold, paths[1].open("w") as pred:
            for number in range(documents):
                for file, record in zip((gold, pred), document(number, spans, rng), strict=True):
                    file.write(json.dumps(record) + "\n")
    return paths
