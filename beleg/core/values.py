"""Which workflows store corrected, expected and actual values: the key `values` of `workflows.yaml` (SPEC, A4).

`hashed`, the default, keeps their fingerprints alone, which is enough to tell a right answer from a wrong one.
"""

from collections.abc import Mapping
from typing import Any

from beleg.core import yamlfile
from beleg.core.errors import UsageError
from beleg.core.settings import Settings

WORDS = ("hashed", "stored")


def stored_workflows(settings: Settings) -> frozenset[str]:
    """Workflows whose values may be stored; raises UsageError for another word than `hashed` and `stored`."""
    path = settings.policy("workflows.yaml")
    raw = yamlfile.load(path)
    entries = raw.get("workflows") if isinstance(raw, Mapping) else None
    found = entries if isinstance(entries, Mapping) else {}  # what else is wrong with the file its own reader says
    where = f"{path.name}, workflows"
    return frozenset(str(name) for name, entry in found.items() if parse(entry, f"{where}.{name}") == "stored")


def stores_values(settings: Settings, workflow: str | None) -> bool:
    """Whether values of a workflow may be stored; False for one that is not known."""
    return workflow in stored_workflows(settings)


def parse(entry: Any, where: str) -> str:
    """What a workflow's entry says; raises UsageError naming the place."""
    word = entry.get("values", WORDS[0]) if isinstance(entry, Mapping) else WORDS[0]
    if word not in WORDS:
        raise UsageError(f"{where}: values must be one of {', '.join(WORDS)}, got {word!r}")
    return str(word)
