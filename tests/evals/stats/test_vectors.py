"""Every reference value, by the public functions, within the tolerance that stands beside it."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from beleg.evals import stats

Figures = Mapping[str, Any]


def _mcnemar(b: int, c: int) -> Figures:
    found = stats.mcnemar(b, c)
    return {
        "p_two": found.p_two_sided,
        "p_superior": found.p_superior,
        "p_inferior": found.p_inferior,
        "midp_two": found.midp_two_sided,
        "midp_superior": found.midp_superior,
    }


def _ends(interval: stats.Interval) -> list[float]:
    return [interval.lower, interval.upper]


def _closed(b: int, c: int, n: int, conf: float) -> Figures:
    of = {
        "tango": stats.tango_interval,
        "bonett_price": stats.bonett_price_interval,
        "wald": stats.wald_interval,
        "agresti_min": stats.agresti_min_interval,
    }
    return {name: _ends(function(b, c, n, (1 - conf) / 2)) for name, function in of.items()}


def _newcombe(*, conf: float, phi_correction: bool, **cells: int) -> Figures:
    found = stats.newcombe_interval(**cells, alpha=(1 - conf) / 2, corrected=phi_correction)
    return {"interval": _ends(found)}


def _exact_ni(b: int, c: int, n: int, margin: float) -> Figures:
    found = stats.exact_ni(b, c, n, margin)
    return {"p": found.p, "score_z": found.score_z, "score_p": found.score_p}


def _exact_ci(b: int, c: int, n: int, alpha_one_sided: float) -> Figures:
    found = stats.exact_interval(b, c, n, alpha_one_sided)
    return {"lower95": found.lower, "upper95": found.upper}


def _bounded(values: list[float], counts: list[int], support_min: float, null: float) -> Figures:
    d = [x for x, times in zip(values, counts, strict=True) for _ in range(times)]
    return {
        "p": stats.bounded_p(d, null, support_min),
        "lower95": stats.bounded_lower(d, 0.05, support_min),
    }


def _cluster_mean(d: list[float], cluster: list[int], alpha_one_sided: float) -> Figures:
    found = stats.cluster_mean(d, cluster)
    return {
        "mean": found.mean,
        "se_cr0": found.se_cr0,
        "se_cr1": found.se_cr1,
        "se_cr2": found.se_cr2,
        "dof_bm": found.dof,
        "lower95": found.lower(alpha_one_sided),
    }


def _sign_flip(cluster_sums: list[float], alternative: str) -> Figures:
    assert alternative == "greater"
    return {"p": stats.sign_flip(cluster_sums)}


def _cluster_binary(d: list[int], cluster: list[int], margin: float) -> Figures:
    found = stats.cluster_binary_exact(d, cluster, margin)
    return {
        "deff": found.design_effect,
        "n_eff": found.n_eff,
        "b_eff": found.b_eff,
        "c_eff": found.c_eff,
        "p": found.p,
    }


def _e(log_e: float) -> Figures:
    return {"log_e": log_e, "reject_at_0_05": stats.always_valid_p(log_e) <= 0.05}


def _e_ni(b: int, c: int, n: int, margin: float, grid: int) -> Figures:
    assert grid == 64
    return _e(stats.log_e_ni(b, c, n, margin))


def _e_superior(b: int, c: int) -> Figures:
    return _e(stats.log_e_superior(b, c))


def _clopper_pearson(x: int, n: int, alpha_one_sided: float) -> Figures:
    return {"upper": stats.clopper_pearson(x, n, alpha_one_sided).upper}


def _holm(p: list[float]) -> Figures:
    return {"adjusted": list(stats.holm(p)), "iut_p": stats.all_must_hold(p)}


def _ratio(baseline: list[float], candidate: list[float], alpha_one_sided: float) -> Figures:
    found = stats.assess_ratio(baseline, candidate, alpha=alpha_one_sided)
    return {
        "gmr": found.estimate,
        "lower95": found.interval.lower,
        "upper95": found.interval.upper,
        "ratio_of_means": found.ratio_of_means,
    }


def _judge(table_rows_human_pass_fail_cols_judge_pass_fail: list[list[int]], observed_pass_rate: float) -> Figures:
    (a, b), (c, e) = table_rows_human_pass_fail_cols_judge_pass_fail
    found = stats.judge_calibration(a, b, c, e)
    assert found.kappa_interval is not None
    return {
        "agreement": found.agreement,
        "kappa": found.kappa,
        "kappa_lower95": found.kappa_interval.lower,
        "kappa_upper95": found.kappa_interval.upper,
        "sensitivity": found.sensitivity,
        "specificity": found.specificity,
        "rogan_gladen": stats.rogan_gladen(observed_pass_rate, found.sensitivity, found.specificity),
    }


def _ppi(human: list[float], judge_on_human: list[float], judge_unlabelled: list[float]) -> Figures:
    found = stats.ppi_mean(human, judge_on_human, judge_unlabelled)
    return {"estimate": found.estimate, "se": found.se}


def _missing(**counts: int) -> Figures:
    pairing = stats.Pairing(**counts)
    b, c, n = pairing.worst_case
    return {
        "b_worst": b,
        "c_worst": c,
        "n_total": n,
        "delta_low": pairing.delta_bounds[0],
        "delta_high": pairing.delta_bounds[1],
        "p_worst_margin_0_1": stats.assess_pairing(pairing, 0.1).p_non_inferior,
    }


def _power(**inputs: float) -> Figures:
    return {"power": stats.exact_power(**inputs)}  # type: ignore[arg-type]


def _verdict(b: int, c: int, n: int, margin: float, alpha: float) -> Figures:
    found = stats.assess_binary(b, c, n, margin, alpha)
    return {
        "verdict": found.verdict,
        "p_non_inferior": found.p_non_inferior,
        "p_worse_than_margin": found.p_worse_than_margin,
        "p_superior": found.p_superior,
    }


KINDS: dict[str, Callable[..., Figures]] = {
    "mcnemar": _mcnemar,
    "paired_ci_closed": _closed,
    "newcombe_paired": _newcombe,
    "exact_ni": _exact_ni,
    "exact_ci": _exact_ci,
    "bounded_mean_lower": _bounded,
    "cluster_mean": _cluster_mean,
    "sign_flip": _sign_flip,
    "cluster_binary_exact": _cluster_binary,
    "e_value_ni": _e_ni,
    "e_value_sup": _e_superior,
    "clopper_pearson_upper": _clopper_pearson,
    "holm": _holm,
    "geo_mean_ratio": _ratio,
    "judge_agreement": _judge,
    "ppi_mean": _ppi,
    "missing_bounds": _missing,
    "power_exact": _power,
    "verdict_ni": _verdict,
}
NO_METHOD = {"rule_of_three"}
"""Expected values that stand beside the method for comparison only: 3 / n is no bound."""


@pytest.fixture(scope="module")
def vectors(test_data: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((test_data / "stats" / "vectors.json").read_text(encoding="utf-8"))
    return rows


@pytest.mark.parametrize("kind", KINDS)
def test_reference_values_hold_within_their_tolerance(kind: str, vectors: list[dict[str, Any]]) -> None:
    rows = [row for row in vectors if row["kind"] == kind]
    assert rows
    for row in rows:
        found, expected = KINDS[kind](**row["input"]), row["expected"]
        for name in expected.keys() - NO_METHOD:
            assert found[name] == _near(expected[name], row["tolerance"]), (row["id"], name)


def _near(expected: Any, tolerance: float) -> Any:
    return expected if isinstance(expected, bool | str) else pytest.approx(expected, abs=tolerance, rel=0)


def test_no_kind_of_reference_value_goes_unchecked(vectors: list[dict[str, Any]]) -> None:
    assert Counter(row["kind"] for row in vectors).keys() == KINDS.keys()
    assert len({row["id"] for row in vectors}) == len(vectors) == 110
