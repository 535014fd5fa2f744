"""Rules about providers: which models are pinned, what steps in for what, how long a call may take."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta

from beleg.contract.lint.subject import Hit, Subject, text
from beleg.contract.model import FALLBACK_REASONS, Provider
from beleg.contract.tiers import MODEL_RISK_LEVELS

RETIRES_SOON = timedelta(days=90)
FLOATING = re.compile(r"(?:^|[-_:@.])(?:latest|preview|beta|experimental|exp|current|stable|default|auto)(?:$|[-_:@.])")
"""Ids that float at any provider, also one without a profile."""
DATED = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2})$")
"""A snapshot's date at the end of a model id."""
CHARS_PER_TOKEN = 3
"""Of German JSON, on the careful side."""


def floating(subject: Subject) -> Iterator[Hit]:
    """L22: another model may answer tomorrow, and the baseline means nothing."""
    for place, provider in subject.providers:
        profile = subject.profile(provider)
        moves = FLOATING.search(provider.model.lower()) is not None
        if moves or (profile is not None and not profile.pinned(provider.model)):
            yield Hit(place, f"“{text(provider.model)}” is no pinned model of {text(provider.provider)}.")


def retired(subject: Subject) -> Iterator[Hit]:
    """L23: calls fail from the retirement on."""
    today = subject.facts.today
    for place, provider in subject.providers:
        profile = subject.profile(provider)
        ends = profile.retired.get(provider.model) if profile else None
        if ends is not None and ends <= today:
            yield Hit(place, f"“{text(provider.model)}” was retired on {ends}.")
        elif ends is not None and ends - today <= RETIRES_SOON:
            yield Hit(place, f"“{text(provider.model)}” will be retired on {ends}.", "warning")


def no_fallback(subject: Subject) -> Iterator[Hit]:
    """L24: an outage of the one provider is an outage of the feature."""
    if not subject.contract.providers.fallbacks:
        yield Hit("providers.fallbacks", "Nothing steps in when the primary provider cannot be reached.")


def same_failure(subject: Subject) -> Iterator[Hit]:
    """L25: what stands on the same servers falls with them."""
    primary = subject.contract.providers.primary
    for place, each in subject.providers[1:]:
        if (each.provider, each.region, each.base_url) == (primary.provider, primary.region, primary.base_url):
            yield Hit(place, f"The fallback is {text(each.provider)} too, in the same region.")


def reasons(subject: Subject) -> Iterator[Hit]:
    """L26: an outage rule is no way around a refusal."""
    wrong = [each for each in subject.contract.providers.fallback_on if each not in FALLBACK_REASONS]
    if wrong:
        yield Hit("providers.fallback_on", f"A fallback would step in on {', '.join(wrong)}.")


def call_limits(subject: Subject) -> Iterator[Hit]:
    """L27: a call without an end blocks the caller, a cut answer is no JSON."""
    for place, provider in subject.providers:
        if provider.timeout_s is None:
            yield Hit(place, "There is no timeout_s.")
        if provider.max_output_tokens is None:
            yield Hit(place, "There is no max_output_tokens.")
        elif (needed := _tokens(subject)) > provider.max_output_tokens:
            yield Hit(
                place, f"max_output_tokens is {provider.max_output_tokens}, but an example alone takes about {needed}."
            )


def _tokens(subject: Subject) -> int:
    longest = max((len(json.dumps(each, ensure_ascii=False)) for each in subject.contract.examples), default=0)
    return longest // CHARS_PER_TOKEN


def risk_levels(subject: Subject) -> Iterator[Hit]:
    """L41: the level of a model is decided in models.yaml, which levels a tier allows in tiers.yaml."""
    known = {(p.lower(), m.lower()): level for (p, m), level in (subject.facts.risk_levels or {}).items()}
    allowed = subject.policy.model_risk_levels
    for place, each in subject.providers:
        level, needed = _level(known, each), f"tier {subject.policy.tier} allows {', '.join(allowed)}"
        if level is None and set(allowed) != set(MODEL_RISK_LEVELS):
            yield Hit(place, f"Nobody has classified “{text(each.model)}”; {needed}.")
        elif level is not None and level not in allowed:
            yield Hit(place, f"“{text(each.model)}” has risk level {text(level)}; {needed}.")


def _level(known: Mapping[tuple[str, str], str], provider: Provider) -> str | None:
    """That of the model as named, else that of its family: `gpt-5-mini` classifies `gpt-5-mini-2025-08-07`."""
    name = provider.model.lower()
    family = DATED.sub("", name)
    return known.get((provider.provider.lower(), name), known.get((provider.provider.lower(), family)))


def unmeasured(subject: Subject) -> Iterator[Hit]:
    """L46: evidence names a fallback in a slice with provider, model and verdict."""
    slices = subject.facts.evidence.slices if subject.facts.evidence else ()
    passed = {(each.get("provider"), each.get("model")) for each in slices if each.get("verdict") == "pass"}
    for place, each in subject.providers[1:]:
        if (each.provider, each.model) not in passed:
            yield Hit(place, f"The evidence has no passing slice for {text(each.provider)} {text(each.model)}.")


CHECKS = {
    "L22": floating,
    "L23": retired,
    "L24": no_fallback,
    "L25": same_failure,
    "L26": reasons,
    "L27": call_limits,
    "L41": risk_levels,
    "L46": unmeasured,
}
