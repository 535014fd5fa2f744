"""A project with one feature, as small as lint allows, and the steps that tests take with it."""

import json
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from beleg.contract import approvals, draft, evidence, promotion
from beleg.contract.draft import Feature
from beleg.contract.evidence import Evidence
from beleg.contract.lint import Facts
from beleg.contract.model import Contract, Migration
from beleg.contract.promotion import Ask
from beleg.contract.registry.records import Release
from beleg.contract.registry.registry import Registry
from beleg.contract.registry.verify import Verification, verify
from beleg.contract.tools import pin

NOW = datetime(2030, 5, 1, 12, tzinfo=UTC)
NAME = "receipt-extraction"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["total"],
    "properties": {"total": {"type": "integer", "description": "Gross amount in cents."}},
}
RISK_LEVELS = {("acme", "acme-large-2030-01-15"): "low", ("other", "other-large-2030-02-01"): "low"}


def provider(name: str, model: str) -> dict[str, Any]:
    return {
        "provider": name,
        "model": model,
        "api": "chat",
        "base_url": f"https://{name}.example/v1",
        "api_key_env": f"{name.upper()}_API_KEY",
        "region": f"{name}-eu",
        "timeout_s": 20,
        "max_output_tokens": 2000,
    }


@dataclass
class Project:
    """A folder with `contracts/`, and a registry beside it."""

    root: Path

    @property
    def registry(self) -> Registry:
        return Registry(self.root / "registry")

    @property
    def feature(self) -> Feature:
        return draft.find(self.root, NAME)

    @property
    def policies(self) -> Path:
        return self.root / "contracts" / "policies"

    def write(self, *, tier: int = 1, workflow: str = "ocr", risk_owner: str | None = "Rita Risk") -> "Project":
        """Write the feature's first draft."""
        folder = self.root / "contracts" / "features" / NAME
        (folder / "draft").mkdir(parents=True, exist_ok=True)
        whole: dict[str, Any] = {"title": "Receipts", "workflow": workflow, "owner": "Books", "risk_tier": tier}
        governance = {
            "oversight": "A bookkeeper looks at each receipt before it is booked.",
            "incident_contact": "books@muster.example",
            "log_retention_days": 400,
            "discloses_ai": False,
            "ai_act": {"role": "deployer", "annex_iii_area": "none", "art50": False},
        }
        whole |= {"governance": governance} | ({"risk_owner": risk_owner} if risk_owner else {})
        dump(folder / "feature.yaml", whole)
        prompt = "---\n" + yaml.safe_dump(
            {
                "variables": {"receipt": {"schema": {"type": "string"}, "untrusted": True, "description": "Text."}},
                "samples": [{"receipt": "Bread 2.50"}],
            }
        )
        prompt += "---\n# System\nRead the total of a receipt.\n\n# User\n{{ receipt }}\n"
        (folder / "draft" / "prompt.md").write_text(prompt)
        (folder / "draft" / "output.schema.json").write_text(json.dumps(SCHEMA))
        providers = {
            "primary": provider("acme", "acme-large-2030-01-15"),
            "fallbacks": [provider("other", "other-large-2030-02-01")],
            "repair_attempts": 1,
        }
        dump(folder / "draft" / "providers.yaml", providers)
        criterion = {"name": "total_exact", "scorer": "exact_match:total", "kind": "binary", "threshold": 0.9}
        dump(folder / "draft" / "evals.yaml", {"dataset": "receipts", "criteria": [criterion | {"margin": 0.02}]})
        dump(folder / "draft" / "examples.yaml", {"examples": [{"total": 250}]})
        dump(folder / "draft" / "change.yaml", {"author": "Anna Author", "change_note": "First version."})
        return self

    def contract(self, **parts: Any) -> Contract:
        """The draft on disk, with other parts."""
        return replace(draft.read(self.feature), **parts)

    def save(self, contract: Contract) -> Contract:
        """Make a contract the draft on disk (tier and governance stay those of feature.yaml)."""
        draft.write(contract, self.feature.draft)
        if contract.migration is not None:
            path = self.feature.draft / "change.yaml"
            told = {"note": contract.migration.note, "deadline": contract.migration.deadline.isoformat()}
            dump(path, yaml.safe_load(path.read_text()) | {"migration": told})
        return draft.read(self.feature)

    def tier(self, tier: int) -> None:
        """Change the tier in feature.yaml."""
        path = self.feature.folder / "feature.yaml"
        dump(path, yaml.safe_load(path.read_text()) | {"risk_tier": tier})

    def check(self, contract: Contract, *, now: datetime = NOW, **ask: Any) -> promotion.Readiness:
        return promotion.check(self.feature, contract, self.registry, ask=asked(**ask), now=now)

    def publish(self, contract: Contract, *, by: str = "Paul Publisher", now: datetime = NOW, **ask: Any) -> Release:
        return promotion.publish(
            self.feature, contract, self.registry, by=by, digest=contract.digest, ask=asked(**ask), now=now
        )

    def prove(self, contract: Contract, **values: Any) -> Evidence:
        """Write evidence for a draft, as the gate would."""
        whole = evidence_document(contract, self.registry) | values
        path = self.feature.folder / "evidence" / f"{contract.digest}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(whole))
        return evidence.read(path)

    def verify(self) -> Verification:
        return verify(self.registry)

    def versions(self) -> list[str]:
        return [release.version for release in self.registry.releases(NAME)]

    def active(self) -> str:
        head = self.registry.head(NAME)
        assert head is not None
        return head.active.version


