"""The formats that can be read, and which of them a file is."""

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from beleg.core.errors import UsageError
from beleg.ingest.readers.events import Maker
from beleg.ingest.readers.files import File
from beleg.ingest.readers.head import Head
from beleg.ingest.readers.item import Item
from beleg.ingest.readers.naming import Naming
from beleg.ingest.sources import Source

MODULES = (
    "agents",
    "langfuse",
    "langsmith",
    "mlflow",
    "litellm",
    "helicone",
    "opik",
    "openai_batch",
    "inspect_ai",
    "tau_bench",
    "otlp",
)
"""Modules of `beleg.ingest.readers`, each with `FORMATS`; asked in this order, the narrower ones first."""
OWN = "beleg"
"""Name of events in normal form, which need no reader."""
_FAR_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Reading:
    """What a reader works with."""

    file: File
    make: Maker
    """Makes events under the name of the format."""
    naming: Naming


@dataclass(frozen=True)
class Format:
    """A foreign format: how it is recognised and read, and what `beleg formats` says of it."""

    name: str
    """For --format; the `source` of its events."""
    title: str
    files: str
    """What is read, for example: spans as JSON, a document or lines."""
    yields: str
    """What its files tell."""
    cannot_know: str
    """What they cannot tell, so that a figure stays unknown."""
    recognises: Callable[[Head], bool]
    read: Callable[[Reading], Iterator[Item]]
    suffixes: tuple[str, ...] = ()
    """Names taken from a folder beside .json, .jsonl and .ndjson."""


@lru_cache(maxsize=1)
def formats() -> dict[str, Format]:
    """Name → format, in the order in which they are asked."""
    modules = [importlib.import_module(f"beleg.ingest.readers.{name}") for name in MODULES]
    return {found.name: found for module in modules for found in module.FORMATS}


def format_named(name: str) -> Format:
    """The format of that name. Raises UsageError that lists those there are."""
    try:
        return formats()[name]
    except KeyError:
        known = ", ".join(sorted({*formats(), OWN}))
        msg = f"no format {name!r}; formats are {known}, see `beleg formats`"
        raise UsageError(msg) from None


def suffixes() -> tuple[str, ...]:
    """Names of files that only a foreign format has."""
    return tuple(sorted({suffix for found in formats().values() for suffix in found.suffixes}))


def recognise(source: Source) -> Format | None:
    """The foreign format of a file by its content; None for events in normal form and whatever is unknown."""
    file = File(source)
    for size in (64 * 1024, _FAR_BYTES):  # where an item begins with a large payload, its keys stand far in
        head = Head(file, size)
        if head.has("event", "schema_version"):
            return None
        found = next((found for found in formats().values() if found.recognises(head)), None)
        if found is not None or head.complete:
            return found
    return None
