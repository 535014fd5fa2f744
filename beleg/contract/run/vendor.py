"""Which vendor's package speaks which wire format, and what its errors mean."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import ModuleType
from typing import Any

from beleg.contract.client.errors import SetupError
from beleg.contract.run import chat, messages, responses
from beleg.contract.run.exchange import Ask, Reply
from beleg.contract.run.faults import (
    AnswerTooLarge,
    ProviderBroken,
    ProviderFault,
    ProviderTimeout,
    ProviderUnreachable,
    RequestDeclined,
    of_status,
)

_POLICY = frozenset({"content_filter", "content_policy_violation"})
_CODES = """
    account_deactivated api_error authentication_error billing_error billing_hard_limit_reached billing_not_active
    context_length_exceeded deadline_exceeded engine_overloaded_error insufficient_quota internal_error
    internal_server_error invalid_api_key invalid_authentication invalid_encrypted_content invalid_json
    invalid_organization invalid_prompt invalid_request_error invalid_schema invalid_type invalid_value
    max_tokens_exceeded missing_required_parameter model_not_found model_overloaded not_found_error
    organization_restricted overloaded_error permission_error quota_exceeded rate_limit_error rate_limit_exceeded
    request_timeout request_too_large requests server_error server_is_overloaded service_unavailable
    slow_down string_above_max_length timeout_error token_limit_exceeded tokens unknown_parameter unsupported_country
    unsupported_country_region_territory unsupported_model unsupported_parameter unsupported_value vector_store_timeout
"""
CODES = _POLICY | frozenset(_CODES.split())
"""Words of OpenAI's and Anthropic's errors that are told; any other may hold something of the request."""


class TooLarge(Exception):
    """The answer is larger than any answer may be."""


@dataclass(frozen=True)
class Wire:
    """A wire format, and the package that carries it to an address."""

    package: str
    client: str
    path: str
    request: Callable[[Ask], dict[str, Any]]
    reply: Callable[[Mapping[str, Any]], Reply]


WIRES: Mapping[str, Wire] = {
    "chat": Wire("openai", "OpenAI", "/chat/completions", chat.request, chat.reply),
    "responses": Wire("openai", "OpenAI", "/responses", responses.request, responses.reply),
    "messages": Wire("anthropic", "Anthropic", "/v1/messages", messages.request, messages.reply),
}


def sdk(wire: Wire) -> ModuleType:
    """The package of a wire format; raises SetupError where it is not installed."""
    try:
        return importlib.import_module(wire.package)
    except ImportError as error:
        raise SetupError(f'this provider needs the package {wire.package}: pip install "beleg[providers]"') from error


def fault_of(package: ModuleType, error: Exception) -> Exception:
    """What an error of a vendor's client means; an error that is not the provider's stays what it is."""
    if _has_cause(error, TooLarge):
        return AnswerTooLarge()
    if isinstance(error, package.APITimeoutError):
        return ProviderTimeout()
    if isinstance(error, package.APIConnectionError):
        return ProviderUnreachable()
    if isinstance(error, package.APIStatusError):
        return _of_answer(error)
    return ProviderBroken() if isinstance(error, package.APIError) else error


def _of_answer(error: Any) -> ProviderFault:
    code = _code(error.body)
    if code in _POLICY:
        return RequestDeclined(error.status_code, code)
    return of_status(error.status_code, code, _retry_after_s(error.response.headers))


def _code(body: Any) -> str | None:
    """The provider's own word for what is wrong; its sentences may repeat the prompt and are left out."""
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    if not isinstance(inner, Mapping):
        return None
    words = (inner.get(name) for name in ("code", "type"))
    return next((word for word in words if isinstance(word, str) and word in CODES), None)


def _has_cause(error: BaseException | None, kind: type[Exception]) -> bool:
    while error is not None:
        if isinstance(error, kind):
            return True
        error = error.__cause__ or error.__context__
    return False


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, as a number or as a date; None for none and for nonsense."""
    text = headers.get("retry-after", "").strip()
    try:
        return max(0.0, float(text)) if float(text) < float("inf") else None
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
