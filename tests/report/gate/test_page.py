"""The gate's page: it stands alone, tells the verdict, escapes everything, and speaks two languages."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files

import pytest
import yaml

from beleg.core.errors import UsageError
from beleg.evals.gate.document import evidence_bytes
from beleg.evals.gate.planning import planned
from beleg.evals.gate.reasons import SENTENCES, fields_of
from beleg.report.gate import render
from beleg.report.gate.plot import interval
from beleg.report.gate.showing import Shown
from beleg.report.gate.view import FIRST
from beleg.report.gate.words import language, sentence
from tests.evals.gate.support import EXACT, codes, counts, judged
from tests.evals.gate.test_document import whole

RAW = yaml.safe_load(files("beleg.report.gate").joinpath("texts.yaml").read_text(encoding="utf-8"))
EVIL = "<script>alert(1)</script>"
VOID = {"meta", "br", "link", "img", "path", "rect", "line", "polyline"}


class Page(HTMLParser):
    """Text, and tags that do not close what they opened."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.tags: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def page(report: object = None, *, lang: str = "en", cases: dict[str, Shown] | None = None) -> str:
    found = whole() if report is None else report
    return render(json.loads(evidence_bytes(found)), cases or {}, lang=lang)  # type: ignore[arg-type]


@pytest.mark.parametrize("lang", ["en", "de"])
def test_the_page_stands_alone_and_is_whole(lang: str) -> None:
    html = page(lang=lang)
    found = Page(html)
    assert found.open == []
    assert "script" not in found.tags
    assert not re.search(r"(src|href)=|url\(|@import", html)
    assert f'<html lang="{lang}">' in html


@pytest.mark.parametrize(
    ("sides", "word", "say"),
    [
        (counts(0, 3, 197, 0), "pass", "A person may publish it."),
        (counts(20, 0, 140, 2), "fail", "Nothing overrides that."),
        (counts(0, 0, 40, 0), "inconclusive", "That is no “no regression”"),
    ],
)
def test_the_verdict_stands_on_top_in_words(sides: tuple[list[float], list[float]], word: str, say: str) -> None:
    html = page(planned(judged(*sides)))
    assert f'<p class="word">{word}</p>' in html
    assert say in html
    assert html.index('class="word"') < html.index("<article")


def test_german_says_it_in_german() -> None:
    html = page(planned(judged(*counts(0, 0, 40, 2))), lang="de")
    assert "nicht entschieden" in html
    assert "bis zu 6,9 Punkte schlechter" in html
    assert "Not shown" not in html


def test_the_same_evidence_gives_the_same_bytes() -> None:
    assert page() == page()


def test_names_and_values_are_escaped() -> None:
    report = judged(*counts(20, 0, 140, 2), criterion=replace(EXACT, name=EVIL))
    shown = {each.case_id: Shown(EVIL, EVIL, EVIL, {EVIL: EVIL}, {EVIL: EVIL}) for each in report.plan.cases}
    assert "<script" not in page(report, cases=shown)


def test_cases_show_their_reference_and_what_may_be_shown() -> None:
    report = judged(*counts(2, 0, 140, 0))
    first = report.plan.cases[0].case_id
    html = page(report, cases={first: Shown("erp/17", "ab" * 32, None, {EXACT.name: "250"}, {EXACT.name: "25000"})})
    assert "erp/17" in html
    assert "25000" in html
    assert first[:12] in html


def test_the_first_cases_are_open_and_the_others_on_demand() -> None:
    html = page(judged(*counts(30, 0, 140, 0)))
    before, _, after = html.partition("<details>")
    assert before.count('data-label="Expected"') == FIRST
    assert after.count('data-label="Expected"') == 30 - FIRST


def test_a_first_version_has_no_comparison() -> None:
    html = page(judged([1.0] * 100, None))
    assert "the thresholds alone decide" in html
    assert 'class="interval"' not in html


def test_too_few_families_are_told_and_nothing_is_drawn() -> None:
    shared = {number: {"family": "one"} for number in range(100)}
    report = judged(*counts(0, 0, 100, 0), facts=shared)
    assert "too_few_families" in codes(report)
    html = page(report)
    assert "1 independent families" in html
    assert 'class="interval"' not in html


def compared(low: float, middle: float, high: float, *, measure: str = "difference") -> dict[str, object]:
    return {"lower": low, "estimate": middle, "upper": high, "margin": 0.1, "measure": measure, "verdict": "pass"}


def places(svg: str) -> list[int]:
    return [int(each) for each in re.findall(r'class="reach pass" x1="(-?\d+)"', svg)]


def test_the_margin_is_one_unit_left_of_the_baseline_for_every_measure() -> None:
    assert places(str(interval(compared(-0.1, 0, 0.1), "")))[:1] == [300]
    assert places(str(interval(compared(1 / 1.1, 1, 1.1, measure="ratio"), "")))[:1] == [300]


def test_better_is_right_for_cost_too() -> None:
    dearer = places(str(interval(compared(1.05, 1.06, 1.07, measure="ratio"), "")))
    assert max(dearer) < 500


def test_what_lies_far_outside_is_cut_off_with_an_arrow() -> None:
    svg = str(interval(compared(-0.9, -0.5, 0.9), ""))
    assert svg.count("<polyline") == 2
    assert all(0 <= each <= 1000 for each in places(svg))


def test_every_text_is_there_in_both_languages_with_the_same_values() -> None:
    for key, text in RAW.items():
        english = {"en": SENTENCES[key.removeprefix("reason.")]} if key.startswith("reason.") else {}
        both = text | english
        assert set(both) == {"en", "de"}, key
        assert {*fields_of(both["en"])} == {*fields_of(both["de"])}, key


def test_every_reason_is_said_in_both_languages() -> None:
    assert {key.removeprefix("reason.") for key in RAW if key.startswith("reason.")} == set(SENTENCES)
    for code, text in SENTENCES.items():
        told = {"code": code, "values": dict.fromkeys(fields_of(text), 0.123456)}
        assert {"{" in sentence(told, language(each)) for each in ("en", "de")} == {False}


def test_every_text_is_used() -> None:
    folder = files("beleg.report.gate")
    places = [folder, folder / "templates"]
    source = " ".join(
        path.read_text(encoding="utf-8")
        for each in places
        for path in each.iterdir()
        if path.name.endswith((".py", ".j2"))
    )
    built = ("reason.", "word.", "say_", "t.", "h.", "p_", "got_")
    unused = [key for key in RAW if not key.startswith(built) and not re.search(rf"[\"'(]{key}[\"')]", source)]
    assert unused == []


def test_another_language_is_refused() -> None:
    with pytest.raises(UsageError, match="de, en"):
        page(lang="fr")
