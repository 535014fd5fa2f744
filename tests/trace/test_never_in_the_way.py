"""A fault of the tracer's is invisible to the caller, counted, and loud in `beleg.testing`."""

import logging
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import beleg
from beleg.testing import capture
from beleg.trace import runtime as runtime_module
from beleg.trace.clock import Clock
from tests.trace.schemas import read_spool


class Hostile:
    """Raises whatever it is asked."""

    def _refuse(self, *_: Any) -> Any:
        raise RuntimeError("PLANTED by a hostile object")

    __repr__ = __str__ = __iter__ = __len__ = __bool__ = __getattr__ = __index__ = __float__ = _refuse
    __eq__ = _refuse
    __hash__ = None  # type: ignore[assignment]
    __class__ = property(_refuse)


class HostileMapping(Mapping[str, Any]):
    """A mapping that raises only when it is read."""

    def __getitem__(self, key: str) -> Any:
        raise RuntimeError("PLANTED")

    def __iter__(self) -> Any:
        raise RuntimeError("PLANTED")

    def __len__(self) -> int:
        return 3


class HostileText(str):
    """A string whose own methods raise."""

    def _refuse(self, *_: Any) -> Any:
        raise RuntimeError("PLANTED")

    __eq__ = __len__ = __str__ = __repr__ = __format__ = encode = _refuse  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


class HostileDict(dict[str, Any]):
    """A mapping whose every override raises."""

    def _refuse(self, *_: Any) -> Any:
        raise RuntimeError("PLANTED")

    items = keys = values = __iter__ = __len__ = get = _refuse


class HostileModel:
    def model_dump(self) -> Any:
        raise RuntimeError("PLANTED")


def _cyclic() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


def _deep() -> Any:
    value: Any = 0
    for _ in range(100_000):
        value = [value]
    return value


PAYLOADS: dict[str, Callable[[], Any]] = {
    "hostile": Hostile,
    "hostile inside": lambda: {"a": [Hostile()]},
    "hostile dict": lambda: HostileDict(a=1),
    "hostile model": HostileModel,
    "hostile mapping": HostileMapping,
    "hostile text": lambda: HostileText("x"),
    "cyclic": _cyclic,
    "deep": _deep,
    "gigantic": lambda: ["x" * 1_000_000] * 1000,
    "generator": lambda: (x for x in [1]),
    "class": lambda: Hostile,
    "lone surrogate": lambda: "\ud800",
    "not a number": lambda: float("nan"),
    "bytes": lambda: b"\x00",
    "none": lambda: None,
}


@pytest.mark.parametrize("make", PAYLOADS.values(), ids=PAYLOADS)
def test_payload_of_any_kind_disturbs_nobody(spool: Path, make: Callable[[], Any]) -> None:
    payload = make()
    with beleg.traced_agent_run(workflow="w", input_payload=payload) as trace:
        with trace.step("s", input_payload=payload) as step:
            step.record(payload)
            step.set_output(payload)
            list(step.watch([payload]))
        trace.artifact("unregistered", payload)
        trace.set_output(payload, response=payload)
    assert beleg.health().lost == {}
    events = [event["event"] for event in read_spool(spool)]
    assert (events[0], events[-1]) == ("run_started", "run_finished")
    assert b"PLANTED" not in b"".join(path.read_bytes() for path in spool.glob("*"))


# Functions that make them: pytest looks into its parameters, and some of these raise when looked at.
WRONG: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "number": lambda: 5,
    "bytes": lambda: b"x",
    "empty": lambda: "",
    "blank": lambda: "two words",
    "long": lambda: "x" * 10_000,
    "hostile": Hostile,
    "hostile mapping": HostileMapping,
    "hostile text": lambda: HostileText("x y"),
    "list": lambda: ["a"],
    "dict": lambda: {"a": 1},
}


