"""What a tool's function can reach is found however it is reached; what cannot be followed is said."""

from collections.abc import Callable
from typing import Any

import pytest

from beleg.agent.verbs.reach import reach
from tests.agent.verbs import reaching

REACHING: dict[str, tuple[Callable[..., Any], str]] = {
    "direct": (reaching.direct, "shell"),
    "through_another": (reaching.through_another, "shell"),
    "by_method_of_the_context": (reaching.by_method_of_the_context, "message"),
    "by_global_object": (reaching.by_global_object, "message"),
    "by_local_name": (reaching.by_local_name, "message"),
    "by_callback": (reaching.by_callback, "shell"),
    "by_builtin_callback": (reaching.by_builtin_callback, "code"),
    "by_lambda": (reaching.by_lambda, "http"),
    "by_comprehension": (reaching.by_comprehension, "code"),
    "by_import": (reaching.by_import, "code"),
    "by_name": (reaching.by_name, "unknown"),
    "by_table": (reaching.by_table, "unknown"),
    "by_unknown_client": (reaching.by_unknown_client, "unknown"),
    "by_sql": (reaching.by_sql, "query"),
    "by_file": (reaching.by_file, "file_write"),
    "by_inner_name": (reaching.by_inner_name, "unknown"),
    "by_object": (reaching.by_object, "shell"),
    "by_partial": (reaching.by_partial, "shell"),
    "by_decorator": (reaching.by_decorator, "shell"),
    "by_coroutine": (reaching.by_coroutine, "shell"),
    "by_with": (reaching.by_with, "shell"),
    "by_item": (reaching.by_item, "shell"),
    "by_operator": (reaching.by_operator, "shell"),
    "by_loop": (reaching.by_loop, "shell"),
    "by_comprehension_over": (reaching.by_comprehension_over, "shell"),
    "by_format": (reaching.by_format, "shell"),
    "by_builtin": (reaching.by_builtin, "shell"),
    "by_property": (reaching.by_property, "shell"),
    "by_property_of_global": (reaching.by_property_of_global, "shell"),
    "by_setter": (reaching.by_setter, "shell"),
    "by_cached_property": (reaching.by_cached_property, "shell"),
    "by_item_of_global": (reaching.by_item_of_global, "shell"),
}


@pytest.mark.parametrize(("function", "kind"), REACHING.values(), ids=list(REACHING))
def test_an_effect_is_found_on_every_way(function: Callable[..., Any], kind: str) -> None:
    assert kind in {each.kind for each in reach(function).sinks}


def test_the_way_to_the_effect_is_named() -> None:
    (found,) = reach(reaching.through_another).sinks
    assert found.path == ("through_another", "_first", "_second")
    assert found.sink == "os.system"


def test_what_only_looks_reaches_nothing_and_hides_nothing() -> None:
    found = reach(reaching.harmless)
    assert found.sinks == ()
    assert found.unknown == ()


def test_a_call_that_cannot_be_followed_is_said() -> None:
    def look(context: Any) -> Any:
        return context.books.all()

    assert reach(look).unknown == ("test_a_call_that_cannot_be_followed_is_said.<locals>.look: context.books.all",)


def test_source_that_cannot_be_read_is_said() -> None:
    space: dict[str, Any] = {}
    exec("def made(text):\n    return text", space)
    assert "its source cannot be read" in reach(space["made"]).unknown[0]


def test_functions_that_call_each_other_end() -> None:
    def even(n: int) -> bool:
        return n == 0 or odd(n - 1)

    def odd(n: int) -> bool:
        return n != 0 and even(n - 1)

    assert reach(even).sinks == ()
