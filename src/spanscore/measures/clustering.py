"""Clustering measures: how well mentions are grouped into entities, as in coreference scoring."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from spanscore.errors import InputError
from spanscore.measures.assignment import best_pairs
from spanscore.measures.neleval import Keyed, judge_by_key
from spanscore.measures.neleval_keys import ENTITY, codes_of, elements, filtered
from spanscore.spec import parameter
from spanscore.tally import Tally

if TYPE_CHECKING:
    from spanscore.align import Pairing
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Longs
    from spanscore.measures.judgement import Judgement

FINE = 2.0**-44
"""Unit of cluster similarities: sums of whole numbers do not depend on their order."""


@dataclass(frozen=True)
class Clusters:
    """Gold and predicted clusters: their sizes, and for each pair that shares mentions how many it shares.

    Mentions without an entity id are a cluster, too: the first one of a side, if it has such mentions.
    """

    gold_size: Longs
    pred_size: Longs
    gold: Longs
    pred: Longs
    shared: Longs
    gold_has_unnamed: bool
    pred_has_unnamed: bool


@dataclass(frozen=True, repr=False)
class Clustering(Keyed):
    """Base of the clustering measures: mentions with one entity id are a cluster, across documents."""

    neleval: bool = parameter(
        False,
        "Whether a mention that the other side lacks counts as in neleval 3.1.1, which looks for it among the mentions "
        "without an entity id; that changes b_cubed only.",
    )

    @property
    def needs_all_documents(self) -> bool:
        """A cluster may span documents."""
        return True

    @property
    def identity(self) -> tuple[str, ...]:
        """The key and the entity: one key in two entities is an error, not a duplicate."""
        return tuple(dict.fromkeys((*super().identity, ENTITY)))

    @property
    def by_type(self) -> bool:
        """A cluster may have mentions of several types."""
        return False

    def __repr__(self) -> str:
        return super().__repr__() if self.called or self.given() else self.name

    def tally(self, pairing: Pairing) -> Tally:
        """Count all documents as one."""
        seen = filtered(pairing, self.filter, self.identity)
        clusters = seen.once(_clusters_of, Muc(key=self.key))
        names = ("ptp", "predicted", "rtp", "annotated")
        row = np.array([self.agree(clusters)])
        rows = np.flatnonzero(row.any(axis=1))
        none = np.zeros(len(rows), np.int32)
        return Tally(names, ("",), (), none, none, row[rows])

    @abstractmethod
    def agree(self, clusters: Clusters) -> tuple[float, float, float, float]:
        """Return numerator and denominator of precision, then of recall."""

    def judge(self, pairing: Pairing) -> Judgement:
        """Judge a mention as right if it is found, in whatever cluster."""
        seen = filtered(pairing, self.filter, self.identity)
        return judge_by_key(seen, *elements(seen, self.fields), typed="type" in self.fields)

    def clusters(self, seen: Pairing) -> Clusters:
        """Return the clusters of both sides."""
        codes = elements(seen, self.fields)
        ids = codes_of(seen, "eid")
        size = 1 + max(int(side.max(initial=-1)) for side in codes)
        cluster, unnamed = [], []
        for side, code, entity in zip((seen.gold, seen.pred), codes, ids, strict=True):
            of = np.full(size, -2)
            of[code] = entity
            if (of[code] != entity).any():
                self._refuse(side, code, entity)
            _, names = np.unique(of[of > -2], return_inverse=True)
            of[of > -2] = names
            cluster.append(of)
            unnamed.append(bool((entity < 0).any()))
        sizes = [np.bincount(of[of > -2]) for of in cluster]
        both = (cluster[0] > -2) & (cluster[1] > -2)
        pairs, shared = np.unique(cluster[0][both] * (len(sizes[1]) + 1) + cluster[1][both], return_counts=True)
        gold, pred = np.divmod(pairs, len(sizes[1]) + 1)
        return Clusters(sizes[0], sizes[1], gold, pred, shared, *unnamed)

    def _refuse(self, side: Corpus, code: Longs, entity: Any) -> None:
        order = np.lexsort((entity, code))
        bad = np.flatnonzero((code[order][1:] == code[order][:-1]) & (entity[order][1:] != entity[order][:-1]))[0]
        a, b = (int(order[bad + i]) for i in range(2))
        what = f"{side.span_name(a)} and {side.span_name(b)} are one mention by the key {self.key}, but of two entities"
        raise InputError(
            f"{what}; use another key, or give --resolve score or longest.",
            side.place(int(side.doc[a])),
        )


def _clusters_of(seen: Pairing, measure: Clustering) -> Clusters:
    return measure.clusters(seen)


class Muc(Clustering):
    """Links between mentions that both clusterings have: MUC (Vilain et al. 1995).

    Mentions with one entity id are a cluster. Recall is the share of the links that hold each gold cluster together
    (its size - 1) that remain when the predicted clusters partition it; precision is the same the other way round.

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
        """Count the links that remain of each cluster when the other side partitions it."""
        kept = int(clusters.shared.sum()) - len(clusters.shared)
        needed = (int(size.sum()) - len(size) for size in (clusters.pred_size, clusters.gold_size))
        predicted, annotated = needed
        return kept, predicted, kept, annotated


