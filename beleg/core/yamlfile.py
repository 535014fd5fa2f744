"""YAML as people write it by hand: safe, and with no key twice."""

from typing import Any

import yaml


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
