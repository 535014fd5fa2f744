"""Everything a role's agent can say, what of it sounds binding, and on what the claim rests that nothing is."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from beleg.agent.toolsets.offer import Cohort
from beleg.agent.toolsets.tool import AgentTool
from beleg.agent.verbs.reach import Reach, reach
from beleg.agent.verbs.reviews import Review
from beleg.agent.verbs.roles import Roles
from beleg.contract.binding import signs
from beleg.contract.tools import Tool

STATUS = re.compile(
    r"(?:\w+_)?(?:status|state|phase|approved|paid|submitted|released|sent|filed|signed|locked|closed|published|cancelled"
    r"|bezahlt|freigegeben|eingereicht|uebermittelt|versendet|gebucht|storniert|unterschrieben|abgeschlossen)(?:_\w+)?"
)
"""Names of columns by which writing a field becomes an act."""
_LINK = re.compile(r"(?:^|_)(?:links?|urls?)(?:$|_)")
_FETCHING = frozenset({"fetch", "http", "browser"})
Verdict = Literal["open", "reviewed", "stale"]


@dataclass(frozen=True)
class Finding:
    """One thing by which a tool may bind. `open` and `stale` ones fail the audit."""

    tool: str
    kind: str
    """`act`, one of the 17 kinds of universal verb, `status`, `composition`, `binding` or `unknown`."""
    place: str
    word: str
    verdict: Verdict
    review: Review | None = None


@dataclass(frozen=True)
class Claim:
    """On what it rests that no binding act is within reach."""

    basis: Literal["construction", "declaration", "evidence", "authority"]
    standing: Literal["proved", "stated", "broken", "unknown"]
    says: str


@dataclass(frozen=True)
class Audit:
    """The result for all roles."""

    roles: Mapping[str, Cohort]
    findings: tuple[Finding, ...]
    reached: Mapping[str, Reach]
    """By tool."""
    claims: tuple[Claim, ...]

    @property
    def failures(self) -> tuple[Finding, ...]:
        """What nobody has looked at, or not at the tool as it is now."""
        return tuple(each for each in self.findings if each.verdict != "reviewed")

    @property
    def passed(self) -> bool:
        """Whether CI may go on."""
        return not self.failures and all(claim.standing != "broken" for claim in self.claims)

    def of(self, role: str) -> tuple[Finding, ...]:
        """The findings that concern one role."""
        names = self.roles[role].by_name
        return tuple(each for each in self.findings if each.tool in names or each.kind == "composition")


def audit(subject: Roles) -> Audit:
    """Look through the whole vocabulary of every role, what its functions reach, and what stands beside it."""
    roles = {name: subject.toolset.for_context(context).cohort for name, context in subject.contexts.items()}
    tools = subject.toolset.tools  # of all groups: one that no role has today is still a condition away
    reached = {name: reach(tool.function) for name, tool in sorted(tools.items())}
    reviews = {each.tool: each for each in subject.reviews}
    found = [
        *(_judged(tool, each, reviews) for tool in tools.values() for each in _of_tool(tool, reached[tool.name])),
        *_beside(subject.beside or ()),
        *_composition(tools.values(), subject.beside or ()),
    ]
    return Audit(roles, tuple(dict.fromkeys(found)), reached, tuple(_claims(subject, roles, reached)))


def _of_tool(tool: AgentTool, reached: Reach) -> Iterator[tuple[str, str, str]]:
    yield from ((sign.kind, sign.place, sign.word) for sign in tool.signs)
    yield from (("status", "writable", name) for name in sorted(tool.writable) if STATUS.fullmatch(name.lower()))
    yield from ((each.kind, " → ".join(each.path), each.sink) for each in reached.sinks)


def _judged(tool: AgentTool, found: tuple[str, str, str], reviews: Mapping[str, Review]) -> Finding:
    review = reviews.get(tool.name)
    verdict: Verdict = "open" if review is None else "reviewed" if review.digest == tool.digest else "stale"
    return Finding(tool.name, *found, verdict, review)


def _beside(tools: tuple[Tool, ...]) -> Iterator[Finding]:
    """Other servers in the host: what they bring, the agent has."""
    for tool in tools:
        if tool.binding:
            yield Finding(tool.name, "binding", "beside", "declared binding", "open")
        yield from (Finding(tool.name, each.kind, f"beside: {each.place}", each.word, "open") for each in signs(tool))


def _composition(tools: Iterable[AgentTool], beside: tuple[Tool, ...]) -> Iterator[Finding]:
    """A link is inert in a person's hand; beside a tool that fetches, the agent can follow it."""
    own = list(tools)
    links = [tool.name for tool in own if getattr(tool.function, "gives_link", False) or _LINK.search(tool.name)]
    fetching = [tool.name for tool in own if _FETCHING & {sign.kind for sign in tool.signs}]
    fetching += [tool.name for tool in beside if _FETCHING & {sign.kind for sign in signs(tool)}]
    for link in links:
        yield from (Finding(other, "composition", link, "link + fetch", "open") for other in fetching if other != link)


def _claims(subject: Roles, roles: Mapping[str, Cohort], reached: Mapping[str, Reach]) -> Iterator[Claim]:
    yield Claim("construction", "proved", "what is not listed cannot be called: the list is the dispatch table")
    yield Claim("construction", "proved", "no tool can be declared binding, and none calls others by name")
    yield Claim("declaration", "stated", "every tool is declared read, draft or write by whoever wrote it")
    unknown = sum(len(each.unknown) for each in reached.values())
    said = f"names, descriptions, parameters, choices and calls were looked through; {unknown} calls cannot be followed"
    yield Claim("evidence", "unknown" if unknown else "stated", said)
    if unseen := set(reached) - {name for cohort in roles.values() for name in cohort.by_name}:
        yield Claim("evidence", "stated", f"{len(unseen)} tools are offered to none of these roles; looked through too")
    if subject.beside is None:
        yield Claim(
            "evidence", "unknown", "which other tools the host brings is not known: nothing can be said of them"
        )
    for each in subject.authorities:
        yield Claim("authority", each.standing(), f"{each.credential} lacks {each.lacks}")
    if not subject.authorities:
        yield Claim("authority", "unknown", "nothing is known of what the agent's credentials cannot do")
