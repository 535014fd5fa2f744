"""German and English: every text in both, values escaped, numbers as the language writes them."""

import re
from importlib.resources import files
from pathlib import Path

import pytest
import yaml

from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.demo.home import NOTICE
from beleg.ingest.reasons import REASONS
from beleg.report import render
from beleg.report.language import language
from tests.report.support import make_database
from tests.report.test_render import USD, Tags, costs, text_of

CODES = ("finding.", "trend.", "corrected_for.", "flag.", "quarantine.", "purpose.", "restated.", "cause.")
RAW = yaml.safe_load(files("beleg.report").joinpath("texts.yaml").read_text(encoding="utf-8"))
SOURCES = [
    path.read_text(encoding="utf-8")
    for folder, suffix in ((files("beleg.report"), ".py"), (files("beleg.report") / "templates", ".j2"))
    for path in folder.iterdir()
    if path.name.endswith(suffix)
]


def german(settings: Settings, tmp_path: Path, **rows: object) -> str:
    make_database(settings, **rows)  # type: ignore[arg-type]
    return render(settings, tmp_path / "r.html", lang="de").read_text(encoding="utf-8")


def test_every_text_is_there_in_both_languages_with_the_same_values() -> None:
    for key, text in RAW.items():
        if key.startswith(CODES):
            continue
        assert set(text) == {"en", "de"}, key
        assert len({frozenset(re.findall(r"\{(\w+)\}", t)) for t in text.values()}) == 1, key


def test_every_reason_of_quarantine_has_a_german_meaning() -> None:
    assert {f"quarantine.{code}" for code in REASONS} == {
        key for key, text in RAW.items() if key.startswith("quarantine.") and "en" not in text
    }


def test_every_text_is_used() -> None:
    source = " ".join(SOURCES)
    made = {"_one", "_lead", "_empty"}
    unused = [
        key
        for key in RAW
        if not key.startswith((*CODES, "h.", "t.", "cost_per_", "notice."))
        and not key.endswith(tuple(made))
        and not re.search(rf"[\"'(]{key}[\"')]", source)
    ]
    assert unused == []


def test_values_are_escaped_in_texts() -> None:
    assert "<b>" not in language("en").text("per_one_unit", unit="<b>")
    assert "&lt;b&gt;" in language("de").text("per_one_unit", unit="<b>")


@pytest.mark.parametrize(("number", "text"), [("1", "1 Zeile konnte"), ("21", "21 Zeilen konnten")])
def test_one_is_not_many(number: str, text: str) -> None:
    assert language("de").text("quarantine_lead", number=number).startswith(text)


def test_the_german_page_is_german_in_text_and_number(settings: Settings, tmp_path: Path) -> None:
    rows = [costs(cost_pico_usd=1_234_567 * USD, results=8), costs(purpose="eval", cost_pico_usd=USD)]
    html = german(settings, tmp_path, unit_costs=rows)
    shown = text_of(html)
    assert next(Tags(html).of("html"))["lang"] == "de"
    assert "Was die KI gekostet hat" in shown
    assert "154.320,88 USD je document" in shown
    assert "Eval-Läufe 1,00" in shown
    assert "SUMME 1.234.568,00" in shown


def test_no_english_is_left_on_the_german_page(settings: Settings, tmp_path: Path) -> None:
    html = german(settings, tmp_path, unit_costs=[costs()])
    body = text_of(re.sub(r"<pre.*?</pre>|<style>.*?</style>", "", html, flags=re.DOTALL))
    assert not re.search(r"\b(the|of|with|cost|runs|price|line|what|calls)\b", body, re.IGNORECASE)


def test_a_flag_nobody_has_translated_keeps_its_name(settings: Settings, tmp_path: Path) -> None:
    flags = [{"kind": "run_budget", "business_day": "2030-01-07"}, {"kind": "brand_new", "business_day": "2030-01-07"}]
    shown = text_of(german(settings, tmp_path, unit_costs=[costs()], flags=flags))
    assert "Laufbudget" in shown
    assert "brand new" in shown


def test_the_notice_of_the_demo_is_the_same_in_english() -> None:
    assert language("en").text("notice.demo") == NOTICE


def test_another_language_is_refused_with_those_spoken(settings: Settings, tmp_path: Path) -> None:
    make_database(settings)
    with pytest.raises(UsageError, match="de, en"):
        render(settings, tmp_path / "r.html", lang="fr")
