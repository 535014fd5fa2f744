"""How long tables are kept: `retention.yaml`, and what may be pruned at all."""

import re
from collections.abc import Mapping

import yaml

from beleg.core.contracts import load, names
from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.core.yamlfile import parse

FOUNDATIONS = frozenset({"runs_started", "run_statuses", "runs_finished", "steps", "outcomes"})
"""Events that figures are computed from: a day without them is sealed."""
COMPUTED = ("step_costs", "run_costs", "run_days", "run_lookup", "bindings")
"""Marts of single runs, steps and words, which go with the events they were computed from."""


def prunable() -> tuple[str, ...]:
    """Tables with a row's day, so with an age; figures and ledgers are none of them."""
    return tuple(name for name in names() if load(name).partition_by == "day")


def keep_days(settings: Settings) -> dict[str, int]:
    """Table → days it is kept; raises UsageError that says what is wrong."""
    path = settings.policy("retention.yaml")
    try:
        found = (parse(path.read_text(encoding="utf-8")) or {}).get("keep_days") or {}
    except (yaml.YAMLError, AttributeError) as error:
        raise UsageError(f"{path} is no retention policy: {error}") from error
    if not isinstance(found, Mapping):
        raise UsageError(f"{path}: keep_days is {found!r}; write a table and its days in each line")
    for table, days in found.items():
        check_table(str(table))
        if not isinstance(days, int) or isinstance(days, bool) or days < 1:
            raise UsageError(f"{path}: {table}: {days!r} is no number of days; write for example 400")
    return {str(table): int(days) for table, days in found.items()}


def check_table(table: str) -> None:
    """Raise UsageError for a table that cannot be pruned."""
    if table not in prunable():
        raise UsageError(f"{table!r} cannot be pruned by age; allowed are {', '.join(prunable())}")


def parse_age(text: str) -> int:
    """Days of an age like `400d`; raises UsageError."""
    if (found := re.fullmatch(r"([1-9][0-9]{0,5})d", text)) is None:
        raise UsageError(f"--older-than {text!r} is no age; write days, for example 400d")
    return int(found[1])
