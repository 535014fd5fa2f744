"""`beleg.prompt`: the registry's text within its time, the baked-in one in every other case, and never an error."""

import os
import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import beleg
from beleg.contract.prompts import prompt as module
from beleg.contract.prompts.prompt import BUDGET_S, TTL_S, prompt
from beleg.contract.prompts.text import Prompt
from beleg.testing import capture
from tests.contract.client.conftest import Hands
from tests.contract.client.released import FEATURE, Shop, contract
from tests.contract.client.server import Web, cut, drips, floods, hangs, says, status

BAKED = "Categorise this transaction: {line}"
WORKFLOW = "categorization"


PATIENT_S = 20.0
"""Budget of questions whose answer is looked at: a busy machine is no fault of the registry's."""


def ask(
    hands: Hands,
    registry: Any = None,
    workflow: str = WORKFLOW,
    default: str = BAKED,
    budget_s: float = PATIENT_S,
) -> Prompt:
    return prompt(workflow, default=default, registry=registry, budget_s=budget_s, clock=hands.clock)


def origin(found: Prompt) -> tuple[str, str, str, str | None]:
    return found.text, found.source, found.version, found.reason


# -- from the registry ----------------------------------------------------------------------------


def test_active_prompt_of_a_workflow_is_used(shop: Shop, hands: Hands) -> None:
    shop.prompt(WORKFLOW, "4", "Sort it: {line}")
    assert origin(ask(hands)) == ("Sort it: {line}", "registry", "4", None)


def test_text_is_a_string_of_its_own_kind(shop: Shop, hands: Hands) -> None:
    shop.prompt(WORKFLOW, "4", "Sort it: {line}")
    found = ask(hands)
    assert found == "Sort it: {line}"
    assert found.format(line="x") == "Sort it: x"
    assert type(found.text) is str
    assert origin(pickle.loads(pickle.dumps(found))) == origin(found)


def test_trace_is_stamped_with_version_and_source(shop: Shop, hands: Hands) -> None:
    shop.prompt(WORKFLOW, "4", "Sort it: {line}")
    with capture() as captured:
        for name in (WORKFLOW, "another"):
            with beleg.traced_agent_run(workflow=name, prompt=ask(hands, workflow=name)):
                pass
    one, other = captured.runs
    assert (one.started["prompt_version"], one.started["prompt_source"]) == ("4", "registry")
    assert other.started["prompt_source"] == "baked"
    assert other.started["prompt_version"].startswith("baked-")


def test_baked_version_moves_with_the_text(hands: Hands) -> None:
    versions = {ask(hands, default=text).version for text in (BAKED, BAKED, BAKED + ".")}
    assert len(versions) == 2


def test_prompt_of_the_feature_that_serves_the_workflow_is_used(shop: Shop, hands: Hands) -> None:
    shop.prompt(WORKFLOW, "4", "of the workflow")
    shop.publish("1.0.0", workflow=WORKFLOW)
    text = "You read receipts.\n\nRead this receipt:\n{{ document }}"
    assert origin(ask(hands)) == (text, "registry", "1.0.0", None)


def test_feature_that_went_to_another_workflow_no_longer_serves_this_one(shop: Shop, hands: Hands) -> None:
    shop.prompt(WORKFLOW, "4", "of the workflow")
    shop.publish("1.0.0", workflow=WORKFLOW)
    assert ask(hands).version == "1.0.0"
    shop.publish("1.1.0", contract(change_note="moves"), workflow="another")
    hands.on(seconds=TTL_S)
    assert origin(ask(hands)) == ("of the workflow", "registry", "4", None)
    assert ask(hands, workflow="another").version == "1.1.0"


def test_two_features_of_one_workflow_decide_nothing(shop: Shop, hands: Hands) -> None:
    shop.publish("1.0.0", workflow=WORKFLOW)
    shop.publish("1.0.0", contract(feature="another"), workflow=WORKFLOW)
    assert origin(ask(hands))[1:] == ("baked", ask(hands).version, "broken")


