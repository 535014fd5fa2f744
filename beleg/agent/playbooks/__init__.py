"""Playbooks: an index in the prompt, one body on demand. Existing `SKILL.md` folders work as they are."""

from beleg.agent.playbooks.account import Account, account
from beleg.agent.playbooks.context import keep_one_body
from beleg.agent.playbooks.index import IndexIncomplete, Playbooks, PlaybookUnknown
from beleg.agent.playbooks.lint import lint
from beleg.agent.playbooks.load import load
from beleg.agent.playbooks.playbook import Playbook

__all__ = [
    "Account",
    "IndexIncomplete",
    "Playbook",
    "PlaybookUnknown",
    "Playbooks",
    "account",
    "keep_one_body",
    "lint",
    "load",
]
