"""Outputs of promptfoo (`promptfoo eval --output results.json`): one answer per test, prompt, provider and repeat.

`case_id` or `input_ref`, in the metadata of the test or among its variables, tells the case. With `--repeat`
promptfoo answers from its cache unless told not to: such repeats are copies of one answer, and are refused.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beleg.core.errors import UsageError
from beleg.evals.exchange import rows
from beleg.evals.exchange.rows import Row
from beleg.evals.scoring.receipt import Receipt


def read(path: Path, variant: str | None) -> list[Row]:
    """The rows; raises DamagedError with the result's number, UsageError for repeats out of the cache."""
    whole = rows.document(rows.content(path), path.name)
    summary = rows.member(whole, "results", dict, path.name, "the file")
    results = rows.member(summary, "results", list, path.name, "results")
    at = summary.get("timestamp")
    told = [_row(each, path.name, f"result {number}", at) for number, each in enumerate(results, start=1)]
    wanted = rows.of_variant(told, variant, path.name)
    _refuse_copies(wanted, path.name)
    return wanted


def _refuse_copies(wanted: list[Row], name: str) -> None:
    times = Counter(row.keys for row in wanted)
    copies = [row for row in wanted if row.cached and times[row.keys] > 1]
    if copies:
        raise UsageError(
            f"{name}: {len(copies)} answers of repeated cases come out of promptfoo's cache ({copies[0].place} is the "
            "first). Copies of one answer are no repetitions: run promptfoo again with --no-cache"
        )


def _row(result: Any, name: str, place: str, at: object) -> tuple[str, Row]:
    test = rows.member(result, "testCase", dict, name, place)
    metadata, variables = (_mapping(test.get(each)) for each in ("metadata", "vars"))
    own = _mapping(result.get("vars"))
    keys = rows.texts(*(each.get(key) for key in ("case_id", "input_ref") for each in (metadata, variables, own)))
    if not keys:
        raise rows.wrong(name, place, "neither its metadata nor its variables hold a case_id or an input_ref")
    response = _mapping(result.get("response"))
    answer = response.get("output")
    failed = answer is None and bool(result.get("error") or response.get("error"))
    provider = result.get("provider")
    provider = provider.get("id") if isinstance(provider, Mapping) else provider
    row = Row(
        place,
        keys,
        None if failed or rows.empty(answer) else answer,
        error=failed,
        cached=response.get("cached") is True,
        took=_took(result, response),
        at=rows.instant(at),
    )
    return f"{provider}#{result.get('promptIdx', 0)}", row


def _took(result: Mapping[str, Any], response: Mapping[str, Any]) -> Receipt:
    """Of a copy nothing is known: it took no time and no money."""
    if response.get("cached") is True:
        return Receipt(None)
    usage = _mapping(response.get("tokenUsage"))
    cost = rows.pico_usd(response.get("cost", result.get("cost")))
    # Where the provider reports no cost, promptfoo writes 0.
    into, out = rows.count(usage.get("prompt")), rows.count(usage.get("completion"))
    return Receipt(None, rows.count(result.get("latencyMs")), into or None, out or None, cost or None)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
