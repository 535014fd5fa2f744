"""Canonical JSON: the exact bytes of RFC 8785, and a documented form for values JSON cannot hold.

A value that JSON holds exactly gets the bytes of RFC 8785, `canon_version` "jcs". Any other value (NaN,
integers beyond 2**53 - 1, bytes, decimals, dates, keys that are no strings, lone surrogates) is written
with `{"$beleg": [tag, content]}` in its place, `canon_version` "jcs+1", behind a prefix that no JSON text
starts with: the two families of bytes cannot meet. `docs/fingerprints.md` lists the tags.

The speed comes from one walk that leaves alone whatever every serialiser writes like RFC 8785.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple, NoReturn

from beleg.trace.canon_codec import DEFAULT, EXACT, Codec, NotCanonicalError, RawNeededError
from beleg.trace.canon_easy import easy_units, sorts_alike, without_zeros
from beleg.trace.canon_number import number_text

PLAIN = "jcs"
EXTENDED = "jcs+1"
EXTENDED_PREFIX = b"beleg-canon-1\n"
"""Put before the bytes of an extended value, so that they can never equal those of a plain one."""
MARK = "$beleg"
MAX_DEPTH = 200
"""Deepest nesting; serialisers written in C refuse at about 250."""
MAX_UNITS = 1 << 26
"""Most characters, numbers and members that one value may have."""
_EASY_UNITS = 1 << 20
_EASY_PART_UNITS = 1 << 12
"""Limits of a look for easy values: of all of a value, and of one part of a value that is not easy everywhere."""
_MAX_INT = (1 << 53) - 1
_MAX_INT_BITS = 8192


class Canonical(NamedTuple):
    """The bytes to hash, and the version of the encoding they follow."""

    data: bytes
    version: str


_new = tuple.__new__  # half the time of the constructor


class _Walk:
    """Turns one value into one that the codec writes like RFC 8785.

    A careful walk looks into every string for lone surrogates and at every object that looks like a tag.
    """

    extended = False
    """True once a value was met that JSON cannot hold."""

    def __init__(self, codec: Codec, *, careful: bool) -> None:
        self.codec = codec
        self.careful = careful
        self.units = MAX_UNITS

    def value(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is dict:
            return self.mapping(value, depth)
        if kind is list or kind is tuple:
            return self.sequence(value, depth)
        if kind is str:
            self.units -= len(value)
            return self.text(value) if self.careful else value
        if value is None or kind is bool:
            return value
        if kind is int:
            return value if -_MAX_INT <= value <= _MAX_INT else self.big_integer(value)
        return self.number(value) if kind is float else self.other(value, depth)

    def sequence(self, items: Any, depth: int) -> Any:
        changed = self.changed(items, enumerate(items), depth)
        if changed is None:
            return items
        return [changed.get(index, item) for index, item in enumerate(items)]

    def mapping(self, items: dict[Any, Any], depth: int) -> Any:
        try:
            keys = "".join(items)
        except TypeError:
            return self.odd_keys(items, depth)
        if self.careful:
            if not all(type(key) is str for key in items):  # orjson refuses members of a StrEnum
                items = {str.__str__(key): item for key, item in items.items()}
            if MARK in items or not _is_unicode(keys):
                return self.odd_keys(items, depth)
        self.units -= len(keys)
        changed = self.changed(items, items.items(), depth)
        members = items if changed is None else {**items, **changed}
        return members if sorts_alike(keys) else self.astral(members)

    def changed(self, items: Any, pairs: Iterable[tuple[Any, Any]], depth: int) -> dict[Any, Any] | None:
        """The members to replace and by what; None where all may stay."""
        self.units -= len(items) + 1
        if self.units < 0 or depth > MAX_DEPTH:
            self.refuse(depth)
        changed: dict[Any, Any] | None = None
        easy_text = None if self.careful else str
        for key, item in pairs:
            kind = type(item)
            if kind is easy_text:
                self.units -= len(item)
                continue
            if item is None or kind is bool or (kind is int and -_MAX_INT <= item <= _MAX_INT):
                continue
            if kind is float and 1e-4 <= item < 1e15 and item % 1:
                continue
            if (kind is dict or kind is list) and easy_text is not None and self.is_easy(item, depth):
                continue
            new = self.value(item, depth + 1)
            if new is not item:
                changed = {} if changed is None else changed
                changed[key] = new
        return changed

    def is_easy(self, part: Any, depth: int) -> bool:
        whole: list[float] = []
        left = easy_units(part, _EASY_PART_UNITS, MAX_DEPTH - depth - 1, whole) if depth < MAX_DEPTH else -1
        if left < 0 or whole:
            return False
        self.units -= _EASY_PART_UNITS - left
        return True

    def text(self, value: str) -> Any:
        if _is_unicode(value):
            return value
        return self.tagged("utf16", value.encode("utf-16-be", "surrogatepass").hex())

    def big_integer(self, value: int) -> Any:
        if value.bit_length() > _MAX_INT_BITS:
            raise NotCanonicalError("too_large", f"an integer has more than {_MAX_INT_BITS} bits")
        return self.tagged("int", str(value))

    def number(self, value: float) -> Any:
        if value.is_integer() and -_MAX_INT <= value <= _MAX_INT:
            return int(value)  # RFC 8785 writes 1.0 as 1 and -0.0 as 0
        if 1e-4 <= value < 1e15 or -1e15 < value <= -1e-4:
            return value  # no serialiser uses an exponent here
        if value - value != 0:  # NaN and the infinities
            return self.tagged("float", repr(value))
        return self.raw(number_text(value).encode())

    def raw(self, data: bytes) -> Any:
        if self.codec.fragment is None:
            raise RawNeededError
        return self.codec.fragment(data)

    def tagged(self, tag: str, content: Any) -> dict[str, Any]:
        self.extended = True
        return {MARK: [tag, content]}

    def astral(self, items: dict[str, Any]) -> Any:
        """Members in UTF-16 order, which differs from that of serialisers beyond the basic plane."""
        dumps = self.codec.dumps
        members = [dumps(k) + b":" + dumps(items[k]) for k in sorted(items, key=_utf16)]
        return self.raw(b"{" + b",".join(members) + b"}")

    def odd_keys(self, items: dict[Any, Any], depth: int) -> Any:
        """Members in the order of their keys' bytes, where a key is no string that JSON can hold."""
        pairs = [[self.value(k, depth + 4), self.value(v, depth + 4)] for k, v in items.items()]
        pairs.sort(key=lambda pair: self.codec.dumps(pair[0]))
        return self.tagged("map", pairs)

    def other(self, value: Any, depth: int) -> Any:
        if depth > MAX_DEPTH:
            self.refuse(depth)
        from beleg.trace.canon_types import reduce_value  # noqa: PLC0415 - a sixth of the time of `import beleg`

        tag, content = reduce_value(value)
        if tag is None:
            return self.value(content, depth + 1)
        content = self.value(content, depth + 3)
        return self.tagged(tag, sorted(content, key=self.codec.dumps) if tag == "set" else content)

    def refuse(self, depth: int) -> NoReturn:
        if depth > MAX_DEPTH:
            raise NotCanonicalError("too_deep", f"the value is cyclic or nested deeper than {MAX_DEPTH}")
        raise NotCanonicalError("too_large", f"the value has more than {MAX_UNITS} characters and members")


