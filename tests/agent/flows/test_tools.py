"""Tools of a flow: every answer carries the whole state, and no edit gets lost."""

import concurrent.futures
import inspect
import itertools
import json
import multiprocessing
import random
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beleg.agent.example.flows import FLOWS, corporate_tax, founding, questionnaire, trade
from beleg.agent.example.flows.founding import FOUNDING
from beleg.agent.flows import Flow, FlowTools, Record, RefusedError, SqliteStore, Stored
from beleg.agent.flows.tools import Tool
from beleg.agent.toolsets import Group, Toolset
from beleg.contract.binding import signs
from beleg.contract.tools import Tool as ContractTool
from beleg.core.errors import UsageError
from tests.agent.flows.test_state import founding as full

MODULES = (founding, questionnaire, trade, corporate_tax)
ADA = {"name": "Ada", "birth_date": "1990-01-01", "address": "Weg 1", "nominal_cents": 25_000_00}


def tools_of(store: SqliteStore, module: Any = founding) -> dict[str, Tool]:
    return {each.__name__: each for each in module.tools(store)}


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return SqliteStore(tmp_path / "flows.db")


def begun(store: SqliteStore, record: Mapping[str, Any]) -> dict[str, Tool]:
    store.replace("founding/r", None, Stored(record))
    return tools_of(store)


@pytest.mark.parametrize(("module", "count"), list(zip(MODULES, (18, 12, 10, 9), strict=True)))
def test_the_recipes_have_the_tools_of_the_text(store: SqliteStore, module: Any, count: int) -> None:
    assert len(tools_of(store, module)) == count


def test_no_tool_of_a_recipe_sounds_binding(store: SqliteStore) -> None:
    for module in MODULES:
        for name, tool in tools_of(store, module).items():
            properties = {each: {"type": "string"} for each in inspect.signature(tool).parameters}
            seen = ContractTool(
                name=name,
                version="1",
                description=tool.__doc__ or "",
                input_schema={"type": "object", "properties": properties},
                binding=False,
                digest="",
            )
            assert not [each for each in signs(seen) if each.kind == "act"], name


@pytest.mark.parametrize(
    ("module", "flow"), list(zip(MODULES, FLOWS, strict=True)), ids=lambda each: getattr(each, "name", "")
)
def test_every_tool_answers_with_the_whole_state_whatever_happens(store: SqliteStore, module: Any, flow: Flow) -> None:
    for tool in tools_of(store, module).values():
        for answer in (tool("nobody"), tool("nobody", no_such_parameter=1)):
            assert answer["record_id"] == "nobody"
            assert list(answer["sections"]) == [each.name for each in flow.sections]
            assert {"revision", "status"} <= set(answer)


def test_case_23_the_marker_stands_in_the_next_answer_of_any_tool(store: SqliteStore) -> None:
    tools = begun(store, full())
    assert tools["set_founding_capital"]("r", share_capital_cents=30_000_00)["sections"]["capital"]["complete"] is False
    for name in ("get_founding", "set_company_name", "get_founding_roadmap", "get_founding_choices"):
        answer = tools[name]("r", **({"company_name": "Other"} if name == "set_company_name" else {}))
        assert answer["sections"]["capital"]["missing"] == ["nominalSumMismatch"]
        assert answer["markers"]["nominalSumMismatch"] == {
            "fields": ["share_capital_cents", "shareholders"],
            "declared_cents": 30_000_00,
            "sum_cents": 25_000_00,
        }


def test_case_25_an_edit_in_the_web_app_makes_a_conflict_and_nothing_is_lost(
    store: SqliteStore, tmp_path: Path
) -> None:
    tools = begun(store, full())
    seen = tools["get_founding"]("r")["revision"]
    with sqlite3.connect(tmp_path / "flows.db") as database:  # the web app writes JSON in its own way
        other = json.dumps(full() | {"company_name": "By the app"}, indent=2)
        database.execute("UPDATE flow_records SET record = ? WHERE id = 'founding/r'", (other,))

    answer = tools["set_company_name"]("r", company_name="By the agent", if_revision=seen)

    assert answer["error"]["code"] == "conflict"
    assert answer["revision"] != seen
    assert answer["status"] == "complete"
    stored = store.read("founding/r")
    assert stored is not None
    assert stored.record["company_name"] == "By the app"
    again = tools["set_company_name"]("r", company_name="By the agent", if_revision=answer["revision"])
    assert "error" not in again


