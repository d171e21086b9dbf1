"""Measures: small values that turn a pairing into a tally, and a tally into precision and recall."""

from spanscore.measures.measure import Judgement, Measure, Parameter
from spanscore.measures.registry import expand, measure, names
from spanscore.measures.spec import Spec

__all__ = ["Judgement", "Measure", "Parameter", "Spec", "expand", "measure", "names"]