class BCubed(Clustering):
    """For each mention, the share of its cluster that the other side puts in the same cluster (B-cubed).

    B-cubed is by Bagga and Baldwin (1998). Recall is the mean over gold mentions of
    |gold cluster ∩ predicted cluster| / |gold cluster|; precision is the mean over predicted mentions, divided by the
    predicted cluster's size. A mention that the other side lacks adds 0.
    """

    name: ClassVar[str] = "b_cubed"

    def agree(self, clusters: Clusters) -> tuple[float, float, float, float]:
        """Sum the squared numbers of shared mentions over the sizes of the clusters."""
        sides = (clusters.pred, clusters.pred_size), (clusters.gold, clusters.gold_size)
        others = (clusters.gold, clusters.gold_has_unnamed), (clusters.pred, clusters.pred_has_unnamed)
        counts = []
        for (mine, size), (other, unnamed) in zip(sides, others, strict=True):
            weight = clusters.shared.astype(np.float64)
            if self.neleval and unnamed:
                lacking = size - np.bincount(mine, clusters.shared, minlength=len(size))
                weight += np.where(other == 0, lacking[mine], 0)
            counts += [fsum((clusters.shared * weight / size[mine]).tolist()), float(size.sum())]
        return counts[0], counts[1], counts[2], counts[3]


class MentionCeaf(Clustering):
    """Mentions shared by clusters aligned one to one: mention-based CEAF (Luo 2005).

    Clusters are aligned one to one so that they share as many mentions as possible; P and R divide that number by all
    predicted and by all gold mentions.
    """

    name: ClassVar[str] = "mention_ceaf"

    def agree(self, clusters: Clusters) -> tuple[float, float, float, float]:
        """Count the mentions that the best alignment shares."""
        chosen = best_pairs(clusters.gold, clusters.pred, clusters.shared)
        found = int(clusters.shared[chosen].sum())
        return found, int(clusters.pred_size.sum()), found, int(clusters.gold_size.sum())


class EntityCeaf(Clustering):
    """Similarity of clusters aligned one to one: entity-based CEAF with Dice's coefficient (Luo 2005).

    As `mention_ceaf`, but a pair of clusters counts 2 |gold ∩ predicted| / (|gold| + |predicted|), and P and R are over
    the numbers of clusters.
    """

    name: ClassVar[str] = "entity_ceaf"

    def agree(self, clusters: Clusters) -> tuple[float, float, float, float]:
        """Sum the similarities of the best alignment."""
        sizes = clusters.gold_size[clusters.gold] + clusters.pred_size[clusters.pred]
        alike = np.rint(2 * clusters.shared / sizes / FINE).astype(np.int64)
        total = sum(alike[best_pairs(clusters.gold, clusters.pred, alike)].tolist()) * FINE
        return total, float(len(clusters.pred_size)), total, float(len(clusters.gold_size))


class Pairwise(Clustering):
    """Pairs of mentions that are in the same cluster on both sides.

    P and R divide their number by the pairs within predicted clusters, and within gold clusters.
    """

    name: ClassVar[str] = "pairwise"

    def agree(self, clusters: Clusters) -> tuple[float, float, float, float]:
        """Count pairs within clusters."""
        both, pred, gold = (_pairs(n) for n in (clusters.shared, clusters.pred_size, clusters.gold_size))
        return both, pred, both, gold


class PairwiseNegative(Clustering):
    """Pairs of mentions that are in different clusters on both sides.

    P and R divide their number by the pairs in different predicted clusters, and in different gold clusters.
    """

    name: ClassVar[str] = "pairwise_negative"

    def agree(self, clusters: Clusters) -> tuple[float, float, float, float]:
        """Count all pairs of mentions that both sides have, except those that one side groups."""
        in_gold = np.bincount(clusters.gold, clusters.shared)
        in_pred = np.bincount(clusters.pred, clusters.shared)
        common = clusters.shared.sum(keepdims=True)
        apart = _pairs(common) - _pairs(in_gold) - _pairs(in_pred) + _pairs(clusters.shared)
        totals = [_pairs(size.sum(keepdims=True)) - _pairs(size) for size in (clusters.pred_size, clusters.gold_size)]
        return apart, totals[0], apart, totals[1]


def _pairs(sizes: Any) -> int:
    whole = np.asarray(sizes, np.int64)
    return int((whole * (whole - 1) // 2).sum())