def test_case_26_a_call_repeated_after_a_timeout_adds_once(store: SqliteStore) -> None:
    tools = tools_of(store)
    revision = tools["create_founding"]("r", legal_form="ug")["revision"]
    first = tools["add_shareholder"]("r", **ADA, if_revision=revision)
    second = tools["add_shareholder"]("r", **ADA, if_revision=revision)
    assert "repeated" not in first
    assert second["repeated"] is True
    assert second["revision"] == first["revision"]
    stored = store.read("founding/r")
    assert stored is not None
    assert len(stored.record["shareholders"]) == 1


def test_the_same_part_can_be_added_again_after_it_was_taken_out(store: SqliteStore) -> None:
    tools = tools_of(store)
    revision = tools["create_founding"]("r", legal_form="ug")["revision"]
    for _ in range(3):
        added = tools["add_shareholder"]("r", **ADA, if_revision=revision)
        assert "repeated" not in added
        revision = tools["leave_out_shareholder"]("r", number=0, if_revision=added["revision"])["revision"]


def test_a_tool_that_appends_asks_for_the_revision(store: SqliteStore) -> None:
    tools = begun(store, full())
    assert tools["add_shareholder"]("r", **ADA)["error"]["code"] == "refused"
    assert tools["add_shareholder"]("r", **ADA, if_revision="0" * 16)["error"]["code"] == "conflict"


def test_a_record_begins_once(store: SqliteStore) -> None:
    tools = tools_of(store)
    first = tools["create_founding"]("r", legal_form="ug")
    assert tools["create_founding"]("r", legal_form="ug")["repeated"] is True
    assert tools["create_founding"]("r", legal_form="gmbh")["error"]["code"] == "exists"
    assert tools["get_founding"]("r")["revision"] == first["revision"]


def test_a_refusal_says_what_would_be_right_and_carries_the_state(store: SqliteStore) -> None:
    tools = begun(store, full())
    answer = tools["update_shareholder"]("r", number=7, name="X")
    assert answer["error"]["code"] == "refused"
    assert "2 are entered" in answer["error"]["message"]
    assert answer["status"] == "complete"


def test_a_bug_in_a_tool_is_logged_and_answered_without_its_data(store: SqliteStore, caplog: Any) -> None:
    made = FlowTools(FOUNDING, store)

    @made.write("company")
    def set_name(company_name: str) -> dict[str, Any]:
        raise KeyError(company_name)

    begun(store, full())
    answer = set_name("r", company_name="secret name")
    assert answer["error"] == {"code": "failed", "message": "the tool failed (KeyError); nothing was written"}
    assert answer["status"] == "complete"
    assert "a tool of flow founding failed" in caplog.text


def test_a_tool_writes_its_own_fields_and_no_others(store: SqliteStore) -> None:
    made = FlowTools(FOUNDING, store)

    @made.write("company")
    def set_status(value: str) -> dict[str, Any]:
        return {"operations_status": value}

    begun(store, full())
    assert "cannot be written here" in set_status("r", value="entered")["error"]["message"]
    stored = store.read("founding/r")
    assert stored is not None
    assert "operations_status" not in stored.record
    with pytest.raises(UsageError, match="operations"):
        made.write(fields=("operations_status",))(dict)
    with pytest.raises(UsageError, match="no section"):
        made.write("nowhere")


def test_a_function_cannot_change_what_is_stored_behind_its_answer(store: SqliteStore) -> None:
    made = FlowTools(FOUNDING, store)

    @made.read
    def look(record: Record) -> int:
        record["shareholders"].clear()
        return 1

    begun(store, full())
    assert look("r")["status"] == "complete"


def test_the_signature_shows_the_model_id_and_revision_and_never_the_record(store: SqliteStore) -> None:
    tools = tools_of(store)
    assert list(inspect.signature(tools["set_company_name"]).parameters) == ["record_id", "company_name", "if_revision"]
    assert list(inspect.signature(tools["get_founding"]).parameters) == ["record_id"]
    assert "record" not in tools["add_shareholder"].__annotations__
    with pytest.raises(UsageError, match="if_revision"):
        FlowTools(FOUNDING, store).read(lambda if_revision: if_revision)


def test_a_refusal_can_be_raised_by_any_tool() -> None:
    assert RefusedError("x").exit_code == 1


