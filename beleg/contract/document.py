"""A contract as a JSON document and back; what is wrong with a document is said by place."""

import json
from collections.abc import Mapping
from dataclasses import fields
from datetime import date
from functools import cache
from importlib import resources
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match

from beleg.contract.model import (
    Budget,
    Contract,
    Criterion,
    Evals,
    Governance,
    Migration,
    Prompt,
    Provider,
    Providers,
    Variable,
)
from beleg.contract.tools import Tool
from beleg.core.errors import UsageError

FORMAT = 1


class ContractError(UsageError):
    """A document is no contract; `problems` names every place and what is wrong there."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("; ".join(problems))


def document(contract: Contract) -> dict[str, Any]:
    """JSON-ready values in a fixed order of parts."""
    prompt = contract.prompt
    whole: dict[str, Any] = {
        "contract_format": FORMAT,
        "feature": contract.feature,
        "risk_tier": contract.risk_tier,
        "prompt": {
            "system": prompt.system,
            "user": prompt.user,
            "variables": {each.name: _plain(each, leave=("name",)) for each in prompt.variables},
            "samples": list(prompt.samples),
        },
        "output_schema": contract.output_schema,
        "examples": list(contract.examples),
        "tools": [_plain(tool) for tool in contract.tools],
        "providers": {
            **_plain(contract.providers, leave=("primary", "fallbacks")),
            "primary": _plain(contract.providers.primary),
            "fallbacks": [_plain(each) for each in contract.providers.fallbacks],
        },
        "evals": {
            "dataset": contract.evals.dataset,
            "criteria": [_plain(each) for each in contract.evals.criteria],
        },
        "governance": _plain(contract.governance),
        "author": contract.author,
        "change_note": contract.change_note,
    }
    for name in ("workflow", "risk_owner"):
        if getattr(contract, name):
            whole[name] = getattr(contract, name)
    if contract.migration is not None:
        whole["migration"] = _plain(contract.migration)
    if contract.budget is not None:
        whole["budget"] = _plain(contract.budget)
    return whole


def _plain(part: Any, leave: tuple[str, ...] = ()) -> dict[str, Any]:
    values = {each.name: getattr(part, each.name) for each in fields(part) if each.name not in leave}
    return {name: _value(value) for name, value in values.items() if value is not None}


def _value(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return value.isoformat() if isinstance(value, date) else value


def contract(document: Mapping[str, Any]) -> Contract:
    """The contract of a document; raises ContractError with every problem, not only the first."""
    problems = [_sentence(error) for error in sorted(_validator().iter_errors(document), key=lambda e: list(e.path))]
    if problems:
        raise ContractError(problems)
    return Contract(
        feature=document["feature"],
        risk_tier=document["risk_tier"],
        prompt=_prompt(document["prompt"]),
        output_schema=document["output_schema"],
        providers=_providers(document["providers"]),
        evals=Evals(document["evals"]["dataset"], tuple(Criterion(**each) for each in document["evals"]["criteria"])),
        tools=tuple(Tool(**each) for each in document.get("tools", ())),
        examples=tuple(document.get("examples", ())),
        governance=Governance(**document.get("governance", {})),
        workflow=document.get("workflow", ""),
        risk_owner=document.get("risk_owner", ""),
        author=document.get("author", ""),
        change_note=document.get("change_note", ""),
        migration=_migration(document.get("migration")),
        budget=Budget(**document["budget"]) if "budget" in document else None,
    )


def _prompt(part: Mapping[str, Any]) -> Prompt:
    variables = tuple(Variable(name, **each) for name, each in part.get("variables", {}).items())
    return Prompt(part["system"], part["user"], variables, tuple(part.get("samples", ())))


def _providers(part: Mapping[str, Any]) -> Providers:
    rest = {name: value for name, value in part.items() if name not in {"primary", "fallbacks"}}
    if "fallback_on" in rest:
        rest["fallback_on"] = tuple(rest["fallback_on"])
    fallbacks = tuple(Provider(**each) for each in part.get("fallbacks", ()))
    return Providers(Provider(**part["primary"]), fallbacks, **rest)


def _migration(part: Mapping[str, Any] | None) -> Migration | None:
    if part is None:
        return None
    try:
        return Migration(part["note"], date.fromisoformat(part["deadline"]))
    except ValueError as error:
        raise ContractError([f"migration.deadline: {part['deadline']!r} is no date; write YYYY-MM-DD"]) from error


def _sentence(error: ValidationError) -> str:
    cause = best_match(error.context) if error.context else error
    place = ".".join(str(step) for step in (cause or error).absolute_path) or "the contract"
    return f"{place}: {(cause or error).message}"


@cache
def _validator() -> Draft202012Validator:
    text = resources.files("beleg.contract").joinpath("document.schema.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))
