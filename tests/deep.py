"""How many examples a property is tried with: some in `make test`, more in `make soak`."""

import os


def examples(quick: int, *, soak: int) -> int:
    """`soak` where BELEG_SOAK=1 says so, else `quick`."""
    return soak if os.environ.get("BELEG_SOAK") == "1" else quick