def test_the_last_tool_of_the_corporate_tax_registration_hands_over_a_door(store: SqliteStore) -> None:
    tools = tools_of(store, corporate_tax)
    assert list(tools)[-1] == "get_submission_link"
    assert not [name for name in tools if name.startswith(("submit", "send", "file"))]
    tools["create_registration"]("r", company_name="Nordlicht", legal_form="gmbh")
    assert tools["get_submission_link"]("r")["result"]["readyToSubmit"] is False
    calls: dict[str, dict[str, Any]] = {
        "update_company": {"registry_number": "HRB 1", "office": "Weg 1"},
        "update_details": {"begun_on": "2026-03-02", "activity": "Light", "fiscal_year_end": "12-31"},
        "update_people": {"names": ["Ada"], "addresses": ["Weg 1"], "share_basis_points": [10_000]},
        "update_financials": {
            "expected_profit_year_1_cents": 0, "expected_profit_year_2_cents": 0, "opening_balance_cents": 0
        },
        "update_vat_and_bank": {"vat_scheme": "agreed", "expected_turnover_cents": 1, "iban": "DE1"},
    }  # fmt: skip
    answers = [tools[name]("r", **arguments) for name, arguments in calls.items()]
    assert [each["readyToSubmit"] for each in answers] == [False, False, False, False, True]
    assert tools["get_submission_link"]("r")["result"] == {
        "url": "https://app.example/registrations/r/preview",
        "readyToSubmit": True,
    }


SETTERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("set_legal_form", {"legal_form": "gmbh"}),
    ("set_company_name", {"company_name": "Nordlicht"}),
    ("set_business_purpose", {"business_purpose": "Light"}),
    ("set_managing_director", {"managing_director": "Ada"}),
    ("set_founding_capital", {"share_capital_cents": 25_000_00}),
    ("set_business_account", {"bank_name": "Bank", "account_holder": "Nordlicht"}),
    ("set_notary_wishes", {"notary_city": "Berlin", "interpreter_needed": False}),
)


@settings(max_examples=8, deadline=None)
@given(order=st.permutations(SETTERS))
def test_no_order_of_edits_changes_the_state(order: list[tuple[str, dict[str, Any]]], tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("flow") / "flows.db"
    answers = []
    for record_id, calls in (("a", SETTERS), ("b", order)):
        tools = tools_of(SqliteStore(path))
        tools["create_founding"](record_id, legal_form="ug")
        for name, arguments in calls:
            tools[name](record_id, **arguments)
        answers.append(tools["get_founding"](record_id))
    first, second = ({k: v for k, v in each.items() if k not in {"record_id", "revision"}} for each in answers)
    assert first == second


@settings(max_examples=8, deadline=None)
@given(calls=st.lists(st.sampled_from(SETTERS), max_size=6))
def test_a_lost_or_shortened_conversation_changes_nothing(
    calls: list[tuple[str, dict[str, Any]]], tmp_path_factory: Any
) -> None:
    """Whoever comes back after every call, knowing nothing but the record's id, is told the same as who stayed."""
    folder = tmp_path_factory.mktemp("flow")
    stayed = tools_of(SqliteStore(folder / "stayed.db"))
    answers = [stayed["create_founding"]("r", legal_form="ug")]
    answers += [stayed[name]("r", **arguments) for name, arguments in calls]
    came_back = [tools_of(SqliteStore(folder / "back.db"))["create_founding"]("r", legal_form="ug")]
    for name, arguments in calls:
        came_back.append(tools_of(SqliteStore(folder / "back.db"))[name]("r", **arguments))
    assert came_back == answers


def test_threads_that_write_different_fields_at_once_lose_nothing(store: SqliteStore) -> None:
    tools = tools_of(store)
    tools["create_founding"]("r", legal_form="ug")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda call: tools[call[0]]("r", **call[1]), SETTERS * 3))
    assert not [each["error"] for each in answers if "error" in each]
    stored = store.read("founding/r")
    assert stored is not None
    wanted = dict(itertools.chain.from_iterable(arguments.items() for _, arguments in SETTERS))
    assert wanted.items() <= stored.record.items()


def _add(path: str, who: str) -> int:
    """Adds ten shareholders as an agent does: with the revision of the last answer, and again after a conflict."""
    tools, added = tools_of(SqliteStore(Path(path))), 0
    revision = tools["get_founding"]("r")["revision"]
    dice = random.Random(who)
    while added < 10:
        person = {**ADA, "name": f"{who} {added}", "nominal_cents": dice.randrange(1, 9)}
        answer = tools["add_shareholder"]("r", **person, if_revision=revision)
        revision = answer["revision"]
        added += "error" not in answer
    return added


def test_two_processes_at_once_add_every_part_once(store: SqliteStore, tmp_path: Path) -> None:
    tools_of(store)["create_founding"]("r", legal_form="ug")
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        list(pool.map(_add, [str(tmp_path / "flows.db")] * 2, ["one", "two"]))
    stored = store.read("founding/r")
    assert stored is not None
    names = [each["name"] for each in stored.record["shareholders"]]
    assert sorted(names) == sorted(f"{who} {number}" for who in ("one", "two") for number in range(10))


def test_flows_that_share_a_store_share_no_record(store: SqliteStore) -> None:
    tools_of(store)["create_founding"]("r", legal_form="ug")
    assert tools_of(store, trade)["get_trade_registration"]("r")["status"] == "not_started"


