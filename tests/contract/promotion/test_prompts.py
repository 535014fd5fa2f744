"""Prompts of workflows without a contract: immutable texts, of which one or none is active."""

from typing import Any

import pytest

from beleg.contract.lifecycle import sunset
from beleg.contract.promotion import activate_prompt, add_prompt, deactivate_prompt
from beleg.contract.registry.registry import Registry
from beleg.core.errors import UsageError
from tests.contract.promotion.support import NAME, NOW, Project, day

BY: dict[str, Any] = {"by": "Paul", "now": NOW}


def active(registry: Registry, workflow: str = "dunning") -> str | None:
    head = registry.prompt_head(workflow)
    return None if head is None or head.active is None else head.active.version


def test_a_text_is_added_activated_replaced_and_deactivated(project: Project) -> None:
    registry = project.registry
    first = add_prompt(registry, "dunning", "Write a letter.", **BY)
    assert (first.version, active(registry)) == ("1", None)
    activate_prompt(registry, "dunning", "1", why="Better tone.", **BY)
    assert active(registry) == "1"
    add_prompt(registry, "dunning", "Write a kind letter.", version="kind-2", note="Kinder.", **BY)
    assert active(registry) == "1"
    activate_prompt(registry, "dunning", "kind-2", why="Kinder.", **BY)
    activate_prompt(registry, "dunning", "1", why="Back.", **BY)
    deactivate_prompt(registry, "dunning", why="Use the one in the code.", **BY)
    assert active(registry) is None
    verbs = [entry.verb for entry in registry.prompt_shelf("dunning").history()]
    assert verbs == ["add", "activate", "add", "activate", "activate", "deactivate"]
    assert [each.text for each in registry.prompt_releases("dunning")] == ["Write a letter.", "Write a kind letter."]
    assert project.verify().proved
    assert project.verify().notes == []


def test_a_text_never_changes(project: Project) -> None:
    registry = project.registry
    first = add_prompt(registry, "dunning", "Write a letter.", version="1", **BY)
    assert add_prompt(registry, "dunning", "Write a letter.", version="1", **BY) == first
    with pytest.raises(UsageError, match="texts never change"):
        add_prompt(registry, "dunning", "Write two letters.", version="1", **BY)
    assert add_prompt(registry, "dunning", "Write two letters.", **BY).version == "2"


def test_what_was_not_added_cannot_be_activated(project: Project) -> None:
    with pytest.raises(UsageError, match="there are: none"):
        activate_prompt(project.registry, "dunning", "1", why="Why not.", **BY)
    with pytest.raises(UsageError, match="no active prompt"):
        deactivate_prompt(project.registry, "dunning", why="Why not.", **BY)
    assert not project.registry.root.exists()


@pytest.mark.parametrize("text", ["", "  \n", "half \ud83d"])
def test_a_text_that_could_not_be_used_is_refused(project: Project, text: str) -> None:
    with pytest.raises(UsageError):
        add_prompt(project.registry, "dunning", text, **BY)
    assert not project.registry.root.exists()


@pytest.mark.parametrize("name", ["..", ".", "", "../x", "a/b", "a\\b", "a\x00", "x" * 101, ".hidden", "ä", "a\n"])
def test_names_that_leave_the_folder_are_refused(project: Project, name: str) -> None:
    with pytest.raises(UsageError):
        add_prompt(project.registry, name, "Text.", **BY)
    if name:
        with pytest.raises(UsageError):
            add_prompt(project.registry, "dunning", "Text.", version=name, **BY)
    assert not project.registry.root.exists()


def test_where_a_feature_serves_the_workflow_activating_is_publishing(project: Project) -> None:
    registry = project.registry
    add_prompt(registry, "ocr", "Read it.", **BY)
    activate_prompt(registry, "ocr", "1", why="Start.", **BY)
    project.publish(project.contract())
    for refused in (
        lambda: add_prompt(registry, "ocr", "Read it well.", **BY),
        lambda: activate_prompt(registry, "ocr", "1", why="Back.", **BY),
        lambda: deactivate_prompt(registry, "ocr", why="Off.", **BY),
    ):
        with pytest.raises(UsageError, match=f"beleg contract publish {NAME}"):
            refused()
    assert project.verify().proved


def test_when_the_feature_is_gone_the_workflow_has_prompts_of_its_own_again(project: Project) -> None:
    project.publish(project.contract())
    sunset(project.registry, NAME, by="Olga", why="Replaced.", on=day(40), now=NOW)
    with pytest.raises(UsageError, match="belongs to the contract"):
        add_prompt(project.registry, "ocr", "Read it.", **BY)
    late: dict[str, Any] = {"by": "Paul", "now": NOW.replace(year=2031)}
    add_prompt(project.registry, "ocr", "Read it.", **late)
    assert activate_prompt(project.registry, "ocr", "1", why="Start.", **late).active is not None
    assert project.verify().proved
