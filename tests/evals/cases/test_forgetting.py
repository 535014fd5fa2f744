"""What `beleg forget` forgot is in no case any more, and everything else stands."""

from pathlib import Path

import pytest

from beleg.core.errors import DamagedError
from beleg.evals.cases.dataset import Dataset
from beleg.evals.cases.edit import retire
from beleg.evals.cases.freeze import freeze
from beleg.evals.cases.table import tabulate
from beleg.evals.cases.verify import verify
from beleg.retention.forget import forget
from tests.evals.cases.support import LEAD, Office
from tests.evals.cases.test_freeze import accepted
from tests.flow.support import AS_OF


def test_a_forgotten_reference_leaves_no_case(tmp_path: Path) -> None:
    office = Office(tmp_path)
    office.take(
        *office.run("r1"),
        *office.run("r2", tenant="acme"),
        *office.run("r3"),
        *(office.correction(f"c{n}", f"r{n}", expected=n) for n in (1, 2, 3)),
    )
    accepted(office, "c1", "c2", "c3")
    tabulate(office.settings)
    forget(office.settings, "ref", "ref-r1", as_of=AS_OF)
    forget(office.settings, "tenant", "acme", as_of=AS_OF)
    freeze(office.settings)
    now = Dataset.load(office.project, "receipts-1")
    assert [case.input_ref for case in now.cases()] == ["ref-r3"]
    assert [each.is_forgotten for each in now.retired.values()] == [True, True]
    assert not any(b"ref-r1" in data or b"ref-r2" in data for data in office.files().values())
    assert not verify(office.project).problems
    assert tabulate(office.settings) == 1
    assert freeze(office.settings).datasets == ()
    with pytest.raises(DamagedError, match="cannot be read"):
        Dataset.load(office.project, "receipts-1", 1).cases()


def test_a_case_that_was_retired_before_is_forgotten_too(tmp_path: Path) -> None:
    office = Office(tmp_path)
    office.take(*office.run("r1"), office.correction("c1", "r1", expected=1))
    (case,) = accepted(office, "c1").cases
    retire(office.settings, case.case_id, LEAD)
    forget(office.settings, "ref", "ref-r1", as_of=AS_OF)
    freeze(office.settings)
    assert not any(name.startswith("cases") for name in office.files())
    assert Dataset.load(office.project, "receipts-1").retired[case.case_id].is_forgotten
    assert not verify(office.project).problems
    assert (tabulate(office.settings), freeze(office.settings).datasets) == (0, ())