@pytest.mark.parametrize("make", WRONG.values(), ids=WRONG)
def test_argument_of_any_kind_disturbs_nobody(spool: Path, make: Callable[[], Any]) -> None:
    wrong = make()
    names = ("workflow", "input_ref", "input_key", "tenant", "team", "purpose", "conversation_id", "parent_run_id")
    more = ("prompt", "prompt_version", "prompt_source", "feature", "contract_version", "contract_digest", "labels")
    for name in (*names, *more):
        given = {"workflow": "w", name: wrong}
        with beleg.traced_agent_run(**given) as trace:
            assert trace.run_id is not None
    with beleg.traced_agent_run(workflow="w") as trace:
        with trace.step(wrong, kind=wrong, provider=wrong, model=wrong, attempt=wrong, attempt_reason=wrong):
            pass
        with trace.tool(wrong, playbook=wrong, toolset_hash=wrong) as step:
            step.record({"model": wrong, "id": wrong, "usage": wrong})
        trace.units(wrong, wrong)
        trace.artifact(wrong, wrong)
    beleg.feedback(wrong, rating=wrong, author=wrong)
    beleg.correct(wrong, field=wrong, reason=wrong, expected=wrong)
    beleg.outcome(wrong, wrong, wrong, run_ids=wrong, occurred_at=wrong)
    with beleg.resume_run(wrong), beleg.attach_run(wrong):
        pass
    events = [event["event"] for event in read_spool(spool)]
    runs = len(names) + len(more) + 1
    assert (events.count("run_started"), events.count("run_finished"), events.count("step")) == (runs, runs, 2)
    assert beleg.health().lost == {}
    assert b"PLANTED" not in b"".join(path.read_bytes() for path in spool.glob("*"))


def test_unknown_purpose_never_counts_as_production(spool: Path) -> None:
    with beleg.traced_agent_run(workflow="w", purpose="prod"):
        pass
    assert read_spool(spool)[0]["purpose"] == "test"


def test_own_fault_is_logged_once_per_kind_without_the_message_of_the_error(
    spool: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="beleg"):
        for _ in range(3):
            with beleg.traced_agent_run(workflow="w", input_payload=Hostile(), tenant="two words"):
                pass
    assert beleg.health().faults == {"no_hash_unreadable": 3, "refused_tenant": 3}
    assert len(caplog.records) == 2
    assert "PLANTED" not in caplog.text
    assert "two words" not in caplog.text


def test_logging_of_the_application_that_raises_disturbs_nobody(spool: Path) -> None:
    def refuse(record: logging.LogRecord) -> bool:
        raise RuntimeError("PLANTED")

    logger = logging.getLogger("beleg")
    logger.addFilter(refuse)
    try:
        with beleg.traced_agent_run(workflow="w", tenant="two words"):
            pass
    finally:
        logger.removeFilter(refuse)
    assert beleg.health().faults == {"refused_tenant": 1}


def test_own_fault_raises_in_testing() -> None:
    with capture(), pytest.raises(TypeError, match="no canonical form"):
        beleg.traced_agent_run(workflow="w", input_payload=object()).start()


@pytest.mark.parametrize("wall_ns", [0, -1, 10**30, 1], ids=["1970", "before 1970", "far future", "just after 1970"])
def test_clock_gone_mad_disturbs_nobody(spool: Path, monkeypatch: pytest.MonkeyPatch, wall_ns: int) -> None:
    found = runtime_module.runtime()
    assert found is not None
    monkeypatch.setattr(found, "clock", Clock(wall_ns=lambda: wall_ns))
    with beleg.traced_agent_run(workflow="w") as trace, trace.step("s"):
        pass


def test_duration_follows_the_stopwatch_when_the_wall_clock_jumps_back() -> None:
    with capture() as captured:
        run = beleg.traced_agent_run(workflow="w")
        run.start()
        assert run.runtime is not None
        earlier = run.runtime.clock.wall_ns() - 10**15
        run.runtime.clock = Clock(lambda: earlier, run.runtime.clock.monotonic_ns)
        run.finish()
    finished = captured.only_run().finished
    assert finished is not None
    assert finished["duration_ms"] == 1
    assert finished["event_time"] < captured.only_run().started["event_time"]


