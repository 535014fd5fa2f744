"""Characters that no reviewer sees and every model reads."""

import re

_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"  # control characters but for tab and line ends
    "\u200b\u2060-\u2064\ufeff"  # without width
    "\u202a-\u202e\u2066-\u2069"  # that turn the direction of reading
    "\U000e0000-\U000e007f]"  # tags: a second alphabet that no screen shows
)
_SHOWN = 5


def unseen(text: str) -> str:
    """The first such characters of a text by their code points; empty where there is none."""
    return ", ".join(f"U+{ord(each):04X}" for each in sorted(set(_UNSEEN.findall(text)))[:_SHOWN])
