"""A second opinion: jsoncompat 0.3.1, where it knows what we know; every difference is reviewed."""

import json
from pathlib import Path
from typing import Any

import pytest

from beleg.contract.compat import compare

jsoncompat = pytest.importorskip("jsoncompat", reason="jsoncompat is a development dependency")

REVIEWED = {
    "it knows no must-ignore: what a closed object does not name breaks its reader": {
        *("REQ-02", "REQ-05", "REQ-15", "REQ-19", "REQ-22", "REQ-39", "OPN-03", "OPN-13", "OPN-21", "ARR-25"),
        *("CMB-29", "REF-10", "MIX-09", "MIX-13"),
    },
    "it does not prove what is so: union, exclusion, condition, step, propertyNames, contradiction": {
        *("OPN-25", "TYP-13", "ENM-13", "NUM-26", "CMB-11", "CMB-21", "CMB-23", "CMB-24", "CMB-31", "CMB-38", "CMB-39"),
    },
    "it compares no patterns, formats and contents": {
        *("STR-09", "STR-11", "STR-12", "STR-17", "STR-19", "STR-21", "STR-23"),
    },
    "it refuses fractional steps, anchors, $id, other documents and other dialects": {
        *("NUM-14", "NUM-15", "NUM-16", "REF-22", "REF-24", "REF-26", "ANN-17"),
    },
}


def second_opinion(case: dict[str, Any]) -> bool | None:
    """Whether readers are safe; None where jsoncompat refuses."""
    try:
        return bool(jsoncompat.check_compat(json.dumps(case["old"]), json.dumps(case["new"]), "serializer"))
    except ValueError:
        return None


def test_every_difference_to_jsoncompat_is_reviewed(test_data: Path) -> None:
    cases = json.loads((test_data / "contracts" / "compat_cases.json").read_text(encoding="utf-8"))
    differ = {case["id"] for case in cases if second_opinion(case) != compare(case["old"], case["new"]).reader_safe}
    assert differ == set().union(*REVIEWED.values())
