"""Contracts and a registry with them, made by the registry's own writers."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, Protocol

from beleg.contract.client.clock import Clock
from beleg.contract.client.feature import Feature
from beleg.contract.client.load import load
from beleg.contract.model import Contract, Criterion, Evals, Prompt, Provider, Providers, Variable
from beleg.contract.registry import steps
from beleg.contract.registry.records import Head, PromptRelease, Release
from beleg.contract.registry.registry import ADD, PUBLISH, Registry
from beleg.contract.tools import Tool, pin

AT = "2026-11-30T12:00:00Z"
FEATURE = "receipt-extraction"
OUTPUT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "total": {"type": "number", "minimum": 0},
        "currency": {"enum": ["EUR", "USD"]},
        "note": {"type": "string", "maxLength": 200},
    },
    "required": ["total", "currency"],
    "additionalProperties": False,
}
ANSWER = {"total": 119.0, "currency": "EUR"}


def provider(**values: Any) -> Provider:
    """A provider of the double's kind."""
    return Provider(**{"provider": "openai", "model": "gpt-5-mini-2025-08-07", "api": "chat", **values})


def contract(**parts: Any) -> Contract:
    """A small contract; `parts` replace its own."""
    made = Contract(
        feature=FEATURE,
        risk_tier=2,
        prompt=Prompt(
            "You read receipts.",
            "Read this receipt:\n{{ document }}",
            (Variable("document", {"type": "string", "minLength": 1}),),
            ({"document": "Total 119.00 EUR"},),
        ),
        output_schema=OUTPUT,
        providers=Providers(provider()),
        evals=Evals("receipts", (Criterion("total", "exact", "binary", 0.9),)),
        examples=(ANSWER,),
        author="Ada",
        change_note="first",
    )
    return replace(made, **parts)


def tool(name: str = "lookup_vendor", **values: Any) -> Tool:
    """A tool with a right pin."""
    schema = {
        "type": "object",
        "properties": {"vat_id": {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$"}},
        "required": ["vat_id"],
        "additionalProperties": False,
    }
    seen: dict[str, Any] = {"name": name, "version": "1", "description": "Finds a vendor.", "input_schema": schema}
    seen |= values
    binding = seen.pop("binding", False)
    return Tool(**seen, binding=binding, digest=pin(**seen))


class Shop:
    """A registry that a test publishes to."""

    def __init__(self, root: Path) -> None:
        self.registry = Registry(root)
        self.root = root

    def publish(
        self, version: str, made: Contract | None = None, *, workflow: str | None = None, deadline: date | None = None
    ) -> Release:
        """Make a version the active one."""
        made = made or contract()
        head = self.registry.head(made.feature)
        previous = None if head is None else head.active.version
        release = Release(
            made.feature, version, previous, made.digest, made.document(), {}, AT, "Ada", workflow, note="n"
        )
        if workflow is not None:
            self.registry.add_to_index(workflow, made.feature)
        return self._step(steps.published(head, made.feature, release.published, deadline), head, PUBLISH, release)

    def rollback(self, version: str, feature: str = FEATURE, *, deadline: date | None = None) -> None:
        """Make an earlier version the active one."""
        head = self._head(feature)
        target = next(each for each in self.registry.releases(feature) if each.version == version)
        self._step(steps.rolled_back(head, target.published, deadline), head, "rollback", target)

    def sunset(self, on: date, feature: str = FEATURE) -> None:
        """Set the end of a feature."""
        head = self._head(feature)
        self._commit(f"features/{feature}", steps.bare(steps.sunset(head, on)), head.epoch, "sunset")

    def deprecate(self, feature: str = FEATURE) -> None:
        """Tell readers to leave."""
        head = self._head(feature)
        self._commit(f"features/{feature}", steps.bare(steps.deprecated(head, None)), head.epoch, "deprecate")

    def prompt(self, workflow: str, version: str, text: str, *, active: bool = True) -> None:
        """Add a prompt of a workflow without a contract, and make it the active one."""
        head = self.registry.prompt_head(workflow)
        release = PromptRelease(workflow, version, text, AT, "Ada")
        now = steps.prompt(head, workflow, release.published if active else None)
        epoch = 0 if head is None else head.epoch
        self._commit(
            f"prompts/{workflow}", steps.bare(now), epoch, ADD, release.to_bytes(), release=release.published.release
        )

    def deactivate(self, workflow: str) -> None:
        """No prompt of the workflow is active."""
        head = self.registry.prompt_head(workflow)
        assert head is not None
        self._commit(f"prompts/{workflow}", steps.bare(steps.prompt(head, workflow, None)), head.epoch, "deactivate")

    def folder(self, feature: str = FEATURE) -> Path:
        """Where a feature lies."""
        return self.root / "features" / feature

    def release_path(self, version: str, feature: str = FEATURE) -> Path:
        """The file of a version."""
        found = next(each for each in self.registry.releases(feature) if each.version == version)
        return self.folder(feature) / "releases" / f"{found.published.release}.json"

    def _head(self, feature: str) -> Head:
        head = self.registry.head(feature)
        assert head is not None
        return head

    def _step(self, head: Head, before: Head | None, verb: str, release: Release) -> Release:
        epoch = 0 if before is None else before.epoch
        self._commit(f"features/{head.feature}", steps.bare(head), epoch, verb, release.to_bytes())
        return release

    def _commit(
        self, folder: str, head: Mapping[str, Any], epoch: int, verb: str, data: bytes | None = None, **details: Any
    ) -> None:
        kind, _, name = folder.partition("/")
        shelf = self.registry.shelf(name) if kind == "features" else self.registry.prompt_shelf(name)
        shelf.commit(epoch, head, verb=verb, at=AT, by="Ada", why="test", release=data, details=details)


class HasClock(Protocol):
    clock: Clock


def loaded(hands: HasClock, registry: object = None, **options: Any) -> Feature:
    """The feature's first major, asked for with little patience."""
    return load(FEATURE, major=1, registry=registry, clock=hands.clock, **{"timeout_s": 0.5, **options})  # type: ignore[arg-type]