def test_feature_that_has_ended_leaves_the_baked_text(shop: Shop, hands: Hands) -> None:
    shop.publish("1.0.0", workflow=WORKFLOW)
    shop.sunset(date(2026, 12, 2))
    assert ask(hands).source == "registry"
    hands.on(days=1)
    assert (ask(hands).source, ask(hands).reason) == ("baked", "missing")


@pytest.mark.parametrize("change", ["activate", "deactivate", "rollback"])
def test_change_holds_within_the_stated_time(shop: Shop, hands: Hands, change: str) -> None:
    shop.prompt(WORKFLOW, "1", "first")
    shop.prompt(WORKFLOW, "2", "second")
    assert ask(hands).text == "second"
    if change == "activate":
        shop.prompt(WORKFLOW, "3", "third")
    elif change == "deactivate":
        shop.deactivate(WORKFLOW)
    else:
        shop.prompt(WORKFLOW, "1", "first")
    hands.on(seconds=TTL_S)
    assert ask(hands).text == {"activate": "third", "deactivate": BAKED, "rollback": "first"}[change]


def test_warm_path_asks_nobody(shop: Shop, web: Web, hands: Hands) -> None:
    shop.prompt(WORKFLOW, "1", "first")
    ask(hands, web.url)
    asked = len(web.asked)
    hands.on(seconds=TTL_S / 2 - 1)
    for _ in range(100):
        assert ask(hands, web.url).text == "first"
    assert len(web.asked) == asked


# -- everything else is the baked-in text ---------------------------------------------------------


def test_nothing_anywhere_is_the_baked_text(hands: Hands, shop: Shop) -> None:
    assert origin(ask(hands))[0::3] == (BAKED, "unreachable")
    shop.prompt("another", "1", "x")
    hands.on(seconds=10)
    assert origin(ask(hands))[0::3] == (BAKED, "missing")


@pytest.mark.parametrize("text", [" \n\t", "\u00a0"])
def test_empty_text_is_the_baked_one(shop: Shop, hands: Hands, text: str) -> None:
    shop.prompt(WORKFLOW, "1", text)
    assert origin(ask(hands))[0::3] == (BAKED, "empty")


def test_added_but_not_activated_is_the_baked_text(shop: Shop, hands: Hands) -> None:
    shop.prompt(WORKFLOW, "1", "not yet", active=False)
    assert origin(ask(hands))[0::3] == (BAKED, "missing")


FAULTS = [
    (status(500), "unreachable"),
    (status(404), "missing"),
    (status(403), "forbidden"),
    (says(b"<html>portal</html>"), "broken"),
    (says(b""), "broken"),
    (says(b"[" * 100_000), "broken"),
    (says(b'{"features": 3}'), "broken"),
    (says(b'{"features": ["../../secret"]}'), "broken"),
    (cut, "unreachable"),
    (hangs, "unreachable"),
    (drips, "unreachable"),
]


@pytest.mark.parametrize(("fault", "reason"), FAULTS)
def test_registry_with_any_fault_gives_the_baked_text_within_the_budget(
    shop: Shop, web: Web, hands: Hands, fault: Any, reason: str
) -> None:
    shop.prompt(WORKFLOW, "1", "first")
    web.fault = fault
    budget_s = BUDGET_S if fault in {hangs, drips} else PATIENT_S
    assert origin(ask(hands, web.url, budget_s=budget_s))[0::3] == (BAKED, reason)
    web.fault = None
    texts: list[str] = []
    while "first" not in texts and len(texts) < 50:  # within the short budget a busy machine may answer late
        hands.on(seconds=TTL_S)
        texts.append(ask(hands, web.url, budget_s=budget_s).text)
    assert texts[-1] == "first"


