"""What a person decided about tools that sound binding, bound to the exact tool that was looked at."""

from dataclasses import dataclass
from pathlib import Path

from beleg.core import yamlfile
from beleg.core.errors import UsageError

_MEMBERS = ("tool", "digest", "by", "why")


@dataclass(frozen=True)
class Review:
    """A person looked at this version of a tool and says why it binds nobody."""

    tool: str
    digest: str
    by: str
    why: str


def read_reviews(path: Path) -> tuple[Review, ...]:
    """A file of reviews: YAML with `reviews`, a list of tool, digest, by, why. Raises UsageError naming the entry."""
    values = yamlfile.load(path)
    entries = values.get("reviews") if isinstance(values, dict) else None
    if not isinstance(entries, list):
        raise UsageError(f"{path.name} must hold `reviews`, a list of {', '.join(_MEMBERS)}")
    return tuple(_review(path.name, number, each) for number, each in enumerate(entries))


def _review(file: str, number: int, values: object) -> Review:
    if not isinstance(values, dict) or set(values) != set(_MEMBERS):
        raise UsageError(f"{file}: reviews[{number}] must have exactly {', '.join(_MEMBERS)}")
    if odd := [name for name in _MEMBERS if not isinstance(values[name], str)]:
        raise UsageError(f"{file}: reviews[{number}].{odd[0]} must be text: put it in quotes")
    texts = {name: values[name].strip() for name in _MEMBERS}
    if empty := [name for name, text in texts.items() if not text]:
        raise UsageError(f"{file}: reviews[{number}] says nothing for {', '.join(empty)}")
    return Review(**texts)
