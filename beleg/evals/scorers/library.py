"""Finds the scorer that a contract names: `name[:field][?option=value&…]`.

Built in, from the entry points `beleg.scorers` of installed packages, and from `evals/scorers.py` of a project.
Field and values are percent-decoded, so `%3F`, `%26` and `%25` stand for ?, & and %.
"""

import hashlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote

from beleg.contract.model import Schema
from beleg.core.errors import UsageError
from beleg.evals.cases.pointer import is_pointer, pointer
from beleg.evals.scorers import date, exact, lists, measures, money, number, record, rows, schema, words
from beleg.evals.scorers.model import Scorer

GROUP = "beleg.scorers"
PROJECT_FILE = "evals/scorers.py"
MAX_SPEC = 200
"""Characters of a spec: as many as an `eval_result` event holds."""
_SPEC = re.compile(r"(?P<name>[a-z][a-z0-9_]*)(?::(?P<field>[^?]+))?(?:\?(?P<query>.+))?")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_VERSION = re.compile(r"(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}")

BUILT_IN: Mapping[str, type[Scorer]] = {
    each.name: each
    for each in (
        exact.ExactMatch,
        exact.Text,
        number.Number,
        date.Date,
        money.Money,
        lists.SetF1,
        lists.ListF1,
        lists.Recall,
        lists.Precision,
        lists.NoFalseMatch,
        rows.RowsF1,
        record.Record,
        schema.SchemaValid,
        words.Contains,
        words.Matches,
        measures.LatencyMs,
        measures.CostPicoUsd,
        measures.CostUsd,
        measures.InputTokens,
        measures.OutputTokens,
    )
}


@dataclass(frozen=True)
class Library:
    """The scorers that may be named, and the schema that `schema_valid` goes by."""

    scorers: Mapping[str, type[Scorer]]
    output_schema: Schema | None = None

    def resolve(self, spec: str) -> Scorer:
        """The scorer of a spec; raises UsageError that says what exists."""
        found = _SPEC.fullmatch(spec)
        if found is None or len(spec) > MAX_SPEC:
            limit = f"and up to {MAX_SPEC} characters"
            raise UsageError(f"{spec[:80]!r} names no scorer; write name[:field][?option=value&…] {limit}")
        scorer = self.scorers.get(found["name"])
        if scorer is None:
            raise UsageError(f"no scorer {found['name']!r}; there are: {', '.join(sorted(self.scorers))}")
        field = unquote(found["field"] or "")
        if not is_pointer(pointer(field)):
            raise UsageError(f"scorer {spec}: {field!r} is no JSON pointer; in names, ~ is written ~0 and / is ~1")
        return scorer.made(field, _options(scorer.name, found["query"]), self)


def resolve(spec: str, *, output_schema: Schema | None = None, project: Path | None = None) -> Scorer:
    """The scorer that a contract names; raises UsageError that says which exist.

    `output_schema` is the contract's, for `schema_valid`. With `project`, scorers of its `evals/scorers.py` count
    too: its code runs, as its prompts do.
    """
    return library(project, output_schema=output_schema).resolve(spec)


def library(project: Path | None = None, *, output_schema: Schema | None = None) -> Library:
    """All scorers: built in, of installed packages, of the project; raises UsageError where two share a name."""
    scorers: dict[str, type[Scorer]] = dict(BUILT_IN)
    _add(scorers, _installed())
    path = project / PROJECT_FILE if project else None
    if path is not None and path.is_file():
        _add(scorers, _of_file(path))
    return Library(scorers, output_schema)


def _add(scorers: dict[str, type[Scorer]], more: Iterable[tuple[str, Any]]) -> None:
    for place, found in more:
        if not (inspect.isclass(found) and issubclass(found, Scorer)):
            raise UsageError(f"{place} is no scorer; write a subclass of beleg.evals.scorers.Scorer")
        name, version = getattr(found, "name", None), getattr(found, "version", None)
        if not isinstance(name, str) or not _NAME.fullmatch(name) or not _VERSION.fullmatch(str(version)):
            raise UsageError(f"{place}: name {name!r}, version {version!r}; write name = 'word', version = '1.0.0'")
        if name in scorers:
            raise UsageError(f"{place}: a scorer {name!r} exists already; name it otherwise")
        scorers[name] = found


def _installed() -> Iterable[tuple[str, Any]]:
    for point in _entry_points(tuple(sys.path)):
        try:
            yield f"entry point {point.name} = {point.value}", point.load()
        except (ImportError, AttributeError) as error:
            raise UsageError(
                f"entry point {point.name} = {point.value} of {GROUP} cannot be loaded: {error}"
            ) from error


@cache
def _entry_points(_path: tuple[str, ...]) -> list[EntryPoint]:
    """Those of the packages on the path; reading their metadata takes a tenth of a second."""
    return sorted(entry_points(group=GROUP), key=lambda each: each.name)


def _of_file(path: Path) -> Iterable[tuple[str, Any]]:
    """The scorers that a project's file defines, those it imports left out."""
    module = _module(path, path.stat().st_mtime_ns)
    for name, found in inspect.getmembers(module, inspect.isclass):
        if issubclass(found, Scorer) and found.__module__ == module.__name__ and not inspect.isabstract(found):
            yield f"{PROJECT_FILE}: {name}", found


@cache
def _module(path: Path, _modified_ns: int) -> ModuleType:
    # Two projects may both have such a file; dataclasses look their module up by name.
    name = f"beleg_scorers_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{PROJECT_FILE} is no Python module")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise UsageError(f"{PROJECT_FILE} cannot be loaded: {type(error).__name__}: {error}") from error
    return module


def _options(name: str, query: str | None) -> dict[str, str]:
    options: dict[str, str] = {}
    for part in query.split("&") if query else ():
        option, equals, value = part.partition("=")
        option = unquote(option)
        if not (option and equals):
            raise UsageError(f"scorer {name}: {part!r} is no option; write option=value")
        if option in options:
            raise UsageError(f"scorer {name}: the option {option} stands there twice")
        options[option] = unquote(value)
    return options
