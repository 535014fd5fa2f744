"""What people said about runs, and the patterns in it: real errors told apart from noise (`docs/corrections.md`).

`renew` makes the table `findings` while a publication is made; the other functions read what was published.
"""

from beleg.evals.findings.asking import Shown, Unbound, WordCount, findings, members, show, spoken, unbound
from beleg.evals.findings.renewing import renew
from beleg.evals.findings.rule import Finding, Group, Rule, judge

__all__ = [
    "Finding",
    "Group",
    "Rule",
    "Shown",
    "Unbound",
    "WordCount",
    "findings",
    "judge",
    "members",
    "renew",
    "show",
    "spoken",
    "unbound",
]
