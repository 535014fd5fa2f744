from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from beleg.contract.client import dates, load
from beleg.contract.client.clock import Clock
from tests.contract.client.released import Shop
from tests.contract.client.server import Web, web_server


class Hands:
    """Clocks that a test moves."""

    def __init__(self) -> None:
        self.now = datetime(2026, 12, 1, 12, tzinfo=UTC)
        self.seconds = 1000.0
        self.clock = Clock(lambda: self.now, lambda: self.seconds)

    def on(self, seconds: float = 0.0, days: int = 0) -> None:
        """Let time pass on both."""
        step = timedelta(seconds=seconds, days=days)
        self.now += step
        self.seconds += step.total_seconds()


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path / "registry")


@pytest.fixture
def published(shop: Shop) -> Shop:
    """The shop with a first version."""
    shop.publish("1.0.0")
    return shop


@pytest.fixture
def web(shop: Shop) -> Iterator[Web]:
    """The shop's registry on a web server."""
    shop.root.mkdir(exist_ok=True)
    with web_server(shop.root) as made:
        yield made


@pytest.fixture(autouse=True)
def own_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cache folder of the test's own and no memory of other tests."""
    monkeypatch.setenv("BELEG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BELEG_REGISTRY", str(tmp_path / "registry"))
    monkeypatch.setenv("BELEG_SPOOL", str(tmp_path / "spool"))
    new_process()
    yield
    new_process()


def new_process() -> None:
    """Forget what a process holds in memory."""
    load._held.clear()
    dates._warned.clear()
