"""A project with cases, a suite and a registry, for evaluations that run against a model on this machine."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from beleg import flow
from beleg.contract import draft
from beleg.contract.model import Contract, Criterion, Evals, Provider, Providers
from beleg.contract.registry.registry import Registry
from beleg.core.settings import Settings
from beleg.evals.cases import files
from beleg.evals.cases.case import Case, Expectation
from beleg.evals.cases.dataset import Dataset, empty
from beleg.evals.results import Result, from_event
from beleg.trace.fingerprint import fingerprint
from tests.contract.client.released import FEATURE, Shop, contract
from tests.contract.run.double import MODEL
from tests.evals.scoring.model import Model

DATASET = "receipts"
CRITERIA = (
    Criterion("total", "number:total", "binary", 0.9, 0.05),
    Criterion("valid", "schema_valid", "binary", 0.9, 0.05),
    Criterion("cheap", "cost_usd", "cost", 0.05, 0.1),
)
RESOLVER = """
CALLS = []

def fetch(reference):
    CALLS.append(reference)
    return {"document": f"PLANTED receipt {reference}"}

async def fetch_later(reference):
    return {"document": f"PLANTED receipt {reference}"}

def changed(reference):
    return {"document": f"PLANTED receipt {reference}" + (" altered" if reference == "r-1" else "")}

def hostile(reference):
    if reference == "r-0":
        raise LookupError("PLANTED secret path")
    if reference == "r-1":
        raise SystemExit(3)
    if reference == "r-2":
        return "no mapping"
    if reference == "r-3":
        return {"document": object()}
    return {"document": f"PLANTED receipt {reference}"}

def tools():
    return {"lookup_vendor": lambda vat_id: {"name": "PLANTED vendor"}, "of_another_version": lambda: None}
"""


def reference(number: int) -> str:
    return f"r-{number}"


def payload(number: int) -> dict[str, Any]:
    return {"document": f"PLANTED receipt {reference(number)}"}


def case(number: int, *, key: str | None = None, note: str | None = None) -> Case:
    """A case whose right total is 100 + its number; of a `note` it knows only the fingerprint."""
    hashed = {} if note is None else {"/note": Expectation(hash=fingerprint(note))}
    known = None if key == "gone" else key
    return Case(
        feature=FEATURE,
        workflow="ocr",
        input_ref=reference(number),
        input_hash=fingerprint(payload(number), key=known),
        hash_key_id=key,
        canon_version="1",
        expected={"/total": Expectation(100 + number), **hashed},
        family=reference(number),
    )


@dataclass
class House:
    """Everything an evaluation needs."""

    root: Path
    settings: Settings
    model: Model
    shop: Shop = field(init=False)

    def __post_init__(self) -> None:
        self.shop = Shop(self.settings.home / "registry")
        (self.project / "contracts" / "features").mkdir(parents=True)
        (self.project / "evals" / "suites").mkdir(parents=True)
        (self.project / "evals" / "receipts.py").write_text(RESOLVER)
        self.suite()

    @property
    def project(self) -> Path:
        assert self.settings.project is not None
        return self.settings.project

    @property
    def registry(self) -> Registry:
        return self.shop.registry

    def suite(self, **values: Any) -> None:
        given = {"resolver": "receipts:fetch", "workers": 2, **values}
        (self.project / "evals" / "suites" / f"{FEATURE}.yaml").write_text(json.dumps(given))

    def freeze(self, cases: Iterable[Case], name: str = DATASET) -> Dataset:
        frozen = list(cases)
        for each in frozen:
            files.write_case(self.project, each)
        dataset = empty(self.project, name, FEATURE).next({each.case_id: each.digest for each in frozen}, {})
        dataset.write()
        return dataset

    def contract(self, *, note: str = "first", providers: Mapping[str, Any] | None = None, **parts: Any) -> Contract:
        primary = Provider("openai", MODEL["chat"], "chat", base_url=self.model.base_url, timeout_s=20.0)
        made = contract(
            providers=Providers(**{"primary": primary, "attempts": 1, **(providers or {})}),
            evals=Evals(DATASET, CRITERIA),
            workflow="ocr",
            change_note=note,
        )
        return replace(made, **parts)

    def draft(self, **parts: Any) -> Contract:
        """Write a draft; gives the contract as it is read back."""
        made = self.contract(**{"note": "draft", **parts})
        folder = self.project / "contracts" / "features" / FEATURE
        folder.mkdir(exist_ok=True)
        own = {"title": "Receipts", "workflow": made.workflow, "owner": "Ada", "risk_tier": made.risk_tier}
        (folder / "feature.yaml").write_text(json.dumps(own))
        draft.write(made, folder / "draft")
        return draft.read(draft.find(self.project, FEATURE))

    def publish(self, version: str = "1.0.0", **parts: Any) -> Contract:
        made = self.contract(**parts)
        self.shop.publish(version, made)
        return made

    def sent(self) -> list[Result]:
        """Every result in the spool, in the order of writing; the same line twice is the same event."""
        return [from_event(each) for each in self.events("eval_result")]

    def events(self, kind: str) -> list[dict[str, Any]]:
        lines = [
            line for path in sorted(self.settings.spool.glob("*.jsonl")) for line in path.read_bytes().splitlines()
        ]
        return [event for line in dict.fromkeys(lines) if (event := json.loads(line))["event"] == kind]

    def ingest(self) -> None:
        flow.run(self.settings)

    def written(self) -> bytes:
        """All bytes that an evaluation and what follows it wrote."""
        kept = [path for path in self.settings.home.rglob("*") if path.is_file() and "registry" not in path.parts]
        return b"".join(path.read_bytes() for path in kept)
