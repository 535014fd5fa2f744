"""Turns evidence into what the template shows; every decision about wording and rounding is made in Python."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from beleg.report.amounts import UNKNOWN
from beleg.report.gate.plot import interval
from beleg.report.gate.showing import Shown
from beleg.report.gate.words import figure, p_value, percent, sentence, signed_points, times
from beleg.report.language import Language
from beleg.report.tables import Table, table

Doc = Mapping[str, Any]
FIRST = 8
"""Cases that a list shows at once, those that changed most; the others it names open on demand."""
_AT_MOST = ("cost", "latency")


@dataclass(frozen=True)
class Row:
    """One criterion in the plot."""

    name: str
    verdict: str
    verdict_word: str
    level: str
    threshold: str
    difference: str
    between: str
    margin: str
    worse: str
    better: str
    svg: Markup
    reasons: tuple[str, ...]
    critical: bool


@dataclass(frozen=True)
class Moves:
    """Cases of one criterion that changed."""

    criterion: str
    lead: str
    sides: tuple[tuple[str, Table, Table | None], ...]
    """(`worse` or `better`, the first cases, the others)."""
    left_out: int
    """Cases that the evidence counts and does not name."""


def verdict_word(code: str, language: Language) -> str:
    """A verdict in words."""
    return language.word("word", code, code)


def rows(doc: Doc, language: Language) -> list[Row]:
    """Every criterion, those that do not pass first."""
    order = {"fail": 0, "inconclusive": 1, "pass": 2}
    ranked = sorted(doc["criteria"], key=lambda each: order[each["verdict"]])
    return [_row(each, language) for each in ranked]


def _row(each: Doc, language: Language) -> Row:
    compared, at_most = each["against_baseline"], each["kind"] in _AT_MOST
    names = ("estimate", "lower", "upper")
    show = times if at_most else signed_points
    values = [show(None if compared is None else compared[name], language.numbers) for name in names]
    unit = "" if at_most or values[0] == UNKNOWN else f" {language.text('unit_points')}"
    between = "" if values[1] == UNKNOWN else language.text("between", low=values[1], high=values[2])
    threshold = each["against_threshold"]
    return Row(
        name=each["name"],
        verdict=each["verdict"],
        verdict_word=verdict_word(each["verdict"], language),
        level=level(each["estimate"], each["kind"], language),
        threshold=language.text(
            "at_most" if at_most else "at_least", value=level(threshold["threshold"], each["kind"], language)
        ),
        difference=f"{values[0]}{unit}",
        between=between,
        margin=UNKNOWN if compared is None else _margin(compared, language),
        worse=UNKNOWN if compared is None else language.numbers.count(compared["worse"]),
        better=UNKNOWN if compared is None else language.numbers.count(compared["better"]),
        svg=interval(
            compared, language.text("plot_label", criterion=each["name"], estimate=values[0], between=between)
        ),
        reasons=tuple(sentence(told, language) for told in each["reasons"]),
        critical=each["critical"],
    )


def _margin(compared: Doc, language: Language) -> str:
    if compared["measure"] == "ratio":
        return f"+{percent(compared['margin'], language.numbers)}"
    return f"{signed_points(-compared['margin'], language.numbers)} {language.text('unit_points')}"


def level(value: float | None, kind: str, language: Language) -> str:
    """A level in the unit of its kind: percent, a score, USD, or milliseconds."""
    if kind == "binary":
        return percent(value, language.numbers)
    shown = figure(value, language.numbers)
    units = {"cost": " USD", "latency": " ms"}
    return shown if shown == UNKNOWN else f"{shown}{units.get(kind, '')}"


def figures(doc: Doc, language: Language) -> Table:
    """The same as numbers, with what stands behind them."""
    made = []
    for each in doc["criteria"]:
        compared = each["against_baseline"] or {}
        made.append(
            (
                each["name"],
                verdict_word(each["verdict"], language),
                language.numbers.count(each["n"]),
                language.numbers.count(each["families"]),
                language.text(
                    "range",
                    low=level(each["lower"], each["kind"], language),
                    high=level(each["upper"], each["kind"], language),
                ),
                p_value(compared.get("p"), language.numbers),
                p_value(compared.get("mcnemar_p"), language.numbers),
                p_value(compared.get("p_inferior_holm"), language.numbers),
                str(compared.get("method") or each["against_threshold"]["method"]),
            )
        )
    return _table("figures", "criterion verdict #n #families #level #p #mcnemar #holm method", made, language)


def moves(doc: Doc, cases: Mapping[str, Shown], language: Language) -> list[Moves]:
    """Better and worse case by case, of every criterion that judges answers."""
    judged = [each for each in doc["criteria"] if each["moved"] is not None and each["kind"] not in _AT_MOST]
    return [_moves(each["moved"], cases, language) for each in judged]


def wishes(doc: Doc, cases: Mapping[str, Shown], language: Language) -> list[Moves]:
    """The same for cases of mere preference."""
    return [_moves(each, cases, language) for each in doc["preferences"] or ()]


def _moves(moved: Doc, cases: Mapping[str, Shown], language: Language) -> Moves:
    sides = []
    for name in ("worse", "better"):
        if found := moved[f"{name}_cases"]:
            first = _cases(name, found[:FIRST], moved["criterion"], cases, language)
            rest = _cases(name, found[FIRST:], moved["criterion"], cases, language) if found[FIRST:] else None
            sides.append((name, first, rest))
    counts = {name: language.numbers.count(moved[name]) for name in ("worse", "better")}
    named = len(moved["worse_cases"]) + len(moved["better_cases"])
    left_out = moved["worse"] + moved["better"] - named
    return Moves(moved["criterion"], language.text("moves_lead", **counts), tuple(sides), left_out)


def _cases(name: str, moved: Sequence[Doc], criterion: str, cases: Mapping[str, Shown], language: Language) -> Table:
    made = []
    for each in moved:
        case_id = each["case_id"]
        known = cases.get(case_id, Shown(UNKNOWN, ""))
        made.append(
            (
                known.input_ref,
                case_id[:12],
                scores(each["baseline"], language),
                scores(each["candidate"], language),
                known.expected.get(criterion, UNKNOWN),
                known.actual.get(criterion, UNKNOWN),
            )
        )
    return _table(name, "reference case #baseline #candidate expected actual", made, language)


def scores(given: Sequence[float | None], language: Language) -> str:
    """Scores of all repetitions: `2/3` where each is right or wrong, else one by one; a gap is named."""
    if not given:
        return UNKNOWN
    if len(given) > 1 and all(each in {0, 1, None} for each in given):
        return f"{sum(each or 0 for each in given):.0f}/{len(given)}"
    return ", ".join(
        str(language.text("no_result")) if each is None else figure(each, language.numbers) for each in given
    )


def limits(doc: Doc, language: Language) -> Table:
    """Cost and latency: the typical case and the tail."""
    made = []
    for each in doc["criteria"]:
        if each["kind"] not in _AT_MOST:
            continue
        compared, tail = each["against_baseline"] or {}, each["tail"] or {}
        ends = [times(compared.get(name), language.numbers) for name in ("estimate", "lower", "upper")]
        known = ends[1] != UNKNOWN
        counted = [tail.get(f"{side}_above") for side in ("candidate", "baseline")]
        made.append(
            (
                each["name"],
                level(each["estimate"], each["kind"], language),
                level(each["against_threshold"]["threshold"], each["kind"], language),
                f"{ends[0]} ({language.text('range', low=ends[1], high=ends[2])})" if known else ends[0],
                " / ".join(UNKNOWN if value is None else language.numbers.count(value) for value in counted),
            )
        )
    return _table("limits", "criterion #typical #limit #ratio #above", made, language)


def slices(doc: Doc, language: Language) -> Table:
    """Slices, required ones first, then those that are watched."""
    made = []
    for each in doc["slices"]:
        if "slice" not in each:
            continue
        ends = [signed_points(each[name], language.numbers) for name in ("lower", "upper")]
        role = language.text("required" if each["required"] else "watched")
        between = f" ({language.text('range', low=ends[0], high=ends[1])})" if ends[0] != UNKNOWN else ""
        told = verdict_word(each["verdict"], language) if each["required"] else _watched(each, language)
        counts = (UNKNOWN if each[name] is None else language.numbers.count(each[name]) for name in ("worse", "better"))
        difference = f"{signed_points(each['difference'], language.numbers)}{between}"
        made.append((each["slice"], each["criterion"], role, told, str(each["n"]), difference, *counts))
    return _table("slices", "slice criterion role verdict #n #difference #worse #better", made, language)


def _watched(each: Doc, language: Language) -> str:
    return language.text("regression" if each["regression_shown"] else "no_regression")


def fallbacks(doc: Doc, language: Language) -> Table:
    """How the candidate does where a fallback answers."""
    found = [each for each in doc["slices"] if "provider" in each]
    made = (
        (
            f"{each['provider']} {each['model']}",
            verdict_word(each["verdict"], language),
            language.numbers.count(each["n"]),
            language.numbers.count(each["missing"]),
        )
        for each in found
    )
    return _table("fallbacks", "fallback verdict #n #missing", made, language)


def critical(doc: Doc, cases: Mapping[str, Shown], language: Language) -> Table:
    """Critical cases that did not simply pass."""
    count, made = language.numbers.count, []
    for each in doc["critical_cases"]:
        if each["verdict"] == "pass":
            continue
        before = UNKNOWN if each["baseline_passed"] is None else count(each["baseline_passed"])
        known = cases.get(each["case_id"])
        made.append(
            (
                UNKNOWN if known is None else known.input_ref,
                each["case_id"][:12],
                each["criterion"],
                verdict_word(each["verdict"], language),
                f"{count(each['passed'])} / {count(each['repetitions'])}",
                f"{before} / {count(each['repetitions'])}",
            )
        )
    return _table("critical", "reference case criterion verdict #candidate #baseline", made, language)


def provenance(doc: Doc, language: Language) -> Iterator[tuple[str, str]]:
    """What it all rests on."""
    yield language.text("p_candidate"), doc["candidate_digest"]
    if doc["baseline_digest"] is not None:
        yield language.text("p_baseline"), f"{doc['baseline_version'] or ''} {doc['baseline_digest']}".strip()
    yield language.text("p_dataset"), f"{doc['dataset']} {doc['dataset_digest']}"
    for name in ("results", "policy", "prices"):
        yield language.text(f"p_{name}"), doc[f"{name}_digest"]
    scorers = ", ".join(f"{name} {version}" for name, version in doc["scorers"].items())
    yield language.text("p_scorers"), scorers or UNKNOWN
    yield language.text("p_made_at"), doc["made_at"]


def why(doc: Doc, language: Language) -> list[str]:
    """The verdict's reasons: those of the whole, and the first one of each criterion that does not pass."""
    missed = (each for each in doc["criteria"] if each["verdict"] != "pass" and each["reasons"])
    own = [f"{each['name']}: {sentence(each['reasons'][0], language)}" for each in missed]
    return [*(sentence(each, language) for each in doc["reasons"]), *own]


def _table(name: str, heads: str, made: Iterable[Sequence[str | None]], language: Language) -> Table:
    marked = (("#" * head.startswith("#"), head.removeprefix("#")) for head in heads.split())
    return table(language.text(f"t.{name}"), [f"{mark}{language.text(f'h.{head}')}" for mark, head in marked], made)
