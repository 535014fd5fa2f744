"""Finds playbooks that are never opened, that ask for tools nobody has, or that tell an agent what it must not do."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from beleg.agent.finding import Finding
from beleg.agent.flows.lint import remembers
from beleg.agent.playbooks.index import IndexIncomplete, Playbooks
from beleg.agent.playbooks.lint_tools import OfferedTool, of_tools
from beleg.agent.playbooks.playbook import Playbook
from beleg.contract.tokens import estimate
from beleg.contract.unseen import unseen

BODY_TOKENS = 5_000
BODY_LINES = 500
TRIGGER_CHARS = 1_024
OVERLAP = 0.6
"""Share of words that two triggers may have in common."""
_COMMAND = re.compile(r"!`[^`\n]+`|^```!", re.MULTILINE)
_ARGUMENTS = re.compile(r"\$(?:ARGUMENTS|[0-9])\b")
_SCRIPT = re.compile(r"(?:^|[\s`(\"'])((?:\./)?scripts/[\w./-]+|[\w./-]+\.(?:sh|py|js|ps1|rb))\b", re.MULTILINE)
_LINK = re.compile(r"\]\((?!\w+:|#|/)([^)\s]{1,500})\)")
_WORD = re.compile(r"\w{3,}")
_COMMON = frozenset(
    [
        "the",
        "and",
        "for",
        "with",
        "use",
        "when",
        "user",
        "users",
        "wants",
        "asks",
        "ask",
        "about",
        "this",
        "that",
        "from",
        "into",
        "their",
        "whenever",
        "der",
        "die",
        "das",
        "und",
        "für",
        "mit",
        "wenn",
        "wer",
        "nutzer",
        "nutzt",
    ]
)


def lint(
    playbooks: Playbooks,
    cohorts: Mapping[str, Iterable[OfferedTool]] | None = None,
    *,
    declared: Iterable[OfferedTool] = (),
    index_tokens: int | None = None,
    body_tokens: int = BODY_TOKENS,
    family: str = "o200k",
) -> list[Finding]:
    """Everything wrong with playbooks, for each cohort (name → tools it is offered) where those are given.

    `declared` are tools that exist beside those of the cohorts.
    """
    found = list(playbooks.findings)
    if index_tokens is not None:
        found += _of_index(playbooks, index_tokens, family)
    for each in playbooks.all:
        found += [*_of_trigger(each), *_of_body(each, body_tokens, family), *_of_unseen(each)]
    found += _overlaps(playbooks)
    if cohorts is not None:
        offered = {name: tuple(tools) for name, tools in cohorts.items()}
        found += of_tools(playbooks, offered, declared)
    return found


def _of_index(playbooks: Playbooks, budget: int, family: str) -> Iterator[Finding]:
    try:
        playbooks.index(budget_tokens=budget, family=family)
    except IndexIncomplete as error:
        yield Finding("index-incomplete", "error", "index", str(error), "the index is complete or does not come to be")


def _of_trigger(each: Playbook) -> Iterator[Finding]:
    if len(each.trigger) > TRIGGER_CHARS:
        sentence = f"the description has {len(each.trigger)} characters, more than {TRIGGER_CHARS}"
        yield Finding(
            "trigger-long", "warning", each.name, sentence, "other readers cut it; say when to use it, shortly"
        )


def _of_body(each: Playbook, budget: int, family: str) -> Iterator[Finding]:
    tokens, lines = estimate(each.body, family).tokens, each.body.count("\n") + 1
    if not each.body.strip():
        yield Finding("body-missing", "error", each.name, "it has no body", "write down the steps")
    if tokens > budget or lines > BODY_LINES:
        sentence = f"the body takes about {tokens} tokens in {lines} lines; allowed are {budget} in {BODY_LINES}"
        yield Finding("body-budget", "error", each.name, sentence, "split it, or move detail into references/")
    for command in _COMMAND.finditer(each.body):
        sentence = f"{command[0][:60]!r} is a command that some readers run before the model sees the text"
        yield Finding("shell-injection", "error", each.name, sentence, "take it out; here it is never run")
    if _ARGUMENTS.search(each.body):
        yield Finding("template", "warning", each.name, "it holds $ARGUMENTS, which nobody fills in", "say it in words")
    for name in sorted({found[1] for found in _SCRIPT.finditer(each.body)}):
        yield Finding("script", "warning", each.name, f"it names {name}, which is never run", "name a tool instead")
    for sentence in remembers(each.body):
        fix = "navigate by what tools answer; keep progress in the database"
        yield Finding("remembers", "error", each.name, f"it asks the model for memory: {sentence[:120]!r}", fix)
    yield from _of_links(each)


def _of_unseen(each: Playbook) -> Iterator[Finding]:
    for part, text in (("name", each.name), ("trigger", each.trigger), ("body", each.body)):
        if codes := unseen(text):
            sentence = f"its {part} holds characters that nobody sees and the model reads: {codes}"
            yield Finding("unseen", "error", each.name, sentence, "take them out; write the text again if need be")


def _of_links(each: Playbook) -> Iterator[Finding]:
    for target in sorted(set(_LINK.findall(each.body))):
        path, folder = target.partition("#")[0], each.folder
        if folder is not None and not (folder / path).exists():
            yield Finding("link-dead", "warning", each.name, f"{target} leads nowhere", "repair the link")


def _overlaps(playbooks: Playbooks) -> Iterator[Finding]:
    words = {each.name: set(_WORD.findall(each.trigger.casefold())) - _COMMON for each in playbooks.all}
    for first, second in combinations(words, 2):
        both = words[first] | words[second]
        share = len(words[first] & words[second]) / len(both) if both else 1.0
        if share >= OVERLAP:
            severity, place = "error" if share == 1 else "warning", f"{first}, {second}"
            sentence = f"their triggers share {share:.0%} of their words: which of them is meant?"
            fix = "say in each what the other is not for, or merge them"
            yield Finding("trigger-overlap", severity, place, sentence, fix)  # type: ignore[arg-type]