def canonical(value: Any, codec: Codec = DEFAULT) -> Canonical:
    """The canonical bytes of a value.

    Raises NotCanonicalError for what has no canonical form; whatever a hostile object raises while it is
    read passes through.
    """
    kind = type(value)
    try:
        if kind is dict or kind is list:
            whole: list[float] = []
            if easy_units(value, _EASY_UNITS, MAX_DEPTH, whole) >= 0:
                data = codec.dumps(value)
                exact = without_zeros(data, len(whole)) if whole else data
                if exact is not None:
                    return _new(Canonical, (exact, PLAIN))
        walk = _Walk(codec, careful=False)
        plain = walk.value(value, 0)
        if not walk.extended:
            return _finished(walk, plain)
    except RawNeededError:
        return canonical(value, EXACT)
    except (UnicodeEncodeError, TypeError) as error:
        # A lone surrogate somewhere: orjson says TypeError, the standard library UnicodeEncodeError.
        if isinstance(error, NotCanonicalError):
            raise
    return _canonical_with_care(value, codec)


def _canonical_with_care(value: Any, codec: Codec) -> Canonical:
    """The canonical bytes of a value that is known to need tags."""
    walk = _Walk(codec, careful=True)
    try:
        return _finished(walk, walk.value(value, 0))
    except RawNeededError:
        return _canonical_with_care(value, EXACT)


def _finished(walk: _Walk, plain: Any) -> Canonical:
    if walk.units < 0:
        walk.refuse(0)
    data = walk.codec.dumps(plain)
    return Canonical(EXTENDED_PREFIX + data, EXTENDED) if walk.extended else Canonical(data, PLAIN)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be")
