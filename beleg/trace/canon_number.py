"""Numbers as ECMAScript writes them (RFC 8785, section 3.2.2.3): the shortest digits that round-trip."""


def number_text(value: float) -> str:
    """Text of a finite float by the rules of ECMAScript's Number::toString.

    Python's `repr` finds the same shortest digits; only where the point and the exponent stand differs.
    """
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    return sign + _placed(digits.rstrip("0"), point)


def _placed(digits: str, point: int) -> str:
    """Digits with the decimal point after the first `point` of them."""
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    power = f"{'+' if point > 0 else '-'}{abs(point - 1)}"
    return f"{digits[0]}{'.' if digits[1:] else ''}{digits[1:]}e{power}"
