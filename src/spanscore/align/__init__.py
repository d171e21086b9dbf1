"""Make gold and predicted data comparable: the same documents, the same labels, the same units."""

from spanscore.align.labels import LabelMap
from spanscore.align.pairing import Pairing, pair

__all__ = ["LabelMap", "Pairing", "pair"]
