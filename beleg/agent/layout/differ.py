"""Renders a prompt in other processes, each with another hash seed, clock, zone and locale, and compares.

Text of a scope may depend on what that scope and the wider ones are, and on nothing else. So whatever makes it
differ (a clock, a set, an id, another company's name) is found without a list of what such things look like.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from beleg.agent.finding import Finding
from beleg.agent.layout.predict import differing
from beleg.agent.layout.segment import RANK, Piece, Scope
from beleg.core.errors import UsageError

TIMEOUT_S = 120


@dataclass(frozen=True)
class Variant:
    """The surroundings of one process."""

    hash_seed: int
    clock: str
    """ISO 8601, with an offset."""
    zone: str
    locale: str

    def environment(self) -> dict[str, str]:
        """The environment of the process."""
        own = {"PYTHONHASHSEED": str(self.hash_seed), "TZ": self.zone, "LC_ALL": self.locale, "LANG": self.locale}
        return {**os.environ, **own, "PYTHONPATH": os.pathsep.join(p or str(Path.cwd()) for p in sys.path)}


VARIANTS = (
    Variant(1, "2026-03-02T09:05:31+00:00", "UTC", "C"),
    Variant(2, "2026-03-02T12:48:02+00:00", "Asia/Kolkata", "de_DE.UTF-8"),
    Variant(3, "2026-08-14T21:17:44+00:00", "America/Sao_Paulo", "C.UTF-8"),
)
"""Two on one calendar day in their zones, one on another."""


@dataclass(frozen=True)
class Rendering:
    """The pieces of one sample in one process."""

    sample: str
    variant: Variant
    belongs: Mapping[str, str]
    """What each scope is for this sample: `tenant` → `acme`, for example."""
    pieces: tuple[Piece, ...] = field(repr=False)

    def key(self, scope: Scope) -> tuple[str, ...]:
        """What text of a scope may depend on."""
        day = self.variant.clock[:10]
        known = {**self.belongs, "static": "", "day": day}
        return tuple(known[each] for each in RANK if RANK[each] <= RANK[scope])

    def __str__(self) -> str:
        each = self.variant
        return f"{self.sample} (hash seed {each.hash_seed}, {each.clock}, {each.zone}, {each.locale})"


def render_elsewhere(target: str, variants: Iterable[Variant] = VARIANTS) -> list[Rendering]:
    """Every sample of `module:name` in a process of its own per variant; raises UsageError where one fails."""
    return [each for variant in variants for each in _in_process(target, variant)]


def differences(renderings: Iterable[Rendering]) -> Iterator[Finding]:
    """Pieces that differ where they must not: the first byte, who made it, between which two renderings."""
    first: dict[tuple[Any, ...], tuple[Rendering, Piece]] = {}
    told: set[str] = set()
    for rendering in renderings:
        for piece in _all_names(rendering):
            if piece.scope == "turn":
                continue
            key = (piece.name, piece.scope, rendering.key(piece.scope))
            other, before = first.setdefault(key, (rendering, piece))
            if before.text != piece.text and piece.name not in told:
                told.add(piece.name)
                yield _differs(before, piece, other, rendering)


def _all_names(rendering: Rendering) -> Iterator[Piece]:
    """A list of pieces also as a whole, so that one that is missing shows."""
    yield from rendering.pieces
    lists: dict[str, list[Piece]] = {}
    for each in rendering.pieces:
        lists.setdefault(each.name.partition("[")[0], []).append(each)
    for name, pieces in lists.items():
        if pieces[0].name != name:
            count = str(len(pieces))
            yield Piece(f"{name} (number of its pieces)", pieces[0].scope, pieces[0].part, count, pieces[0].maker)


def _differs(before: Piece, piece: Piece, one: Rendering, other: Rendering) -> Finding:
    found = differing(before, piece)
    sentence = (
        f"differs between two renderings at byte {found.at_byte}: {found.first!r} for {one}, {found.second!r} for "
        f"{other}; made by {found.maker}"
    )
    fix = f"its scope is {piece.scope}: make it depend on that alone, or give it a narrower scope"
    return Finding("differs", "error", piece.name, sentence, fix)


def _in_process(target: str, variant: Variant) -> list[Rendering]:
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "pieces.json"
        command = [sys.executable, "-m", "beleg.agent.layout.render", target, variant.clock, str(answer)]
        try:
            done = subprocess.run(  # the user's own module
                command, env=variant.environment(), capture_output=True, text=True, timeout=TIMEOUT_S, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise UsageError(f"{target} did not render within {TIMEOUT_S} s") from error
        if done.returncode or not answer.exists():
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise UsageError(f"{target} does not render in a process of its own: {last}")
        rows = json.loads(answer.read_text(encoding="utf-8"))
    return [
        Rendering(row["sample"], variant, row["belongs"], tuple(Piece(**piece) for piece in row["pieces"]))
        for row in rows
    ]
