"""Prices and policies of an installation, as one thing the marts depend on."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import duckdb

from beleg.core.settings import Settings
from beleg.cost import caching, register
from beleg.cost.book import PriceBook
from beleg.cost.policies import Policies, load_policies


@dataclass(frozen=True)
class Pricing:
    """The price book and the policies, read once for a build."""

    book: PriceBook
    policies: Policies
    digests: Mapping[str, str]
    """`prices`, `policies` and `cache_rules`: a mart made under other digests is out of date."""

    @classmethod
    def load(cls, settings: Settings) -> "Pricing":
        """Read the policy files; raises UsageError that says what is wrong in which row."""
        policies = load_policies(settings)
        book = PriceBook(policies.models)
        files = b"\0".join(settings.policy(name).read_bytes() for name in ("models.yaml", "workflows.yaml"))
        digests = {
            "prices": book.digest,
            "policies": hashlib.sha256(files).hexdigest(),
            "cache_rules": caching.digest(),
        }
        return cls(book, policies, digests)

    def register_policies(self, con: duckdb.DuckDBPyConnection) -> None:
        """Make the tables the queries join that do not depend on the calls."""
        register.register_policies(con, self.policies)

    def register_prices(self, con: duckdb.DuckDBPyConnection) -> None:
        """Make the tables the queries join for the calls that occur in the relation `steps`."""
        register.register_prices(con, self.book)
