"""Clustering: how well mentions are put together to entities, as coreference is scored."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from spanscore.errors import InputError
from spanscore.measures.assignment import best_pairs
from spanscore.measures.keys import codes_of, elements, filtered
from spanscore.measures.neleval import Keyed, judge_by_key
from spanscore.tally import Tally

if TYPE_CHECKING:
    from spanscore.align import Pairing
    from spanscore.columns import Longs
    from spanscore.corpus import Corpus
    from spanscore.measures.measure import Judgement

FINE = 2.0**-44
"""Shares of clusters are weighed in these units: whole numbers have one best sum, in whatever order."""


@dataclass(frozen=True)
class Clusters:
    """Gold and predicted clusters: their sizes, and for each pair that shares mentions how many it shares."""

    gold_size: Longs
    pred_size: Longs
    gold: Longs
    pred: Longs
    shared: Longs


@dataclass(frozen=True, repr=False)
class Clustering(Keyed):
    """What clustering measures have in common: mentions of one entity id are a cluster, over all documents."""

    @property
    def whole(self) -> bool:
        """A cluster may reach over documents."""
        return True

    @property
    def by_type(self) -> bool:
        """A cluster may have mentions of several types."""
        return False

    def __repr__(self) -> str:
        return super().__repr__() if self.called or self._given() else self.name

    def tally(self, pairing: Pairing) -> Tally:
        """Count all documents as one."""
        seen = filtered(pairing, self.filter)
        clusters = seen.once(("clusters", self.key), self._clusters)
        names = ("ptp", "predicted", "rtp", "annotated")
        row = np.array([self.agree(clusters)])
        rows = np.flatnonzero(row.any(axis=1))
        none = np.zeros(len(rows), np.int32)
        return Tally(names, ("",), (), none, none, row[rows])

    @abstractmethod
    def agree(self, clusters: Clusters) -> tuple[float, float, float, float]:
        """Numerator and denominator of precision, then of recall."""

    def judge(self, pairing: Pairing) -> Judgement:
        """A mention is right if it is found; how it is clustered is for the numbers to say."""
        seen = filtered(pairing, self.filter)
        return judge_by_key(seen, *elements(seen, self.fields))

    def _clusters(self, seen: Pairing) -> Clusters:
        codes = elements(seen, self.fields)
        ids = codes_of(seen, "eid")
        size = 1 + max(int(side.max(initial=-1)) for side in codes)
        cluster = []
        for side, code, entity in zip((seen.gold, seen.pred), codes, ids, strict=True):
            of = np.full(size, -2)
            of[code] = entity
            if (of[code] != entity).any():
                self._refuse(side, code, entity)
            _, names = np.unique(of[of > -2], return_inverse=True)
            of[of > -2] = names
            cluster.append(of)
        sizes = [np.bincount(of[of > -2]) for of in cluster]
        both = (cluster[0] > -2) & (cluster[1] > -2)
        pairs, shared = np.unique(cluster[0][both] * (len(sizes[1]) + 1) + cluster[1][both], return_counts=True)
        gold, pred = np.divmod(pairs, len(sizes[1]) + 1)
        return Clusters(sizes[0], sizes[1], gold, pred, shared)

    def _refuse(self, side: Corpus, code: Longs, entity: Any) -> None:
        order = np.lexsort((entity, code))
        bad = np.flatnonzero((code[order][1:] == code[order][:-1]) & (entity[order][1:] != entity[order][:-1]))[0]
        a, b = (int(order[bad + i]) for i in range(2))
        what = f"{side.span_name(a)} and {side.span_name(b)} are one mention by the key {self.key}, but of two entities"
        raise InputError(
            f"{what}; {self!r} needs one: take another key, or give --resolve score or longest.",
            side.place(int(side.doc[a])),
        )


class Muc(Clustering):
    """Links between mentions that both clusterings make: MUC (Vilain et al. 1995).

    Mentions with one entity id are a cluster. Recall: of the links that are needed to hold each gold cluster together
    (its size - 1), those that are left when it is cut up by the predicted clusters; precision the other way round.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_documents([{"id": "d", "spans": [
    ...     {"start": i, "end": i + 1, "label": "X", "attrs": {"kbid": e}} for i, e in enumerate("AAAA")]}])
    >>> pred = ss.Corpus.from_documents([{"id": "d", "spans": [
    ...     {"start": i, "end": i + 1, "label": "X", "attrs": {"kbid": e}} for i, e in enumerate("AABB")]}])
    >>> result = ss.score(gold, pred, ["muc", "b_cubed", "mention_ceaf", "entity_ceaf", "pairwise"])
    >>> [round(one.f, 3) for one in result.scores]
    [0.8, 0.667, 0.5, 0.444, 0.5]
    """

    name: ClassVar[str] = "muc"

    def agree(self, clusters: Clusters) -> tuple[float, float, float, float]:
        """What is left of each cluster when the other side cuts it up."""
        kept = int(clusters.shared.sum()) - len(clusters.shared)
        needed = (int(size.sum()) - len(size) for size in (clusters.pred_size, clusters.gold_size))
        predicted, annotated = needed
        return kept, predicted, kept, annotated


class BCubed(Clustering):
    """For each mention the share of its cluster that the other side has with it too: B-cubed (Bagga, Baldwin 1998).

    Recall is the mean over gold mentions of |gold cluster ∩ predicted cluster| / |gold cluster|; precision that over
    predicted mentions, divided by the predicted cluster's size.
    """

    name: ClassVar[str] = "b_cubed"

    def agree(self, clusters: Clusters) -> tuple[float, float, float, float]:
        """Every pair of clusters counts its shared mentions once for each of them."""
        squared = clusters.shared.astype(np.float64) ** 2
        precision = fsum((squared / clusters.pred_size[clusters.pred]).tolist())
        recall = fsum((squared / clusters.gold_size[clusters.gold]).tolist())
        return precision, float(clusters.pred_size.sum()), recall, float(clusters.gold_size.sum())


class MentionCeaf(Clustering):
    """Mentions in the clusters that correspond, one to one: CEAF with the number of shared mentions (Luo 2005).

    Clusters are assigned to each other one to one so that they share as many mentions as possible; P and R are these
    over all predicted and all gold mentions.
    """

    name: ClassVar[str] = "mention_ceaf"

    def agree(self, clusters: Clusters) -> tuple[float, float, float, float]:
        """The mentions that the best assignment shares."""
        chosen = best_pairs(clusters.gold, clusters.pred, clusters.shared)
        found = int(clusters.shared[chosen].sum())
        return found, int(clusters.pred_size.sum()), found, int(clusters.gold_size.sum())


class EntityCeaf(Clustering):
    """Clusters that correspond, one to one, by how alike they are: CEAF with Dice's coefficient (Luo 2005).

    As `mention_ceaf`, but a pair of clusters counts 2 |gold ∩ predicted| / (|gold| + |predicted|), and P and R are over
    the numbers of clusters.
    """

    name: ClassVar[str] = "entity_ceaf"

    def agree(self, clusters: Clusters) -> tuple[float, float, float, float]:
        """How alike the clusters of the best assignment are."""
        sizes = clusters.gold_size[clusters.gold] + clusters.pred_size[clusters.pred]
        alike = np.rint(2 * clusters.shared / sizes / FINE).astype(np.int64)
        total = sum(alike[best_pairs(clusters.gold, clusters.pred, alike)].tolist()) * FINE
        return total, float(len(clusters.pred_size)), total, float(len(clusters.gold_size))


class Pairwise(Clustering):
    """Pairs of mentions that are in one cluster on both sides.

    P and R are these over the pairs in one predicted cluster, and in one gold cluster.
    """

    name: ClassVar[str] = "pairwise"

    def agree(self, clusters: Clusters) -> tuple[float, float, float, float]:
        """Pairs inside clusters."""
        both, pred, gold = (_pairs(n) for n in (clusters.shared, clusters.pred_size, clusters.gold_size))
        return both, pred, both, gold


class PairwiseNegative(Clustering):
    """Pairs of mentions that are in different clusters on both sides.

    P and R are these over the pairs in different predicted clusters, and in different gold clusters.
    """

    name: ClassVar[str] = "pairwise_negative"

    def agree(self, clusters: Clusters) -> tuple[float, float, float, float]:
        """All pairs of mentions that both sides have, but for those that one of them puts together."""
        in_gold = np.bincount(clusters.gold, clusters.shared)
        in_pred = np.bincount(clusters.pred, clusters.shared)
        common = clusters.shared.sum(keepdims=True)
        apart = _pairs(common) - _pairs(in_gold) - _pairs(in_pred) + _pairs(clusters.shared)
        totals = [_pairs(size.sum(keepdims=True)) - _pairs(size) for size in (clusters.pred_size, clusters.gold_size)]
        return apart, totals[0], apart, totals[1]


def _pairs(sizes: Any) -> int:
    whole = np.asarray(sizes, np.int64)
    return int((whole * (whole - 1) // 2).sum())
