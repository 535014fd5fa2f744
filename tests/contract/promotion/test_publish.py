"""Publishing: what it demands, which version comes of it, and that nothing changes where it refuses."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from beleg.contract import promotion
from beleg.contract.promotion import NotReady
from beleg.contract.registry.shelf import Moved
from beleg.contract.tools import Tool
from beleg.core.errors import UsageError
from tests.contract.promotion.support import NAME, NOW, SCHEMA, Project, migration, tool, whats, with_field, with_prompt


def test_the_first_version_is_1_0_0_and_names_everything_it_was_judged_by(project: Project) -> None:
    contract = project.contract()
    release = project.publish(contract)
    assert (release.version, release.previous, release.digest) == ("1.0.0", None, contract.digest)
    assert (release.workflow, release.note, release.published_by) == ("ocr", "First version.", "Paul Publisher")
    head = project.registry.head(NAME)
    assert head is not None
    assert (head.epoch, head.state, head.active) == (1, "active", release.published)
    assert project.registry.release(head.active.release).contract == contract
    assert project.registry.index("ocr") == project.registry.serving("ocr") == [NAME]
    assert project.verify().to_dict() == {
        "proved": True, "features": 1, "releases": 1, "tools": 0, "problems": [], "notes": []
    }  # fmt: skip


def test_a_dry_run_writes_nothing_and_says_what_publishing_would(project: Project) -> None:
    contract = project.contract()
    readiness = project.check(contract)
    assert (readiness.ready, readiness.version, readiness.epoch) == (True, "1.0.0", 0)
    assert not project.registry.root.exists()
    json.dumps(readiness.to_dict())
    assert project.publish(contract).version == readiness.version


def test_versions_follow_from_the_changes(project: Project) -> None:
    first = project.contract()
    project.publish(first)
    assert project.publish(with_prompt(first, "Read the total, in cents.")).version == "1.0.1"
    second = with_field(first, "vendor")
    assert project.publish(second).version == "1.1.0"
    third = with_field(second, "currency", required=True, migration=migration())
    assert project.publish(third, confirm_breaking=True).version == "2.0.0"
    head = project.registry.head(NAME)
    assert head is not None
    majors = {major: (each.version, each.deadline) for major, each in head.majors.items()}
    assert majors == {1: ("1.1.0", migration().deadline), 2: ("2.0.0", None)}
    assert project.verify().proved


def test_a_breaking_change_needs_confirmation_and_a_migration_note(project: Project) -> None:
    project.publish(project.contract())
    breaking = with_field(project.contract(), "vendor", required=True)
    assert whats(project.check(breaking)) == ["breaking", "breaking"]
    assert whats(project.check(breaking, confirm_breaking=True)) == ["breaking"]
    told = replace(breaking, migration=migration())
    assert whats(project.check(told)) == ["breaking"]
    assert project.check(told, confirm_breaking=True).ready
    late = replace(breaking, migration=migration(days=5))
    assert "L40" in project.check(late, confirm_breaking=True).blockers[0].sentence
    with pytest.raises(NotReady, match="confirm"):
        project.publish(told)
    assert project.versions() == ["1.0.0"]


def test_a_wished_bump_can_only_be_higher(project: Project) -> None:
    project.publish(project.contract())
    changed = with_field(project.contract(), "vendor")
    assert whats(project.check(changed, bump="patch")) == ["version"]
    assert project.check(changed, bump="minor").version == "1.1.0"
    wished = replace(changed, migration=migration())
    assert project.check(wished, bump="major", confirm_breaking=True).version == "2.0.0"
    assert whats(project.check(changed, bump="major")) == ["breaking", "breaking"]


def test_the_active_version_cannot_be_published_again(project: Project) -> None:
    project.publish(project.contract())
    assert whats(project.check(project.contract())) == ["identical"]


def test_a_change_note_and_a_clean_draft_are_demanded(project: Project) -> None:
    assert "note" in whats(project.check(project.contract(change_note="  ")))
    broken = with_prompt(project.contract(), "Read {{ what_is_this }}.")
    found = project.check(broken)
    assert set(whats(found)) == {"lint", "maturity"}
    assert "L01" in found.blockers[0].sentence


def test_what_was_confirmed_is_what_is_published(project: Project) -> None:
    seen = project.check(project.contract())
    changed = with_prompt(project.contract(), "Something else.")
    with pytest.raises(UsageError, match="any more"):
        promotion.publish(project.feature, changed, project.registry, by="P", digest=seen.digest, now=NOW)
    project.publish(project.contract())
    with pytest.raises(Moved, match="epoch 0 to 1"):
        promotion.publish(
            project.feature, changed, project.registry, by="P", digest=changed.digest, epoch=seen.epoch, now=NOW
        )
    assert project.versions() == ["1.0.0"]


def test_tools_must_be_as_the_catalogue_has_them(project: Project) -> None:
    values = tool()
    contract = with_prompt(project.contract(tools=(Tool(**values),)), "Read the total. Use lookup_account.")
    assert "not in the tool catalogue" in " ".join(each.sentence for each in project.check(contract).blockers)
    described = {key: value for key, value in values.items() if key != "digest"}
    project.registry.write_tool(**described)
    project.registry.write_tool(**described)
    assert project.check(contract).ready
    with pytest.raises(UsageError, match="cannot change"):
        project.registry.write_tool(**described | {"description": "Pays the account."})
    project.publish(contract)
    assert project.verify().tools == 1


@pytest.mark.parametrize("in_contract", [True, False])
def test_what_the_catalogue_calls_binding_is_in_no_contract(project: Project, in_contract: bool) -> None:
    values = tool(binding=True)
    project.registry.write_tool(**{key: value for key, value in values.items() if key != "digest"})
    contract = project.contract(tools=(Tool(**values | {"binding": in_contract}),))
    assert "binding" in " ".join(each.sentence for each in project.check(contract).blockers if each.what == "tools")
    with pytest.raises(NotReady):
        project.publish(contract)
    assert not (project.registry.root / "features").exists()


def test_history_is_in_order_whatever_the_clocks_say(project: Project) -> None:
    project.publish(project.contract())
    for number in range(1, 4):
        changed = with_prompt(project.contract(), f"Read the total, variant {number}.")
        project.publish(changed, now=NOW - timedelta(days=number))
    assert project.versions() == ["1.0.0", "1.0.1", "1.0.2", "1.0.3"]
    assert project.active() == "1.0.3"
    assert project.verify().proved


def test_what_cannot_be_written_as_json_is_refused(project: Project) -> None:
    for hostile in (project.contract(author="half \ud83d"), project.contract(examples=(float("nan"),))):
        with pytest.raises(UsageError):
            project.check(hostile)
    twice: dict[Any, Any] = {**SCHEMA, 1: "a key that is no text", "1": "and its namesake"}
    with pytest.raises(UsageError, match="another one after it was written"):
        project.check(project.contract(output_schema=twice))


def test_what_is_judged_is_what_readers_will_read(project: Project) -> None:
    schema: dict[Any, Any] = {**SCHEMA, 1: "a key that is no text"}
    release = project.publish(project.contract(output_schema=schema))
    assert release.document["output_schema"]["1"] == "a key that is no text"
    assert project.verify().proved


def test_a_draft_of_another_feature_is_refused(project: Project) -> None:
    with pytest.raises(UsageError, match="is of 'other'"):
        project.check(project.contract(feature="other"))


def test_a_workflow_that_can_be_no_folder_is_refused(project: Project) -> None:
    project.write(workflow="../../etc")
    with pytest.raises(UsageError, match="no name of a workflow"):
        project.publish(project.contract())
    assert not project.registry.root.exists()


@pytest.mark.parametrize("by", ["", "  ", "Paul\x00", "Paul\nRoot", "Pa\u200bul", "x" * 500, "\ud800"])
def test_names_that_hide_something_are_refused(project: Project, by: str) -> None:
    with pytest.raises(UsageError):
        project.publish(project.contract(), by=by)
    assert not project.registry.root.exists()
