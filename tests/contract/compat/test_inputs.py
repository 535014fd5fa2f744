"""Prompt variables: callers write them, the prompt reads them."""

from typing import Any

import pytest

from beleg.contract.compat import SchemaError, compare_inputs

TEXT = {"type": "string"}


def variable(schema: Any = TEXT, *, required: bool = True) -> dict[str, Any]:
    return {"schema": schema, "required": required}


@pytest.mark.parametrize(
    ("old", "new", "bump", "safe", "rollback"),
    [
        ({}, {"a": variable()}, "major", False, True),
        ({}, {"a": variable(required=False)}, "minor", True, True),
        ({"a": variable()}, {}, "minor", True, False),
        ({"a": variable(required=False)}, {}, "minor", True, True),
        ({"a": variable(required=False)}, {"a": variable()}, "major", False, True),
        ({"a": variable()}, {"a": variable(required=False)}, "minor", True, False),
        ({"a": variable()}, {"a": variable({"enum": ["x"]})}, "major", False, True),
        ({"a": variable({"enum": ["x"]})}, {"a": variable()}, "minor", True, False),
        ({"a": variable()}, {"a": variable({**TEXT, "title": "A"})}, "patch", True, True),
        ({"a": variable()}, {"a": variable()}, "none", True, True),
        ({"a": variable(TEXT)}, {"a": variable({"type": "number"})}, "major", False, False),
    ],
)
def test_the_direction_turns_round(old: Any, new: Any, bump: str, safe: bool, rollback: bool) -> None:
    found = compare_inputs(old, new)
    assert (found.bump, found.reader_safe, found.rollback_safe) == (bump, safe, rollback)


def test_the_witness_is_what_callers_may_send_today() -> None:
    found = compare_inputs({"a": variable()}, {"a": variable({"type": "string", "maxLength": 3})})
    assert found.changes[0].witness == {"a": "xxxx"}
    assert found.changes[0].witness_kind == "reader"
    assert found.changes[0].sentence == 'Variable “a” accepts less than before. It refuses, for example, "xxxx".'


def test_what_cannot_be_proved_is_said_to_be_so() -> None:
    old, new = ({"a": variable({"type": "string", "format": name})} for name in ("x-one", "x-two"))
    found = compare_inputs(old, new)
    assert (found.bump, found.unprovable, found.reader_safe) == ("major", True, False)


def test_a_nested_member_that_becomes_required_is_narrower() -> None:
    old, new = ({"a": variable({"type": "object", "required": names})} for names in ([], ["id"]))
    assert compare_inputs(old, new).bump == "major"
    assert compare_inputs(new, old).bump == "minor"


def test_a_variable_is_an_object() -> None:
    with pytest.raises(SchemaError, match="variable 'a' is str"):
        compare_inputs({}, {"a": "text"})  # type: ignore[dict-item]
