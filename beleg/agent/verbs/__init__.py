"""The verbs that an agent does not have: links in their place, and the audit that looks for what is left."""

from beleg.agent.verbs.audit import Audit, Finding, audit
from beleg.agent.verbs.authority import Authority
from beleg.agent.verbs.links import Link, link_tool, prove_inert
from beleg.agent.verbs.reviews import Review, read_reviews
from beleg.agent.verbs.roles import Roles

__all__ = [
    "Audit",
    "Authority",
    "Finding",
    "Link",
    "Review",
    "Roles",
    "audit",
    "link_tool",
    "prove_inert",
    "read_reviews",
]
