"""Long flows whose progress is computed from what is stored, and returned with every answer."""

from beleg.agent.flows.calling import RefusedError, given
from beleg.agent.flows.flow import Field, Flow, Invariant, Record, Section
from beleg.agent.flows.lint import lint
from beleg.agent.flows.roadmap import Roadmap, Step
from beleg.agent.flows.state import SectionState, State
from beleg.agent.flows.store import SqliteStore, Store, Stored
from beleg.agent.flows.tools import FlowTools

__all__ = [
    "Field",
    "Flow",
    "FlowTools",
    "Invariant",
    "Record",
    "RefusedError",
    "Roadmap",
    "Section",
    "SectionState",
    "SqliteStore",
    "State",
    "Step",
    "Store",
    "Stored",
    "given",
    "lint",
]