@pytest.mark.parametrize("fault", [hangs, drips, floods])
def test_registry_that_hangs_costs_the_budget_at_most_and_not_at_every_call(
    shop: Shop, web: Web, hands: Hands, fault: Any
) -> None:
    """The one test with a clock on the wall: the promise is about waiting itself, with a wide margin."""
    shop.prompt(WORKFLOW, "1", "first")
    web.fault = fault
    begun = time.monotonic()
    for _ in range(50):
        assert ask(hands, web.url, budget_s=BUDGET_S).source == "baked"
    assert time.monotonic() - begun < 20 * BUDGET_S, "fifty calls that all wait take fifty budgets"


def test_text_is_used_while_the_registry_is_away_for_a_moment_and_no_longer(shop: Shop, web: Web, hands: Hands) -> None:
    shop.prompt(WORKFLOW, "1", "first")
    ask(hands, web.url)
    web.fault = status(503)
    hands.on(seconds=TTL_S)
    assert ask(hands, web.url).text == "first"
    hands.on(seconds=1)
    assert origin(ask(hands, web.url))[0::3] == (BAKED, "unreachable")


def broken_files(shop: Shop) -> list[Path]:
    return list((shop.root / "prompts" / WORKFLOW).rglob("*.json"))


@pytest.mark.parametrize("content", [b"", b"{", b"null", b"[1]", b"\xff\xfe", b'{"format": 9}'])
@pytest.mark.parametrize("which", ["head.json", "history", "releases"])
def test_damaged_file_gives_the_baked_text(shop: Shop, hands: Hands, which: str, content: bytes) -> None:
    shop.prompt(WORKFLOW, "1", "first")
    for path in broken_files(shop):
        if which in str(path):
            path.write_bytes(content)
    assert origin(ask(hands))[0::3] == (BAKED, "broken")


@pytest.mark.parametrize("which", ["history", "releases"])
def test_file_that_is_missing_behind_the_head_gives_the_baked_text(shop: Shop, hands: Hands, which: str) -> None:
    shop.prompt(WORKFLOW, "1", "first")
    for path in broken_files(shop):
        if which in str(path):
            path.unlink()
    assert origin(ask(hands))[0::3] == (BAKED, "broken")


@pytest.mark.parametrize("name", ["", "../x", "a/b", "x" * 200, "a b", "a\x00b", "\ud800", 3, None, ["x"]])
def test_name_of_any_kind_gives_the_baked_text(hands: Hands, name: Any) -> None:
    assert ask(hands, workflow=name).text == BAKED


@pytest.mark.parametrize(
    "registry", ["nonsense://x", "http://[", "http://127.0.0.1:1", "\x00", "/dev/null", 3, object()]
)
def test_registry_of_any_kind_gives_the_baked_text(hands: Hands, registry: Any) -> None:
    assert ask(hands, registry).text == BAKED


def test_default_is_mandatory_and_a_text_in_every_state_of_the_registry(shop: Shop) -> None:
    for state in ("nothing there", "a prompt there"):
        with pytest.raises(TypeError):
            prompt(WORKFLOW)  # type: ignore[call-arg]
        for wrong in (None, 3, b"x"):
            with pytest.raises(TypeError, match="must be the prompt's text"):
                prompt(WORKFLOW, default=wrong)  # type: ignore[arg-type]
        if state == "nothing there":
            shop.prompt(WORKFLOW, "1", "first")


