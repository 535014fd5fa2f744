"""What holds whatever the data: symmetry, no order, bounds around the estimate, levels kept."""

import random
from collections import Counter
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from beleg.evals import stats
from beleg.evals.stats.tango import scores
from tests.deep import examples

MARGINS = st.sampled_from([0.02, 0.05, 0.1, 0.3])
DIFFERENCES = st.lists(st.sampled_from([-1.0, -0.5, -0.25, 0.0, 0.0, 0.0, 0.1, 0.5, 1.0]), min_size=2, max_size=60)
SEEDS = st.integers(0, 2**32)


@st.composite
def tables(draw: st.DrawFn, most: int = 60) -> tuple[int, int, int]:
    n = draw(st.integers(1, most))
    b = draw(st.integers(0, n))
    return b, draw(st.integers(0, n - b)), n


def shuffled(values: list[Any], seed: int) -> list[Any]:
    mixed = list(values)
    random.Random(seed).shuffle(mixed)
    return mixed


@settings(max_examples=examples(20, soak=1000))
@given(tables(), MARGINS)
def test_swapping_the_sides_mirrors_a_comparison_of_counts(table: tuple[int, int, int], margin: float) -> None:
    b, c, n = table
    one, other = stats.assess_binary(b, c, n, margin), stats.assess_binary(c, b, n, margin)
    assert one.estimate == -other.estimate
    assert (one.interval.lower, one.interval.upper) == (-other.interval.upper, -other.interval.lower)
    assert one.p_superior == other.p_inferior
    for interval in (one.interval, stats.tango_interval(b, c, n), stats.confidence_sequence(b, c, n)):
        assert -1 <= interval.lower <= one.estimate <= interval.upper <= 1
        assert interval.width > 0


@settings(max_examples=examples(30, soak=2000))
@given(tables(), MARGINS)
def test_bound_and_p_value_never_contradict_each_other_silently(table: tuple[int, int, int], margin: float) -> None:
    found = stats.assess_binary(*table, margin)
    reached = found.interval.lower > -margin + 1e-6
    if found.p_non_inferior > found.alpha:
        assert not reached
    else:
        assert reached or found.notes or found.interval.lower > -margin


@settings(max_examples=examples(25, soak=2000))
@given(st.integers(20, 60), st.integers(0, 3), st.integers(0, 9), st.sampled_from([0.1, 0.2, 0.3]))
def test_an_agreeing_case_never_turns_a_pass_into_a_fail(n: int, b: int, c: int, margin: float) -> None:
    assume(stats.exact_ni(b, c, n, margin).p <= 0.05)
    assert stats.assess_binary(b, c, n + 1, margin).verdict != "fail"


@settings(max_examples=examples(40, soak=2000))
@given(tables(), MARGINS)
def test_one_loss_more_or_one_gain_less_never_looks_better(table: tuple[int, int, int], margin: float) -> None:
    b, c, n = table
    p = stats.exact_ni(b, c, n, margin).p
    if b + c < n:
        assert stats.exact_ni(b + 1, c, n, margin).p >= p - 1e-9
    if c:
        assert stats.exact_ni(b, c - 1, n, margin).p >= p - 1e-9


@given(st.integers(1, 80), st.floats(-0.99, 0.99))
def test_the_score_rises_with_gains_and_falls_with_losses(n: int, null: float) -> None:
    """On this rests that the worst case lies at the margin itself, and that a region is a threshold for every b."""
    b, c = np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0), indexing="ij")
    t = np.where(b + c <= n, scores(b, np.minimum(c, n - b), n, null), np.nan)
    assert not (np.diff(t, axis=1) < -1e-9).any()
    assert not (np.diff(t, axis=0) > 1e-9).any()


@settings(max_examples=examples(15, soak=500))
@given(st.integers(5, 150), MARGINS, st.floats(0, 1), st.sampled_from([0.01, 0.05]))
def test_the_exact_test_keeps_its_level_at_every_rate(n: int, margin: float, along: float, alpha: float) -> None:
    discordance = margin + along * (1 - margin)
    assert stats.exact_power(n, margin, discordance, -margin, alpha) <= alpha + 1e-6


@given(st.integers(1, 6000), st.sampled_from([0.001, 0.01, 0.05, 0.1, 0.3]))
@settings(max_examples=examples(25, soak=300))
def test_without_differing_cases_only_enough_cases_pass(n: int, margin: float) -> None:
    p = stats.exact_ni(0, 0, n, margin).p
    assert p >= (1 - margin) ** n - 1e-12
    assert (p <= 0.05) == (n >= stats.pass_floor(margin))


@pytest.mark.parametrize(("margin", "cases"), [(0.1, 29), (0.05, 59), (0.03, 99), (0.02, 149), (0.01, 299)])
def test_the_floors_of_the_usual_margins(margin: float, cases: int) -> None:
    assert stats.pass_floor(margin) == cases
    assert stats.assess_binary(0, 0, cases, margin).verdict == "pass"
    assert stats.assess_binary(0, 0, cases - 1, margin).verdict == "inconclusive"
    assert stats.exact_interval(0, 0, cases).lower == pytest.approx(0.05 ** (1 / cases) - 1, abs=1e-3)


