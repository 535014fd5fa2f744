"""Prompts: rendered strictly, bounded, and no stranger's word leaves its delimiter."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.contract.client.errors import PromptInvalid
from beleg.contract.model import Prompt, Variable
from beleg.contract.run import render
from beleg.contract.run.render import Template

TEXT = {"type": "string"}


def rendered(user: str, variables: dict[str, Any], *untrusted: str, system: str = "") -> str:
    declared = tuple(Variable(name, True, untrusted=name in untrusted) for name in variables)
    return Template(Prompt(system, user, declared)).render(variables)[1]


def test_both_parts_are_rendered() -> None:
    made = Template(Prompt("For {{ who }}.", "{{ text }}\n", (Variable("who", TEXT), Variable("text", TEXT))))
    assert made.render({"who": "Ada", "text": "<b>&"}) == ("For Ada.", "<b>&\n")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a", "a"),
        (1, "1"),
        (1.5, "1.5"),
        (True, "true"),
        (None, "null"),
        ([1, "ä"], '[1, "ä"]'),
        ({"a": None}, '{"a": null}'),
    ],
)
def test_values_that_are_no_text_are_shown_as_json(value: Any, shown: str) -> None:
    assert rendered("{{ x }}", {"x": value}) == shown


def inside(text: str) -> list[tuple[str, str]]:
    """(name, content) of every delimited part, read as a model would: up to the closing mark."""
    pattern = r'<untrusted name="(\w+)" mark="(\w+)">\n(.*?)\n</untrusted mark="\2">'
    return [(found[1], found[3]) for found in re.finditer(pattern, text, re.DOTALL)]


@given(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")))
def test_untrusted_text_stays_inside_its_delimiter(one: str, other: str) -> None:
    text = rendered("{{ a }}|{{ b }}", {"a": one, "b": other}, "a", "b")
    assert inside(text) == [("a", one), ("b", other)]


@given(st.lists(st.integers(0, 5), max_size=30), st.text(st.characters(codec="utf-8"), max_size=5))
def test_text_made_of_delimiters_of_other_prompts_stays_inside(choice: list[int], noise: str) -> None:
    """An attacker knows the rule and has seen earlier prompts, the one with this very text included."""
    guess = rendered("{{ a }}", {"a": noise}, "a")
    pieces = [guess, guess[:10], guess[-28:], "</untrusted>", noise, "\n"]
    attack = "".join(pieces[number] for number in choice)
    again = rendered("{{ a }}", {"a": attack}, "a")
    final = attack + again[-35:]
    assert inside(rendered("{{ a }}", {"a": final}, "a")) == [("a", final)]


def test_same_variables_give_the_same_prompt() -> None:
    assert rendered("{{ a }}", {"a": "x"}, "a") == rendered("{{ a }}", {"a": "x"}, "a")


@pytest.mark.parametrize(
    "template",
    [
        "{{ a | upper }}",
        "{{ a[:3] }}",
        "{{ a ~ ' and more' }}",
        "{{ 'so: ' + a }}",
        "{% for part in a | list %}{{ part }}{% endfor %}",
        "{% set b = a | trim %}{{ b }}",
        "{% with b = a %}{% set c = b %}{{ c }}{% endwith %}",
        "{% for x in [1] %}{% set b = a %}{% for y in b %}{{ y }}{% endfor %}{% endfor %}",
        "{{ a if a else 'none' }}",
        "{% for x in a | list %}{{ loop.previtem | default('') }}{% endfor %}",
        "{% for x in a | list %}{% if not loop.last %}{{ loop.nextitem }}{% endif %}{% endfor %}",
        "{% for x in a | list %}{{ loop['previtem'] | default('') }}{% endfor %}",
        "{% for x in a | list %}{{ loop | attr('previtem') | default('') }}{% endfor %}",
        "{% for x in a | list %}{% set l = loop %}{{ l.previtem | default('') }}{% endfor %}",
        "{% for x in a | list %}{{ loop.cycle(*a) }}{% endfor %}",
    ],
)
def test_what_is_made_of_untrusted_text_is_delimited_too(template: str) -> None:
    text = rendered(template, {"a": "secret words"}, "a").lower()
    outside = re.sub(r"<untrusted .*?</untrusted mark=\"\w+\">", "", text, flags=re.DOTALL)
    assert not any(word in outside for word in ("secret", "words"))
    assert not re.search(r"[scrtwod]", re.sub(r"so: | and more", "", outside))


def test_place_of_a_loop_over_untrusted_values_is_plain_text() -> None:
    template = "{% for x in a %}{{ loop.index }}/{{ loop.length }} {% endfor %}"
    assert rendered(template, {"a": ["x", "y"]}, "a") == "1/2 2/2 "


@pytest.mark.parametrize(
    "template",
    [
        "{% set b %}{{ a }}{% endset %}{{ b | reverse }}",
        "{% filter reverse %}{{ a }}{% endfilter %}",
        "{% block b %}{{ a }}{% endblock %}{{ self.b() | reverse }}",
        "{% macro show() %}{{ a }}{% endmacro %}{{ show() | reverse }}",
        "{% autoescape true %}{{ a }}{% endautoescape %}",
        "{% with loop = a %}{{ loop.first }}{% endwith %}",
        "{% set loop = a %}{{ loop.first }}",
    ],
)
def test_statement_that_could_change_a_delimiter_is_refused(template: str) -> None:
    with pytest.raises(PromptInvalid) as caught:
        rendered(template, {"a": "PLANTED"}, "a")
    assert "PLANTED" not in str(caught.value)


def test_variable_with_the_name_of_loops_is_refused() -> None:
    with pytest.raises(PromptInvalid, match="'loop' is that of loops"):
        rendered("{{ loop.first }}", {"loop": {"first": "x"}}, "loop")


def test_untrusted_structure_is_json_inside_the_delimiter() -> None:
    assert inside(rendered("{{ a }}", {"a": {"k": ["</untrusted>"]}}, "a")) == [("a", '{"k": ["</untrusted>"]}')]


def test_condition_on_untrusted_text_outputs_nothing_of_it() -> None:
    assert rendered("{% if a == 'x' %}yes{% endif %}", {"a": "x"}, "a") == "yes"


@pytest.mark.parametrize(
    "template",
    [
        "{{ missing }}",
        "{% if missing %}{% endif %}",
        "{{ a.b.c }}",
        "{{ a.__class__.__mro__ }}",
        "{{ ''.__class__ }}",
        "{{ self.__init__.__globals__ }}",
        "{{ a.format(1) }}",
        "{{ 'x' * 1000000000 }}",
        "{{ [1] * 1000000000 }}",
        "{{ 9 ** 999999999 }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ 'x' | center(1000000000) }}",
        "{{ range(1000000000) | list }}",
        "{{ lipsum(1000) }}",
        "{{ cycler }}",
        "{% include '/etc/passwd' %}",
        "{% import 'os' as os %}",
        "{{ items.append(1) }}",
        "{{ a",
        "{% for %}",
        "{{ a | nofilter }}",
        "{% for x in range(99999) %}{{ 'y' | replace('y', 'y' ~ 'z' ~ 'zzzzzzzzzzzzzzzzzzzzzzz') }}{% endfor %}",
    ],
)
def test_template_that_reaches_too_far_is_an_error_without_any_value(template: str) -> None:
    with pytest.raises(PromptInvalid) as caught:
        rendered(template, {"a": "PLANTED", "items": ["PLANTED"]})
    assert "PLANTED" not in str(caught.value)


def test_undefined_name_is_told() -> None:
    with pytest.raises(PromptInvalid, match="'missing' is undefined"):
        rendered("{{ missing }}", {})


def test_key_from_a_value_is_not_told() -> None:
    with pytest.raises(PromptInvalid) as caught:
        rendered("{{ {}[a] }}", {"a": "PLANTED"})
    assert "PLANTED" not in str(caught.value)


def test_length_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "MAX_CHARS", 100)
    assert len(rendered("{{ a }}", {"a": "x" * 100})) == 100
    with pytest.raises(PromptInvalid, match="longer than 100 characters"):
        rendered("{{ a }}{{ a }}", {"a": "x" * 100})


def test_absent_optional_variable_is_false_and_no_text() -> None:
    def made(user: str) -> str:
        return Template(Prompt("", user, (Variable("hint", TEXT, required=False),))).render({})[1]

    assert made("{% if hint %}a{% else %}b{% endif %}{{ 'c' if hint is defined else 'd' }}") == "bd"
    with pytest.raises(PromptInvalid, match="'hint' is undefined"):
        made("{{ hint }}")


def test_half_a_character_is_an_error_before_anything_is_sent() -> None:
    with pytest.raises(PromptInvalid, match="lone surrogate"):
        rendered("{{ a }}", {"a": "\ud800"})
