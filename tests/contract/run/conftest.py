from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from beleg.contract.client.feature import Feature
from beleg.contract.client.load import load
from beleg.contract.model import Provider, Providers
from tests.contract.client.conftest import new_process
from tests.contract.client.released import FEATURE, Shop, contract, provider
from tests.contract.run.double import APIS, Api, Double, double

VARIABLES = {"document": "PLANTED Total 119.00 EUR"}
LOOKUP = ("lookup_vendor", {"vat_id": "DE129273398"})
"""A call of the contract's tool."""
EVERY_API = pytest.mark.parametrize("api", APIS)


@pytest.fixture
def model() -> Iterator[Double]:
    with double() as made:
        yield made


@pytest.fixture(autouse=True)
def own_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("BELEG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BELEG_REGISTRY", str(tmp_path / "registry"))
    monkeypatch.setenv("BELEG_SPOOL", str(tmp_path / "spool"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-PLANTED-openai")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-PLANTED-anthropic")
    new_process()
    yield
    new_process()


def asked(model: Double, api: Api, **values: Any) -> Provider:
    """The double as a provider of a contract."""
    vendor = "anthropic" if api == "messages" else "openai"
    return provider(**{"provider": vendor, "api": api, "base_url": model.base_url(api), "timeout_s": 20.0, **values})


Make = Callable[..., Feature]


@pytest.fixture
def feature(tmp_path: Path, model: Double) -> Make:
    """Publishes a contract whose primary provider is the double, and loads it; parts replace its own."""

    def make(
        api: Api = "chat", *, primary: dict[str, Any] | None = None, fallbacks: Iterable[Provider] = (), **parts: Any
    ) -> Feature:
        given = {
            name: parts.pop(name) for name in ("output", "attempts", "repair_attempts", "fallback_on") if name in parts
        }
        settings = {"output": "strict", "attempts": 1, **given}
        providers = Providers(asked(model, api, **(primary or {})), tuple(fallbacks), **settings)
        Shop(tmp_path / "registry").publish("1.0.0", contract(providers=providers, **parts))
        return load(FEATURE, major=1)

    return make
