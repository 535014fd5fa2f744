"""Keys come from the environment, under the name that the contract gives; an address may."""

import os
import re

from beleg.contract.client.errors import SetupError
from beleg.contract.model import Provider

_HOMES = {"openai": ("chat", "responses"), "anthropic": ("messages",)}
"""Providers whose address their client knows, and what they speak there."""


def key_of(provider: Provider) -> str:
    """The key for a provider; raises SetupError.

    Without `api_key_env` it is `<PROVIDER>_API_KEY`, and a server at an address of its own may need none.
    """
    address = address_of(provider)
    if address is None and provider.api not in _HOMES.get(provider.provider, ()):
        raise SetupError(
            f"{provider.provider}/{provider.model}: the contract names no base_url, and only openai (chat, responses) "
            "and anthropic (messages) have one of their own"
        )
    name = key_name(provider)
    key = os.environ.get(name, "").strip()
    if key:
        return key
    if provider.api_key_env is None and address is not None:
        return "none"
    raise SetupError(f"{provider.provider}/{provider.model} needs a key: set the environment variable {name}")


def key_name(provider: Provider) -> str:
    """The environment variable that holds a provider's key."""
    return provider.api_key_env or f"{_shouted(provider)}_API_KEY"


def address_of(provider: Provider) -> str | None:
    """Where to ask: `BELEG_BASE_URL_<PROVIDER>` of the environment (a gateway, a stand-in), else as the contract says.

    None: where its client asks by itself.
    """
    return os.environ.get(f"BELEG_BASE_URL_{_shouted(provider)}", "").strip() or provider.base_url


def _shouted(provider: Provider) -> str:
    return re.sub(r"\W", "_", provider.provider.upper(), flags=re.ASCII)
