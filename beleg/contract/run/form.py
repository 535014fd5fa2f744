"""How a provider is told the form of the answer, chosen for the provider that is really asked."""

from dataclasses import dataclass
from typing import Any

from beleg.contract.lint.profiles import Profile, profiles
from beleg.contract.model import Contract, Provider
from beleg.contract.run import convert as conversion
from beleg.contract.run.convert import Back, Inexpressible
from beleg.contract.run.exchange import Form
from beleg.contract.run.messages import ANSWER

_NAME_CHARS = 64


@dataclass(frozen=True)
class Plan:
    """A form, and the way back from an answer in it."""

    form: Form
    back: Back


def plan(contract: Contract, provider: Provider) -> Plan:
    """`strict` asks the provider to enforce the schema as far as it can express it; else the prompt tells it."""
    name = contract.feature[:_NAME_CHARS]
    if contract.providers.output == "strict":
        try:
            converted = conversion.convert(contract.output_schema, _profile(provider))
            return Plan(Form("native", name, converted.schema), converted.back)
        except Inexpressible:
            taken = any(tool.name == ANSWER for tool in contract.tools)
            if provider.api == "messages" and _is_object(contract.output_schema) and not taken:
                return Plan(Form("tool", name, contract.output_schema), _same)
    return Plan(Form("prompted", name, contract.output_schema), _same)


def _profile(provider: Provider) -> Profile:
    """What the provider enforces; of one that has no row, what the house of its wire format does."""
    rows = profiles()
    return rows.get(provider.provider) or rows["anthropic" if provider.api == "messages" else "openai"]


def _is_object(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "object"


def _same(value: Any) -> Any:
    return value
