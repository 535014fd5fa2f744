"""Holds what the pipeline found against what was known while the demo was made."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import duckdb

from beleg.core.sql import query
from beleg.demo.learning import Gate
from beleg.demo.tally import DemoSummary
from beleg.ingest.run import IngestReport

_RESULTS = {
    "ocr": "documents",
    "categorization": "transactions",
    "reconciliation": "reconciled_items",
    "dunning": "letters",
    "vat_return": "filed_return",
    "chat_copilot": "answers",
}
"""Workflow → the kind of result that the demo's workflows.yaml counts."""


@dataclass(frozen=True)
class Check:
    """One question with a known answer."""

    what: str
    known: Mapping[str, int]
    found: Mapping[str, int]

    @property
    def holds(self) -> bool:
        """True where the pipeline found exactly what is known; zero and absent are the same count."""
        return _without_zeros(self.known) == _without_zeros(self.found)


def checks(summary: DemoSummary, ingested: IngestReport, con: duckdb.DuckDBPyConnection) -> Iterator[Check]:
    """Ask everything the summary knows; `con` reads the published figures."""
    counts = ("read", "accepted", "duplicates", "superseded", "pending")
    yield Check("lines", {c: getattr(summary, c) for c in counts}, {c: getattr(ingested, c) for c in counts})
    yield Check("refused lines by reason", summary.quarantined, ingested.quarantined_by_reason)
    yield Check("runs by workflow", summary.runs_by_workflow, _found(con, "runs"))
    yield Check("runs by status", summary.finished_by_status, _found(con, "statuses"))
    tokens = {model: sum(buckets.values()) for model, buckets in summary.tokens.items()}
    yield Check("tokens by model", tokens, _found(con, "tokens"))
    results = {workflow: summary.results.get(kind, 0) for workflow, kind in _RESULTS.items()}
    yield Check("results by workflow", results, _found(con, "results"))
    yield Check("requests by tool list", summary.copilot_requests, _found(con, "tool_lists"))
    yield Check("calls by tool", summary.tool_calls, _found(con, "tool_calls"))
    yield Check("requests by open playbook", summary.playbook_requests, _found(con, "playbooks"))
    again = summary.copilot_cache_read_tokens
    yield Check("prompt tokens that the copilot's cache held", again, _found(con, "found_again"))
    own = {"cost_pico_usd": summary.own_model_cost_pico_usd, "billed_pico_usd": summary.own_model_billed_pico_usd}
    yield Check("the own model's exact cost and bill", own, _found(con, "own_model", model=summary.own_model))


def check_gate(gate: Gate) -> Check:
    """What the gate must find: the draft reads every deposit better, and nothing worse."""
    found = {"better": gate.better, "worse": gate.worse}
    return Check("receipts that the draft reads better", {"better": gate.known_better, "worse": 0}, found)


def _found(con: duckdb.DuckDBPyConnection, name: str, **parameters: Any) -> dict[str, int]:
    rows = con.execute(query("beleg.demo", name), parameters).fetchall()
    return {name: int(found or 0) for name, found in rows}


def _without_zeros(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}
