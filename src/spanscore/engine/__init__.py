"""The engine: carries out a plan on inputs and assembles the result."""

from spanscore.engine.evaluate import evaluate, score
from spanscore.engine.inputs import Input, Inputs
from spanscore.engine.plan import Plan

__all__ = ["Input", "Inputs", "Plan", "evaluate", "score"]
