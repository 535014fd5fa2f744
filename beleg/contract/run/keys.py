"""Keys come from the environment, under the name that the contract gives."""

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
    if provider.base_url is None and provider.api not in _HOMES.get(provider.provider, ()):
        raise SetupError(
            f"{provider.provider}/{provider.model}: the contract names no base_url, and only openai (chat, responses) "
            "and anthropic (messages) have one of their own"
        )
    name = key_name(provider)
    key = os.environ.get(name, "").strip()
    if key:
        return key
    if provider.api_key_env is None and provider.base_url is not None:
        return "none"
    raise SetupError(f"{provider.provider}/{provider.model} needs a key: set the environment variable {name}")


def key_name(provider: Provider) -> str:
    """The environment variable that holds a provider's key."""
    return provider.api_key_env or re.sub(r"\W", "_", provider.provider.upper(), flags=re.ASCII) + "_API_KEY"
