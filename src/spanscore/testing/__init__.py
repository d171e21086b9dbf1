"""For those who test scorers: random corpora, and a slow, obvious scorer that says what the numbers must be."""

from spanscore.testing.reference import reference_tally
from spanscore.testing.strategies import corpora, pairs

__all__ = ["corpora", "pairs", "reference_tally"]
