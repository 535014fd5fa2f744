"""Measures: what a run took. No scores: their limits and margins stand in the contract."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

from beleg.evals.scorers.model import MISSING, Kind, Score, Scorer, failed
from beleg.trace.fingerprint import Fingerprint

PICO = 10**12


@dataclass(frozen=True, kw_only=True)
class Measure(Scorer):
    """A number about the run. Its `actual` is a mapping of measures by name, as `{"latency_ms": 812}`."""

    kind: ClassVar[Kind] = "measure"
    needs_expected: ClassVar[bool] = False
    version: ClassVar[str] = "1.0.0"
    source: ClassVar[str]
    """Which measure it reads."""
    per: ClassVar[int] = 1
    """By what the measure is divided."""

    def score(self, expected: Any, actual: Any, *, expected_hash: Fingerprint | None = None) -> Score:  # noqa: ARG002
        """The number as a float; missing where the run has none, such as a cost where a price is unknown."""
        value = actual.get(self.source) if isinstance(actual, Mapping) else None
        if value is None:
            return MISSING
        return self._checked(self.compare(None, value))

    def compare(self, expected: Any, actual: Any) -> Score:  # noqa: ARG002 - nothing is expected
        """The number in the unit of this measure."""
        if isinstance(actual, bool) or not isinstance(actual, (int, float, Decimal)):
            return failed("no_number")
        try:
            value = float(actual) if self.per == 1 else float(Decimal(actual) / self.per)
        except (OverflowError, ValueError, ArithmeticError):
            return failed("no_number")
        return Score(value) if math.isfinite(value) else failed("no_number")


class LatencyMs(Measure):
    """Milliseconds from the call to the whole answer."""

    name: ClassVar[str] = "latency_ms"
    source: ClassVar[str] = "latency_ms"


class CostPicoUsd(Measure):
    """Cost in 10⁻¹² USD; above 9 000 USD a run, the float holds no longer every unit."""

    name: ClassVar[str] = "cost_pico_usd"
    source: ClassVar[str] = "cost_pico_usd"


class CostUsd(Measure):
    """Cost in USD, as contracts state their limits; read from `cost_pico_usd`."""

    name: ClassVar[str] = "cost_usd"
    source: ClassVar[str] = "cost_pico_usd"
    per: ClassVar[int] = PICO


class InputTokens(Measure):
    """Tokens that went in, cached ones included."""

    name: ClassVar[str] = "input_tokens"
    source: ClassVar[str] = "input_tokens"


class OutputTokens(Measure):
    """Tokens that came out, reasoning included."""

    name: ClassVar[str] = "output_tokens"
    source: ClassVar[str] = "output_tokens"
