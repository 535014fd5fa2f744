"""`evals/suites/<feature>.yaml`: how the cases of a feature are run.

resolver: invoices:fetch      # module:function; evals/invoices.py of the project, else an installed module
repetitions: 3                # answers per case and version
workers: 4                    # calls at the same time
max_cost_usd: "5.00"          # the run stops before it spends more
requests_per_minute: 60
tools: invoices:tools         # gives the read-only tools that the feature may use, by name
"""

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from beleg.core.errors import UsageError
from beleg.cost.reading import Fields, read_yaml

Resolver = Callable[[str], Mapping[str, Any] | Awaitable[Mapping[str, Any]]]
"""`resolve(reference) -> payload`: fetches the input of a case, locally, from the owner's own system.

The reference is the case's `input_ref`; the payload is the mapping of variables that was handed to
`feature.run`, for that is what was fingerprinted. May be a coroutine function.
"""
Tools = Mapping[str, Callable[..., Any]]
MOST_REPETITIONS = 10_000
MOST_WORKERS = 256
_KEYS = ("resolver", "repetitions", "workers", "max_cost_usd", "requests_per_minute", "tools")


@dataclass(frozen=True)
class Suite:
    """How the cases of a feature are run."""

    feature: str
    project: Path
    resolver: str
    """`module:function`."""
    repetitions: int = 1
    workers: int = 4
    max_cost_pico_usd: int | None = None
    requests_per_minute: int | None = None
    tools: str | None = None
    """`module:function`."""

    @classmethod
    def load(cls, project: Path, feature: str) -> "Suite":
        """Read the suite of a feature; raises UsageError that says what is wrong where."""
        path = project / "evals" / "suites" / f"{feature}.yaml"
        if not path.exists():
            raise UsageError(f"evals/suites/{path.name} is missing; write into it: resolver: MODULE:FUNCTION")
        fields = Fields(read_yaml(path), f"evals/suites/{path.name}", _KEYS)
        if not isinstance(fields.raw.get("resolver"), str):
            fields.fail("resolver is missing: name the function that fetches an input, resolver: MODULE:FUNCTION")
        return cls(
            feature,
            project,
            fields.text("resolver"),
            _at_most(fields, "repetitions", MOST_REPETITIONS, 1),
            _at_most(fields, "workers", MOST_WORKERS, 4),
            fields.usd("max_cost_usd"),
            fields.count("requests_per_minute"),
            fields.text("tools") if "tools" in fields.raw else None,
        )

    def load_resolver(self) -> Resolver:
        """The owner's resolver; raises UsageError."""
        return function(self.project, self.resolver)

    def load_tools(self) -> Tools:
        """The tools of the suite by name, none where it names none; raises UsageError."""
        made = function(self.project, self.tools)() if self.tools is not None else {}
        if not isinstance(made, Mapping) or not all(isinstance(name, str) and callable(made[name]) for name in made):
            raise UsageError(
                f"tools: {self.tools} gave back a {type(made).__name__}, not a mapping of names to functions"
            )
        return made


def function(project: Path, reference: str) -> Callable[..., Any]:
    """The function that `module:function` means; raises UsageError where it cannot be had."""
    module_name, colon, name = reference.partition(":")
    if not colon or not all(part.isidentifier() for part in (*module_name.split("."), name)):
        raise UsageError(f"{reference!r} names no function; write MODULE:FUNCTION, for example invoices:fetch")
    try:
        found = getattr(_module(project / "evals", module_name), name, None)
    except Exception as error:  # the owner's module does what it likes
        raise UsageError(f"{reference}: {module_name} cannot be imported: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise UsageError(f"{reference}: {module_name} has no function {name!r}")
    made: Callable[..., Any] = found
    return made


def _module(folder: Path, name: str) -> ModuleType:
    path = folder.joinpath(*name.split(".")).with_suffix(".py")
    if not path.is_file():
        return importlib.import_module(name)
    # Two projects may both have a module of that name: the whole path tells them apart.
    alias = f"beleg_evals_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]}"
    if alias in sys.modules:
        return sys.modules[alias]
    spec = importlib.util.spec_from_file_location(alias, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path.name} is no Python module")
    module = sys.modules[alias] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[alias]
        raise
    return module


def _at_most(fields: Fields, key: str, most: int, default: int) -> int:
    value = fields.count(key, default) or default
    if value > most:
        fields.fail(f"{key} must be at most {most}, got {value}")
    return value
