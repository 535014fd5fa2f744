from collections.abc import Iterator
from pathlib import Path

import pytest

from beleg.contract.prompts import prompt as module
from tests.contract.client.conftest import hands, shop, web

__all__ = ["hands", "shop", "web"]


@pytest.fixture(autouse=True)
def own_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("BELEG_REGISTRY", str(tmp_path / "registry"))
    module._held.clear()
    module._logged.clear()
    yield
    module._held.clear()
