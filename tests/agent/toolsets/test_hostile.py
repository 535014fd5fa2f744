"""What a newcomer may hand over: everything that cannot work is refused where it is declared, in words."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from beleg.agent.errors import ArgumentsRefused, ToolUnknown
from beleg.agent.toolsets import Condition, Group, Toolset, fact
from beleg.core.errors import UsageError
from tests.agent.offered import numbered

NESTED: dict[str, Any] = {"type": "string"}
for _ in range(3_000):
    NESTED = {"type": "object", "properties": {"a": NESTED}}
CYCLE: dict[str, Any] = {"type": "object", "properties": {}}
CYCLE["properties"]["a"] = CYCLE


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (NESTED, "more than 100 levels"),
        (CYCLE, "contains itself"),
        ([1], "is an object, not a list"),
        ("x", "is an object, not a str"),
        ({"type": 7}, r"no JSON Schema: \$\.type"),
        ({"properties": {"a": {"type": "string", "pattern": "("}}}, "is not a 'regex'"),
        ({"$ref": "https://example.com/schema"}, "refers to 'https://example.com/schema'"),
        ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, "refers to 'file:"),
        ({"properties": {"a": {"$dynamicRef": "http://127.0.0.1:1/x"}}}, "refers to 'http:"),
        ({"properties": {"a": {"$ref": "#/$defs/none"}}}, "refers to '#/.defs/none', which is not in it"),
        ({"$dynamicRef": "#nowhere"}, "refers to '#nowhere', which is not in it"),
        ({"$ref": "#"}, "refers to itself alone"),
        ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}}, "refers to itself alone"),
        ({"$defs": {f"a{n}": {"$ref": f"#/$defs/a{n + 1}"} for n in range(3_000)}}, "refers to itself alone"),
        ({"properties": {1: {"type": "string"}, "1": {}}}, "has the key 1; keys of JSON are texts"),
    ],
)
def test_a_schema_that_is_none_is_refused_where_it_is_declared(schema: Any, said: str) -> None:
    group = Group("core", rank=1)
    with pytest.raises(UsageError, match=said):
        numbered(group, "look", schema=schema)
    assert group.tools == ()


def test_a_schema_of_five_thousand_members_is_a_tool_like_any_other() -> None:
    schema = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(5_000)}}
    offer = Toolset([numbered(Group("core", rank=1), "big", schema=schema)]).for_context(None)
    assert offer.call("big", {"p4999": "x"}) == {"tool": "big", "p4999": "x"}


def test_a_schema_may_refer_to_itself() -> None:
    schema = {"type": "object", "properties": {"part": {"$ref": "#"}}}
    offer = Toolset([numbered(Group("core", rank=1), "tree", schema=schema)]).for_context(None)
    assert offer.call("tree", {"part": {"part": {}}})["part"] == {"part": {}}


def test_arguments_nested_beyond_what_can_be_checked_are_refused_as_the_models_fault() -> None:
    schema = {"type": "object", "properties": {"part": {"$ref": "#"}}}
    offer = Toolset([numbered(Group("core", rank=1), "tree", schema=schema)]).for_context(None)
    written: dict[str, Any] = {}
    for _ in range(900):
        written = {"part": written}
    with pytest.raises(ArgumentsRefused, match="nested too deep"):
        offer.call("tree", written)


def test_what_many_references_share_is_looked_at_once() -> None:
    twice = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(60)}
    schema = {"type": "object", "$defs": {**twice, "a60": {"type": "string"}}}
    assert numbered(Group("core", rank=1), "shared", schema=schema).tools


@pytest.mark.parametrize(
    "odd", [{"name": 5}, {"name": b"x"}, {"description": 5}, {"version": None}, {"version": ""}, {"keep": 1}]
)
def test_what_is_no_text_is_refused_where_a_text_belongs(odd: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="are texts"):
        Group("core", rank=1).tool(**{"binding": False, "effect": "read", **odd})


def test_writable_is_a_list_of_names_and_no_name() -> None:
    with pytest.raises(UsageError, match="writable is a list"):
        Group("core", rank=1).tool(binding=False, effect="write", writable="street")


def unknown(x: "NoSuchType") -> None:  # type: ignore[name-defined]  # noqa: F821
    """Looks."""


def uncheckable(x: Callable[[int], threading.Lock]) -> None:
    """Looks."""


@pytest.mark.parametrize("function", [unknown, uncheckable])
def test_a_type_that_makes_no_schema_is_refused_with_the_signature(function: Any) -> None:
    with pytest.raises(UsageError, match="no schema can be made of"):
        Group("core", rank=1).tool(binding=False, effect="read")(function)


@pytest.mark.parametrize("name", ["a+b", "a\nb", "", " ", "a" * 65, 7, None])
def test_a_group_needs_a_name_that_a_cohort_can_be_called_by(name: Any) -> None:
    with pytest.raises(UsageError, match="is no name of a group"):
        Group(name, rank=1)


def test_a_group_may_have_a_name_of_any_language() -> None:
    assert (
        Toolset([Group("prüfung", rank=1, when=Condition("c", lambda _: True))]).for_context(0).cohort.name == "prüfung"
    )


@pytest.mark.parametrize(("rank", "when"), [("1", None), (1.5, None), (True, None), (1, "x"), (1, lambda _: True)])
def test_a_rank_is_a_number_and_a_condition_one(rank: Any, when: Any) -> None:
    with pytest.raises(UsageError, match="a whole number and a Condition"):
        Group("core", rank=rank, when=when)


@pytest.mark.parametrize("value", [[1], {"a": 1}, {1}])
def test_a_fact_is_not_compared_with_what_can_change(value: Any) -> None:
    with pytest.raises(UsageError, match="which can change"):
        fact("company.form", value)


class Unhashable:
    """A predicate with state, as a dataclass without frozen is one."""

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, context: Any) -> bool:
        return isinstance(context, str) and context == "yes"


def test_a_predicate_need_not_be_hashable_and_two_groups_may_share_it() -> None:
    shared = Condition("said yes", Unhashable())
    built = Toolset(
        [numbered(Group("a", rank=1, when=shared), "one"), numbered(Group("b", rank=2, when=shared), "two")]
    )
    assert [tool.name for tool in built.for_context("yes").tools] == ["one", "two"]
    assert built.for_context("no").tools == ()


def test_names_that_differ_only_in_case_are_one_name() -> None:
    with pytest.raises(UsageError, match="`List` and `list`: case tells none apart"):
        Toolset([numbered(Group("a", rank=1), "List"), numbered(Group("b", rank=2), "list")])


class Raising:
    """A context whose every fact is broken."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