def asked(**ask: Any) -> Ask:
    return Ask(facts=Facts(risk_levels=RISK_LEVELS, called_tools=frozenset()), **ask)


def dump(path: Path, values: Any) -> None:
    path.write_text(yaml.safe_dump(values, sort_keys=False, allow_unicode=True))


def with_field(contract: Contract, name: str, *, required: bool = False, **parts: Any) -> Contract:
    """A contract whose results have one more member."""
    schema = json.loads(json.dumps(contract.output_schema))
    schema["properties"][name] = {"type": "string", "description": "Something."}
    schema["required"] += [name] if required else []
    examples = tuple({**each, name: "x"} for each in contract.examples)
    return replace(contract, output_schema=schema, examples=examples, **parts)


def with_prompt(contract: Contract, system: str) -> Contract:
    return replace(contract, prompt=replace(contract.prompt, system=system))


def migration(days: int = 120) -> Migration:
    return Migration("Read the new member.", (NOW + timedelta(days=days)).date())


def tool(binding: bool = False, name: str = "lookup_account", version: str = "1") -> dict[str, Any]:
    schema = {"type": "object", "additionalProperties": False, "properties": {"number": {"type": "string"}}}
    described = "Looks up an account by its number."
    return {
        "name": name,
        "version": version,
        "description": described,
        "input_schema": schema,
        "binding": binding,
        "digest": pin(name, version, described, schema),
    }


def evidence_document(contract: Contract, registry: Registry) -> dict[str, Any]:
    head = registry.head(contract.feature)
    results = [
        {
            "name": each.name,
            "kind": each.kind,
            "verdict": "pass",
            "n": 400,
            "estimate": 0.98,
            "lower": 0.96,
            "upper": 0.99,
            "threshold": each.threshold,
            "margin": each.margin,
            "critical": each.critical,
        }
        for each in contract.evals.criteria
    ]
    return {
        "evidence_format": 1,
        "feature": contract.feature,
        "candidate_digest": contract.digest,
        "baseline_digest": None if head is None else head.active.digest,
        "baseline_version": None if head is None else head.active.version,
        "dataset": contract.evals.dataset,
        "dataset_digest": "d" * 64,
        "scorers": {"exact_match": "1"},
        "prices_digest": "e" * 64,
        "policy_digest": "f" * 64,
        "attempt": 1,
        "cases": 400,
        "missing": 0,
        "verdict": "pass",
        "criteria": results,
        "slices": [
            {"provider": each.provider, "model": each.model, "verdict": "pass"} for each in contract.providers.fallbacks
        ],
        "made_at": (NOW - timedelta(days=2)).isoformat().replace("+00:00", "Z"),
    }


def approve(project: Project, contract: Contract, *people: str) -> None:
    """Approvals of the draft on disk, which must be `contract`."""
    for each in people:
        approvals.approve(project.feature, contract.digest, by=each, now=NOW)


def whats(readiness: promotion.Readiness) -> list[str]:
    """Kinds of what is in the way, in order."""
    return [each.what for each in readiness.blockers]


def day(days: int) -> date:
    return (NOW + timedelta(days=days)).date()
