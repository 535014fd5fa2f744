"""Rules about what providers take and enforce of the output schema, by their profiles."""

from collections.abc import Iterator, Mapping

from beleg.contract.lint import measure
from beleg.contract.lint.finding import Severity
from beleg.contract.lint.measure import Size
from beleg.contract.lint.profiles import Profile
from beleg.contract.lint.schemas import DEFINITIONS, Node, TooLarge, walk
from beleg.contract.lint.subject import Hit, Subject, text
from beleg.contract.model import Provider

NEAR = 0.7
"""Share of a limit from which on the next change may not fit."""
LARGE_ENUM = 250


def primary_limits(subject: Subject) -> Iterator[Hit]:
    """L10: the first call would be refused."""
    yield from _limits(subject, "providers.primary", subject.contract.providers.primary)


def fallback_limits(subject: Subject) -> Iterator[Hit]:
    """L11: the fallback would be refused, exactly when it is needed."""
    for place, provider in subject.providers[1:]:
        yield from _limits(subject, place, provider)


def _limits(subject: Subject, place: str, provider: Provider) -> Iterator[Hit]:
    profile = subject.profile(provider)
    if profile is None:
        if subject.strict:
            yield Hit(
                place,
                f"Nothing is known about what {text(provider.provider)} enforces.",
                "warning",
                "add it to provider_profiles.yaml",
            )
        return
    severity: Severity | None = None if subject.strict else "info"  # nobody is asked to enforce: no call fails
    for pointer, why in measure.shape_faults(subject.contract.output_schema, subject.nodes, profile):
        yield Hit(place, f"{provider.provider} cannot enforce output_schema{text(pointer)}: {why}.", severity)
    for name, figure, most in measure.shares(_output(subject), profile, 0):
        if figure > most and name not in _SHARED:
            yield Hit(
                place, f"{provider.provider} takes at most {most} {measure.words(name)}; there are {figure}.", severity
            )


_SHARED = ("strict_tools", "optional_members", "union_members")
"""Limits over output and tools together: L21."""


def _output(subject: Subject) -> Size:
    return measure.size(subject.nodes)


def counts(subject: Subject) -> Iterator[Hit]:
    """L21: providers count over the output schema and all tools together."""
    if not subject.strict:
        return
    total = sum((measure.size(_walked(tool.input_schema)) for tool in subject.contract.tools), _output(subject))
    for place, provider in subject.providers:
        profile = subject.profile(provider)
        for name, figure, most in measure.shares(total, profile, len(subject.contract.tools)) if profile else ():
            if name in _SHARED and figure > most:
                yield Hit(place, f"{provider.provider} takes at most {most} {measure.words(name)}; there are {figure}.")


def _walked(schema: object) -> tuple[Node, ...]:
    try:
        return walk(schema)
    except TooLarge:
        return ()  # L18 says so


def unenforced(subject: Subject) -> Iterator[Hit]:
    """L12: the SDK refuses such an answer; with a repair attempt the model may mend it."""
    if subject.contract.providers.repair_attempts:
        return
    for place, provider in subject.providers:
        profile = subject.profile(provider)
        if profile is not None and (found := sorted(_unenforced(subject.nodes, profile))):
            yield Hit(place, f"{provider.provider} does not enforce {', '.join(found)}.")


def _unenforced(nodes: tuple[Node, ...], profile: Profile) -> set[str]:
    found = set()
    for node in nodes:
        for key, value in node.schema.items() if isinstance(node.schema, Mapping) else ():
            if key not in DEFINITIONS and not profile.enforces(key, value):
                found.add(key)
    return found - {"default"}


def near_limits(subject: Subject) -> Iterator[Hit]:
    """L16: the next change will not fit."""
    size = _output(subject)
    if size.largest_enum > LARGE_ENUM:
        yield Hit(
            "output_schema",
            f"An enum has {size.largest_enum} values; above {LARGE_ENUM} some providers count characters.",
        )
    for place, provider in subject.providers:
        profile = subject.profile(provider)
        for name, figure, most in measure.shares(size, profile, 0) if profile else ():
            if NEAR * most < figure <= most:
                yield Hit(place, f"{figure} of {most} {measure.words(name)} at {provider.provider} are used.")


CHECKS = {"L10": primary_limits, "L11": fallback_limits, "L12": unenforced, "L16": near_limits, "L21": counts}
