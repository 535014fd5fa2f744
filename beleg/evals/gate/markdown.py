"""The verdict as Markdown: what a pull request shows."""

from collections.abc import Iterator

from beleg.evals.gate.criterion import Judged
from beleg.evals.gate.judge import Report
from beleg.evals.gate.margins import Comparison

_MARK = {"pass": "✅", "fail": "❌", "inconclusive": "❓"}
_ROW = "| criterion | verdict | candidate | against the baseline | margin | worse | better |"
_MOST_REASONS = 20


def summary(report: Report) -> str:
    """Verdict, a row for each criterion, and why; text of others is never taken for markup."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    plan = report.plan
    against = "nothing, as the first version" if plan.baseline is None else plan.baseline.version or "another draft"
    yield f"## {_MARK[report.verdict]} {_plain(plan.feature)}: {report.verdict}"
    yield ""
    missing = f", {report.missing} without a result" if report.missing else ""
    yield (
        f"Candidate `{plan.candidate.digest[:12]}` against {_plain(against)} on {report.cases} cases{missing}. "
        f"Tier {plan.risk_tier}, attempt {report.standing.attempt}, level {report.alpha:.3g}."
    )
    yield ""
    yield _ROW
    yield "|---|---|---|---|---|---|---|"
    yield from (_row(each) for each in report.criteria)
    told = [each.sentence for each in report.reasons]
    told += [f"{each.criterion.name}: {why.sentence}" for each in report.criteria for why in each.reasons]
    if told:
        yield ""
        yield from (f"- {_plain(each)}" for each in told[:_MOST_REASONS])
        if len(told) > _MOST_REASONS:
            yield f"- and {len(told) - _MOST_REASONS} more; the report has all of them"


def _row(found: Judged) -> str:
    level = f"{found.threshold.level.estimate:.4g} (threshold {found.threshold.threshold:.4g})"
    mark = f"{_MARK[found.verdict]} {found.verdict}"
    cells = [_plain(found.criterion.name), mark, level, *_compared(found.comparison, found.criterion.margin)]
    return f"| {' | '.join(cells)} |"


def _compared(found: Comparison | None, margin: float | None) -> list[str]:
    if found is None:
        return ["—"] * 4
    allowed = f"{100 * (margin or 0):.3g} {'%' if found.ratio else 'points'}"
    moved = [str(found.worse), str(found.better)]
    if found.assessed is None:
        return ["—", allowed, *moved]
    ends = found.assessed.estimate, found.assessed.interval.lower, found.assessed.interval.upper
    if found.ratio:
        told = "×{:.3f} ({:.3f} to {:.3f})".format(*ends)
    else:
        told = "{:+.1f} points ({:+.1f} to {:+.1f})".format(*(100 * each for each in ends))
    return [told, allowed, *moved]


def _plain(text: str) -> str:
    """A text of others as text: no markup, no link, no line of its own."""
    one_line = " ".join(text.split())
    return "".join(f"\\{each}" if each in "\\`*_{}[]<>()#+!|~@&" else each for each in one_line)
