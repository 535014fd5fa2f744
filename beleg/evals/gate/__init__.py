"""The gate: is a new version good enough, and no worse than the one that is active?

judge: a pure function of a plan, results, rules and earlier attempts
 ├── plan, policy, attempts: what is asked, what is demanded, how often it was tried
 ├── pairing, gaps: results side by side, and what is missing
 ├── criterion: thresholds (the candidate alone), margins (against the baseline)
 └── critical, slices
run: the same with files and the lake; document, markdown, junit: how the report is written down
"""

from beleg.evals.gate.document import evidence, evidence_bytes
from beleg.evals.gate.judge import Report, judge, judge_hidden
from beleg.evals.gate.pairing import Stopped
from beleg.evals.gate.plan import Plan, PlannedCase, Version
from beleg.evals.gate.policy import Rules, rules
from beleg.evals.gate.run import Outcome, gate
from beleg.evals.gate.table import tabulate

__all__ = [
    "Outcome",
    "Plan",
    "PlannedCase",
    "Report",
    "Rules",
    "Stopped",
    "Version",
    "evidence",
    "evidence_bytes",
    "gate",
    "judge",
    "judge_hidden",
    "rules",
    "tabulate",
]
