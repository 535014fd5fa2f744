"""The tool catalogue: immutable, and no name leaves its folder."""

from pathlib import Path
from typing import Any

import pytest

from beleg.contract.registry.registry import Registry
from beleg.core.errors import DamagedError, UsageError


def add(registry: Registry, name: str = "lookup", version: str = "1", **other: Any) -> Path:
    given: dict[str, Any] = {"description": "Looks up.", "input_schema": {"type": "object"}, "binding": False}
    return registry.write_tool(name=name, version=version, **given | other)


def test_a_version_is_added_once(tmp_path: Path) -> None:
    registry = Registry(tmp_path)
    assert add(registry).relative_to(tmp_path).as_posix() == "tools/lookup/1.json"
    add(registry)
    others: list[dict[str, Any]] = [{"description": "Pays."}, {"binding": True}, {"input_schema": {}}]
    for other in others:
        with pytest.raises(UsageError, match="cannot change"):
            add(registry, **other)
    add(registry, version="1.1.0+a", binding=True)
    assert {key: value["binding"] for key, value in registry.catalogue().items()} == {
        ("lookup", "1"): False, ("lookup", "1.1.0+a"): True
    }  # fmt: skip


@pytest.mark.parametrize("hostile", ["..", ".", "", "../x", "a/b", "a\x00b", "x" * 65, ".hidden", "ä", "a\n", "a b"])
def test_names_that_leave_the_folder_are_refused(tmp_path: Path, hostile: str) -> None:
    with pytest.raises(UsageError):
        add(Registry(tmp_path), name=hostile)
    with pytest.raises(UsageError):
        add(Registry(tmp_path), version=hostile)
    assert list(tmp_path.rglob("*.json")) == []


@pytest.mark.parametrize(
    "content", [b"", b"{}", b'{"name":"lookup","version":"2"}', b"\xff", b'{"name":"lookup","version":"1"}']
)
def test_a_damaged_entry_is_told(tmp_path: Path, content: bytes) -> None:
    registry = Registry(tmp_path)
    add(registry).write_bytes(content)
    with pytest.raises(DamagedError, match=r"tools/lookup/1\.json"):
        registry.catalogue()
    with pytest.raises(DamagedError):
        add(registry)


@pytest.mark.parametrize("value", [1, 0, "false", None, [], "no"])
def test_binding_is_true_or_false(tmp_path: Path, value: Any) -> None:
    with pytest.raises((UsageError, DamagedError)):
        add(Registry(tmp_path), binding=value)
    assert Registry(tmp_path).catalogue() == {}
