"""Answers that were collected elsewhere: from the words of a model to the result in them."""

import re
from typing import Any, Final

from beleg.contract.run import strictjson
from beleg.evals.scorers.model import ABSENT

NOT_RUN: Final = frozenset({"", "n/a", "na", "null", "none"})
"""What people write into a cell, in any case, where nothing was run: missing, not wrong."""
MAX_CHARS = 4_000_000
MAX_TRIES = 1_000
"""Opening braces that are tried: a text of nothing else must not take the square of its length."""
_OPENING = re.compile(r"\{")


def not_run(cell: str | None) -> bool:
    """Whether a cell of collected answers says that the model was not asked."""
    return cell is None or cell.strip().lower() in NOT_RUN


def first_object(text: str) -> Any:
    """The first whole JSON object in a text; ABSENT where there is none.

    More lenient than the client, which refuses an answer of several objects: what others collected was scored by
    this rule. An object with a key twice or a number that is none is no JSON.
    """
    for tries, opening in enumerate(_OPENING.finditer(text[:MAX_CHARS])):
        if tries == MAX_TRIES:
            break
        try:
            return strictjson.decoder.raw_decode(text, opening.start())[0]
        except (ValueError, RecursionError):
            continue
    return ABSENT
