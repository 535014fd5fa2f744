"""The agent contract: one versioned definition of an AI feature, and the rules by which it changes.

    draft (contracts/features) → lint, maturity, approvals → publish → registry → SDK

`promotion` alone can make a version active; nothing of the pipeline can reach it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from beleg.contract.compat import compare as compare


def __getattr__(name: str) -> Any:
    if name == "compare":
        from beleg.contract.compat import compare  # noqa: PLC0415 - the SDK loads without the comparison

        return compare
    raise AttributeError(f"module 'beleg.contract' has no attribute {name!r}")
