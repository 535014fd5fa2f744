"""The page of the checks: what was asked of each table, for which versions, and what was found."""

from pathlib import Path

from beleg.checks import evidence
from beleg.checks.evidence import Evidence
from beleg.checks.judge import subjects
from beleg.checks.rules import Rule, rules
from beleg.checks.sums import SUMS
from beleg.core import contracts
from beleg.core.files import replace_text
from beleg.core.settings import Settings
from beleg.report.page import css, environment


def render_checks(settings: Settings) -> Path:
    """Write `reports/checks.html` from the evidence in the ledger and return its path."""
    known = evidence.known(settings)
    latest = [known[subject][0] for subject in subjects() if known.get(subject)]
    page = (
        environment()
        .get_template("checks.html.j2")
        .render(
            css=css(),
            failed=[e for e in latest if e.failed],
            entries=latest,
            rules={e.subject: _asked(e) for e in latest},
            found={e.subject: {f.rule: f for f in e.findings} for e in latest},
        )
    )
    out = settings.home / "reports" / "checks.html"
    replace_text(out, page)
    return out


def _asked(entry: Evidence) -> tuple[Rule, ...]:
    """The rules of a subject, as the contracts hold them now."""
    for one in SUMS:
        if one.name == entry.subject:
            return (Rule(one.name, one.meaning),)
    return rules(contracts.load(entry.subject))
