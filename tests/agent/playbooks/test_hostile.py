"""Playbooks of strangers: what is wrong is told, nothing is silently left out, and nobody is kept busy."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.agent.playbooks import IndexIncomplete, Playbook, Playbooks, keep_one_body, lint, load
from beleg.agent.playbooks.playbook import closing, digest

HEAD = "---\nname: {name}\ndescription: {trigger}\n---\n{body}"


def put(folder: Path, name: str = "a", trigger: str = "Do it.", body: str = "Step 1", file: str = "SKILL.md") -> Path:
    path = folder / "a" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEAD.format(name=name, trigger=trigger, body=body), encoding="utf-8")
    return path


def errors(folder: Path) -> list[str]:
    return [each.rule for each in load(folder)[1] if each.severity == "error"]


@pytest.mark.parametrize("file", ["skill.md", "Skill.md", "SKILL.MD"])
def test_a_file_in_other_letters_is_not_silently_missing(tmp_path: Path, file: str) -> None:
    put(tmp_path, file=file)
    assert errors(tmp_path) == ["overlooked"]
    with pytest.raises(IndexIncomplete, match="is not read"):
        Playbooks.load(tmp_path).index()


def test_a_folder_in_the_place_of_the_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "a" / "SKILL.md").mkdir(parents=True)
    assert errors(tmp_path) == ["overlooked"]


def test_a_linked_playbook_is_told_and_a_linked_file_is_not_read(tmp_path: Path) -> None:
    secret = put(tmp_path / "elsewhere", trigger="A secret.")
    books = tmp_path / "books"
    books.mkdir()
    (books / "linked").symlink_to(secret.parent)
    (books / "b").mkdir()
    (books / "b" / "SKILL.md").symlink_to(secret)
    playbooks, findings = load(books)
    assert playbooks == ()
    assert sorted((each.rule, each.severity) for each in findings) == [("overlooked", "error"), ("unreadable", "error")]


@pytest.mark.parametrize("name", ['a" digest="x', "../../etc", "a<b", "a" * 65, "a\u2028b", "a\\\\b"])
def test_a_name_that_could_break_out_of_its_mark_is_no_playbook(tmp_path: Path, name: str) -> None:
    put(tmp_path, name=json.dumps(name))
    assert errors(tmp_path) == ["name-unsafe"]


@pytest.mark.parametrize(
    "text", ["One \u202eevil", "One\u200b\u200b", "One" + "".join(chr(0xE0000 + n) for n in range(65, 80))]
)
@pytest.mark.parametrize("part", ["trigger", "body"])
def test_characters_that_nobody_sees_are_an_error(part: str, text: str) -> None:
    book = replace(Playbook(name="a", trigger="Do it.", body="Step 1"), **{part: text})  # type: ignore[arg-type]
    (found,) = [each for each in lint(Playbooks([book])) if each.rule == "unseen"]
    assert found.severity == "error"
    assert f"its {part} holds" in found.sentence
    assert "U+" in found.sentence


def test_german_and_emoji_are_seen() -> None:
    book = Playbook(name="a", trigger="Prüfe Belege – „schnell“ 👩‍💻", body="Öffne sie.")
    assert not [each for each in lint(Playbooks([book])) if each.rule == "unseen"]


def marks(number: int) -> str:
    return "".join(f'<workflow name="a" digest="{n:016x}">\n' for n in range(number))


@pytest.mark.parametrize(
    "text",
    [
        marks(1) * 20_000,
        marks(1) * 20_000 + f"\n{closing(f'{0:016x}')}",
        marks(8_000) + "".join(f"\n{closing(f'{n:016x}')}" for n in reversed(range(8_000))),
    ],
    ids=["openings", "openings with one end", "openings within each other"],
)
def test_a_text_full_of_marks_costs_no_more_than_its_length(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed = []

    def counted(body: str) -> str:
        hashed.append(len(body))
        return digest(body)

    monkeypatch.setattr("beleg.agent.playbooks.context.digest", counted)
    assert keep_one_body([text]) == [text]
    assert sum(hashed) <= 2 * 3 * len(text)  # looked at twice, each at most twice its length and one body more


BODIES = st.text(alphabet='ab\n<>/"', max_size=30)


@given(st.lists(BODIES, min_size=2, max_size=4, unique=True), BODIES)
def test_of_any_bodies_the_last_stays_open_and_what_stands_between_is_kept(bodies: list[str], between: str) -> None:
    books = [Playbook(name=f"b{n}", trigger="t", body=body) for n, body in enumerate(bodies)]
    kept = keep_one_body(between.join(each.opened for each in books))
    assert kept.endswith(books[-1].opened)
    assert kept.count("is closed; open it again") == len(books) - 1
    assert keep_one_body(kept) == kept


def test_nothing_of_a_message_but_bodies_is_changed() -> None:
    book = Playbook(name="a", trigger="t", body="x")
    other = Playbook(name="b", trigger="t", body="y")
    message: dict[str, Any] = {"role": "user", "content": [f"before {book.opened} after", 7, None, {"n": 1.5}]}
    kept = keep_one_body([message, {"content": other.opened}])
    assert kept[0]["content"][1:] == [7, None, {"n": 1.5}]
    assert kept[0]["content"][0].startswith("before [workflow a is closed")
    assert kept[0]["content"][0].endswith("] after")
