"""From the words of a model to one JSON value."""

import re
from typing import Any

from beleg.contract.client.errors import InvalidAnswer
from beleg.contract.run import strictjson

MAX_CHARS = 4_000_000
_OPENING = re.compile(r"[{\[]")


def parse(text: str) -> Any:
    """The JSON value of an answer; prose around it is allowed only if exactly one value stands in it.

    A bracket that begins no whole value makes the answer invalid: half an answer may hold a whole smaller
    one. Raises InvalidAnswer, rule `json` or `size`.
    """
    if len(text) > MAX_CHARS:
        raise InvalidAnswer("size", hint=f"more than {MAX_CHARS} characters")
    try:
        return strictjson.loads(text)
    except ValueError as error:
        return _within(text, str(error))


def _within(text: str, why: str) -> Any:
    found: list[Any] = []
    end = 0
    while opening := _OPENING.search(text, end):
        try:
            value, end = strictjson.decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            raise InvalidAnswer("json", hint=why) from None
        found.append(value)
        if len(found) > 1:
            raise InvalidAnswer("json", hint="more than one JSON value")
    if not found:
        raise InvalidAnswer("json", hint=why)
    return found[0]
