"""Tools for testing scorers: random corpora, and a slow but obviously correct reference scorer."""

from spanscore.testing.reference import reference_tally
from spanscore.testing.strategies import corpora, pairs

__all__ = ["corpora", "pairs", "reference_tally"]
