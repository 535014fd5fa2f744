"""The comparison of output schemas: what a new version of a contract means for those who read its results."""

from beleg.contract.compat.digests import behavioural, interface_digest, raw_digest
from beleg.contract.compat.engine import compare, compare_all
from beleg.contract.compat.inputs import compare_inputs
from beleg.contract.compat.verdict import NO_WITNESS, Change, Comparison, Schema, SchemaError

__all__ = [
    "NO_WITNESS",
    "Change",
    "Comparison",
    "Schema",
    "SchemaError",
    "behavioural",
    "compare",
    "compare_all",
    "compare_inputs",
    "interface_digest",
    "raw_digest",
]
