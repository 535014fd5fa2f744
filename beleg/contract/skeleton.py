"""The first draft of a feature: small, valid, and with words that say what belongs where."""

import json
from pathlib import Path

import yaml

from beleg.contract import draft
from beleg.contract.draft import Feature
from beleg.contract.model import Contract, Criterion, Evals, Prompt, Provider, Providers, Tier, Variable
from beleg.contract.registry.names import feature_name
from beleg.core.errors import UsageError

_SYSTEM = """You read one document and answer with the fields that the schema names.
Say nothing that the document does not say; leave out what it does not hold."""
_USER = """The document:

{{ document }}"""


def create(project: Path, name: str, *, title: str, workflow: str, owner: str, risk_tier: Tier, author: str) -> Feature:
    """Write `contracts/features/<name>`; raises UsageError where it is there already or the name can be none."""
    folder = project / "contracts" / "features" / feature_name(name)
    if folder.exists():
        raise UsageError(f"contracts/features/{name} is there already; edit it with: beleg contract edit {name}")
    draft.write(_contract(name, risk_tier, author), folder / "draft")
    values = {"title": title, "workflow": workflow, "owner": owner, "risk_tier": risk_tier}
    text = yaml.safe_dump(values, sort_keys=False, allow_unicode=True)
    (folder / "feature.yaml").write_text(text, encoding="utf-8")
    return draft.feature(folder)


def _contract(name: str, risk_tier: Tier, author: str) -> Contract:
    document = Variable("document", {"type": "string", "minLength": 1}, untrusted=True, description="its text")
    answer = {"title": "Rent for November", "amount_cents": 95000}
    return Contract(
        feature=name,
        risk_tier=risk_tier,
        prompt=Prompt(_SYSTEM, _USER, (document,), ({"document": "Rent for November: 950.00 EUR"},)),
        output_schema=json.loads(_SCHEMA),
        providers=Providers(
            Provider("openai", "gpt-5-mini-2025-08-07", "chat", timeout_s=30, max_output_tokens=800),
            (Provider("anthropic", "claude-haiku-4-5-20251001", "messages", timeout_s=30, max_output_tokens=800),),
        ),
        evals=Evals(name, (Criterion("exact", "record_match", "binary", 0.9, 0.02),)),
        examples=(answer,),
        author=author,
        change_note="First version.",
    )


_SCHEMA = """{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "required": ["title"],
  "properties": {
    "title": {"type": "string", "description": "what the document is about, in a few words"},
    "amount_cents": {"type": "integer", "description": "the sum it names, in cents; left out if it names none"}
  }
}"""
