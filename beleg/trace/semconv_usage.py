"""Token counts and costs of a span, and by which convention its input count is to be read.

The conventions say that input tokens SHOULD hold the cached ones, yet instrumentations and their versions
differ. What a span's schema version declares is asked first as long as its figures allow it, then the
arithmetic of the span, then what is known of the instrumentation and the provider.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal

from beleg.trace import semconv_names as names
from beleg.trace.usage import Reported
from beleg.trace.usage_read import PICO_PER_USD, pico_usd

Attributes = Mapping[str, Any]
_Rule = Literal["inclusive", "exclusive"]

_VERSION = re.compile(r"/(\d{1,4})\.(\d{1,4})(?:\.\d+)?/?$")
_MOST_PICO_USD_PER_TOKEN = PICO_PER_USD // 100
_MOST_PICO_USD_PER_CALL = 100 * PICO_PER_USD


_FIELDS = {alias: name for name, aliases in names.TOKENS.items() for alias in aliases}
_PLACES = {alias: place for place, alias in enumerate(_FIELDS)}


def counted(attributes: Attributes) -> dict[str, int]:
    """The token counts among the attributes by their names, the better known name of a thing first."""
    found = [name for name in attributes if name in _PLACES]  # a span has fewer attributes than a count has names
    found.sort(key=_PLACES.__getitem__)
    return {name: count for name in found if (count := whole(attributes[name])) is not None}


def read_usage(
    attributes: Attributes, *, scope: str | None = None, provider: str | None = None, schema_url: str | None = None
) -> Reported:
    """The usage that a span's attributes report; `provider` as the price book calls it."""
    fields: dict[str, Any] = {}
    for alias, count in counted(attributes).items():
        # A zero beside a count is how some begin to count; that two names disagree is told by `is_contradicted`.
        fields[_FIELDS[alias]] = fields.get(_FIELDS[alias]) or count
    reported = Reported(**fields, reasoning_rule=True)
    if reported.input is None:
        return reported
    cached = (reported.cache_read or 0) + (reported.cache_write or 0)
    visible = reported.input + (reported.output or 0)
    if _is_doubled(attributes, provider) and cached <= reported.input:
        reported.declared, reported.total = "inclusive", None
    elif cached <= reported.input and reported.total in (None, visible) and _declares(attributes, schema_url):
        reported.declared = "inclusive"
    else:
        # More cached than an inclusive count could hold leaves one reading, whatever the rule.
        fits = cached <= reported.input
        reported.provider_rule = _rule(attributes, scope, provider, schema_url) if fits else None
        if cached and reported.total == visible and reported.provider_rule != "inclusive":
            reported.total = None  # input and output added up without the cached tokens: that proves nothing
    return reported


def is_contradicted(attributes: Attributes) -> bool:
    """True where two names of one thing tell different counts, or where a count is none; NaN is unknown.

    Two names of the input may differ by the cached tokens: one convention counts them, the other does not.
    """
    told: dict[str, set[int]] = {}
    for name in attributes:
        if name in _FIELDS:
            count = whole(attributes[name])
            if count is not None:
                told.setdefault(_FIELDS[name], set()).add(count)
            elif attributes[name] is not None and str(attributes[name]).lower() != "nan":
                return True
    differing = {field: counts for field, counts in told.items() if len(counts) > 1}
    inputs = differing.pop("input", set())
    cached = [max(told.get(name, {0})) for name in ("cache_read", "cache_write")]
    return bool(differing) or (len(inputs) > 0 and max(inputs) - min(inputs) not in (cached[0], sum(cached)))


def _rule(attributes: Attributes, scope: str | None, provider: str | None, schema_url: str | None) -> _Rule:
    """What is usual for the instrumentation, its version of the conventions and the provider."""
    apart: bool
    if scope is not None and scope.startswith(names.EXCLUSIVE_SCOPES):
        apart = True
    elif scope == "ai":  # before version 6 the AI SDK passed on the provider's own count
        apart = names.UNCACHED not in attributes and provider in names.EXCLUSIVE_PROVIDERS
    elif scope is not None and scope.startswith(names.INCLUSIVE_SCOPES):
        apart = False
    else:
        version = _version(schema_url)
        apart = version is not None and version < names.INCLUSIVE_SINCE and provider in names.EXCLUSIVE_PROVIDERS
    return "exclusive" if apart else "inclusive"


def _declares(attributes: Attributes, schema_url: str | None) -> bool:
    version = _version(schema_url)
    return (version is not None and version >= names.INCLUSIVE_SINCE) or names.UNCACHED in attributes


def _is_doubled(attributes: Attributes, provider: str | None) -> bool:
    """True for streams of OpenAI's models on Bedrock: their input holds the cached tokens, their total twice."""
    model = text(attributes, names.MODEL) or ""
    streamed = any(attributes.get(alias) is True for alias in names.STREAMED)
    return streamed and provider == "aws" and model.removeprefix("us.").startswith("openai.")


def _version(schema_url: str | None) -> tuple[int, int] | None:
    found = _VERSION.search(schema_url or "")
    return None if found is None else (int(found[1]), int(found[2]))


def source_cost(attributes: Attributes, counts: Mapping[str, int]) -> int | None:
    """A cost in pico-USD that the instrumentation computed itself; None for what cannot be one.

    Token counts have been found in such attributes: what equals a count of the span, or is dearer than any
    price, is no cost.
    """
    value = next((attributes[alias] for alias in names.SOURCE_COST if attributes.get(alias) is not None), None)
    if value is None and attributes.get("gen_ai.usage.cost.currency") == "USD":
        value = None if attributes.get("gen_ai.usage.cost.source") == "provider" else attributes.get(_AMOUNT)
    return plausible_pico_usd(value, counts)


_AMOUNT = "gen_ai.usage.cost.amount"


def plausible_pico_usd(usd: Any, counts: Mapping[str, int]) -> int | None:
    """A cost in USD as whole pico-USD; None where it is none, equals a token count or is dearer than any price."""
    pico = pico_usd(usd)
    if pico is None or pico < 0 or (pico and pico % PICO_PER_USD == 0 and pico // PICO_PER_USD in counts.values()):
        return None
    most = _MOST_PICO_USD_PER_CALL + sum(counts.values()) * _MOST_PICO_USD_PER_TOKEN
    return pico if pico <= most else None


def text(attributes: Attributes, aliases: tuple[str, ...]) -> str | None:
    """The first attribute that is a non-empty string."""
    for alias in aliases:
        value = attributes.get(alias)
        if isinstance(value, str) and value:
            return value
    return None


def number(attributes: Attributes, aliases: tuple[str, ...]) -> int | None:
    """The first attribute that is a whole number: an int, an integral float, or their text."""
    for alias in aliases:
        value = whole(attributes.get(alias))
        if value is not None:
            return value
    return None


def whole(value: Any) -> int | None:
    """A count in any of the forms instrumentations use; None for what is no whole number."""
    if isinstance(value, str):
        try:
            value = float(value) if not value.lstrip("-").isdecimal() else int(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        return None
    return int(value)
