"""A grader is a measuring device: how far it agrees with people, and what its errors cost the margin."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import ndtri

from beleg.evals.stats.guard import Floats, StatisticsError, Values, alpha_of, margin_of, same_length, whole, within
from beleg.evals.stats.proportions import clopper_pearson
from beleg.evals.stats.verdict import Interval

MIN_LABELLED = 50
MIN_YOUDEN = 0.6
"""Lower limit of sensitivity + specificity - 1 below which a grader may not gate."""


@dataclass(frozen=True, slots=True)
class JudgeCalibration:
    """A grader against human labels. Make one for each side too: a grader that favours a side has differing rates."""

    labelled: int
    agreement: float
    sensitivity: float
    """Share of what people passed that the grader passed."""
    sensitivity_interval: Interval
    specificity: float
    """Share of what people failed that the grader failed."""
    specificity_interval: Interval
    kappa: float | None
    """Agreement beyond chance; None where both use one answer only."""
    kappa_interval: Interval | None
    youden_lower: float
    """Lower limit of sensitivity + specificity - 1: the sum of two lower ends, so wrong with at most 2 alpha (5 %)."""
    unfit: tuple[str, ...]
    """Reasons against gating with this grader; empty if fit."""

    def narrowed(self, margin: float) -> float:
        """The margin to gate with: an imperfect grader shrinks a true loss by sensitivity + specificity - 1."""
        if self.unfit:
            msg = f"this grader is unfit for gating: {'; '.join(self.unfit)}"
            raise StatisticsError(msg)
        return margin_of(margin) * self.youden_lower


def judge_calibration(
    pass_pass: int, pass_fail: int, fail_pass: int, fail_fail: int, alpha: float = 0.025
) -> JudgeCalibration:
    """Calibration from a confusion table, named human_grader; alpha is one-sided, for each end of every interval.

    kappa = (po - pe) / (1 - pe) with its asymptotic interval (Fleiss, Cohen and Everitt 1969); sensitivity and
    specificity with Clopper-Pearson's; the Youden limit is guaranteed by Bonferroni. Labels must be a random sample of
    the outputs judged. Raises StatisticsError where one of the human classes is empty: nothing is known about it then.
    """
    names = ("pass_pass", "pass_fail", "fail_pass", "fail_fail")
    a, b, c, e = map(whole, names, (pass_pass, pass_fail, fail_pass, fail_fail))
    if not a + b or not c + e:
        msg = f"people passed {a + b} and failed {c + e}: both classes are needed to know a grader's errors"
        raise StatisticsError(msg)
    level = alpha_of(alpha)
    passed, failed = clopper_pearson(a, a + b, level), clopper_pearson(e, c + e, level)
    youden = passed.lower + failed.lower - 1
    kappa, interval = _kappa(np.array([[a, b], [c, e]], dtype=np.float64), level)
    return JudgeCalibration(
        labelled=a + b + c + e,
        agreement=(a + e) / (a + b + c + e),
        sensitivity=a / (a + b),
        sensitivity_interval=passed,
        specificity=e / (c + e),
        specificity_interval=failed,
        kappa=kappa,
        kappa_interval=interval,
        youden_lower=youden,
        unfit=_unfit(a + b + c + e, youden),
    )


def _unfit(labelled: int, youden: float) -> tuple[str, ...]:
    few = f"{labelled} human labels, at least {MIN_LABELLED} are needed"
    weak = f"sensitivity + specificity - 1 may be as low as {youden:.3f}, at least {MIN_YOUDEN} is needed"
    return tuple(why for why, holds in ((few, labelled < MIN_LABELLED), (weak, youden < MIN_YOUDEN)) if holds)


def _kappa(table: Floats, alpha: float) -> tuple[float | None, Interval | None]:
    p = table / table.sum()
    human, grader = p.sum(axis=1), p.sum(axis=0)
    po, pe = float(np.trace(p)), float(human @ grader)
    if pe >= 1:
        return None, None
    kappa = (po - pe) / (1 - pe)
    on = float((np.diag(p) * (1 - (human + grader) * (1 - kappa)) ** 2).sum())
    off = p * (grader[:, None] + human[None, :]) ** 2
    variance = on + (1 - kappa) ** 2 * float(off.sum() - np.trace(off)) - (kappa - pe * (1 - kappa)) ** 2
    reach = -float(ndtri(alpha)) * sqrt(max(variance, 0.0) / table.sum()) / (1 - pe)
    return kappa, Interval(kappa - reach, kappa + reach, alpha, "asymptotic")


def rogan_gladen(observed: float, sensitivity: float, specificity: float) -> float:
    """True rate behind an observed one: (p + sp - 1) / (se + sp - 1), clipped to [0, 1]. Source: Rogan, Gladen 1978.

    Raises StatisticsError for a grader no better than chance.
    """
    rates = within("rates", [observed, sensitivity, specificity], 0, 1)
    youden = float(rates[1] + rates[2] - 1)
    if youden <= 0:
        msg = f"sensitivity + specificity - 1 is {youden:g}: a grader no better than chance corrects nothing"
        raise StatisticsError(msg)
    return float(np.clip((rates[0] + rates[2] - 1) / youden, 0, 1))


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """A mean from many grader scores, corrected by the few that people labelled too."""

    estimate: float
    se: float
    """Of the normal approximation."""


def ppi_mean(human: Values, judge_on_human: Values, judge_unlabelled: Values) -> PredictionPowered:
    """mean(judge) + mean(human - judge); variance var(judge)/N + var(human - judge)/n, both with n - 1.

    Assumes a random sample of labels, about 100 or more, and no rare events. For pairs give differences. Source:
    Angelopoulos et al. 2023.
    """
    named = {"human": human, "judge_on_human": judge_on_human, "judge_unlabelled": judge_unlabelled}
    y, f, g = (within(name, each, -1, 1) for name, each in named.items())
    same_length(human=y, judge_on_human=f)
    if min(len(y), len(g)) < 2:
        msg = f"{len(y)} labelled and {len(g)} unlabelled scores: at least two of each are needed"
        raise StatisticsError(msg)
    variance = g.var(ddof=1) / len(g) + (y - f).var(ddof=1) / len(y)
    return PredictionPowered(float(g.mean() + (y - f).mean()), sqrt(variance))
