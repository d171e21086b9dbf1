"""A run of a detector over original documents and their variants, and what the variants cost it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from spanscore.analysis.perturbation import NAMES, ORIGINAL, PERTURBATION, SOURCE, perturb, perturbations
from spanscore.analysis.stress import Stress
from spanscore.arguments import checked
from spanscore.errors import UsageError
from spanscore.formats import read
from spanscore.pipeline.job import SETTINGS, Job, chosen_detector
from spanscore.pipeline.run import Observer, run
from spanscore.stats import Bootstrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spanscore.corpus import Corpus
    from spanscore.detectors import Detector
    from spanscore.pipeline.job import Outcome
    from spanscore.pipeline.journal import Journal

NOTE = "these scores are of the original documents and their variants together; stress.json compares them."


def with_variants(
    gold: Corpus, given: str | Sequence[str], *, seed: int = 0, rate: float = 0.1, names: str | Sequence[str] = NAMES
) -> Corpus:
    """Return the original documents and their variants as one corpus."""
    chosen = [one for one in perturbations(given) if one.name != ORIGINAL]
    if not chosen:
        raise UsageError("name at least one perturbation besides the original.")
    return perturb(gold, [*perturbations(ORIGINAL), *chosen], seed=seed, rate=rate, names=names)


def run_stress(job: Job, observer: Observer | None = None) -> tuple[Outcome, Journal, Stress]:
    """Run a job whose dataset is of `with_variants`; the caller writes the outputs and finishes the journal.

    Intervals of the run draw a document and its variants together.
    """
    how = job.ci or Bootstrap()
    clustered = replace(how, cluster=f"meta.{SOURCE}")
    outcome, journal = run(replace(job, ci=clustered, by=(f"meta.{PERTURBATION}", *job.by)), observer)
    try:
        found = Stress.of(outcome.result, replace(how, cluster=None))
    except BaseException:
        journal.close()
        raise
    outcome.result.inputs["gold"]["source"] = None  # no file holds the variants
    noted = outcome.result.with_warnings([NOTE])
    return replace(outcome, result=noted, notes=(NOTE, *outcome.notes)), journal, found


@checked(settings=SETTINGS)
def stress(
    gold: Corpus | str | Path,
    detector: str | Detector,
    perturbations: str | Sequence[str],
    *,
    seed: int = 0,
    rate: float = 0.1,
    names: str | Sequence[str] = NAMES,
    language: str | None = None,
    ci: Bootstrap | float = 0.95,
    **settings: Any,
) -> Stress:
    """Run a detector over documents and their variants, and return what each perturbation costs it.

    Further settings are the same as for `run`, such as `threshold` and `label_map`; nothing is written.

    >>> import spanscore as ss
    >>> from spanscore.detectors import detector
    >>> def capitalized(text, language):
    ...     return [{"start": 0, "end": 3, "label": "PERSON"}] if text.istitle() else []
    >>> gold = ss.Corpus.from_documents([{"id": str(i), "text": "Ann", "spans": [
    ...     {"start": 0, "end": 3, "label": "PERSON"}]} for i in range(30)])
    >>> found = ss.stress(gold, detector("python", function=capitalized), "lower,accents")
    >>> {one.perturbation: one.drop for one in found.drops if one.measure == "leak" and one.number == "recall"
    ...     and one.type is None}
    {'lower': 1.0, 'accents': 0.0}
    """
    corpus = read(gold) if isinstance(gold, str | Path) else gold
    dataset = with_variants(corpus, perturbations, seed=seed, rate=rate, names=names)
    made = chosen_detector(detector, language=language)
    how = ci if isinstance(ci, Bootstrap) else Bootstrap(ci)
    with ExitStack() as after:
        folder = Path(after.enter_context(TemporaryDirectory()))
        _, journal, found = run_stress(Job.of(dataset, made, folder, ci=how, **settings))
        journal.close()
    return found
