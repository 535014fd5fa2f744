"""How many cases would settle what was shown neither way. Apart from the verdict, which it never touches, and slow."""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, floor

from beleg.evals.gate.criterion import Judged
from beleg.evals.gate.judge import Report
from beleg.evals.gate.margins import differences
from beleg.evals.gate.reasons import Reason, reason
from beleg.evals.stats import FurtherCases, cluster_mean, further_cases

_EVEN = 1e-9


def planned(report: Report) -> Report:
    """The report with cases needed, and what to say of them, where a difference was shown neither way."""
    return replace(report, criteria=tuple(_planned(each) for each in report.criteria))


def _planned(found: Judged) -> Judged:
    compared, paired = found.comparison, found.paired
    if compared is None or compared.assessed is None or compared.ratio or compared.verdict != "inconclusive":
        return found
    d = differences(paired.candidate, paired.baseline)
    # Squares, since a small change of a score weighs less than a case lost; for right and wrong these are the counts.
    lost, won = (sum(each * each for each in d if sign * each > 0) for sign in (-1, 1))
    plan = further_cases(
        ceil(lost - _EVEN),
        floor(won + _EVEN),
        len(d),
        compared.assessed.margin,
        compared.assessed.alpha,
        design_effect=cluster_mean(d, paired.families).design_effect if paired.clustered else 1.0,
    )
    return replace(found, reasons=(*found.reasons, *_told(plan, len(d))), cases_needed=plan.total_if_equal)


def _told(plan: FurtherCases, cases: int) -> Iterator[Reason]:
    if plan.more_if_equal:
        counts = {"total": plan.total_if_equal, "more": plan.more_if_equal}
        yield reason("cases_needed", rate_share=plan.discordance, **counts)
    else:
        yield reason("cases_enough", cases=cases)
    if plan.total_if_as_observed is None:
        yield reason("no_cases_suffice")
