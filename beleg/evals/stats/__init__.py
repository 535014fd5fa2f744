"""Statistics of paired evaluations: has the candidate become worse than the baseline, by more than a margin?

Start with `assess_binary` (passed or failed), `assess_scores` (0 to 1), `assess_ratio` and `assess_exceedance` (cost,
latency), their clustered variants, `assess_looks` (more than one look) or `assess_pairing` (missing results). Each
returns an `Assessment` with estimate, interval, p-values and one of three verdicts. alpha is one-sided throughout,
b counts regressions, c improvements, n all planned cases. What cannot be compared raises `StatisticsError`.

Needs numpy and scipy. docs/statistics.md says which method is used when, and with which error rates.
"""

from beleg.evals.stats.binary import (
    BinaryAssessment,
    BinaryTest,
    assess_binary,
    exact_interval,
    exact_ni,
    exact_test,
    exact_worse,
)
from beleg.evals.stats.bootstrap import BootstrapPicture, paired_bootstrap
from beleg.evals.stats.bounded import bounded_lower, bounded_p
from beleg.evals.stats.closed import agresti_min_interval, bonett_price_interval, newcombe_interval, wald_interval
from beleg.evals.stats.cluster_binary import (
    ClusterBinaryAssessment,
    ClusterBinaryTest,
    assess_clustered_binary,
    cluster_binary_exact,
)
from beleg.evals.stats.cluster_scores import assess_clustered_scores, cluster_lower_bound
from beleg.evals.stats.clusters import (
    MIN_FAMILIES,
    ClusterMean,
    cluster_bounded_lower,
    cluster_bounded_p,
    cluster_mean,
    sign_flip,
)
from beleg.evals.stats.further import FurtherCases, further_cases, inconclusive_sentence
from beleg.evals.stats.guard import StatisticsError
from beleg.evals.stats.judges import JudgeCalibration, PredictionPowered, judge_calibration, ppi_mean, rogan_gladen
from beleg.evals.stats.looks import (
    always_valid_p,
    assess_looks,
    assess_looks_scores,
    attempt_alpha,
    confidence_sequence,
    log_e_clusters,
    log_e_ni,
    log_e_scores,
    log_e_superior,
    look_alpha,
)
from beleg.evals.stats.mcnemar import McNemar, mcnemar
from beleg.evals.stats.missing import Pairing, assess_pairing, missing_reasons
from beleg.evals.stats.multiple import all_must_hold, benjamini_hochberg, holm
from beleg.evals.stats.power import (
    CasesNeeded,
    cases_needed,
    exact_power,
    minimal_detectable_difference,
    normal_cases,
    pass_floor,
)
from beleg.evals.stats.proportions import clopper_pearson, wilson
from beleg.evals.stats.ratios import (
    RatioAssessment,
    RatioOfMeans,
    assess_ratio,
    capped_total_p,
    ratio_of_means,
)
from beleg.evals.stats.scores import (
    OneSided,
    ScoreAssessment,
    assess_scores,
    effective_losses,
    guarded_t_lower,
    guarded_t_p,
    lower_bound,
)
from beleg.evals.stats.tails import QuantileLimit, assess_exceedance, quantile_upper
from beleg.evals.stats.tango import tango_interval, tango_score
from beleg.evals.stats.verdict import Assessment, Interval, Verdict, verdict

__all__ = [
    "MIN_FAMILIES",
    "Assessment",
    "BinaryAssessment",
    "BinaryTest",
    "BootstrapPicture",
    "CasesNeeded",
    "ClusterBinaryAssessment",
    "ClusterBinaryTest",
    "ClusterMean",
    "FurtherCases",
    "Interval",
    "JudgeCalibration",
    "McNemar",
    "OneSided",
    "Pairing",
    "PredictionPowered",
    "QuantileLimit",
    "RatioAssessment",
    "RatioOfMeans",
    "ScoreAssessment",
    "StatisticsError",
    "Verdict",
    "agresti_min_interval",
    "all_must_hold",
    "always_valid_p",
    "assess_binary",
    "assess_clustered_binary",
    "assess_clustered_scores",
    "assess_exceedance",
    "assess_looks",
    "assess_looks_scores",
    "assess_pairing",
    "assess_ratio",
    "assess_scores",
    "attempt_alpha",
    "benjamini_hochberg",
    "bonett_price_interval",
    "bounded_lower",
    "bounded_p",
    "capped_total_p",
    "cases_needed",
    "clopper_pearson",
    "cluster_binary_exact",
    "cluster_bounded_lower",
    "cluster_bounded_p",
    "cluster_lower_bound",
    "cluster_mean",
    "confidence_sequence",
    "effective_losses",
    "exact_interval",
    "exact_ni",
    "exact_power",
    "exact_test",
    "exact_worse",
    "further_cases",
    "guarded_t_lower",
    "guarded_t_p",
    "holm",
    "inconclusive_sentence",
    "judge_calibration",
    "log_e_clusters",
    "log_e_ni",
    "log_e_scores",
    "log_e_superior",
    "look_alpha",
    "lower_bound",
    "mcnemar",
    "minimal_detectable_difference",
    "missing_reasons",
    "newcombe_interval",
    "normal_cases",
    "paired_bootstrap",
    "pass_floor",
    "ppi_mean",
    "quantile_upper",
    "ratio_of_means",
    "rogan_gladen",
    "sign_flip",
    "tango_interval",
    "tango_score",
    "verdict",
    "wald_interval",
    "wilson",
]