@pytest.mark.parametrize("record_id", ["", None, 7, ["r"], "\ud800", "x" * 201, "a\x00b"])
def test_what_cannot_be_an_id_is_answered_too(store: SqliteStore, record_id: Any) -> None:
    answer = tools_of(store)["get_founding"](record_id)
    assert answer["error"]["code"] == "refused"
    assert len(answer["sections"]) == 5


@pytest.mark.parametrize("value", [float("nan"), object(), "\ud800", 10**400])
def test_a_value_that_no_record_can_hold_is_answered_and_not_written(store: SqliteStore, value: Any) -> None:
    tools = begun(store, full())
    answer = tools["set_founding_capital"]("r", share_capital_cents=value)
    assert answer["sections"]
    assert tools["get_founding"]("r")["status"] in {"complete", "data_collection"}


def test_yes_is_not_one(store: SqliteStore) -> None:
    tools = begun(store, full() | {"interpreter_needed": 1})
    assert "repeated" not in tools["set_notary_wishes"]("r", interpreter_needed=True)
    stored = store.read("founding/r")
    assert stored is not None
    assert stored.record["interpreter_needed"] is True


ADDING = """
import sys
from pathlib import Path
from tests.agent.flows.test_tools import ADA, SqliteStore, tools_of

tools = tools_of(SqliteStore(Path(sys.argv[1])))
revision = tools["create_founding"]("r", legal_form="ug")["revision"]
while True:
    revision = tools["add_shareholder"]("r", **ADA, if_revision=revision)["revision"]
    print(revision, flush=True)
"""


def test_a_process_killed_while_it_writes_leaves_what_it_had_answered(store: SqliteStore, tmp_path: Path) -> None:
    command = [sys.executable, "-c", ADDING, str(tmp_path / "flows.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        answered = [next(process.stdout) for _ in range(5)]
        process.kill()
        answered += list(process.stdout)
    stored = store.read("founding/r")
    assert stored is not None
    assert len(stored.record["shareholders"]) in {len(answered), len(answered) + 1}
    assert "error" not in tools_of(store)["add_shareholder"]("r", **ADA, if_revision=stored.revision)


@pytest.mark.parametrize("module", MODULES, ids=lambda each: each.__name__.rpartition(".")[2])
def test_arguments_that_the_schema_refuses_are_answered_with_the_whole_state(store: SqliteStore, module: Any) -> None:
    group = Group("flow", rank=1)
    for tool in module.tools(store):
        group.tool(binding=False, effect="draft")(tool)
    offer = Toolset([group]).for_context(None)
    flow = next(each for each in FLOWS if each.name == module.tools(store)[0].flow)
    store.replace(f"{flow.name}/r", None, Stored({flow.fields[0]: "given"}))
    stored = store.read(f"{flow.name}/r")
    assert stored is not None
    for tool in offer.tools:
        for wrong in ({"record_id": "r", "beyond": 1}, {"record_id": "r", "if_revision": ["r1"]}):
            said = offer.call(tool.name, wrong)
            assert said["error"]["code"] == "refused"
            assert "arguments do not meet the schema" in said["error"]["message"]
            assert said["revision"] == stored.revision
            assert {**said, **flow.state(stored.record).to_dict()} == said
    assert store.read(f"{flow.name}/r") == stored


@pytest.mark.parametrize("arguments", [{}, {"record_id": 7}, {"record_id": "\ud800"}, ["r"], "r", None])
def test_what_names_no_record_is_answered_with_the_state_of_none(store: SqliteStore, arguments: Any) -> None:
    group = Group("flow", rank=1)
    for tool in founding.tools(store):
        group.tool(binding=False, effect="draft")(tool)
    said = Toolset([group]).for_context(None).call("set_company_name", arguments)
    assert (said["error"]["code"], said["revision"], said["status"]) == ("refused", None, "not_started")
    assert said["error"]["message"] == "record_id is no id of a record"
    assert json.dumps(said, ensure_ascii=False).encode()


def test_a_refused_call_through_an_adapter_carries_the_state(store: SqliteStore) -> None:
    pytest.importorskip("pydantic_core")
    from beleg.agent.adapters.answer import answer

    group = Group("flow", rank=1)
    for tool in founding.tools(store):
        group.tool(binding=False, effect="draft")(tool)
    begun(store, {"company_name": "N"})
    said = answer(Toolset([group]).for_context(None), "set_company_name", {"record_id": "r", "company_name": 4})
    assert json.loads(said.text)["sections"].keys() == {each.name for each in FOUNDING.sections}
    assert "company_name" in said.data["error"]["message"]
