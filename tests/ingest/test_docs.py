"""What the documentation of ingest lists is what the code knows; its example is a mapping that works."""

import re
from dataclasses import fields
from pathlib import Path

from beleg.core.paths import shipped
from beleg.ingest.cells import UNITS
from beleg.ingest.mapping_file import load_mapping
from beleg.ingest.reasons import REASONS
from beleg.ingest.table import stage_table
from beleg.trace.usage import Reported

DOCS = shipped("contracts").parent / "docs"


def test_every_reason_is_listed_with_its_meaning() -> None:
    listed = re.findall(r"^\| `(\w+)` \| (.+) \|$", (DOCS / "ingest.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert dict(listed) == REASONS


def test_every_unit_and_every_usage_key_is_explained() -> None:
    text = (DOCS / "mapping.md").read_text(encoding="utf-8")
    keys = {f.name for f in fields(Reported)} - {
        name for name in Reported.__annotations__ if "audio" in name or "image" in name
    }
    assert [name for name in (*UNITS, *keys) if f"`{name}" not in text] == []


def test_the_example_maps_a_table(tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(.+?)```", (DOCS / "mapping.md").read_text(encoding="utf-8"), re.DOTALL)
    path = tmp_path / "mapping.yaml"
    path.write_text(example, encoding="utf-8")
    columns = sorted(load_mapping(path).columns)
    row = {
        **dict.fromkeys(columns, "1"),
        "created": "1763510516",
        "cached_tokens": "0",
        "completion_tokens": "2",
        "total_tokens": "3",
        "took_s": "1,5",
        "cost_usd": "0,25",
    }
    table = tmp_path / "calls.csv"
    table.write_text(";".join(columns) + "\n" + ";".join(row[name] for name in columns) + "\n", encoding="cp1252")
    staged = stage_table([table], path, tmp_path / "staged")
    assert staged.accepted_by_event == {"run_started": 1, "step": 1, "outcome": 1}, list(staged.quarantine_rows())
