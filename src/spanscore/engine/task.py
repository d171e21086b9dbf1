"""Task: what is to be scored, and how, as users ask for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from spanscore.engine.inputs import Inputs
from spanscore.engine.plan import Plan
from spanscore.engine.run_folders import inputs_of_runs
from spanscore.measures import DEFAULT, LINKING, with_tables
from spanscore.measures.neleval_keys import ENTITY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spanscore.engine.inputs import Data, Input
    from spanscore.engine.run_folders import RunInputs
    from spanscore.formats import Format
    from spanscore.measures import Measure
    from spanscore.result import Result


@dataclass(frozen=True)
class Task:
    """A plan and its inputs; if these are folders of runs, also what the runs say."""

    plan: Plan
    inputs: Inputs
    runs: RunInputs | None = None

    @classmethod
    def of(
        cls,
        gold: Data,
        systems: Mapping[str, Data],
        measures: str | Measure | Sequence[str | Measure] | None,
        *,
        gold_format: str | Format | None = None,
        pred_format: str | Format | None = None,
        tables: Mapping[str, str | None] = MappingProxyType({}),
        all_scores: bool = False,
        peek: bool = True,
        settings: Mapping[str, Any] = MappingProxyType({}),
    ) -> Task:
        """Return the task that a user describes.

        The folder of a run stands for its predictions and its settings; with `all_scores`, for those of any score.
        Without `peek`, as data may be on other machines, the gold data is not read to choose default measures.
        """
        runs = inputs_of_runs(gold, systems, settings, gold_format=gold_format, all_scores=all_scores)
        if runs is not None:
            plan = Plan.of(with_tables(measures or runs.measures, **tables), **{**settings, **runs.settings})
            return cls(plan, runs.inputs, runs)
        annotator = settings.get("annotator")
        inputs = Inputs.of(gold, systems, gold_format=gold_format, pred_format=pred_format, annotator=annotator)
        if measures is None and peek:
            measures = default_measures(inputs.gold)
        plan = Plan.of(with_tables(measures, **tables), **settings)
        if any(one.is_frame for one in inputs.all):
            plan = replace(plan, keep_spans=False)
        return cls(plan, inputs)

    def sharing_types(self) -> Task:
        """Return the task with the types that every side has looked up, if the plan asks for that.

        Files are read once more for that; what cannot be read again is kept.
        """
        plan, gold = self.plan, self.inputs.gold
        if not plan.shared_types or plan.shared:
            return self
        gold = gold.kept()
        systems = {name: replace(one, companion=gold).kept() for name, one in self.inputs.systems.items()}
        shared = plan.sharing(gold.labels(plan.gold), (one.labels() for one in systems.values()))
        return replace(self, plan=shared, inputs=Inputs(gold, systems))

    def finished(self, result: Result) -> Result:
        """Return the result of the task with what the runs say."""
        return result if self.runs is None else self.runs.finished(result)


def default_measures(gold: Input) -> tuple[str, ...]:
    """Return the measures for a user who names none: those of entity linking where the gold data has entity ids."""
    first = None if gold.is_frame else gold.peek()
    return LINKING if first is not None and ENTITY in first.attrs else DEFAULT
