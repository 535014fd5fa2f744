from collections.abc import Iterator
from pathlib import Path

import pytest

from beleg.contract.prompts import prompt as module
from tests.contract.client.conftest import Hands
from tests.contract.client.released import Shop
from tests.contract.client.server import Web, web_server


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path / "registry")


@pytest.fixture
def web(shop: Shop) -> Iterator[Web]:
    shop.root.mkdir(exist_ok=True)
    with web_server(shop.root) as made:
        yield made


@pytest.fixture(autouse=True)
def own_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("BELEG_REGISTRY", str(tmp_path / "registry"))
    module._held.clear()
    module._logged.clear()
    yield
    module._held.clear()
