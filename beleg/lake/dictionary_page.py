"""The data dictionary as the page `docs/data-dictionary.md`."""

from collections.abc import Iterator
from itertools import groupby

from beleg.lake.dictionary import Entry, entries

HEAD = (
    "# Data dictionary\n"
    "Every table, view, column and macro of the schema `main` of `beleg.duckdb`, from the contracts in `contracts/`; "
    "the schemas `files` and `past` are internal. Do not edit this page: "
    "`python -m beleg.lake.dictionary_page > docs/data-dictionary.md` writes it. In the file itself the same "
    "stands as comments and as `data_dictionary`, the metrics as `metric_definitions`.\n\n"
    "Money is whole pico-USD (10⁻¹² USD) as BIGINT or DECIMAL(38,0); instants are UTC; business days are those of "
    "`publication.timezone`. Null is unknown, never zero. [Questions and their SQL](analysts.md).\n"
)
KINDS = {
    "mart": "Marts: what analysts ask",
    "metric": "Metrics: table macros",
    "function": "Functions: scalar macros",
    "events": "Events: what was reported, one row per identity",
    "system": "System tables",
}


def page() -> str:
    """The whole page; the same contracts give the same text."""
    by_kind = {kind: [e for e in entries() if e.kind == kind] for kind in KINDS}
    return "\n".join([HEAD, *(line for kind, title in KINDS.items() for line in _section(title, by_kind[kind]))])


def _section(title: str, found: list[Entry]) -> Iterator[str]:
    yield f"## {title}"
    for name, group in groupby(found, key=lambda e: e.object):
        head, *columns = group
        yield f"### {name}\n{head.description}\n"
        if columns:
            yield "| column | type | unit | meaning |\n|---|---|---|---|"
            yield from (_line(e) for e in columns)
            yield ""


def _line(entry: Entry) -> str:
    needed = "; never null" if entry.required else ""
    return f"| `{entry.column}` | {entry.type} | {entry.unit or ''} | {_cell(entry.description)}{needed} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201 - it is a filter
