"""Rules about the prompt: its variables, its samples, where text of strangers may stand."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beleg.contract.lint.judge import faults
from beleg.contract.lint.subject import Hit, Subject, text
from beleg.contract.model import Prompt, Variable

MAX_SAMPLE_VALUES = 5_000
"""Values in all samples together; with more they are checked but not rendered."""


def undeclared(subject: Subject) -> Iterator[Hit]:
    """L01: the SDK hands over declared variables only, so this one would stop every run."""
    declared = {each.name for each in subject.contract.prompt.variables}
    for role, template in subject.templates.items():
        for name in sorted(template.names - declared):
            yield Hit(f"prompt.{role}", f"The variable “{text(name)}” is used but not declared.")


def unused(subject: Subject) -> Iterator[Hit]:
    """L02: a declared variable that no template uses is often a slip of the pen."""
    if not subject.renders:
        return
    used = frozenset().union(*(each.names for each in subject.templates.values()))
    for each in subject.contract.prompt.variables:
        if each.name not in used:
            yield Hit(f"prompt.variables.{each.name}", f"The variable “{each.name}” is declared but never used.")


def samples(subject: Subject) -> Iterator[Hit]:
    """L03: at least one real prompt must be rendered before a version exists."""
    given = subject.contract.prompt
    if given.variables and not given.samples:
        yield Hit("prompt.samples", "There is no sample to render the prompt with.")
    sound = []
    for number, sample in enumerate(given.samples):
        place = f"prompt.samples.{number}"
        wrong = list(_wrong(place, given.variables, sample))
        yield from wrong
        sound += [] if wrong else [(place, sample)]
    if subject.renders and subject.sample_values <= MAX_SAMPLE_VALUES:
        yield from _unrendered(given, sound)


def _wrong(place: str, variables: tuple[Variable, ...], sample: Mapping[str, Any]) -> Iterator[Hit]:
    for name in sorted(set(sample) - {each.name for each in variables}):
        yield Hit(place, f"The sample gives “{text(name)}”, which is no declared variable.")
    for each in variables:
        if each.name not in sample:
            if each.required:
                yield Hit(place, f"The required variable “{each.name}” is missing.")
            continue
        for where, what in faults(each.schema, sample[each.name]):
            inside = f" at {text(where)}" if where else ""
            yield Hit(f"{place}.{each.name}", f"“{each.name}”{inside} does not fit its schema: {text(what, 160)}.")


def _unrendered(prompt: Prompt, samples: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[Hit]:
    """Rendered as the SDK does it; loops go at most two deep, so a large sample alone could take long."""
    from beleg.contract.client.errors import PromptInvalid  # noqa: PLC0415 - the SDK's own renderer
    from beleg.contract.run.render import Template  # noqa: PLC0415

    try:
        template = Template(prompt)
    except PromptInvalid as error:
        yield Hit("prompt", f"The prompt cannot be rendered: {text(error, 160)}.")
        return
    for place, sample in samples:
        try:
            template.render(sample)
        except PromptInvalid as error:
            yield Hit(place, f"The prompt cannot be rendered with this sample: {text(error, 160)}.")


def untrusted(subject: Subject) -> Iterator[Hit]:
    """L37: what strangers write must not speak with the system's voice. In the user part the SDK delimits it."""
    for each in subject.contract.prompt.variables:
        if each.untrusted and each.name in subject.templates["system"].names:
            yield Hit("prompt.system", f"“{each.name}” holds text of strangers and stands in the system part.")


def template(subject: Subject) -> Iterator[Hit]:
    """L44: what the SDK does not render must not reach it."""
    for role, each in subject.templates.items():
        for fault in each.faults:
            yield Hit(f"prompt.{role}", f"The template cannot be rendered: {text(fault, 300)}.")
    if not (subject.contract.prompt.system.strip() or subject.contract.prompt.user.strip()):
        yield Hit("prompt", "The prompt is empty.", fix="write what the feature shall do")


CHECKS = {"L01": undeclared, "L02": unused, "L03": samples, "L37": untrusted, "L44": template}