def test_a_context_that_raises_gives_no_shorter_list() -> None:
    built = Toolset([numbered(Group("core", rank=1), "look"), Group("more", rank=2, when=fact("company.is_new"))])
    with pytest.raises(UsageError, match=r"`company\.is_new` cannot be decided: RuntimeError"):
        built.for_context(Raising())


def test_many_threads_get_one_cohort_and_their_own_context() -> None:
    group = Group("core", rank=1)

    @group.tool(binding=False, effect="read")
    def whoami(context: int) -> int:
        """Says who asks."""
        return context

    built = Toolset([group, numbered(Group("odd", rank=2, when=Condition("odd", lambda n: n % 2 == 1)), "only_odd")])
    gate = threading.Barrier(8)

    def ask(number: int) -> tuple[int, str]:
        if number < 8:
            gate.wait()
        offer = built.for_context(number)
        try:
            offer.call("only_odd", {})
            allowed = True
        except ToolUnknown:
            allowed = False
        assert allowed is (number % 2 == 1)
        return offer.call("whoami", {}), offer.cohort.digest

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(400)))
    assert [number for number, _ in found] == list(range(400))
    assert {digest for number, digest in found if number % 2} != {digest for number, digest in found if not number % 2}
    assert len({digest for _, digest in found}) == 2


@pytest.mark.parametrize("text", ["Looks \u202eup.", "\u200b", "Looks up.\U000e0041"])
def test_a_description_with_characters_that_nobody_sees_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"characters that nobody sees .* U\+"):
        Group("core", rank=1).tool(binding=False, effect="read", name="look", description=text, input_schema={})(print)
    schema = {"properties": {"a": {"description": text}}}
    with pytest.raises(UsageError, match="characters that nobody sees"):
        numbered(Group("core", rank=1), "look", schema=schema)
