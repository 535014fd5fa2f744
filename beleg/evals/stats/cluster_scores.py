"""Scores of cases in families."""

from dataclasses import replace

from scipy.special import stdtr

from beleg.evals.stats.clusters import (
    MIN_FAMILIES,
    cluster_bounded_lower,
    cluster_bounded_p,
    cluster_mean,
    cluster_sums,
    sign_flip,
    too_few,
)
from beleg.evals.stats.guard import Families, Values, within
from beleg.evals.stats.scores import BOUNDED, MIN_LOSSES, OneSided, ScoreAssessment, assessed, effective_losses

MIN_CLUSTERS = 20
CR2 = "CR2, Bell-McCaffrey"


def cluster_lower_bound(d: Values, clusters: Families, support_min: float = -1.0) -> OneSided:
    """The same for cases in clusters: CR2 with Bell-McCaffrey dof if there are at least 20 clusters, 20 effective
    losses among the cluster sums and some variation; else the bounded mean over clusters. At most 0.067 at 0.05 seen.
    """
    x = within("d", d, support_min, 1)
    found, losses = cluster_mean(x, clusters), effective_losses(cluster_sums(x, clusters)[0])
    if found.clusters >= MIN_CLUSTERS and losses >= MIN_LOSSES and found.se_cr2 > 1e-12:
        return OneSided(
            CR2, losses, found.lower, lambda null: float(stdtr(found.dof, (null - found.mean) / found.se_cr2))
        )
    return OneSided(
        BOUNDED,
        losses,
        lambda alpha: cluster_bounded_lower(x, clusters, alpha, support_min),
        lambda null: cluster_bounded_p(x, clusters, null, support_min),
    )


def assess_clustered_scores(
    d: Values,
    clusters: Families,
    margin: float,
    alpha: float = 0.05,
    *,
    support_min: float = -1.0,
    min_families: int = MIN_FAMILIES,
) -> ScoreAssessment:
    """Verdict on the mean of d over cases in clusters; superiority by sign-flip below 20 clusters.

    Fewer than `min_families` clusters are inconclusive. Raises StatisticsError as `assess_scores` does.
    """
    x = within("d", d, support_min, 1)
    down, up = cluster_lower_bound(x, clusters, support_min), cluster_lower_bound(-x, clusters)
    sums = cluster_sums(x, clusters)[0]
    found = assessed(x, down, up, margin, alpha)
    if len(sums) < MIN_CLUSTERS:
        found = replace(found, p_superior=sign_flip(sums), p_inferior=sign_flip(-sums))
    return replace(found, blocks=too_few(len(sums), min_families), clusters=len(sums))
