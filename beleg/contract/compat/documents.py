"""Schema documents: dialects rewritten to 2020-12 keyword by keyword, references, and where everything stands."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final
from urllib.parse import unquote, urldefrag, urljoin

from beleg.contract.compat.keywords import MANY, MAPS, ONE, Keywords, checked, translated
from beleg.contract.compat.patterns import is_tame
from beleg.contract.compat.verdict import Schema, SchemaError, Unprovable

DIALECTS: Final = {
    "http://json-schema.org/draft-06/schema": 7,
    "http://json-schema.org/draft-07/schema": 7,
    "https://json-schema.org/draft/2019-09/schema": 2019,
    "https://json-schema.org/draft/2020-12/schema": 2020,
}


class Document:
    """A schema with its dialect, its anchors and the JSON pointer of every subschema."""

    def __init__(self, root: Schema) -> None:
        """Raises SchemaError where `root` is no schema, Unprovable for a dialect that is not supported."""
        if not isinstance(root, dict | bool):
            msg = f"a schema is a JSON object, true or false, not {type(root).__name__}"
            raise SchemaError(msg)
        self.root = root
        self.dialect = _dialect(root)
        self.pointers: dict[int, str] = {}
        self._bases: dict[int, str] = {}
        self._resources: dict[str, Any] = {"": root}
        self._anchors: dict[str, Any] = {}
        self._keywords: dict[int, Keywords] = {}
        self.patterns: set[str] = set()
        """Every pattern, of texts and of names."""
        self.is_tame = True
        """Whether no pattern of names can keep `re` busy for ever."""
        self._index()

    def keywords(self, raw: dict[str, Any]) -> Keywords:
        """The keywords of a subschema as 2020-12 spells them; raises SchemaError naming a malformed one."""
        found = self._keywords.get(id(raw))
        if found is None:
            found = self._keywords[id(raw)] = translated(checked(raw, self.pointer(raw), self.dialect), self.dialect)
        return found

    def pointer(self, raw: object) -> str:
        """JSON pointer of a subschema; the empty one for the root."""
        return self.pointers.get(id(raw), "")

    def target(self, raw: dict[str, Any], reference: str) -> Any:
        """The subschema that `reference`, standing in `raw`, means; None where it lies outside the document."""
        uri = urljoin(self._bases.get(id(raw), ""), reference)
        resource, fragment = urldefrag(uri)
        if fragment and not fragment.startswith("/"):
            return self._anchors.get(uri)
        start = self._resources.get(resource)
        return start if start is None or not fragment else self._walk(start, fragment)

    @cached_property
    def weight(self) -> int:
        """How many subschemas there are with all references written out; one that contains itself counts once."""
        return self._weigh(self.root, {})

    def _weigh(self, raw: Any, known: dict[int, int]) -> int:
        if not isinstance(raw, dict):
            return 1
        if id(raw) not in known:
            known[id(raw)] = 1
            inner = [child for _, child in children(raw)]
            if isinstance(raw.get("$ref"), str):
                inner.append(self.target(raw, raw["$ref"]))
            known[id(raw)] = 1 + sum(self._weigh(child, known) for child in inner)
        return known[id(raw)]

    def _walk(self, start: Any, fragment: str) -> Any:
        here = start
        for escaped in fragment.split("/")[1:]:
            token = unquote(escaped).replace("~1", "/").replace("~0", "~")
            if isinstance(here, dict):
                here = here.get(token)
            elif isinstance(here, list) and token.isdecimal() and int(token) < len(here):
                here = here[int(token)]
            else:
                return None
        if isinstance(here, dict):
            self.pointers.setdefault(id(here), self.pointer(start) + unquote(fragment))
            self._bases.setdefault(id(here), self._bases.get(id(start), ""))
        return here

    def _index(self) -> None:
        """Note pointer, base and anchors of every subschema; without recursion, so that depth does no harm."""
        waiting: list[tuple[Any, str, str]] = [(self.root, "", "")]
        while waiting:
            raw, pointer, base = waiting.pop()
            if not isinstance(raw, dict) or id(raw) in self.pointers:
                continue
            if not all(isinstance(word, str) for word in raw):
                msg = f"{pointer or 'the schema'} has a member whose name is no string"
                raise SchemaError(msg)
            base = self._identify(raw, base)
            named = raw.get("patternProperties")
            names = [name for name in named if isinstance(name, str)] if isinstance(named, dict) else []
            self.is_tame = self.is_tame and all(map(is_tame, names))
            self.patterns.update(names, [raw["pattern"]] if isinstance(raw.get("pattern"), str) else ())
            self.pointers[id(raw)], self._bases[id(raw)] = pointer, base
            waiting += [(child, pointer + place, base) for place, child in children(raw)]

    def _identify(self, raw: dict[str, Any], base: str) -> str:
        identity = raw.get("$id")
        if isinstance(identity, str) and not (self.dialect == 7 and "$ref" in raw):
            base = urljoin(base, identity)
            if identity.startswith("#"):
                self._anchors[base] = raw
                base = urldefrag(base)[0]
            else:
                base = urldefrag(base)[0]
                self._resources.setdefault(base, raw)
        if isinstance(raw.get("$anchor"), str):
            self._anchors[f"{base}#{raw['$anchor']}"] = raw
        return base


def escaped(token: str) -> str:
    """A name as a token of a JSON pointer."""
    return token.replace("~", "~0").replace("/", "~1")


def children(raw: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The subschemas of a schema, each with its place below it; definitions too."""
    for keyword, value in raw.items():
        if keyword in MAPS and isinstance(value, dict):
            yield from ((f"/{keyword}/{escaped(str(name))}", child) for name, child in value.items())
        elif keyword in ONE or keyword in MANY:
            if isinstance(value, list):
                yield from ((f"/{keyword}/{i}", child) for i, child in enumerate(value))
            else:
                yield f"/{keyword}", value


def _dialect(root: Schema) -> int:
    named = root.get("$schema") if isinstance(root, dict) else None
    if named is None:
        return 2020
    found = DIALECTS.get(named.rstrip("#")) if isinstance(named, str) else None
    if found is None:
        msg = f"the dialect {named!r} is not supported; use {list(DIALECTS)[-1]}"
        raise Unprovable(msg)
    return found
