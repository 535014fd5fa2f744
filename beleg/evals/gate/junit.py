"""The verdict as JUnit XML, which every CI shows: a test for each criterion, critical case, required slice."""

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from beleg.evals.gate.judge import Report
from beleg.evals.gate.plan import Verdict
from beleg.evals.gate.reasons import Reason

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What XML 1.0 cannot hold, escaped or not."""


def junit(report: Report) -> str:
    """The report as one test suite. Fail is a failure, inconclusive an error: neither counts as passed."""
    tests = list(_tests(report))
    verdicts = [verdict for _, verdict, _ in tests]
    failures, errors = verdicts.count("fail"), verdicts.count("inconclusive")
    counts = {"tests": str(len(tests)), "failures": str(failures), "errors": str(errors)}
    root = ET.Element("testsuites", counts)
    suite = ET.SubElement(root, "testsuite", {"name": _text(f"beleg gate {report.plan.feature}"), **counts})
    for name, verdict, why in tests:
        test = ET.SubElement(suite, "testcase", {"classname": _text(report.plan.feature), "name": _text(name)})
        if verdict != "pass":
            kind = "failure" if verdict == "fail" else "error"
            sentence = _text(why or verdict)
            ET.SubElement(test, kind, {"type": verdict, "message": sentence}).text = sentence
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _tests(report: Report) -> Iterator[tuple[str, Verdict, str]]:
    yield "gate", report.verdict, _told(report.reasons)
    for each in report.criteria:
        yield each.criterion.name, each.verdict, _told(each.reasons)
    for case in report.critical:
        told = "" if case.reason is None else case.reason.sentence
        yield f"critical case {case.case_id}: {case.criterion}", "fail" if case.verdict == "fail" else "pass", told
    for part in report.slices:
        if part.required:
            yield f"slice {part.name}: {part.criterion}", part.verdict, ""
    if report.hidden is not None:
        yield "hidden set", report.hidden.verdict, ""


def _told(reasons: tuple[Reason, ...]) -> str:
    return " ".join(each.sentence for each in reasons)


def _text(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
