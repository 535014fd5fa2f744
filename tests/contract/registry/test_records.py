"""What the files hold: the same bytes come back, and anything else is damage, never another error."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beleg.contract.registry.records import Entry, Head, PromptHead, PromptRelease, Release
from beleg.contract.registry.shelf import entry_path
from beleg.core.errors import DamagedError, UsageError
from tests.contract.promotion.support import NAME, Project
from tests.contract.registry.support import encoded, sha


def test_every_file_of_a_registry_comes_back_as_it_was(project: Project) -> None:
    registry = project.registry
    head, prompt = registry.head(NAME), registry.prompt_head("dunning")
    assert head is not None
    assert prompt is not None
    assert Head.from_json(json.loads(json.dumps(head.to_json()))) == head
    assert PromptHead.from_json(json.loads(json.dumps(prompt.to_json()))) == prompt
    for entry in registry.history(NAME):
        data = entry_path(registry.shelf(NAME).folder, entry.epoch).read_bytes()
        assert entry.to_bytes() == data
        assert Entry.from_bytes(data) == entry
    for release in registry.releases(NAME):
        assert registry.shelf(NAME).release(release.published.release) == release.to_bytes()
    for each in registry.prompt_releases("dunning"):
        assert PromptRelease.from_bytes(each.to_bytes(), each.published.release) == each


def test_names_and_addresses_that_nothing_has(project: Project) -> None:
    registry = project.registry
    assert registry.head("other") is None
    assert registry.active("other") is None
    assert registry.prompt_head("other") is None
    assert registry.releases("other") == []
    assert registry.history("other") == []
    for name in ("..", "../features", "", "A", "a" * 101, "a\x00", "a/b", ".", "a-", "a\n"):
        with pytest.raises(UsageError):
            registry.head(name)
    for address in ("", "0" * 64, "../../etc/passwd", "\x00", "*", "x" * 9999):
        with pytest.raises(UsageError, match="no published version"):
            registry.release(address)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def documents(pattern: Any) -> dict[str, dict[str, Any]]:
    registry = Project(pattern).registry
    head, prompt = registry.head(NAME), registry.prompt_head("dunning")
    assert head is not None
    assert prompt is not None
    return {
        "head": head.to_json(),
        "prompt_head": prompt.to_json(),
        "entry": json.loads(registry.history(NAME)[3].to_bytes()),
        "release": json.loads(registry.releases(NAME)[2].to_bytes()),
        "prompt": json.loads(registry.prompt_releases("dunning")[0].to_bytes()),
    }


@settings(max_examples=300)
@given(data=st.data())
def test_a_record_with_anything_in_it_is_read_or_damaged(
    documents: dict[str, dict[str, Any]], data: st.DataObject
) -> None:
    kind = data.draw(st.sampled_from(sorted(documents)))
    whole = json.loads(json.dumps(documents[kind]))
    place = whole
    while True:
        key = data.draw(st.sampled_from(sorted(place)))
        if not (isinstance(place[key], dict) and place[key] and data.draw(st.booleans())):
            break
        place = place[key]
    if data.draw(st.booleans()):
        del place[key]
    else:
        place[key] = data.draw(JSON)
    raw = encoded(whole)
    try:
        match kind:
            case "head":
                Head.from_bytes(raw)
            case "prompt_head":
                PromptHead.from_bytes(raw)
            case "entry":
                Entry.from_bytes(raw)
            case "release":
                assert Release.from_bytes(raw, sha(raw)).contract.feature
            case _:
                PromptRelease.from_bytes(raw, sha(raw))
    except DamagedError as error:
        assert "damaged" in str(error)  # noqa: PT017 - most examples are damaged, some are not


def test_parts_of_a_head_that_contradict_each_other_are_damage(project: Project) -> None:
    head = project.registry.head(NAME)
    assert head is not None
    good = head.to_json()
    other = good["majors"]["2"]
    for change in (
        {"active": {key: other[key] for key in ("version", "release", "digest")}},
        {"majors": {"2": other}},
        {"majors": {**good["majors"], "3": other}},
        {"majors": {**good["majors"], "1": {**good["majors"]["1"], "deadline": "2030-06-01"}}},
        {"state": "sunset"},
        {"sunset_on": "2030-6-1"},
        {"sunset_on": "20300601"},
        {"format": 2},
        {"format": True},
        {"active": None},
    ):
        if change == {"active": {key: other[key] for key in ("version", "release", "digest")}}:
            # 2.0.0 with a deadline is no active version: it would end by a date nobody set for it
            assert other["deadline"] is not None
        with pytest.raises(DamagedError):
            Head.from_json({**good, **change})
