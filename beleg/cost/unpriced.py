"""Models without a price: what they were used for, and the row of `models.yaml` that would price them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import duckdb

from beleg.core.sql import query
from beleg.cost.buckets import BUCKETS, POLICY_PRICES

_NO_ROW = frozenset({"missing_usage", "no_model", "out_of_range"})
"""Reasons that no price can mend."""
_PRICE_OF = {bucket: "input" if bucket == "input_uncached" else bucket for bucket in BUCKETS}


@dataclass(frozen=True)
class Unpriced:
    """Calls of one name that have no price for one reason."""

    provider: str | None
    model: str | None
    service_tier: str | None
    batch: bool
    reason: str
    steps: int
    first_at: datetime
    last_at: datetime
    tokens: Mapping[str, int]
    """Bucket → tokens, of those that occur."""

    @property
    def policy_row(self) -> dict[str, Any] | None:
        """The row for `models.yaml`, its prices left empty; None where no price would help.

        Empty prices are refused when the file is read: a row that was forgotten does not price at zero.
        """
        if self.reason in _NO_ROW or self.model is None:
            return None
        prices = {_PRICE_OF[bucket]: "" for bucket in self.tokens} or {"input": "", "output": ""}
        ordered = {name: "" for name in POLICY_PRICES if name in prices}
        row: dict[str, Any] = {"provider": self.provider or "", "model": self.model}
        row["valid_from"] = self.first_at.date()
        if self.reason == "no_price_at_that_time":  # at other times the book's prices go on holding
            row["valid_to"] = self.last_at.date() + timedelta(days=1)
        row["prices"] = ordered
        if self.service_tier is not None and "service_tier" in self.reason:
            row["service_tiers"] = {self.service_tier: {"prices": dict(ordered)}}
        if self.batch:
            row["batch"] = {"prices": dict(ordered)}
        if self.reason.startswith("no_price_for_unit:"):
            row["units"] = {self.reason.partition(":")[2]: {"price": "", "per": 1000}}
        return row

    def record(self) -> dict[str, Any]:
        """For machines."""
        return {
            "provider": self.provider,
            "model": self.model,
            "service_tier": self.service_tier,
            "batch": self.batch,
            "unpriced_reason": self.reason,
            "steps": self.steps,
            "tokens": sum(self.tokens.values()),
            "tokens_by_bucket": dict(self.tokens),
            "since": self.first_at,
            "until": self.last_at,
            "policy_row": self.policy_row,
        }


def unpriced(con: duckdb.DuckDBPyConnection) -> Iterator[Unpriced]:
    """What has no price in the published marts, the most calls first."""
    sums = ", ".join(f"CAST(coalesce(sum({bucket}_tokens), 0) AS DECIMAL(38, 0)) AS {bucket}" for bucket in BUCKETS)
    sql = query("beleg.cost", "unpriced").replace("/*tokens*/", sums)
    for row in con.execute(sql).fetchall():
        counts = zip(BUCKETS, row[8:], strict=True)
        tokens = {bucket: int(count) for bucket, count in counts if count}
        yield Unpriced(*row[:8], tokens)  # type: ignore[call-arg]
