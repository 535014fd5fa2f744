"""Names of people as they stand in approvals and histories: text that cannot hide who it is."""

import re
import unicodedata

from beleg.core.errors import UsageError

_MAX_LENGTH = 200
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_IGNORED = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Letters and marks that are drawn as nothing (Unicode's Default_Ignorable_Code_Point, as far as not `_HIDDEN`)."""


def person(name: str) -> str:
    """The name in its normal form; raises UsageError for one that is empty, long, or holds what nobody sees."""
    plain = " ".join(_visible(name, "a name").split())
    if not plain or len(plain) > _MAX_LENGTH:
        raise UsageError(f"{name[:40]!r} is no name; write who it is, in at most {_MAX_LENGTH} characters")
    return unicodedata.normalize("NFC", plain)


def reason(text: str, what: str) -> str:
    """Words on why; raises UsageError where there are none, or for characters that nobody sees."""
    plain = _visible(text.replace("\n", " ").replace("\t", " "), what).strip()
    if not plain:
        raise UsageError(f"{what} is empty; write a sentence")
    return text.strip()


def identity(name: str) -> str:
    """What one name has in common under every spelling: width, case, composition, spaces, what nobody sees.

    Letters of two scripts that look alike stay two names: only keys tell such people apart.
    """
    seen = "".join(each for each in name if not _hidden(each))
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold())
    return " ".join(folded.split())


def _visible(text: str, what: str) -> str:
    hidden = next((each for each in text if _hidden(each)), None)
    if hidden is not None:
        raise UsageError(f"{what} holds the character U+{ord(hidden):04X}, which nobody sees; write it without")
    return text


def _hidden(character: str) -> bool:
    return unicodedata.category(character) in _HIDDEN or _IGNORED.match(character) is not None
