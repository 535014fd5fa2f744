"""No input, and of a workflow that hashes no expected value, stands in any file or table."""

from pathlib import Path

from beleg.core import contracts
from beleg.evals.cases import decide
from beleg.evals.cases.decide import Wish
from beleg.evals.cases.freeze import freeze
from beleg.evals.cases.imports import import_cases
from beleg.evals.cases.table import tabulate
from tests.evals.cases.support import LEAD, Office

MARK = "LEAKED"


def test_no_value_is_left_anywhere(tmp_path: Path) -> None:
    office = Office(tmp_path)
    hashes = {"workflow": "dunning"}
    office.take(
        *office.run("r1", **hashes),
        *office.run("r2", **hashes),
        *office.run("r3", input_hash="ab" * 32),
        office.correction("c1", "r1", expected=f"{MARK}-1", **hashes),
        office.correction("c2", "r2", **hashes),
        office.correction("c3", "r3", expected="stored"),
    )
    decide.accept(office.settings, "c1", LEAD, Wish(input_ref="archive/1"), pen=office.pen())
    decide.accept(office.settings, "c2", LEAD, Wish(expected={"name": f"{MARK}-2"}), pen=office.pen())
    decide.accept(office.settings, "c3", LEAD, pen=office.pen())
    office.ingest()
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(f'input_ref,input,expected\ni1,"""{MARK}-3""",{MARK}-4\n')
    import_cases(office.settings, sheet, "letters", "letters-1", LEAD)
    stored = f'{{"input_ref": "i2", "input": "{MARK}-5", "expected": "stored too"}}\n'
    (tmp_path / "sheet.jsonl").write_text(stored)
    import_cases(office.settings, tmp_path / "sheet.jsonl", "receipts", "receipts-1", LEAD)
    assert len(freeze(office.settings).cases) == 5
    tabulate(office.settings)
    office.publish()
    assert b"stored too" in b"".join(office.files().values())
    for folder in (office.settings.home, office.project):
        for path in folder.rglob("*"):
            assert not path.is_file() or MARK.encode() not in path.read_bytes(), path
    for table in contracts.names():
        assert MARK not in str(office.at.ask(f'SELECT * FROM "{table}"')), table
