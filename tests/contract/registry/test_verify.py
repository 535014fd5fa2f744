"""`verify` names whatever was tampered with, readers refuse it, and what is whole is proved."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beleg.contract.registry.fields import parse
from beleg.contract.registry.registry import Registry
from beleg.contract.registry.shelf import put
from beleg.contract.registry.verify import verify
from beleg.core.errors import DamagedError
from tests.contract.promotion.support import NAME, Project
from tests.contract.registry.support import encoded, files, sha


def test_a_whole_registry_is_proved(project: Project) -> None:
    found = verify(project.registry)
    assert found.to_dict() == {
        "proved": True, "features": 1, "releases": 5, "tools": 3, "problems": [], "notes": []
    }  # fmt: skip


def test_nothing_is_whole(tmp_path: Path) -> None:
    assert verify(Registry(tmp_path / "nowhere")).proved


def test_every_file_is_vouched_for(project: Project) -> None:
    """Whatever file is changed, cut off or emptied, verify names it or one that vouches for it."""
    for name, data in files(project.registry).items():
        path = project.registry.root / name
        for changed in (
            b"",
            data[: len(data) // 2],
            data.replace(b'"', b'" ', 1),
            data + b" ",
            data.replace(b"1", b"2", 1),
        ):
            if changed == data or same_json(changed, data, name):
                continue
            path.write_bytes(changed)
            found = verify(project.registry)
            assert not found.proved, (name, changed[:80])
            owners = {each.feature for each in found.problems}
            assert owners & {name.split("/")[1], "/".join(name.split("/")[:2]), NAME}, (name, owners)
        path.write_bytes(data)
    assert verify(project.registry).proved


def same_json(one: bytes, other: bytes, name: str) -> bool:
    """Heads, tools and indexes are vouched for by what they say, not by their bytes."""
    if "/history/" in name or "/releases/" in name:
        return False
    try:
        return parse(one, "") == parse(other, "")
    except DamagedError:
        return False


@pytest.mark.parametrize("folder", ["history", "releases"])
def test_every_file_that_is_missing_is_named(project: Project, folder: str) -> None:
    for path in sorted((project.registry.root / "features" / NAME / folder).iterdir()):
        data = path.read_bytes()
        path.unlink()
        found = verify(project.registry)
        assert any(each.path.endswith(path.name) for each in found.problems), path.name
        path.write_bytes(data)


def test_a_head_that_is_gone_is_damage_and_nobody_starts_anew(project: Project) -> None:
    head = project.registry.shelf(NAME).folder / "head.json"
    history = {path: path.read_bytes() for path in (head.parent / "history").iterdir()}
    head.unlink()
    assert not project.verify().proved
    contract = project.contract(change_note="As if it were the first.")
    with pytest.raises(DamagedError, match=r"head\.json is missing"):
        project.publish(contract)
    assert {path: path.read_bytes() for path in (head.parent / "history").iterdir()} == history


def test_readers_refuse_what_was_tampered_with(project: Project) -> None:
    registry = project.registry
    readers: dict[str, Callable[[], Any]] = {
        f"features/{NAME}/head.json": lambda: registry.head(NAME),
        f"features/{NAME}/history/00000005.json": lambda: registry.head(NAME),
        f"features/{NAME}/history/00000002.json": lambda: registry.history(NAME),
        "prompts/dunning/head.json": lambda: registry.prompt_head("dunning"),
        "prompts/ocr/features.json": lambda: registry.index("ocr"),
        "tools/lookup_account/1.json": registry.catalogue,
    }
    for path in (registry.root / "features" / NAME / "releases").iterdir():
        readers[path.relative_to(registry.root).as_posix()] = lambda: registry.releases(NAME)
    for name, read in readers.items():
        data = (registry.root / name).read_bytes()
        read()
        (registry.root / name).write_bytes(data[: len(data) // 2])
        with pytest.raises(DamagedError):
            read()
        (registry.root / name).write_bytes(data)


def rewritten(project: Project, change: Callable[[dict[str, Any]], None], epoch: int) -> None:
    """Rewrite a history from an entry on, links and head included, as somebody with care would."""
    folder = project.registry.root / "features" / NAME
    previous = None
    for number in range(1, 6):
        path = folder / "history" / f"{number:08}.json"
        entry = json.loads(path.read_bytes())
        if number == epoch:
            change(entry)
        entry["previous"] = previous
        path.write_bytes(encoded(entry))
        previous = sha(path.read_bytes())
        if number == 5:
            (folder / "head.json").write_bytes(encoded({**entry["head"], "entry": previous}))


@pytest.mark.parametrize(
    ("epoch", "change", "told"),
    [
        (5, lambda e: e["head"]["active"].update(version="1.1.0"), "major's head"),
        (5, lambda e: e["head"].update(state="active"), "no deprecate makes this head"),
        (5, lambda e: e["head"].update(sunset_on="2031-01-01", state="sunset"), "no deprecate makes this head"),
        (4, lambda e: e["head"]["majors"]["2"].update(deadline=None), "no rollback|no deprecate"),
        (4, lambda e: e.update(verb="promote"), "no verb of a feature"),
        (3, lambda e: e["head"]["majors"]["1"].update(deadline="2035-01-01"), "no publish makes this head"),
        (2, lambda e: e["head"].update(feature="other"), "no publish makes this head"),
        (1, lambda e: e.update(verb="rollback"), "begins with rollback"),
    ],
)
def test_a_head_that_no_verb_makes_is_found_even_where_every_link_fits(
    project: Project, epoch: int, change: Callable[[dict[str, Any]], None], told: str
) -> None:
    rewritten(project, lambda entry: None, 1)
    assert verify(project.registry).proved
    rewritten(project, change, epoch)
    found = verify(project.registry)
    assert any(re.search(told, each.what) for each in found.problems), found.problems


def test_no_release_holds_a_binding_tool_or_one_that_the_catalogue_does_not_have(project: Project) -> None:
    path = project.registry.root / "tools" / "lookup_account" / "1.json"
    entry = json.loads(path.read_bytes())
    for change, told in (
        ({"binding": True}, "is binding"),
        ({"description": "Pays."}, "another description"),
        ({"input_schema": {"type": "object"}}, "another description or input schema"),
    ):
        path.write_bytes(encoded(entry | change))
        found = verify(project.registry)
        assert [told in each.what for each in found.problems] == [True] * 3
        assert {each.feature for each in found.problems} == {NAME}
    path.unlink()
    assert all("not in the tool catalogue" in each.what for each in verify(project.registry).problems)


def test_leftovers_are_notes(project: Project) -> None:
    folder = project.registry.root / "features" / NAME
    put(folder / "history" / "00000006.json", b"{}")
    put(folder / "releases" / f"{'0' * 64}.json", b"{}")
    put(folder / ".head.json.123", b"{")
    put(project.registry.root / "features" / "never-published" / "releases" / f"{'1' * 64}.json", b"{}")
    found = verify(project.registry)
    assert found.proved
    assert len(found.notes) == 4


def test_a_feature_that_its_workflow_does_not_name_is_a_problem(project: Project) -> None:
    (project.registry.root / "prompts" / "ocr" / "features.json").unlink()
    assert [each.what for each in verify(project.registry).problems] == [f"the workflow ocr does not name {NAME}"]
    project.registry.add_to_index("ocr", NAME)
    project.registry.add_to_index("ocr", "another")
    assert verify(project.registry).proved
    assert project.registry.index("ocr") == ["another", NAME]


@pytest.mark.parametrize("name", ["Receipts", "a b", "x" * 120])
def test_a_folder_whose_name_is_none_is_a_problem(project: Project, name: str) -> None:
    for kind in ("features", "prompts") if " " in name or len(name) > 100 else ("features",):
        (project.registry.root / kind / name).mkdir()
    assert "is no name" in verify(project.registry).problems[0].what


def test_a_version_published_after_another_than_it_says_is_found(project: Project) -> None:
    folder = project.registry.root / "features" / NAME
    release = project.registry.releases(NAME)[1]
    old = release.published.release
    forged = release.to_bytes().replace(b'"previous":"1.0.0"', b'"previous":"1.0.7"')
    (folder / "releases" / f"{sha(forged)}.json").write_bytes(forged)

    def swap(entry: dict[str, Any]) -> None:
        entry.update(json.loads(json.dumps(entry).replace(old, sha(forged))))

    for epoch in (2, 3, 4, 5):
        rewritten(project, swap, epoch)
    assert any("1.1.0 was published after 1.0.7, but 1.0.0" in each.what for each in verify(project.registry).problems)


def test_a_head_that_gives_a_version_another_release_is_refused(project: Project) -> None:
    wrong = project.registry.releases(NAME)[1].published

    def swap(entry: dict[str, Any]) -> None:
        for part in (entry["head"]["active"], entry["head"]["majors"]["1"]):
            part["release"] = wrong.release

    rewritten(project, swap, 5)
    assert project.registry.head(NAME) is not None
    with pytest.raises(DamagedError, match=r"it is receipt-extraction 1\.1\.0"):
        project.registry.active(NAME)
    assert not verify(project.registry).proved
