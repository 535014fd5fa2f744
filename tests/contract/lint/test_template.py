"""What lint lets pass as a template the SDK renders; what would hang or reach out it refuses, quickly."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beleg.contract.lint import lint
from beleg.contract.lint.template import FILTERS, TESTS, read
from beleg.contract.model import Prompt, Variable
from beleg.contract.run.render import Template
from tests.contract.lint.support import contract

HOSTILE = {
    "a hundred thousand nested braces": "{{" * 100_000,
    "deep conditions": "{% if a %}" * 2_000,
    "deep brackets": "{{ " + "(" * 150 + "a" + ")" * 150 + " }}",
    "deep lists": "{{ " + "[" * 190 + "]" * 190 + " }}",
    "a long chain of parts": "{{ a" + ".b" * 50_000 + " }}",
    "a long chain of filters": "{{ a" + "|trim" * 20_000 + " }}",
    "a long chain of or": "{{ " + "a or " * 20_000 + "a }}",
    "a long row of nots": "{{ " + "not " * 3_000 + "a }}",
    "a long row of minuses": "{{ " + "-" * 3_000 + "a }}",
    "ten million characters": "x" * 10_000_000,
    "a text a thousand million times": "{{ 'a' * 1000000000 }}",
    "a tower of powers": "{{ 9 ** 9 ** 9 }}",
    "a wide indentation": "{{ a | indent(1000000000) }}",
    "a long glue": "{{ a | join('" + "x" * 1_000 + "') }}",
    "a filter over a constant": "{{ 'aaaa' | join('bbbb') }}",
    "a loop over numbers": "{% for i in range(1000000000) %}x{% endfor %}",
    "a loop over a text": "{% for i in 'abc' %}x{% endfor %}",
    "three loops": "{% for a in b %}{% for c in a %}{% for d in c %}{{ d }}{% endfor %}{% endfor %}{% endfor %}",
    "a loop into itself": "{% for a in b recursive %}{{ loop(a) }}{% endfor %}",
    "a class": "{{ ''.__class__ }}",
    "a class by name": "{{ a['__class__'] }}",
    "a class by filter": "{{ a | attr('__class__') }}",
    "a call": "{{ a() }}",
    "a method": "{{ a.format(b) }}",
    "an include": "{% include '/etc/passwd' %}",
    "an import": "{% import 'x' as y %}",
    "an extends": "{% extends 'x' %}",
    "a macro": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "a set": "{% set a = 1 %}{{ a }}",
    "a concatenation": "{{ a ~ a }}",
    "half a character": "{{ \ud800 }}",
    "an open brace": "{{ a",
    "an unknown tag": "{% shell 'ls' %}",
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_what_the_sdk_does_not_render_is_refused(source: str) -> None:
    assert read(source).faults


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_lint_names_it_instead_of_failing(source: str) -> None:
    found = lint(contract({"prompt": {"user": source}}))
    assert {"L44", "L48"} & {each.rule for each in found}


@pytest.mark.parametrize(
    "source",
    [
        "plain",
        "",
        "{{ a }}",
        "{{ a.b[0]['c'] | default('none') | upper }}",
        "{% if a is defined and a != 'x' %}{{ a }}{% elif b %}{{ b }}{% else %}-{% endif %}",
        "{% for line in a.lines | sort %}{{ loop.index }}. {{ line.text }}{% endfor %}",
        "{% for row in a %}{% for cell in row %}{{ cell }}{% endfor %}{% endfor %}",
        "{{ 'yes' if a else 'no' }}",
        "{% raw %}{{ x }}{% endraw %}",
        "{# a note #}",
    ],
)
def test_what_a_prompt_needs_is_allowed(source: str) -> None:
    assert read(source).faults == ()


@pytest.mark.parametrize(
    "source",
    [
        "{% if document %}" + "{% elif document %}" * 4_900 + "{% endif %}",
        "{{ document" + " < document" * 20_000 + " }}",
    ],
)
def test_what_can_be_read_but_not_compiled_is_answered(source: str) -> None:
    lint(contract({"prompt": {"user": source}}))


def test_names_are_those_that_come_from_outside() -> None:
    assert read("{% for x in a %}{{ x }}{{ b.c }}{% endfor %}{{ loop }}").names == {"a", "b", "loop"}


NUMERIC = {"abs", "round", "int", "float"}
PIECES = st.recursive(
    st.sampled_from(["text ", "{{ a }}", "{{ b.c }}", "{{ b['c'] }}", "{{ n }}", "{# note #}"])
    | st.sampled_from(sorted(FILTERS - NUMERIC - {"default", "d", "unique"})).map(
        lambda name: f"{{{{ a | string | {name} }}}}"
    )
    | st.sampled_from(sorted(NUMERIC)).map(lambda name: f"{{{{ n | {name} }}}}")
    | st.sampled_from(sorted(TESTS - {"in", "eq", "ne", "lt", "le", "gt", "ge"})).map(lambda t: f"{{{{ a is {t} }}}}"),
    lambda inner: (
        st.tuples(inner, inner).map(lambda two: f"{{% if a == n %}}{two[0]}{{% else %}}{two[1]}{{% endif %}}")
        | inner.map(lambda one: f"{{% for x in l %}}{one}{{{{ x }}}}{{% endfor %}}")
    ),
    max_leaves=6,
)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=4).map("".join))
def test_what_is_allowed_and_given_its_names_is_rendered_by_the_sdk(source: str) -> None:
    template = read(source)
    if template.faults:
        assert "loops go at most" in template.faults[0]
        return
    values = {"a": "7", "b": {"c": 2}, "n": 3, "l": [1, 2]}
    assert template.names <= set(values)
    prompt = Prompt(source, "", tuple(Variable(name, True) for name in template.names))
    Template(prompt).render({name: values[name] for name in template.names})


@settings(deadline=None)
@given(st.text())
def test_any_text_is_read(source: str) -> None:
    read(source)
    read("{{ " + source + " }}")


@pytest.mark.parametrize("role", ["system", "user"])
def test_marks_that_turn_the_reading_direction_are_named(role: str) -> None:
    found = lint(contract({"prompt": {role: "{{ company }} {{ document }}\u202e"}}))
    assert [each.sentence for each in found if each.rule == "L47"] == [
        "Here stand characters that nobody sees: U+202E."
    ]


def test_half_a_character_is_all_that_is_said_about_a_contract_without_a_digest() -> None:
    given_ = contract({"prompt": {"user": "{{ document }} \ud800"}, "change_note": ""})
    assert {(each.rule, each.severity) for each in lint(given_)} == {("L48", "error")}


def test_an_empty_prompt_is_named() -> None:
    found = lint(contract({"prompt": {"system": " ", "user": "", "variables": None, "samples": []}}))
    assert "The prompt is empty." in {each.sentence for each in found}
