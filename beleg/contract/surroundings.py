"""What the users of an agent are offered beside its prompt: tools and playbooks, by cohort.

`beleg agent held ROLES --file FILE --write` counts it into `contracts/features/<feature>/surroundings.json`, from where
lint holds the agent against its contract's budget. The file's format is `surroundings.schema.json`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from jsonschema import Draft202012Validator

from beleg.contract.draft import Feature
from beleg.contract.registry.fields import parse
from beleg.contract.tokens import Estimate
from beleg.core.errors import DamagedError

FILE = "surroundings.json"


@dataclass(frozen=True)
class Offered:
    """What one cohort is offered."""

    tools: tuple[str, ...]
    """The pins of its tools."""
    index: Estimate
    """The index of playbooks that stands in its prompt."""
    body: Estimate
    """The largest playbook that it can open; at most one is open at a time."""


@dataclass(frozen=True)
class Surroundings:
    """What every cohort is offered, counted in one family of models."""

    family: str
    cohorts: Mapping[str, Offered]

    @classmethod
    def from_bytes(cls, data: bytes, name: str = FILE) -> "Surroundings":
        """From a file's bytes; raises DamagedError that names the first place that is wrong."""
        values = parse(data, name)
        error = next(iter(sorted(_validator().iter_errors(values), key=lambda e: list(map(str, e.path)))), None)
        if error is not None:
            place = ".".join(str(step) for step in error.absolute_path) or "the file"
            raise DamagedError(f"{name} is damaged: {place}: {error.message[:200]}")
        cohorts = {
            cohort: Offered(tuple(each["tools"]), Estimate(**each["index"]), Estimate(**each["body"]))
            for cohort, each in values["cohorts"].items()
        }
        return cls(values["family"], cohorts)

    def to_bytes(self) -> bytes:
        """The file: the same bytes for the same surroundings."""
        cohorts = {
            name: {"tools": list(each.tools), "index": vars(each.index), "body": vars(each.body)}
            for name, each in sorted(self.cohorts.items())
        }
        whole = {"schema_version": 1, "family": self.family, "cohorts": cohorts}
        return json.dumps(whole, ensure_ascii=False, indent=1).encode() + b"\n"


def find(feature: Feature) -> Surroundings | None:
    """The surroundings that were counted for a feature; None where nobody has. Raises DamagedError."""
    path = feature.folder / FILE
    try:
        return Surroundings.from_bytes(path.read_bytes(), f"{feature.name}/{FILE}")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DamagedError(f"{feature.name}/{FILE} cannot be read: {error.strerror}") from error


@cache
def _validator() -> Draft202012Validator:
    text = resources.files("beleg.contract").joinpath("surroundings.schema.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))
