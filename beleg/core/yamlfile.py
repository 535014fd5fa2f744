"""YAML as people write it by hand: safe, and with no key twice."""

from pathlib import Path
from typing import Any

import yaml

from beleg.core.errors import UsageError


class _Strict(yaml.SafeLoader):
    """Refuses a mapping with the same key twice: YAML would silently take the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    problem = f"the key {key.value!r} stands here twice"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                seen.add(key.value)
        return super().construct_mapping(node, deep)


def parse(text: str) -> Any:
    """The content of a YAML text; raises yaml.YAMLError that says what is wrong where."""
    return yaml.load(text, Loader=_Strict)  # noqa: S506, a safe loader


def load_text(text: str, name: str, *, hint: str = "") -> Any:
    """The content of a YAML text; raises UsageError that calls it `name`, says what is wrong where, and the `hint`."""
    try:
        return parse(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"{name} is no YAML: {error}{hint and f'; {hint}'}") from error


def load(path: Path, *, hint: str = "") -> Any:
    """The content of a YAML file; raises UsageError as `load_text` does, and for a file that cannot be read."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path.name} cannot be read: {error}{hint and f'; {hint}'}") from error
    return load_text(text, path.name, hint=hint)