def test_logging_that_raises_disturbs_nobody(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    import logging

    def refuse(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(logging.getLogger("beleg"), "handle", refuse)
    assert ask(hands).text == BAKED


def test_reason_is_logged_once(hands: Hands, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(3):
        ask(hands)
    assert caplog.text.count("the baked-in text is used, unreachable") == 1


# -- many callers, forks, development -------------------------------------------------------------


def test_many_callers_share_one_question(shop: Shop, web: Web, hands: Hands) -> None:
    shop.prompt(WORKFLOW, "1", "first")
    barrier = threading.Barrier(16)

    def one(_: int) -> str:
        barrier.wait()
        return prompt(WORKFLOW, default=BAKED, registry=web.url, clock=hands.clock, budget_s=10).text

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(one, range(16))) == {"first"}
    assert web.asked.count(f"/prompts/{WORKFLOW}/head.json") == 1


def test_forked_child_asks_for_itself(shop: Shop, hands: Hands) -> None:
    shop.prompt(WORKFLOW, "1", "first")
    ask(hands)
    shop.prompt(WORKFLOW, "2", "second")
    pid = os.fork()
    if pid == 0:
        hands.on(seconds=TTL_S)
        os._exit(0 if ask(hands).text == "second" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_file_of_the_developer_outranks_the_registry(
    shop: Shop, hands: Hands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.prompt("vat-return", "1", "first")
    (tmp_path / "mine.txt").write_text("mine: {line}")
    monkeypatch.setenv("BELEG_PROMPT_VAT_RETURN", str(tmp_path / "mine.txt"))
    found = ask(hands, workflow="vat-return")
    assert (found.text, found.source) == ("mine: {line}", "override")
    assert found.version.startswith("override-")


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff"])
def test_file_of_the_developer_that_holds_nothing_gives_the_baked_text(
    shop: Shop, hands: Hands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    shop.prompt(WORKFLOW, "1", "first")
    if content is not None:
        (tmp_path / "mine.txt").write_bytes(content)
    monkeypatch.setenv("BELEG_PROMPT_CATEGORIZATION", str(tmp_path / "mine.txt"))
    assert origin(ask(hands))[0::3] == (BAKED, "override_broken")


def test_file_of_the_developer_is_read_anew_each_time(
    hands: Hands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine.txt"
    monkeypatch.setenv("BELEG_PROMPT_CATEGORIZATION", str(mine))
    for text in ("one", "two"):
        mine.write_text(text)
        assert ask(hands) == text
    mine.unlink()
    assert origin(ask(hands))[0::3] == (BAKED, "override_broken")
    mine.write_text("three")
    assert ask(hands) == "three"


@pytest.mark.parametrize("kind", ["fifo", "folder", "/dev/zero", "too long"])
def test_what_is_no_file_of_text_gives_the_baked_text_and_nobody_waits_for_it(
    hands: Hands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    place = tmp_path / "place"
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    elif kind == "too long":
        place.write_text("x" * 2_000_001)
    monkeypatch.setenv("BELEG_PROMPT_CATEGORIZATION", kind if kind.startswith("/") else str(place))
    assert origin(ask(hands))[0::3] == (BAKED, "override_broken")


def test_disk_that_does_not_answer_costs_the_budget_at_most(
    hands: Hands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mount that has gone away blocks whoever opens a file on it."""
    gate = threading.Event()

    def no_answer(*_: Any) -> int:
        gate.wait(30)
        raise OSError("stale file handle")

    monkeypatch.setattr(module, "_regular", no_answer)
    monkeypatch.setenv("BELEG_PROMPT_CATEGORIZATION", str(tmp_path / "mine.txt"))
    before = threading.active_count()
    for _ in range(10):
        assert origin(ask(hands, budget_s=BUDGET_S))[0::3] == (BAKED, "override_broken")
    assert threading.active_count() - before <= 3, "a thread for every call would pile up"
    gate.set()


@pytest.mark.parametrize("ttl_s", [0, -1, -0.0, 1e-9])
def test_without_a_time_to_live_the_registry_is_asked_each_time(shop: Shop, web: Web, ttl_s: float) -> None:
    for text in ("first", "second"):
        shop.prompt(WORKFLOW, text, text)
        found = prompt(WORKFLOW, default=BAKED, registry=web.url, ttl_s=ttl_s, budget_s=10)
        assert (found, found.source) == (text, "registry")
    web.fault = status(503)
    assert prompt(WORKFLOW, default=BAKED, registry=web.url, ttl_s=ttl_s, budget_s=10).reason == "unreachable"


def test_name_of_a_feature_is_no_workflow(shop: Shop, hands: Hands) -> None:
    shop.publish("1.0.0")
    assert ask(hands, workflow=FEATURE).source == "baked"