@settings(max_examples=examples(15, soak=500))
@given(DIFFERENCES, MARGINS, SEEDS)
def test_scores_know_no_order_and_mirror(d: list[float], margin: float, seed: int) -> None:
    one = stats.assess_scores(d, margin)
    assert stats.assess_scores(shuffled(d, seed), margin) == one
    assert one.interval.lower <= one.estimate <= one.interval.upper
    mirrored = stats.assess_scores([-x for x in d], margin)
    assert mirrored.estimate == pytest.approx(-one.estimate, abs=1e-12)
    assert mirrored.interval.lower == pytest.approx(-one.interval.upper, abs=1e-9)
    assert mirrored.p_superior == pytest.approx(one.p_inferior, abs=1e-9)


@settings(max_examples=examples(15, soak=500))
@given(DIFFERENCES, st.sampled_from([0.3, 0.5, 0.7]))
def test_an_agreeing_score_never_turns_a_pass_into_a_fail(d: list[float], margin: float) -> None:
    assume(stats.assess_scores(d, margin).verdict == "pass")
    assert stats.assess_scores([*d, 0.0], margin).verdict != "fail"


@settings(max_examples=examples(25, soak=500))
@given(DIFFERENCES, MARGINS)
def test_bound_and_p_value_of_scores_agree(d: list[float], margin: float) -> None:
    bound = stats.lower_bound(d)
    lower = bound.lower(0.05)
    assume(abs(lower + margin) > 1e-6)
    assert (bound.p(-margin) <= 0.05) == (lower > -margin)


@settings(max_examples=examples(15, soak=500))
@given(DIFFERENCES, st.integers(2, 25), MARGINS, SEEDS)
def test_clusters_know_no_order_and_no_names(d: list[float], families: int, margin: float, seed: int) -> None:
    clusters = [i % families for i in range(len(d))]
    assume(len(set(clusters)) > 1)
    both = list(zip(d, clusters, strict=True))
    mixed = shuffled(both, seed)
    values, names = [x for x, _ in mixed], [f"family {g:02}" for _, g in mixed]
    one = stats.assess_clustered_scores(d, clusters, margin)
    assert stats.assess_clustered_scores(values, names, margin) == one
    assert one.interval.lower <= one.estimate <= one.interval.upper
    outcomes = np.sign(np.trunc(d))
    again = [float(np.sign(np.trunc(x))) for x in values]
    binary = stats.assess_clustered_binary(outcomes, clusters, margin)
    assert stats.assess_clustered_binary(again, names, margin) == binary
    assert binary.interval.lower <= binary.estimate <= binary.interval.upper
    assert binary.n_eff >= binary.b_eff + binary.c_eff


@given(st.lists(st.tuples(st.floats(0.01, 100), st.floats(0.01, 100)), min_size=2, max_size=30), SEEDS)
def test_ratios_know_no_order_and_invert(pairs: list[tuple[float, float]], seed: int) -> None:
    mixed = shuffled(pairs, seed)
    one = stats.assess_ratio([x for x, _ in pairs], [y for _, y in pairs])
    again = stats.assess_ratio([x for x, _ in mixed], [y for _, y in mixed])
    assert again.p_non_inferior == one.p_non_inferior
    assert one.interval.lower <= one.estimate <= one.interval.upper
    back = stats.assess_ratio([y for _, y in pairs], [x for x, _ in pairs])
    assert log(back.estimate) == pytest.approx(-log(one.estimate), abs=1e-9)
    assert back.p_superior == pytest.approx(one.p_inferior, abs=1e-9)


KINDS = {
    (True, None): "missing_candidate_baseline_pass",
    (False, None): "missing_candidate_baseline_fail",
    (None, True): "missing_baseline_candidate_pass",
    (None, False): "missing_baseline_candidate_fail",
    (None, None): "missing_both",
    (True, False): "b",
    (False, True): "c",
}


def pairing(cases: list[tuple[bool | None, bool | None]]) -> stats.Pairing:
    times = Counter(KINDS[case] for case in cases if case in KINDS)
    return stats.Pairing(**{"b": 0, "c": 0, **times}, n_complete=sum(None not in case for case in cases))


@settings(max_examples=examples(30, soak=1000))
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 8)), min_size=1, max_size=60), MARGINS)
def test_a_lost_result_never_helps(cases: list[tuple[bool, bool, int]], margin: float) -> None:
    whole = stats.assess_pairing(pairing([(base, cand) for base, cand, _ in cases]), margin)
    some = pairing([(None if lost in {1, 3} else base, None if lost in {2, 3} else cand) for base, cand, lost in cases])
    partial = stats.assess_pairing(some, margin)
    assert partial.cases == whole.cases == len(cases)
    assert partial.p_non_inferior >= whole.p_non_inferior - 1e-9
    assert some.delta_bounds[0] - 1e-12 <= whole.estimate <= some.delta_bounds[1] + 1e-12
    assert partial.estimate == pytest.approx(some.delta_bounds[0])
    if partial.verdict == "pass":
        assert whole.verdict == "pass"
