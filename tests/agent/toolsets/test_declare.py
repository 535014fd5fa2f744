"""A tool is declared once, says what it does to the world, and can never be one that binds."""

import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from beleg.agent.errors import ArgumentsRefused, BindingRefused
from beleg.agent.toolsets import Group, Toolset
from beleg.contract.tools import pin
from beleg.core.errors import UsageError
from beleg.trace.canon import canonical
from tests.agent.offered import FREELANCER, numbered, toolset


def nothing(text: str) -> str:
    """Does nothing."""
    return text


@pytest.mark.parametrize(
    "said",
    [{"binding": True, "effect": "write"}, {"binding": False, "effect": "binding"}, {"binding": 0, "effect": "read"}],
)
def test_a_binding_tool_is_an_error_at_its_definition(said: dict[str, Any]) -> None:
    group = Group("core", rank=1)
    with pytest.raises(BindingRefused, match="give the user a link"):
        group.tool(**said)(nothing)
    assert group.tools == ()


def test_binding_has_no_default() -> None:
    with pytest.raises(TypeError, match="binding"):
        Group("core", rank=1).tool(effect="read")(nothing)  # type: ignore[call-arg]


def test_the_type_checker_refuses_a_binding_tool(tmp_path: Path) -> None:
    source = tmp_path / "declared.py"
    source.write_text(
        "from beleg.agent.toolsets import Group\n"
        "@Group('core', rank=1).tool(binding=True, effect='write')\n"
        "def submit() -> None:\n    'Submits.'\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(source)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[3])
    assert result.returncode == 1
    assert 'incompatible type "Literal[True]"; expected "Literal[False]"' in result.stdout


def test_case_29_a_facade_cannot_be_registered() -> None:
    group = Group("core", rank=1)

    def call_tool(name: str, arguments: dict[str, Any]) -> None:
        """Calls any tool."""

    def run(tool_name: str, text: str) -> None:
        """Does what is wanted."""

    for facade in (call_tool, run):
        with pytest.raises(BindingRefused, match="calls other tools by name"):
            group.tool(binding=False, effect="read")(facade)
    assert group.tools == ()


def test_case_31_a_status_cannot_be_written_through_free_fields() -> None:
    group = Group("core", rank=1)
    written: list[dict[str, Any]] = []

    def update_registration(values: dict[str, Any]) -> None:
        """Changes the registration."""
        written.append(values)

    with pytest.raises(UsageError, match="may hold anything, a status too"):
        group.tool(binding=False, effect="write")(update_registration)
    group.tool(binding=False, effect="write", writable=["street", "city"])(update_registration)
    offer = Toolset([group]).for_context(None)
    with pytest.raises(ArgumentsRefused, match="values may hold city, street and nothing else"):
        offer.call("update_registration", {"values": {"status": "submitted"}})
    offer.call("update_registration", {"values": {"street": "Hauptstr. 1"}})
    assert written == [{"street": "Hauptstr. 1"}]
    shown = offer.tools[0].input_schema["properties"]["values"]
    assert shown["propertyNames"] == {"enum": ["city", "street"]}


B = {"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": {"type": "string"}}
OPEN: dict[str, Any] = {
    "object": {"type": "object"},
    "list": {"type": "array", "items": {"type": "object"}},
    "list of anything": {"type": "array"},
    "union": {"anyOf": [{"type": "object", "additionalProperties": True}, {"type": "null"}]},
    "reference": {"$ref": "#/$defs/B"},
    "pattern": {"type": "object", "patternProperties": {".*": {"type": "string"}}, "additionalProperties": False},
    "texts by any name": {"type": "object", "additionalProperties": {"type": "string"}},
    "joined": {"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}]},
    "anything": True,
    "no type": {"description": "A value."},
    "types": {"type": ["object", "null"]},
    "inside": {"type": "object", "properties": {"deep": {"type": "object"}}},
}


@pytest.mark.parametrize("value", OPEN.values(), ids=list(OPEN))
def test_an_object_that_may_hold_anything_is_found_however_deep(value: Any) -> None:
    schema = {"type": "object", "properties": {"a": value}, "$defs": {"B": B}}
    with pytest.raises(UsageError, match="may hold anything"):
        Group("core", rank=1).tool(binding=False, effect="draft", input_schema=schema)(nothing)


@pytest.mark.parametrize("schema", [{"additionalProperties": True}, {"anyOf": [{"required": ["a"]}]}])
def test_arguments_as_a_whole_may_not_hold_anything_either(schema: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="writes through arguments"):
        Group("core", rank=1).tool(binding=False, effect="draft", input_schema=schema)(nothing)


def test_what_is_closed_may_be_written() -> None:
    class Line(BaseModel):
        text: str
        before: "Line | None" = None

    def draft(lines: list[Line], kind: Literal["a", "b"], day: date, pair: tuple[int, str]) -> None:
        """Prepares."""

    Group("core", rank=1).tool(binding=False, effect="draft")(draft)


def test_an_object_takes_only_what_its_schema_names() -> None:
    schema = {
        "type": "object",
        "properties": {"address": {"type": "object", "properties": {"city": {"type": "string"}}}},
    }
    group = numbered(Group("core", rank=1), "look", schema=schema)
    offer = Toolset([group]).for_context(None)
    for extra in ({"status": "paid"}, {"address": {"city": "Ulm", "status": "paid"}}):
        with pytest.raises(ArgumentsRefused, match="additionalProperties"):
            offer.call("look", extra)


def test_arguments_are_refused_by_place_and_rule_without_repeating_them() -> None:
    offer = toolset().for_context(FREELANCER)
    with pytest.raises(ArgumentsRefused, match="times: int_parsing; secret: unexpected_keyword") as refused:
        offer.call("draft_note", {"text": "a", "times": "geheim", "secret": "geheim"})
    assert "geheim" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "problem"), [("1st", "no name of a tool"), ("a b", "no name of a tool"), ("x" * 65, "no name of a tool")]
)
def test_a_name_that_a_provider_refuses_is_refused_here(name: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        Group("core", rank=1).tool(binding=False, effect="read", name=name)(nothing)


def test_a_tool_needs_a_description_and_a_name_of_its_own() -> None:
    group = Group("core", rank=1)
    with pytest.raises(UsageError, match="no description"):
        group.tool(binding=False, effect="read", name="look")(lambda: None)
    group.tool(binding=False, effect="read")(nothing)
    with pytest.raises(UsageError, match="has a tool `nothing` already"):
        group.tool(binding=False, effect="read")(nothing)


def test_a_group_is_closed_once_a_toolset_holds_it() -> None:
    group = numbered(Group("core", rank=1), "look")
    Toolset([group])
    with pytest.raises(UsageError, match="part of a toolset already"):
        group.tool(binding=False, effect="read")(nothing)


def test_a_closed_group_keeps_its_place_and_its_condition() -> None:
    group = Group("core", rank=1)
    for name, value in (("name", "x"), ("rank", 9), ("when", None)):
        with pytest.raises(AttributeError):
            setattr(group, name, value)


def test_what_no_schema_can_name_is_refused() -> None:
    def rest(*texts: str) -> None:
        """Takes the rest."""

    def any_name(**fields: str) -> None:
        """Takes any name."""

    def by_place(text: str, /) -> None:
        """Takes by place."""

    for function in (rest, any_name, by_place):
        with pytest.raises(UsageError, match="cannot be given by name"):
            Group("core", rank=1).tool(binding=False, effect="read")(function)


@pytest.mark.parametrize("value", [{"maximum": 10**18}, {"default": float("nan")}, {"description": "\ud800"}])
def test_a_schema_that_json_cannot_hold_is_refused(value: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer", **value}}}
    with pytest.raises(UsageError, match="holds what JSON cannot"):
        numbered(Group("core", rank=1), "look", schema=schema)


def test_changing_a_schema_that_was_given_out_changes_no_check() -> None:
    offer = Toolset([numbered(Group("core", rank=1), "look")]).for_context(None)
    before = offer.cohort.data
    offer.tools[0].input_schema["properties"]["status"] = {"type": "string"}
    with pytest.raises(ArgumentsRefused):
        offer.call("look", {"status": "paid"})
    assert canonical([offer.tools[0].definition]).data == before


def test_the_schema_comes_from_type_hints_and_hides_the_context() -> None:
    tool = toolset().tools["draft_note"]
    assert tool.input_schema == {
        "additionalProperties": False,
        "properties": {"text": {"type": "string"}, "times": {"default": 1, "type": "integer"}},
        "required": ["text"],
        "type": "object",
    }
    assert tool.takes_context


def test_the_digest_is_the_contracts_pin() -> None:
    tool = toolset().tools["whoami"]
    assert tool.digest == pin("whoami", "1.0.0", "Says who asks.", tool.input_schema)
