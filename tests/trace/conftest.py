import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from beleg.trace import context
from beleg.trace import runtime as runtime_module

Spool = Path


@pytest.fixture
def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A spool folder of the test's own, which the tracer of this process writes to."""
    folder = tmp_path / "spool"
    monkeypatch.setenv("BELEG_SPOOL", str(folder))
    monkeypatch.delenv("BELEG_DISABLED", raising=False)
    runtime_module._faults.renew()
    yield folder
    runtime_module._faults.renew()


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Whatever happens in a block, the code after it belongs to no run and no step."""
    yield
    left = context.current.get(), context.current_step.get()
    context.current.set(None)
    context.current_step.set(None)
    assert left == (None, None)


@pytest.fixture
def child_env(spool: Path) -> dict[str, str]:
    """The environment for a process that traces into the test's spool."""
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "BELEG_SPOOL": str(spool), "PYTHONPATH": os.pathsep.join(filter(None, paths))}


@pytest.fixture
def forked() -> Callable[[Callable[[], None]], int]:
    """Runs a function in a forked child and returns its exit code."""

    def run(work: Callable[[], None]) -> int:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                work()
                code = 0
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    return run