@pytest.mark.parametrize("broken", ["wall_ns", "monotonic_ns"])
def test_clock_that_raises_disturbs_nobody(spool: Path, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    def refuse() -> int:
        raise OSError("no clock")

    found = runtime_module.runtime()
    assert found is not None
    monkeypatch.setattr(found, "clock", Clock(**{broken: refuse}))
    with beleg.traced_agent_run(workflow="w") as trace, trace.step("s"):
        trace.needs_input()


def test_interrupt_during_our_own_work_reaches_the_caller(spool: Path) -> None:
    class Payload:
        def model_dump(self) -> Any:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        beleg.traced_agent_run(workflow="w", input_payload=Payload()).start()


def test_import_loads_no_other_package_and_needs_no_file(tmp_path: Path, child_env: dict[str, str]) -> None:
    code = """
import sys
before = set(sys.modules)
import beleg
beleg.traced_agent_run, beleg.health, beleg.fingerprint
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(sorted(new - set(sys.stdlib_module_names) - {"beleg", "orjson"}))
"""
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], env=child_env, cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]"
    assert list(tmp_path.glob(".beleg")) == []


def test_without_orjson_the_bytes_are_the_same(spool: Path, child_env: dict[str, str]) -> None:
    code = """
import sys
if sys.argv[1] == "none": sys.modules["orjson"] = None
import beleg
print(beleg.fingerprint({"b": [1.0, 1e-7, "ü", None, {"\\ue000": 1, "\\U00010000": 2}], "a": 2**60}))
"""
    prints = {
        subprocess.run(
            [sys.executable, "-c", code, mode], env=child_env, check=True, capture_output=True, text=True
        ).stdout
        for mode in ("none", "fast")
    }
    assert len(prints) == 1


def test_name_that_does_not_exist_is_told_with_those_that_do() -> None:
    with pytest.raises(AttributeError, match="traced_agent_run"):
        beleg.trace_agent_run  # noqa: B018
    assert "traced_agent_run" in dir(beleg)


def test_setting_that_does_not_exist_is_refused_when_configured() -> None:
    with pytest.raises(TypeError):
        beleg.configure(lables={"a"})


def test_home_of_nobody_and_a_deleted_working_directory_disturb_nobody(
    tmp_path: Path, child_env: dict[str, str]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    code = """
import pathlib, beleg
pathlib.Path.cwd().rmdir()
for _ in range(2):
    with beleg.traced_agent_run(workflow="w") as trace:
        with trace.step("s"): pass
    beleg.feedback(trace.run_id, rating="like")
    with beleg.resume_run(trace.run_id): pass
    import os; os.environ["BELEG_HOME"] = "~nobody-of-that-name"
print(beleg.health().written, sum(beleg.health().lost.values()))
"""
    env = {**child_env, "BELEG_HOME": "home"}
    del env["BELEG_SPOOL"]
    done = subprocess.run([sys.executable, "-c", code], env=env, cwd=gone, capture_output=True, text=True, check=True)
    assert done.stdout == "0 12\n"


def test_code_outside_of_any_run_and_with_tracing_off_may_still_use_the_current_run(
    spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work() -> None:
        run = beleg.current_run()
        with run.step("s") as step:
            step.record({"model": "m"})
        run.units(1)
        run.set_output("x", response={"model": "m"})
        assert run.run_id is None
        assert run.needs_input() is None

    work()
    monkeypatch.setenv("BELEG_DISABLED", "1")
    with beleg.traced_agent_run(workflow="w"):
        work()
    assert not spool.exists()
    assert beleg.health().ok


def test_settings_in_code_outrank_the_environment(spool: Path) -> None:
    try:
        beleg.configure(disabled=True)
        with beleg.traced_agent_run(workflow="w"):
            pass
        assert not spool.exists()
        beleg.configure(disabled=False, labels={"region"})
        with beleg.traced_agent_run(workflow="w", labels={"region": "eu"}):
            pass
        assert read_spool(spool)[0]["labels"] == {"region": "eu"}
    finally:
        runtime_module._overrides.clear()
        runtime_module._rebuild()
