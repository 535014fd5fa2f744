"""Foreign files in tests: what their reader makes of them, and what an installation shows that has taken them."""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from beleg import flow
from beleg.core.settings import Settings
from beleg.ingest.foreign import stage_foreign, told_apart
from beleg.ingest.limits import Limits
from beleg.ingest.readers.formats import suffixes
from beleg.ingest.readers.naming import Naming
from beleg.ingest.sources import find_sources
from beleg.ingest.stage import Staged
from beleg.lake import catalog
from tests.flow.support import AS_OF

FIXTURES = Path(__file__).parent / "fixtures"


def write(folder: Path, name: str, content: Any) -> Path:
    """A file in the folder: bytes and text as they are, a list of lines or any other value as JSON."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        content = content.encode()
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def json_lines(*values: Any) -> bytes:
    """Values as newline-delimited JSON."""
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def stage(
    folder: Path, *paths: Path, form: str | None = None, naming: Naming | None = None, limits: Limits | None = None
) -> Staged:
    """What the readers make of the files, without an installation; `folder` is for staging alone."""
    own, foreign = told_apart(find_sources(paths, foreign=suffixes()), form)
    assert own == [], "read as events in normal form"
    return stage_foreign(foreign, folder, naming=naming or Naming(), limits=limits)


def events(staged: Staged, event: str | None = None) -> list[dict[str, Any]]:
    """The accepted events, of one type or all, in the order of the file."""
    return [
        orjson.loads(line)
        for name, paths in sorted(staged.files.items())
        if event in {None, name}
        for path in paths
        for line in path.read_bytes().splitlines()
    ]


def refusals(staged: Staged) -> list[tuple[int, str]]:
    """Number of the line or item, and reason, of everything refused."""
    return [(row["line_number"], row["reason"]) for row in staged.quarantine_rows()]


def assert_adds_up(staged: Staged) -> None:
    """read = accepted + quarantined + pending, and the files hold exactly that."""
    assert staged.read == staged.accepted + staged.quarantined + staged.pending
    assert staged.accepted == sum(staged.accepted_by_event.values()) == len(events(staged))
    assert staged.quarantined == len(list(staged.quarantine_rows()))


class Home:
    """An installation of its own that takes foreign files through the whole flow."""

    def __init__(self, folder: Path, *, naming: str | None = None) -> None:
        """`naming` is the text of its naming.yaml."""
        project = None
        if naming is not None:
            project = folder / "project"
            write(project, "contracts/policies/naming.yaml", naming)
        home = folder / "home"
        self.settings = Settings(home=home, spool=home / "spool", project=project)

    def take(self, *paths: Path, form: str | None = None, as_of: datetime = AS_OF) -> flow.Report:
        """Ingest, build the marts, check, publish."""
        report = flow.run(self.settings, paths, form=form, as_of=as_of)
        taken = report.ingest
        assert taken.read == taken.accepted + taken.quarantined + taken.pending
        return report

    def rows(self, sql: str) -> list[Mapping[str, Any]]:
        """Rows of a query over the published tables and marts."""
        with catalog.connect(self.settings) as con:
            found = con.execute(sql)
            names = [column[0] for column in found.description or ()]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def one(self, sql: str) -> tuple[Any, ...]:
        """The only row of a query."""
        (row,) = self.rows(sql)
        return tuple(row.values())
