"""Finds flows that would let an agent keep the progress itself."""

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import Any, Protocol

from beleg.agent.finding import Finding
from beleg.agent.flows.flow import Flow
from beleg.contract.tokens import estimate

MOST_STATE_TOKENS = 400
"""What the state may cost in every answer while nothing is filled in yet, when it is largest."""
NAVIGATES = "sections.missing"
"""What a flow's playbook must navigate by."""
_PROGRESS = re.compile(
    r"(?:^|_)(?:progress|checkpoint|current_(?:step|section|stage)|next_(?:step|section)|completed?_(?:steps?|sections?)"
    r"|(?:steps?|sections?)_(?:done|completed?)|percent(?:_complete)?|fortschritt)(?:$|_)"
)
_REMEMBERS = re.compile(
    r"\b(?:keep track|tracks?|tracking|remember|memori[sz]e|note down|write down|keep in mind|merken?|verfolgen?)\b",
    re.IGNORECASE,
)
_ABOUT_PROGRESS = re.compile(
    r"\b(?:progress|steps?|sections?|done|completed?|finished|fortschritt|schritte?|abschnitte?|erledigt)\b",
    re.IGNORECASE,
)
_NEVER = re.compile(r"\b(?:never|not|don't|nie|niemals|nicht|keine?n?)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"[^.!?\n;]+")
_IMPURE_NAMES = """
    now today utcnow time time_ns monotonic perf_counter localtime gmtime random randint choice uuid1 uuid4 urandom
    open environ getenv input print urlopen read_text read_bytes connect execute
"""
_IMPURE = frozenset(_IMPURE_NAMES.split())


class FlowPlaybook(Protocol):
    """What a playbook must tell: which flow it walks through, and how."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def flow(self) -> str | None:
        """The flow it belongs to; None for most."""

    @property
    def body(self) -> str:
        """What the model reads."""


def lint(flow: Flow, tools: Iterable[Callable[..., Any]] = (), playbooks: Iterable[FlowPlaybook] = ()) -> list[Finding]:
    """Everything that would break the rule that the stored record alone knows the progress."""
    return [*_of_state(flow), *_of_tools(flow, tools), *_of_playbooks(flow, playbooks)]


def remembers(text: str) -> list[str]:
    """Sentences that ask the model to remember progress; one that forbids it is none."""
    sentences = (found[0].strip() for found in _SENTENCE.finditer(text))
    return [s for s in sentences if _REMEMBERS.search(s) and _ABOUT_PROGRESS.search(s) and not _NEVER.search(s)]


def _of_state(flow: Flow) -> Iterator[Finding]:
    for field in flow.fields:
        if _PROGRESS.search(field):
            fix = "drop the field: what is missing is computed from the others"
            yield Finding("progress-stored", "error", f"{flow.name}.{field}", "the record stores progress", fix)
    for place, function in _functions(flow):
        if used := sorted(_names(function.__code__) & _IMPURE):
            sentence = f"{place} looks at {', '.join(used)}: the same record would not always give the same state"
            fix = "let the caller store what it needs in the record, and look at the record alone"
            yield Finding("state-impure", "error", f"{flow.name}.{place}", sentence, fix)
    for value in (None, "", "x", 0, [], [1], {}, {"x": 1}):
        try:
            flow.state(dict.fromkeys([*flow.fields, *flow.operational], value)).to_dict()
        except Exception as error:  # noqa: BLE001 - what it raises is the finding
            sentence = f"where every field is {value!r} the state raises {type(error).__name__}: {error}"
            fix = "let status and computed parts take any record: a half-filled one must have a state too"
            yield Finding("state-raises", "error", flow.name, sentence, fix)
            return
    tokens = estimate(json.dumps(flow.state({}).to_dict(), ensure_ascii=False), "o200k").tokens
    if tokens > MOST_STATE_TOKENS:
        sentence = f"the state of an empty record has about {tokens} tokens, more than {MOST_STATE_TOKENS}"
        yield Finding("state-large", "warning", flow.name, sentence, "split the flow, or ask for fewer fields")


def _functions(flow: Flow) -> Iterator[tuple[str, Any]]:
    fields = [(f"{field.name}.when", field.when) for section in flow.sections for field in section.fields]
    invariants = [(each.marker, each.violated) for section in flow.sections for each in section.invariants]
    for place, function in [*fields, *invariants, ("status", flow.status), *flow.computed.items()]:
        if inspect.ismethod(function):
            yield place, function.__func__
        elif inspect.isfunction(function):
            yield place, function


def _names(code: CodeType) -> set[str]:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return {*code.co_names, *(name for each in inner for name in _names(each))}


def _of_tools(flow: Flow, tools: Iterable[Callable[..., Any]]) -> Iterator[Finding]:
    for tool in tools:
        name, parameters = tool.__name__, inspect.signature(tool).parameters
        if getattr(tool, "flow", None) != flow.name:
            sentence = f"{name} does not answer with the state of the flow"
            yield Finding("envelope-missing", "error", name, sentence, "define it with FlowTools.read, write or create")
        for word in [name, *parameters]:
            if _PROGRESS.search(word):
                fix = "drop it: progress follows from what is stored, and comes with every answer"
                yield Finding("progress-tool", "error", name, f"{word} lets the model store progress", fix)


def _of_playbooks(flow: Flow, playbooks: Iterable[FlowPlaybook]) -> Iterator[Finding]:
    mine = [each for each in playbooks if each.flow == flow.name]
    if not mine:
        fix = f"write one with `beleg.flow: {flow.name}` under `metadata`"
        yield Finding("playbook-missing", "warning", flow.name, "no playbook walks through the flow", fix)
    for each in mine:
        if NAVIGATES not in each.body:
            fix = f"say: the backend is the source of truth; navigate by `{NAVIGATES}`"
            yield Finding("playbook-navigates", "error", each.name, f"it does not navigate by `{NAVIGATES}`", fix)
        for sentence in remembers(each.body):
            fix = "say that the state comes with every answer; never ask for memory"
            yield Finding("playbook-remembers", "error", each.name, f"it asks for memory: {sentence[:120]!r}", fix)
