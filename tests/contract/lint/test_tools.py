"""What lint says about tools and prompts beyond the table of cases."""

from dataclasses import replace
from typing import Any

import pytest

from beleg.contract.lint import Facts, lint
from tests.contract.lint.support import contract, tool


@pytest.mark.parametrize("over", [{"version": "9.0.0"}, {"description": "Reads a supplier. Now with prices."}])
def test_tool_that_the_catalogue_does_not_have_is_told_how_to_get_in(over: dict[str, Any]) -> None:
    own = tool("lookup_supplier", "Reads a supplier.")
    entry = {"description": own.description, "input_schema": own.input_schema, "binding": own.binding}
    facts = Facts(catalogue={(own.name, own.version): entry})
    found = [each for each in lint(replace(contract(), tools=(replace(own, **over),)), facts) if each.rule == "L19"]
    assert [each.fix.endswith("beleg contract tool FILE") for each in found] == [True]


def test_neighbour_in_a_loop_over_text_of_strangers_is_that_text_too() -> None:
    system = "{% for each in lines %}{% if not loop.last %}{{ loop.nextitem }}{% endif %}{% endfor %}"
    lines = {"required": False, "untrusted": True, "schema": {"type": "array"}}
    made = contract({"prompt": {"system": system, "variables": {"lines": lines}}})
    assert "L37" in {each.rule for each in lint(made) if "lines" in each.sentence}
