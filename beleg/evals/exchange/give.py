"""Cases as other tools read them: references and right values. Inputs stay in the owner's system."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.core.values import stored_workflows
from beleg.evals.cases.case import Case, Expectation
from beleg.evals.cases.dataset import Dataset
from beleg.trace.fingerprint import fingerprint

Expected = Mapping[str, Any]
"""JSON pointer → `{"value": …}`, or `{"hash": …}` where only the fingerprint may leave."""


def give(settings: Settings, project: Path, name: str, format: str) -> str:  # noqa: A002 - as the option is called
    """The text of a file with the latest cases of a dataset; raises UsageError for an unknown format or dataset."""
    if format not in FORMATS:
        raise UsageError(f"--format {format!r} is none of {', '.join(FORMATS)}")
    dataset = Dataset.load(project, name)
    stored = stored_workflows(settings)
    told = [(case, _expected(case, stored=case.workflow in stored)) for case in dataset.cases()]
    return FORMATS[format](dataset, told)


Told = list[tuple[Case, Expected]]


def _expected(case: Case, *, stored: bool) -> Expected:
    """What may leave by today's policy: a value that was frozen while it was stored may not be any more."""
    return {place: _known(each, case, stored=stored) for place, each in case.expected.items()}


def _known(known: Expectation, case: Case, *, stored: bool) -> dict[str, Any]:
    if known.hash is not None or stored:
        return known.document()
    return {"hash": fingerprint(known.value, key=case.hash_key_id)}


def _plain(expected: Expected) -> Any:
    """The right result itself where it is known as a whole, else what is known of its parts."""
    return expected[""]["value"] if list(expected) == [""] and "value" in expected[""] else expected


def _metadata(dataset: Dataset, case: Case) -> dict[str, Any]:
    return {
        "case_id": case.case_id,
        "dataset": dataset.name,
        "dataset_digest": dataset.digest,
        "feature": case.feature,
        "workflow": case.workflow,
        "input_ref": case.input_ref,
        "input_hash": case.input_hash,
        "hash_key_id": case.hash_key_id,
        "family": case.family,
        "critical": case.critical,
        "slices": dict(case.slices),
    }


def _inspect(dataset: Dataset, told: Told) -> str:
    """JSON Lines for `inspect_ai.dataset.json_dataset`; a solver of the owner's fetches the input by reference."""
    samples = (
        {
            "id": case.case_id,
            "input": case.input_ref,
            "target": _json(_plain(expected)),
            "metadata": {**_metadata(dataset, case), "expected": expected},
        }
        for case, expected in told
    )
    return "".join(_json(each) + "\n" for each in samples)


def _promptfoo(dataset: Dataset, told: Told) -> str:
    """Tests for `tests: file://….json`; a provider or a transform of the owner's fetches the input by `input_ref`."""
    tests = [
        {
            "description": case.case_id,
            "vars": {"case_id": case.case_id, "input_ref": case.input_ref},
            "metadata": {**_metadata(dataset, case), "expected": expected},
        }
        for case, expected in told
    ]
    return json.dumps(tests, ensure_ascii=False, indent=1) + "\n"


def _langfuse(dataset: Dataset, told: Told) -> str:
    """JSON Lines of bodies for `POST /api/public/dataset-items`, which upserts by id."""
    items = (
        {
            "datasetName": dataset.name,
            "id": f"{dataset.name}/{case.case_id}",  # ids of items are unique over all datasets of a project
            "input": {"input_ref": case.input_ref},
            "expectedOutput": _plain(expected),
            "metadata": _metadata(dataset, case),
            "status": "ACTIVE",
        }
        for case, expected in told
    )
    return "".join(_json(each) + "\n" for each in items)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


FORMATS: Mapping[str, Callable[[Dataset, Told], str]] = {
    "inspect": _inspect,
    "promptfoo": _promptfoo,
    "langfuse": _langfuse,
}
