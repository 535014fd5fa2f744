"""Folders of `SKILL.md` are read as they are: leniently, as texts, and nothing in them ever runs."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.agent.playbooks import frontmatter, load
from beleg.agent.playbooks.load import MOST_BYTES, MOST_DEPTH
from beleg.core.errors import UsageError


def put(root: Path, name: str, text: str | bytes) -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    data = text.encode() if isinstance(text, str) else text
    (folder / "SKILL.md").write_bytes(data)
    return folder


def head(fields: str) -> dict[str, Any]:
    return frontmatter.read(f"---\n{fields}\n---\nbody\n").fields


def test_case_18_a_colon_in_an_unquoted_value_is_read_and_told_with_field_and_line(tmp_path: Path) -> None:
    put(tmp_path, "tidy-up", "---\nname: tidy-up\ndescription: Tidies. Use when: you need it\n---\nDo it.\n")
    playbooks, findings = load(tmp_path)
    assert [each.trigger for each in playbooks] == ["Tidies. Use when: you need it"]
    assert [(each.rule, each.severity, each.place) for each in findings] == [
        ("quoting", "warning", "tidy-up/SKILL.md:3")
    ]
    assert "description" in findings[0].sentence


def test_a_quoted_value_takes_the_lines_that_continue_it_along() -> None:
    assert head("description: Use when: you\n  can't wait\nlicense: MIT") == {
        "description": "Use when: you can't wait",
        "license": "MIT",
    }


def test_case_19_every_scalar_stays_the_text_that_was_written() -> None:
    found = head("name: no\ndescription: 2026-01-01\nmetadata:\n  version: 1.10\n  octal: 010\n  none: ~\n  on: on")
    assert found["name"] == "no"
    assert found["description"] == "2026-01-01"
    assert found["metadata"] == {"version": "1.10", "octal": "010", "none": "~", "on": "on"}


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ("argument-hint: [a, b]", {"argument-hint": ["a", "b"]}),
        ("metadata: {version: 1.0}", {"metadata": {"version": "1.0"}}),
        ("description: >\n  one\n  two", {"description": "one two"}),
        ("description: |\n  one\n  two", {"description": "one\ntwo"}),
        ("", {}),
    ],
)
def test_forms_that_stricter_readers_refuse_are_read(fields: str, wanted: dict[str, Any]) -> None:
    assert {k: v.strip() if isinstance(v, str) else v for k, v in head(fields).items()} == wanted


def test_a_bom_and_line_ends_of_windows_are_read() -> None:
    found = frontmatter.read("\ufeff---\r\nname: a\r\n---\r\n\r\nOne\r\nTwo\r\n")
    assert (found.fields, found.body) == ({"name": "a"}, "One\nTwo")


@pytest.mark.parametrize(
    "fields",
    [
        "name: a\nname: b",
        "a: &x [1]\nb: *x",
        "a: &a [*a]",
        "name: [unclosed",
        "- a\n- b",
        "a: " + "[" * 2000,
    ],
)
def test_what_cannot_be_read_is_an_error_and_nothing_worse(fields: str) -> None:
    with pytest.raises(ValueError, match="head"):
        head(fields)


def test_tags_make_no_objects() -> None:
    assert head("name: !!python/object/apply:os.system ['true']") == {"name": ["true"]}


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = frontmatter.read(f"---\n{text}\n---\nbody")
    except ValueError:
        return
    assert all(isinstance(key, str) for key in found.fields)


def test_files_that_cannot_be_playbooks_are_errors_by_their_place(tmp_path: Path) -> None:
    put(tmp_path, "no-head", "just text")
    put(tmp_path, "no-trigger", "---\nname: no-trigger\n---\nbody")
    put(tmp_path, "not-utf8", b"---\nname: x\xff\n---\n")
    put(tmp_path, "huge", "x" * (MOST_BYTES + 1))
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "SKILL.md")
    playbooks, findings = load(tmp_path)
    assert playbooks == ()
    assert [(each.place.partition("/")[0], each.severity) for each in findings] == [
        (name, "error") for name in ("huge", "no-head", "no-trigger", "not-utf8", "pipe")
    ]


def test_a_name_that_is_not_its_folders_counts_and_is_told(tmp_path: Path) -> None:
    put(tmp_path, "a-folder", "---\nname: My_Skill\ndescription: d\ndescripton: x\n---\nbody")
    playbooks, findings = load(tmp_path)
    assert playbooks[0].name == "My_Skill"
    assert {each.rule for each in findings} == {"name-folder", "name-form", "field-misspelt"}
    assert {each.severity for each in findings} == {"warning"}


def test_umlauts_in_a_name_are_letters(tmp_path: Path) -> None:
    put(tmp_path, "prüfen", "---\nname: prüfen\ndescription: d\n---\nbody")
    assert load(tmp_path)[1] == ()


def test_two_of_one_name_lose_one_which_is_an_error(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        put(tmp_path, folder, "---\nname: same\ndescription: d\n---\nbody")
    playbooks, findings = load(tmp_path)
    assert len(playbooks) == 1
    assert [each.rule for each in findings if each.severity == "error"] == ["name-twice"]


def test_own_keys_stand_under_metadata_and_a_slip_in_them_is_an_error(tmp_path: Path) -> None:
    text = "---\nname: a\ndescription: d\nmetadata:\n  beleg.when: x y\n  beleg.flow: f\n  beleg.rank: '3'\n---\nbody"
    put(tmp_path / "good", "a", text)
    put(tmp_path / "bad", "a", text.replace("beleg.when", "beleg.wen"))
    playbook = load(tmp_path / "good")[0][0]
    assert (playbook.when, playbook.flow, playbook.rank) == (frozenset({"x", "y"}), "f", 3)
    assert [each.rule for each in load(tmp_path / "bad")[1]] == ["metadata"]


def test_the_search_ends(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*(["d"] * (MOST_DEPTH + 2)))
    put(deep, "a", "---\nname: a\ndescription: d\n---\nbody")
    (tmp_path / "loop").symlink_to(tmp_path)
    playbooks, findings = load(tmp_path)
    assert playbooks == ()
    assert [each.rule for each in findings] == ["too-many"]
    with pytest.raises(UsageError, match="folder"):
        load(tmp_path / "nowhere")


def test_case_21_commands_and_scripts_in_a_body_never_run(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    folder = put(
        tmp_path / "books", "evil", f"---\nname: evil\ndescription: d\n---\n!`touch {mark}`\nRun scripts/send.py\n"
    )
    (folder / "scripts").mkdir()
    (folder / "scripts" / "send.py").write_text(f"open({str(mark)!r}, 'w')")
    playbooks, _ = load(tmp_path / "books")
    assert playbooks[0].opened
    assert not mark.exists()
