"""The whole check of a prompt's layout, before anything is sent: offline, across users, in CI."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from beleg.agent.finding import Finding
from beleg.agent.layout.differ import VARIANTS, Variant, differences, render_elsewhere
from beleg.agent.layout.inspect import inspect
from beleg.agent.layout.layout import Layout, tokens_of
from beleg.agent.layout.predict import Prediction, predict
from beleg.agent.layout.samples import Samples, load_samples


@dataclass(frozen=True)
class Report:
    """What the check found."""

    findings: tuple[Finding, ...]
    layouts: Mapping[str, Layout]
    tokens_by_scope: Mapping[str, Mapping[str, int]]
    """Sample → scope → estimated tokens."""
    predictions: Mapping[tuple[str, str], Prediction]
    """What the second of two samples reads from the cache after the first."""

    @property
    def failed(self) -> bool:
        """Whether there is an error."""
        return any(each.severity == "error" for each in self.findings)


def check(target: str, variants: Iterable[Variant] = VARIANTS) -> Report:
    """Check the Samples that `module:name` holds; it is imported here and in a process per variant."""
    samples = load_samples(target)
    findings = [*differences(render_elsewhere(target, variants)), *_alone(samples)]
    layouts = {name: samples.render(name) for name in samples.samples}
    for layout in layouts.values():
        findings += inspect(layout, samples.family)
    scopes = {name: _by_scope(layout, samples.family) for name, layout in layouts.items()}
    predictions = {(a, b): predict(layouts[a], layouts[b], samples.family) for a, b in combinations(layouts, 2)}
    return Report(_each_once(findings), layouts, scopes, predictions)


def _alone(samples: Samples) -> list[Finding]:
    if len({each.tenant for each in samples.samples.values()}) > 1:
        return []
    fix = "add a sample of another company"
    return [Finding("one-company", "warning", "samples", "with one company no company's text shows", fix)]


def _each_once(findings: list[Finding]) -> tuple[Finding, ...]:
    """One for each rule and place: the samples share most of what is wrong with them."""
    kept: dict[tuple[str, str], Finding] = {}
    for each in findings:
        kept.setdefault((each.rule, each.place), each)
    order = {"error": 0, "warning": 1, "info": 2}
    return tuple(sorted(kept.values(), key=lambda each: order[each.severity]))


def _by_scope(layout: Layout, family: str) -> dict[str, int]:
    scopes = dict.fromkeys(each.scope for each in layout.pieces)
    return {s: tokens_of((each for each in layout.pieces if each.scope == s), family).tokens for s in scopes}
