"""Scores per system and measure, and their output as text, JSON, CSV and Arrow tables."""

from spanscore.result.result import Errors, Result, split_level
from spanscore.result.scores import NUMBERS, Score, Scores, prf, refuse_unknown_split

__all__ = ["NUMBERS", "Errors", "Result", "Score", "Scores", "prf", "refuse_unknown_split", "split_level"]
