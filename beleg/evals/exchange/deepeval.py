"""Test runs of DeepEval: the file that `deepeval test run` leaves (camelCase), or `evaluate()` as JSON (snake_case).

`case_id` or `input_ref` in the metadata of a test case, else its name, tells the case.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beleg.evals.exchange import rows
from beleg.evals.exchange.rows import Row
from beleg.evals.scoring.receipt import Receipt


def read(path: Path, variant: str | None) -> list[Row]:
    """The rows; raises DamagedError with the test case's number for a file that is no test run."""
    whole = rows.document(rows.content(path), path.name)
    found = whole.get("testCases", whole.get("test_results")) if isinstance(whole, Mapping) else None
    if not isinstance(found, list):
        raise rows.wrong(
            path.name, "the file", "it has neither testCases nor test_results: it is no test run of DeepEval"
        )
    told = [
        ("the test run", _row(each, path.name, f"test case {number}")) for number, each in enumerate(found, start=1)
    ]
    return rows.of_variant(told, variant, path.name)


def _row(case: Any, name: str, place: str) -> Row:
    if not isinstance(case, Mapping):
        raise rows.wrong(name, place, "it is no object")
    told = case.get("metadata") or case.get("additional_metadata") or case.get("additionalMetadata")
    metadata: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
    keys = rows.texts(metadata.get("case_id"), metadata.get("input_ref"), case.get("name"))
    if not keys:
        raise rows.wrong(name, place, "it has neither metadata with a case_id nor a name")
    answer = case.get("actualOutput", case.get("actual_output"))
    seconds = case.get("completionTime", case.get("completion_time"))
    latency_ms = rows.count(seconds * 1000) if isinstance(seconds, (int, float)) else None
    into, out = (
        rows.count(case.get(f"{each}TokenCount", case.get(f"{each}_token_count"))) for each in ("input", "output")
    )
    cost = rows.pico_usd(case.get("tokenCost", case.get("token_cost")))
    return Row(place, keys, None if rows.empty(answer) else answer, took=Receipt(None, latency_ms, into, out, cost))
