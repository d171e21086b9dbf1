"""Gold and system on one footing: the same documents, the same labels, the same units."""

from spanscore.align.documents import Pairing, pair
from spanscore.align.labels import LabelMap

__all__ = ["LabelMap", "Pairing", "pair"]
