"""Which version a draft becomes: the least bump that its changes ask for, never a lower one.

    V10  provider or model changed                      minor
    V20  tool added                                     minor
    V21  tool removed                                   minor
    V22  tool changed; its input schema as in R01-R70   at least minor
    V30  anything else                                  patch

The output schema and the prompt's variables are compared with every published version of the major, since
readers may have been built on any of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from beleg.contract.compat import Change, Comparison, compare, compare_all, compare_inputs
from beleg.contract.compat.verdict import BUMPS, Bump, Verdict, worst
from beleg.contract.model import Contract, Provider, Schema
from beleg.contract.registry.names import Version
from beleg.contract.tools import Tool

FIRST = "1.0.0"
_CONTENT = (
    *("prompt", "providers", "evals", "examples", "governance"),
    *("risk_tier", "workflow", "risk_owner", "budget"),
)


@dataclass(frozen=True)
class Difference:
    """One change of a part of the contract."""

    part: str
    """output_schema, variables, tools, providers or content."""
    against: str
    """Version compared with."""
    change: Change

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready values."""
        return {**self.change.to_dict(), "part": self.part, "against": self.against}


@dataclass(frozen=True)
class Assessment(Verdict[Difference]):
    """How a draft differs from what was published in its major. A release keeps it."""


def assess(published: Sequence[tuple[str, Contract]], active: str, draft: Contract) -> Assessment:
    """Compare a draft with the published versions of the active one's major, in order of publication."""
    same = [(version, each) for version, each in published if _major(version) == _major(active)]
    versions = [version for version, _ in same]
    output = compare_all([_plain(each.output_schema) for _, each in same], _plain(draft.output_schema))
    inputs = [(version, compare_inputs(_variables(each), _variables(draft))) for version, each in same]
    changes = [
        *_named("output_schema", output, versions),
        *(each for version, found in inputs for each in _named("variables", found, [version])),
        *_tools(same, active, draft),
        *_rest(active, dict(same)[active], draft),
    ]
    comparisons = [output, *(found for _, found in inputs)]
    return Assessment(
        worst([*(each.bump for each in comparisons), *(each.change.bump for each in changes)]),
        tuple(sorted(changes, key=lambda each: -BUMPS.index(each.change.bump))),
        all(each.reader_safe for each in comparisons),
        all(each.rollback_safe for each in comparisons),
        any(each.unprovable for each in comparisons),
    )


def next_version(published: Sequence[str], active: str | None, bump: Bump) -> str:
    """The version after a bump: above every published one of the active's major, above all for a new major.

    `none` counts as a patch: a draft with another digest is another version.
    """
    if active is None:
        return FIRST
    highest = max(Version.parse(each) for each in published if _major(each) == _major(active))
    if bump == "major":
        return str(Version(max(map(_major, published)) + 1, 0, 0))
    if bump == "minor":
        return str(Version(highest.major, highest.minor + 1, 0))
    return str(Version(highest.major, highest.minor, highest.patch + 1))


def at_least(bump: Bump, wished: Bump | None) -> bool:
    """Whether a wished bump is no lower than what the changes ask for."""
    return wished is None or BUMPS.index(wished) >= BUMPS.index(bump)


def _major(version: str) -> int:
    return Version.parse(version).major


def _named(part: str, comparison: Comparison, versions: Sequence[str]) -> Iterator[Difference]:
    for change in comparison.changes:
        yield Difference(part, versions[change.against or 0], change)


def _plain(schema: Schema) -> dict[str, Any] | bool:
    return schema if isinstance(schema, bool) else dict(schema)


def _variables(contract: Contract) -> dict[str, Any]:
    return {each.name: {"schema": _plain(each.schema), "required": each.required} for each in contract.prompt.variables}


def _tools(same: Sequence[tuple[str, Contract]], active: str, draft: Contract) -> Iterator[Difference]:
    """Tools against the active version, and their input schemas against every version that had them.

    The model produces arguments and the caller's function, built on any version of the major, reads them.
    """
    new = {tool.name: tool for tool in draft.tools}
    old = {tool.name: tool for tool in dict(same)[active].tools}
    for name in sorted(new.keys() - old.keys()):
        yield _simple("tools", active, "V20", "minor", f"The tool “{name}” was added.", place=name)
    for name in sorted(old.keys() - new.keys()):
        yield _simple("tools", active, "V21", "minor", f"The tool “{name}” was removed.", place=name)
    for name in sorted(new.keys() & old.keys()):
        if new[name].digest != old[name].digest:
            sentence = f"The tool “{name}” changed from {old[name].version} to {new[name].version}."
            yield _simple("tools", active, "V22", "minor", sentence, place=name)
    for version, contract in same:
        for tool in contract.tools:
            yield from _arguments(version, tool, new.get(tool.name))


def _arguments(version: str, old: Tool, new: Tool | None) -> Iterator[Difference]:
    if new is not None and new.input_schema != old.input_schema:
        yield from _named("tools", compare(_plain(old.input_schema), _plain(new.input_schema)), [version])


def _rest(active: str, old: Contract, new: Contract) -> Iterator[Difference]:
    if _models(old) != _models(new):
        sentence = f"The model changed: {_told(old)} became {_told(new)}."
        yield _simple("providers", active, "V10", "minor", sentence)
    before, after = old.document(), new.document()
    for part in _CONTENT:
        if before.get(part) != after.get(part):
            yield _simple("content", active, "V30", "patch", f"{part} changed.", place=part)


def _models(contract: Contract) -> tuple[tuple[str, str], frozenset[tuple[str, str]]]:
    """Primary and set of fallbacks: their order is no other model."""
    return _model(contract.providers.primary), frozenset(map(_model, contract.providers.fallbacks))


def _model(provider: Provider) -> tuple[str, str]:
    return provider.provider, provider.model


def _told(contract: Contract) -> str:
    return ", ".join("/".join(_model(each)) for each in (contract.providers.primary, *contract.providers.fallbacks))


def _simple(part: str, against: str, rule: str, bump: Bump, sentence: str, *, place: str = "") -> Difference:
    return Difference(part, against, Change(rule, bump, f"/{place}" if place else "", sentence))
