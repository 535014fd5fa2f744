"""docs/contract/lint.md: `python -m beleg.contract.lint.table > docs/contract/lint.md`."""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from beleg.contract.lint.cases import Example, examples
from beleg.contract.lint.rules import RULES, Rule
from beleg.contract.lint.run import lint
from beleg.contract.maturity import NAMES

HEAD = """# Lint rules

Made from the code by `python -m beleg.contract.lint.table`; the examples are executed in the tests.

`error` blocks publishing, `warning` is shown, `info` is advice; where a cell names three, they hold in tier 1, 2 and 3.
A rule that **needs** a fact which is unknown says nothing, and the maturity level that asks for it is not met: what is
unknown is missing, not passed. Offline (`beleg.contract.lint.lint(contract)`) those rules stay silent.

| rule | what is wrong | severity | level | needs | guide |
|---|---|---|---|---|---|
"""
FACTS = {
    "active": "the active version",
    "approvals": "the approvals of the draft",
    "catalogue": "the tool catalogue",
    "evidence": "the eval gate's evidence",
    "risk_levels": "the models' risk levels",
}
ALSO = """
What lint knows only in part:

- L03 renders the samples while they hold at most 5 000 values together; larger ones are only checked.
- L20 looks at the prompt, and at the tools that eval runs called where that is known.
- L28 compares the criteria with the eval suite's results only where there is evidence.
- L31 compares thresholds with the active version's, not with its measured figures, which evidence does not hold.
- L32 sees a judging model only where the scorer's name holds the model's id.
- L33 and L34 count approvals without checking signatures; publishing checks them.
- L35 knows the risk owner only where the feature's folder is known.
- L38 names how many readers are pinned to the old major only where that is known.
- L40 looks at the migration's deadline; the date of a sunset is checked by `beleg contract sunset`.
- L10, L11, L12, L16, L21 and L23 know nothing about a provider without a row in
  `contracts/policies/provider_profiles.yaml`; L22 then knows only names that float everywhere, such as `latest`.

## Examples

Each contract stands for the differences to the complete one at the head of `tests/contract/lint/cases.yaml`.
"""


def page() -> str:
    """The whole page."""
    rules = sorted(RULES, key=lambda rule: rule.id)
    found: dict[str, list[Example]] = {rule.id: [] for rule in rules}
    for example in examples():
        found[example.rule].append(example)
    sections = "\n".join(section for rule in rules for section in _section(rule, found[rule.id]))
    return HEAD + "\n".join(_row(rule) for rule in rules) + "\n" + ALSO + "\n" + sections


def _row(rule: Rule) -> str:
    by_tier = list(dict.fromkeys(rule.severity(tier) for tier in (1, 2, 3)))
    severity = by_tier[0] if len(by_tier) == 1 else ", ".join(rule.severity(tier) for tier in (1, 2, 3))
    level = "" if rule.level is None else f"{rule.level} {NAMES[rule.level]}"
    needs = ", ".join(FACTS[each] for each in rule.needs)
    guide = f"[{rule.guide}](en/{rule.guide})"
    return f"| [{rule.id}](#{rule.id.lower()}) | {rule.title} | {severity} | {level} | {needs} | {guide} |"


def _section(rule: Rule, found: list[Example]) -> Iterator[str]:
    yield f'<a id="{rule.id.lower()}"></a>\n### {rule.id}: {rule.title}\n\nFix: {rule.fix}.\n'
    broken, good = (next((e for e in found if e.breaks is kind), None) for kind in (True, False))
    if broken is not None:
        said = next(each.sentence for each in lint(broken.contract, broken.facts) if each.rule == rule.id)
        yield f"Breaks it{_given(broken)}:\n\n{_yaml(broken.written)}\n{said}\n"
    if good is not None:
        yield f"Mended:\n\n{_yaml(good.written)}"


def _given(example: Example) -> str:
    return f" (given {json.dumps(example.given, ensure_ascii=False, default=str)})" if example.given else ""


def _yaml(written: Mapping[str, Any]) -> str:
    if not written:
        return "(the complete contract)\n"
    text = yaml.safe_dump(dict(written), sort_keys=False, allow_unicode=True, width=110)
    return f"```yaml\n{text}```\n"


if __name__ == "__main__":
    sys.stdout.write(page())
