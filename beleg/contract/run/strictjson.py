"""JSON as RFC 8259 has it: no NaN, no infinity (also not as 1e999), no key twice."""

import json
import math
from typing import Any, NoReturn


def loads(text: str | bytes) -> Any:
    """The value; raises ValueError, whose message holds nothing of the text."""
    try:
        return decoder.decode(text if isinstance(text, str) else text.decode("utf-8"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at character {error.pos}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"no UTF-8 at byte {error.start}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a key stands there twice")
    return values


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("a number is too large")
    return number


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


decoder = json.JSONDecoder(object_pairs_hook=_once, parse_float=_finite, parse_constant=_refuse)
