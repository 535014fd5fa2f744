"""Which version a draft becomes, against every published version of its major."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.contract import semver
from beleg.contract.compat.verdict import BUMPS, Bump
from beleg.contract.model import Contract, Variable
from beleg.contract.registry.names import Version
from beleg.contract.tools import Tool, pin
from beleg.core.errors import UsageError
from tests.contract.promotion.support import Project, tool, with_field, with_prompt


@pytest.fixture
def old(project: Project) -> Contract:
    return project.contract()


def bump(old: Contract, new: Contract) -> str:
    return semver.assess([("1.0.0", old)], "1.0.0", new).bump


def test_the_same_contract_asks_for_nothing(old: Contract) -> None:
    assert semver.assess([("1.0.0", old)], "1.0.0", old) == semver.Assessment("none")


def test_prompt_sampling_order_of_fallbacks_and_thresholds_are_a_patch(old: Contract) -> None:
    providers = old.providers
    two = replace(
        providers, fallbacks=(*providers.fallbacks, replace(providers.primary, model="acme-small-2030-01-15"))
    )
    assert bump(old, with_prompt(old, "Other words.")) == "patch"
    assert (
        bump(old, replace(old, providers=replace(providers, primary=replace(providers.primary, temperature=0.5))))
        == "patch"
    )
    swapped = replace(two, fallbacks=two.fallbacks[::-1])
    assert bump(replace(old, providers=two), replace(old, providers=swapped)) == "patch"
    assert bump(old, replace(old, evals=replace(old.evals, dataset="more receipts"))) == "patch"


def test_another_model_or_provider_is_at_least_minor(old: Contract) -> None:
    providers = old.providers
    other = replace(providers.primary, model="acme-large-2030-04-15")
    assert bump(old, replace(old, providers=replace(providers, primary=other))) == "minor"
    assert bump(old, replace(old, providers=replace(providers, fallbacks=(other,)))) == "minor"
    assert bump(old, replace(old, providers=replace(providers, fallbacks=()))) == "minor"


def test_tools_are_at_least_minor_and_arguments_that_no_old_function_reads_are_major(old: Contract) -> None:
    one = replace(old, tools=(Tool(**tool()),))
    assert bump(old, one) == bump(one, old) == "minor"
    assert bump(one, replace(old, tools=(Tool(**tool(version="2")),))) == "minor"
    schema = {**one.tools[0].input_schema, "properties": {"number": {"type": "integer"}}}
    digest = pin("lookup_account", "2", one.tools[0].description, schema)
    wider = replace(one.tools[0], version="2", input_schema=schema, digest=digest)
    assert bump(one, replace(old, tools=(wider,))) == "major"


def test_variables_are_compared_in_the_other_direction(old: Contract) -> None:
    def also(variable: Variable) -> Contract:
        return replace(old, prompt=replace(old.prompt, variables=(*old.prompt.variables, variable)))

    assert bump(old, also(Variable("country", {"type": "string"}))) == "major"
    assert bump(old, also(Variable("country", {"type": "string"}, required=False))) == "minor"
    assert bump(also(Variable("country", {"type": "string"}, required=False)), old) == "minor"


def test_every_version_of_the_major_counts_not_only_the_active_one(old: Contract) -> None:
    with_text = with_field(old, "due")
    as_number = replace(
        with_text,
        output_schema={
            **with_text.output_schema,  # type: ignore[dict-item]
            "properties": {**with_text.output_schema["properties"], "due": {"type": "integer"}},  # type: ignore[index]
        },
    )
    published = [("1.0.0", old), ("1.1.0", with_text), ("1.2.0", old)]
    found = semver.assess(published, "1.2.0", as_number)
    assert found.bump == "major"
    assert {each.against for each in found.changes if each.change.bump == "major"} == {"1.1.0"}
    assert semver.assess(published[:1], "1.0.0", as_number).bump == "minor"


def test_versions_of_other_majors_do_not_count(old: Contract) -> None:
    breaking = with_field(old, "vendor", required=True)
    published = [("1.0.0", old), ("2.0.0", breaking)]
    assert semver.assess(published, "2.0.0", breaking).bump == "none"


versions = st.builds(Version, *[st.integers(0, 30)] * 3).map(str)


@given(st.lists(versions, min_size=1, unique=True), st.data(), st.sampled_from(BUMPS))
def test_the_next_version_is_above_all_of_its_major_and_never_taken(
    published: list[str], data: st.DataObject, bump: Bump
) -> None:
    active = data.draw(st.sampled_from(published))
    new = semver.next_version(published, active, bump)
    mine = Version.parse(new)
    assert new not in published
    assert (mine.major == Version.parse(active).major) is (bump != "major")
    assert all(Version.parse(each) < mine for each in published if Version.parse(each).major == mine.major)


@pytest.mark.parametrize(
    "text", ["1", "1.0", "1.0.0.0", "01.0.0", "1.0.0-rc1", "v1.0.0", "1.0.٣", "1.0.0\n", "", "9" * 5000 + ".0.0"]
)
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no version"):
        Version.parse(text)
