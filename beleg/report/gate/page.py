"""Renders the page: the same evidence and cases give the same bytes."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader
from markupsafe import Markup

from beleg.core.settings import Settings
from beleg.evals.gate.run import Outcome
from beleg.report.gate import view
from beleg.report.gate.showing import Shown, showable
from beleg.report.gate.words import language as languages
from beleg.report.language import Language
from beleg.report.page import css, environment


def gate_page(outcome: Outcome, settings: Settings, *, lang: str = "en") -> str:
    """The HTML of a run of the gate; raises UsageError for a language that the reports do not speak."""
    return render(json.loads(outcome.data), showable(outcome, settings), lang=lang)


def render(evidence: Mapping[str, Any], cases: Mapping[str, Shown], *, lang: str = "en") -> str:
    """The HTML of evidence; `cases` says what may be shown of which case."""
    language = languages(lang)
    page = _environment(language).get_template("gate.html.j2")
    return page.render(css=css(), own_css=_css(), doc=evidence, **_views(evidence, cases, language))


def _views(doc: Mapping[str, Any], cases: Mapping[str, Shown], language: Language) -> dict[str, Any]:
    return {
        "verdict": view.verdict_word(doc["verdict"], language),
        "reasons": view.why(doc, language),
        "rows": view.rows(doc, language),
        "tables": {
            "figures": view.figures(doc, language),
            "limits": view.limits(doc, language),
            "slices": view.slices(doc, language),
            "fallbacks": view.fallbacks(doc, language),
            "critical": view.critical(doc, cases, language),
        },
        "moves": view.moves(doc, cases, language),
        "wishes": view.wishes(doc, cases, language),
        "provenance": list(view.provenance(doc, language)),
    }


def _environment(language: Language) -> Environment:
    made = environment().overlay(
        loader=ChoiceLoader([PackageLoader("beleg.report.gate"), PackageLoader("beleg.report")])
    )
    made.filters.update(count=language.numbers.count)
    made.globals.update(t=language.text, lang=language.code)
    return made


def _css() -> Markup:
    return Markup(files("beleg.report.gate").joinpath("templates", "gate.css").read_text(encoding="utf-8"))  # noqa: S704 - our own file
