"""All playbooks: their index for the prompt, which is complete or does not come to be, and one body on demand."""

from collections.abc import Collection, Iterable
from pathlib import Path

from beleg.agent.finding import Finding
from beleg.agent.playbooks.load import load
from beleg.agent.playbooks.playbook import Playbook
from beleg.contract.tokens import estimate
from beleg.core.errors import CheckFailed, UsageError
from beleg.trace.api import current_run

INDEX_TOKENS = 500
"""What the index may cost by default."""


class IndexIncomplete(CheckFailed):
    """A playbook would be missing from the index. What is not listed is never used, and nobody sees why."""


class PlaybookUnknown(UsageError):
    """There is no playbook of this name among those offered here."""


class Playbooks:
    """Playbooks in the sequence of their index: everybody's first, then by rank and name, never by use.

    A sequence by use would change the prompt for all whenever somebody works, and what is not shown is not used.
    """

    def __init__(self, playbooks: Iterable[Playbook], findings: Iterable[Finding] = ()) -> None:
        self.all = tuple(sorted(playbooks, key=lambda each: (bool(each.when), each.rank, each.name)))
        self.findings = tuple(findings)
        """What is wrong with the files; an error stands for a playbook that could not be read."""
        self._by_name = {each.name: each for each in self.all}
        if len(self._by_name) < len(self.all):
            names = [each.name for each in self.all]
            raise UsageError(f"playbooks share a name: {sorted({n for n in names if names.count(n) > 1})}")

    @classmethod
    def load(cls, folder: Path) -> "Playbooks":
        """Those below a folder; raises UsageError where there is none."""
        return cls(*load(folder))

    def for_groups(self, groups: Collection[str]) -> "Playbooks":
        """Those for a user who is offered these groups of tools; `()` gives what everybody has."""
        return Playbooks((each for each in self.all if each.when <= set(groups)), self.findings)

    def index(self, *, budget_tokens: int = INDEX_TOKENS, family: str = "o200k") -> str:
        """One line each, name and trigger, for the prompt; the same bytes everywhere.

        Raises IndexIncomplete where a file could not be read, a name or trigger is not one line, or the budget
        (estimated tokens of a family of models) does not suffice: it is never shortened.
        """
        if lost := [each for each in self.findings if each.severity == "error"]:
            raise IndexIncomplete(f"{len(lost)} playbooks are missing; the first: {lost[0].place}: {lost[0].sentence}")
        if odd := [each.name for each in self.all if len(each.entry.splitlines()) != 1 or not each.trigger.strip()]:
            raise IndexIncomplete(f"{odd}: name and trigger must be one line that says something")
        text = "".join(f"{each.entry}\n" for each in self.all)
        tokens = estimate(text, family).tokens
        if tokens > budget_tokens:
            fix = "shorten triggers, merge playbooks, list some only where their tools are offered, or raise the budget"
            raise IndexIncomplete(f"the index of {len(self.all)} takes {tokens} tokens, allowed {budget_tokens}: {fix}")
        return text

    def get(self, name: str) -> Playbook:
        """One playbook; raises PlaybookUnknown, which names those there are."""
        try:
            return self._by_name[name]
        except (KeyError, TypeError):
            raise PlaybookUnknown(f"no workflow {str(name)[:80]!r}; there are {', '.join(self._by_name)}") from None

    def get_workflow_details(self, name: str) -> str:
        """Step-by-step instructions for ONE workflow of the list. Call this before you carry it out."""
        try:
            found = self.get(name)
        except PlaybookUnknown as error:
            return str(error)  # a model can only act on an answer
        with current_run().tool("get_workflow_details", playbook=found.name):
            return found.opened
