"""What cannot be compared is refused and never a pass."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from beleg.core.errors import UsageError
from beleg.evals import stats

NAN, INF = float("nan"), float("inf")
GOOD = [0.0] * 40 + [-0.1] * 25 + [0.2]
FAMILIES = [i % 22 for i in range(len(GOOD))]


def families(d: Any) -> list[int]:
    return [i % 22 for i in range(len(d) if hasattr(d, "__len__") else 2)]


COUNTED: list[Callable[..., Any]] = [
    lambda b, c, n: stats.exact_ni(b, c, n, 0.05),
    lambda b, c, n: stats.exact_worse(b, c, n, 0.05),
    stats.exact_interval,
    stats.tango_interval,
    stats.wald_interval,
    stats.bonett_price_interval,
    stats.confidence_sequence,
    lambda b, c, n: stats.log_e_ni(b, c, n, 0.05),
    lambda b, c, n: stats.assess_binary(b, c, n, 0.05),
    lambda b, c, n: stats.assess_looks(b, c, n, 0.05),
    lambda b, c, n: stats.further_cases(b, c, n, 0.05),
    lambda b, c, n: stats.assess_pairing(stats.Pairing(b=b, c=c, n_complete=n), 0.05),
]
SCORED: list[Callable[[Any], Any]] = [
    lambda d: stats.assess_scores(d, 0.05),
    lambda d: stats.assess_clustered_scores(d, families(d), 0.05),
    lambda d: stats.assess_clustered_binary(d, families(d), 0.05),
    lambda d: stats.log_e_scores(d, 0.05),
    lambda d: stats.log_e_clusters(d, families(d), 0.05),
    lambda d: stats.bounded_p(d, -0.05, -1.0),
    stats.lower_bound,
]
PRICED: list[Callable[[Any, Any], Any]] = [
    stats.assess_ratio,
    stats.ratio_of_means,
    lambda x, y: stats.assess_exceedance(x, y, 5.0, 0.05),
    lambda x, y: stats.capped_total_p(x, y, 10.0),
]


@pytest.mark.parametrize("function", COUNTED)
@pytest.mark.parametrize(
    "table",
    [
        (0, 0, 0),
        (-1, 0, 50),
        (0, -1, 50),
        (30, 30, 50),
        (0.5, 0, 50),
        (NAN, 0, 50),
        (0, 0, INF),
        ("1", 0, 50),
        (None, 0, 9),
    ],
)
def test_counts_that_do_not_fit_are_refused(function: Callable[..., Any], table: tuple[Any, ...]) -> None:
    with pytest.raises(stats.StatisticsError):
        function(*table)


@pytest.mark.parametrize("function", SCORED)
@pytest.mark.parametrize(
    "d",
    [
        [],
        [0.0, NAN],
        [0.0, INF],
        [0.0, -INF],
        [-1.5, 0.0],
        [None, 0.0],
        ["0.1", "0.2"],
        [[0.0], [0.1]],
        [0.0, [1.0]],
        0.5,
        "0.5",
        (x for x in (0.1, 0.2)),
        np.ma.masked_invalid([0.0, NAN]),
        np.array([0.1 + 1j, 0.2]),
        np.array([], dtype=float),
    ],
)
def test_scores_that_are_none_are_refused(function: Callable[[Any], Any], d: Any) -> None:
    with pytest.raises(stats.StatisticsError):
        function(d)


@pytest.mark.parametrize("function", PRICED)
@pytest.mark.parametrize(
    ("baseline", "candidate"),
    [([], []), ([1.0, 2.0], [1.0]), ([1.0, NAN], [1.0, 2.0]), ([1.0, 2.0], [1.0, INF]), ([1.0, 2.0], [-1.0, 2.0])],
)
def test_costs_that_are_none_are_refused(function: Callable[[Any, Any], Any], baseline: Any, candidate: Any) -> None:
    with pytest.raises(stats.StatisticsError):
        function(baseline, candidate)


def test_a_cost_of_zero_has_no_ratio() -> None:
    with pytest.raises(stats.StatisticsError, match=r"candidate\[1\] is 0"):
        stats.assess_ratio([1.0, 2.0], [1.0, 0.0])


@pytest.mark.parametrize("margin", [-0.05, 1.0, 5, NAN, INF, None, "0.05"])
@pytest.mark.parametrize(
    "function",
    [
        lambda m: stats.exact_ni(0, 0, 60, m),
        lambda m: stats.assess_binary(0, 0, 60, m),
        lambda m: stats.assess_scores(GOOD, m),
        lambda m: stats.assess_clustered_scores(GOOD, FAMILIES, m),
        lambda m: stats.log_e_ni(0, 0, 60, m),
        lambda m: stats.log_e_scores(GOOD, m),
        lambda m: stats.exact_power(60, m, 0.1),
    ],
)
def test_a_margin_out_of_range_is_refused(function: Callable[[Any], Any], margin: Any) -> None:
    with pytest.raises(stats.StatisticsError):
        function(margin)


@pytest.mark.parametrize("alpha", [0, -0.05, 0.5, 1, 5, NAN, None])
@pytest.mark.parametrize(
    "function",
    [
        lambda a: stats.assess_binary(0, 0, 60, 0.05, a),
        lambda a: stats.assess_scores(GOOD, 0.05, a),
        lambda a: stats.assess_scores([0.0] * 9, 0.05, a),
        lambda a: stats.assess_clustered_scores(GOOD, FAMILIES, 0.05, a),
        lambda a: stats.assess_ratio([1.0, 2.0], [1.0, 2.5], 0.1, a),
        lambda a: stats.assess_looks(0, 0, 60, 0.05, a),
        lambda a: stats.verdict(0.0, 1.0, a),
        lambda a: stats.attempt_alpha(1, a),
        lambda a: stats.clopper_pearson(1, 9, a),
    ],
)
def test_a_level_out_of_range_is_refused(function: Callable[[Any], Any], alpha: Any) -> None:
    with pytest.raises(stats.StatisticsError):
        function(alpha)


@pytest.mark.parametrize("p", [NAN, INF, -0.1, 1.1, None, "0.01"])
def test_what_is_no_probability_gives_no_verdict(p: Any) -> None:
    for call in (lambda: stats.verdict(p, 0.5), lambda: stats.verdict(0.01, p), lambda: stats.holm([0.1, p])):
        with pytest.raises(stats.StatisticsError):
            call()
    with pytest.raises(stats.StatisticsError):
        stats.all_must_hold([])


@pytest.mark.parametrize(
    "families", [[1, 1, 1], [1, None, 2], [1, NAN, 2], [1, 2], [1, 2, 3, 4], [], [[1], [2], [3]], None], ids=repr
)
def test_families_must_be_known_and_more_than_one(families: list[Any]) -> None:
    for function in (stats.assess_clustered_scores, stats.assess_clustered_binary):
        with pytest.raises(stats.StatisticsError):
            function([0.0, 1.0, 0.0], families, 0.05)


def test_families_may_be_named_by_several_things_at_once() -> None:
    d = [0.0, 1.0, 0.0, -1.0]
    pairs = [("a", 1), ("a", 2), ("b", 1), ("b", 1)]
    assert stats.cluster_mean(d, pairs).clusters == 3
    assert stats.cluster_mean(d, ["1", 1, "1", 1]).clusters == 2
    assert stats.cluster_mean(d, np.array([1, 2, 3, 3])).clusters == 3


def test_the_refusal_says_what_and_where_and_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"d\[1\] is nan: only finite numbers compare"):
        stats.assess_scores([0.0, NAN], 0.05)
    with pytest.raises(UsageError, match="more than n = 5 cases"):
        stats.exact_ni(3, 3, 5, 0.05)


def test_an_interval_has_two_ends_in_order() -> None:
    for ends in ((NAN, 1.0), (0.0, NAN), (1.0, 0.0)):
        with pytest.raises(stats.StatisticsError, match="is no interval"):
            stats.Interval(*ends, 0.05, "none")
