"""Queries live in `.sql` files beside the module that runs them."""

from functools import cache
from importlib.resources import files


@cache
def query(package: str, name: str) -> str:
    """Text of `sql/<name>.sql` in a package, for example `query("beleg.ingest", "contest")`."""
    return files(package).joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")
