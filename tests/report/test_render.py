"""The page: one file without references, escaped, accessible, and the same for the same data."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest

from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.report import render
from tests.report.support import DAY, Rows, make_database

HOSTILE = """<script>alert("x")</script>'"><img src=http://evil.example/x onerror=x>"""
USD = 10**12
VOID = {"meta"}


def page(settings: Settings, tmp_path: Path, *, notice: str | None = None, **rows: Rows) -> str:
    make_database(settings, **rows)
    return render(settings, tmp_path / "report.html", notice=notice).read_text(encoding="utf-8")


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def costs(**fields: object) -> dict[str, object]:
    return {"business_day": DAY, "cost_pico_usd": USD, "runs": 1, "succeeded_runs": 1, "results": 1, **fields}


class Tags(HTMLParser):
    """Collects every tag with its attributes, and whether each is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def of(self, *tags: str) -> Iterator[dict[str, str | None]]:
        return (attributes for tag, attributes in self.found if tag in tags)


def full(settings: Settings, tmp_path: Path) -> str:
    days = [DAY + timedelta(days=n) for n in range(21)]
    return page(
        settings,
        tmp_path,
        notice=HOSTILE,
        unit_costs=[
            *(
                costs(business_day=day, workflow=HOSTILE, prompt_version=f"{HOSTILE}{n // 9}")
                for n, day in enumerate(days)
            ),
            costs(workflow=None, purpose=None, unit=None, unit_per=None, runs=0),
            costs(workflow="ocr", purpose="eval"),
        ],
        step_costs=[{"priced": False, "unpriced_reason": "unknown_model", "model": HOSTILE, "cost_pico_usd": None}],
        flags=[
            {
                "kind": "run_budget",
                "business_day": DAY,
                "workflow": HOSTILE,
                "observed_pico_usd": 2 * USD,
                "allowed_pico_usd": USD,
            },
            {"kind": "latency_ceiling", "business_day": DAY, "observed_ms": 2, "allowed_ms": 1},
            {"kind": "risk_level", "business_day": DAY, "observed_risk_level": "high", "allowed_risk_levels": "low"},
        ],
        reconciliation=[
            {"business_day": DAY, "model": HOSTILE, "billed_steps": 1, "compared_steps": 1, "difference_pico_usd": 1}
        ],
        quarantine=[{"reason": HOSTILE}],
        restatements=[{"business_day": DAY, "reason": HOSTILE, "figure": "runs", "delta": 1}],
    )


def test_hostile_names_are_text(settings: Settings, tmp_path: Path) -> None:
    html = full(settings, tmp_path)
    assert "<script" not in html
    assert "<img" not in html
    assert html.count("&lt;script&gt;") > 8


def test_the_page_refers_to_nothing_outside_itself(settings: Settings, tmp_path: Path) -> None:
    html = full(settings, tmp_path)
    tags = Tags(html)
    assert not [a for _, a in tags.found if {"src", "href", "xlink:href", "style"} & set(a)]
    assert not list(tags.of("script", "link", "iframe", "object", "img"))
    style = html[html.index("<style>") : html.index("</style>")]
    assert "@import" not in style
    assert "url(" not in style
    policy = next(a for a in tags.of("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert policy["content"] == "default-src 'none'; style-src 'unsafe-inline'"


def test_the_page_is_whole_and_can_be_read_aloud(settings: Settings, tmp_path: Path) -> None:
    tags = Tags(full(settings, tmp_path))
    assert tags.open == []
    assert next(tags.of("html"))["lang"] == "en"
    assert all(a.get("scope") in {"row", "col"} for a in tags.of("th"))
    assert all(a.get("aria-hidden") == "true" or a.get("aria-label") for a in tags.of("svg"))
    ids = [a["id"] for _, a in tags.found if "id" in a]
    assert len(ids) == len(set(ids))
    assert {a["aria-labelledby"] for a in tags.of("section") if "aria-labelledby" in a} <= set(ids)


def test_every_figure_names_its_query(settings: Settings, tmp_path: Path) -> None:
    html = full(settings, tmp_path)
    shown = {path.name for path in files("beleg.report").joinpath("sql").iterdir()} - {"range.sql", "publication.sql"}
    names = re.findall("<summary>SQL: (.*?)</summary>", html)
    assert len(set(names)) == len(names) == len(shown)
    assert "$first_day = &#39;2030-01-07&#39;" in html


def test_the_same_data_gives_the_same_bytes(settings: Settings, tmp_path: Path) -> None:
    assert full(settings, tmp_path).encode() == full(settings, tmp_path).encode()


def test_the_receipt_adds_up_exactly(settings: Settings, tmp_path: Path) -> None:
    rows = [
        costs(cost_pico_usd=1),
        costs(workflow="dunning", cost_pico_usd=2 * USD),
        costs(purpose="eval", cost_pico_usd=30),
        costs(workflow=None, purpose=None, cost_pico_usd=400),
    ]
    shown = text_of(page(settings, tmp_path, unit_costs=rows))
    assert "ocr 0.000000000001" in shown
    assert "eval runs 0.000000000030" in shown
    assert "(start not reported) 0.000000000400" in shown
    assert "TOTAL 2.000000000431" in shown


def test_the_page_says_which_publication_it_shows(settings: Settings, tmp_path: Path) -> None:
    shown = text_of(page(settings, tmp_path, unit_costs=[costs()]))
    assert "business days in UTC · publication 7, as of 2030-02-01 00:00 UTC" in shown


def test_a_unit_cost_takes_production_only(settings: Settings, tmp_path: Path) -> None:
    rows = [costs(cost_pico_usd=3 * USD, results=8), costs(purpose="eval", cost_pico_usd=USD, results=100)]
    assert "0.375 USD per document" in text_of(page(settings, tmp_path, unit_costs=rows))


def test_a_unit_cost_without_results_is_unknown_not_zero(settings: Settings, tmp_path: Path) -> None:
    assert "ocr — per document" in text_of(page(settings, tmp_path, unit_costs=[costs(results=0)]))


def test_results_without_runs_have_no_unit_cost_and_no_cost(settings: Settings, tmp_path: Path) -> None:
    """Outcomes of a period in which nothing ran: what they cost is unknown, not 0."""
    shown = text_of(
        page(settings, tmp_path, unit_costs=[costs(runs=0, succeeded_runs=0, cost_pico_usd=0), costs(workflow="vat")])
    )
    assert "ocr — per document Cost, USD — Results 1 Runs 0" in shown


def test_runs_that_were_free_cost_nothing(settings: Settings, tmp_path: Path) -> None:
    assert "ocr 0.00 USD per document" in text_of(page(settings, tmp_path, unit_costs=[costs(cost_pico_usd=0)]))


def test_a_cost_of_which_nothing_is_priced_is_unknown(settings: Settings, tmp_path: Path) -> None:
    rows = [costs(cost_pico_usd=0, steps=2, unpriced_steps=2)]
    assert "ocr — per document Cost, USD —" in text_of(page(settings, tmp_path, unit_costs=rows))


def test_failed_means_the_same_on_the_cards_as_beside_the_versions(settings: Settings, tmp_path: Path) -> None:
    """Abandoned runs count, those still open do not: 2 of 3 ended, of 10 that started."""
    states = {"runs": 10, "succeeded_runs": 1, "failed_runs": 1, "abandoned_runs": 1}
    ended = {"runs": 10, "ended_runs": 3, "failed_runs": 2}
    versions = [{**VERSION, **ended, "workflow": "ocr", "prompt_version": v} for v in ("1", "2")]
    shown = text_of(page(settings, tmp_path, unit_costs=[costs(**states)], prompt_versions=versions))
    assert "Failed 66.7 %" in shown
    assert shown.count("66.7 % of 3") == 2
    assert "of those that ended: 33.3 % succeeded, 2 failed, 1 of them abandoned" in shown
    assert shown.count("Failed are, of the runs that ended, those that failed or were abandoned.") == 2


def test_risk_levels_are_listed_alike(settings: Settings, tmp_path: Path) -> None:
    flag = {"kind": "risk_level", "business_day": DAY, "workflow": "ocr"}
    rows = [{**flag, "observed_risk_level": "low,high", "allowed_risk_levels": "low,medium"}]
    assert "low, high low, medium" in text_of(page(settings, tmp_path, unit_costs=[costs()], flags=rows))


def test_a_workflow_without_unit_has_no_unit_cost(settings: Settings, tmp_path: Path) -> None:
    rows = [costs(unit=None, unit_per=None)]
    assert "ocr — no unit in workflows.yaml" in text_of(page(settings, tmp_path, unit_costs=rows))


UNPRICED = {"priced": False, "unpriced_reason": "unknown_model", "model": "mystery", "cost_pico_usd": None}


def test_unpriced_calls_are_named_beside_the_amount(settings: Settings, tmp_path: Path) -> None:
    rows = [costs(unpriced_steps=1, model_steps=3)]
    shown = text_of(page(settings, tmp_path, unit_costs=rows, step_costs=[{}, {}, UNPRICED]))
    assert "66.7 %" in shown
    assert "1 of 3 calls without a known price" in shown
    assert "1 unpriced call: the true cost is higher" in shown
    assert "unknown_model — mystery 1 —" in shown


def test_tools_need_a_price_only_where_they_report_usage(settings: Settings, tmp_path: Path) -> None:
    steps: Rows = [{}, {"kind": "tool"}, {**UNPRICED, "kind": "tool"}, {**UNPRICED, "counted": False}]
    shown = text_of(page(settings, tmp_path, unit_costs=[costs(steps=3, model_steps=1)], step_costs=steps))
    assert "1 of 2 calls without a known price" in shown


def test_days_are_those_of_the_business_zone(tmp_path: Path) -> None:
    berlin = Settings(tmp_path / "home", tmp_path / "home" / "spool", timezone="Europe/Berlin")
    steps = [{**UNPRICED, "event_time": f"2030-01-06T{hour}:30:00Z"} for hour in (22, 23)]
    rows = [costs(model_steps=1)]
    assert "1 of 1 calls" in text_of(page(berlin, tmp_path, unit_costs=rows, step_costs=steps))


def test_a_difference_is_signed_and_dated(settings: Settings, tmp_path: Path) -> None:
    row = {"business_day": DAY, "provider": "p", "model": "m", "billed_steps": 2, "compared_steps": 2, "equal_steps": 1}
    row |= {"compared_billed_pico_usd": USD, "compared_computed_pico_usd": 2 * USD, "difference_pico_usd": -USD}
    shown = text_of(page(settings, tmp_path, unit_costs=[costs()], reconciliation=[row]))
    assert "p m 2 50.0 % 1.000000 2.000000 \N{MINUS SIGN}1.000000 2030-01-07" in shown


VERSION = {"business_day": DAY, "purpose": "production", "unit": "document", "unit_per": 1}


def test_versions_are_shown_where_there_are_several(settings: Settings, tmp_path: Path) -> None:
    counts = {"runs": 4, "ended_runs": 3, "failed_runs": 1, "cost_pico_usd": USD, "results": 2, "corrected_runs": 1}
    rows = [
        {**VERSION, **counts, "workflow": w, "prompt_version": v} for w, v in (("one", "1"), ("two", "1"), ("two", "2"))
    ]
    shown = text_of(page(settings, tmp_path, unit_costs=[costs()], prompt_versions=rows))
    assert shown.count("2030-01-07 4 33.3 % of 3 (6.1–79.2) — 25.0 % of 4 (4.6–69.9) 0.500 per document") == 2


def test_a_dislike_rate_says_of_how_many(settings: Settings, tmp_path: Path) -> None:
    rows = [
        {**VERSION, "workflow": "two", "prompt_version": v, "runs": 50, "judged_runs": 4, "disliked_runs": 1}
        for v in ("1", "2")
    ]
    shown = text_of(page(settings, tmp_path, unit_costs=[costs()], prompt_versions=rows))
    assert shown.count("25.0 % of 4 (4.6–69.9)") == 2


def test_the_cache_share_is_a_ratio_of_sums_over_calls_that_report(settings: Settings, tmp_path: Path) -> None:
    row = {"business_day": DAY, "workflow": "ocr", "model": "m", "model_steps": 3, "reporting_steps": 2}
    rows = [
        {**row, "reported_input_tokens": 90, "cache_read_tokens": 0, "net_savings_pico_usd": -USD},
        {**row, "reported_input_tokens": 10, "cache_read_tokens": 10, "unknown_savings_steps": 1},
        {**row, "model": "silent", "reporting_steps": 0, "reported_input_tokens": 0},
    ]
    shown = text_of(page(settings, tmp_path, unit_costs=[costs()], cache_efficiency=rows))
    assert "ocr m 6 10.0 % 10 \N{MINUS SIGN}1.00 1" in shown
    assert "silent" not in shown


def test_the_widest_run_of_all_days_is_named(settings: Settings, tmp_path: Path) -> None:
    row = {"workflow": "ocr", "purpose": "production", "runs": 2, "steps": 5, "p95_steps": 4, "p95_latency_ms": 1500}
    rows = [
        {**row, "business_day": DAY, "max_tools_called": 2, "max_steps": 9, "widest_run_id": "wide"},
        {
            **row,
            "business_day": DAY,
            "max_tools_called": 1,
            "max_steps": 99,
            "widest_run_id": "long",
            "repeated_runs": 1,
        },
        {**row, "business_day": DAY, "purpose": "eval", "max_tools_called": 50, "widest_run_id": "eval"},
    ]
    shown = text_of(page(settings, tmp_path, unit_costs=[costs()], workflow_traffic=rows))
    assert "ocr 4 2.5 4 25.0 % 1,500 ms 2 wide" in shown


def test_unchanged_and_unknown_are_not_counted_as_drift(settings: Settings, tmp_path: Path) -> None:
    later = DAY + timedelta(days=1)
    row = {"workflow": "ocr", "purpose": "production", "business_day": DAY}
    rows = [
        {**row, "input_changed": True, "output_changed": None},
        {**row, "input_changed": False, "output_changed": False, "business_day": later},
        {**row, "input_changed": None, "output_changed": True, "business_day": later},
    ]
    both = [costs(), costs(business_day=later)]
    shown = text_of(page(settings, tmp_path, unit_costs=both, drift=rows))
    assert "ocr 2 50.0 % 2030-01-07 2 50.0 % 2030-01-08" in shown


def test_restated_days_say_by_how_much_and_why(settings: Settings, tmp_path: Path) -> None:
    def row(figure: str, delta: int, **fields: object) -> dict[str, object]:
        return {"business_day": DAY, "reason": "late_event", "figure": figure, "delta": delta, **fields}

    rows = [
        row("cost_pico_usd", 2 * USD),
        row("cost_pico_usd", -USD // 2),
        row("runs", 3),
        row("runs", -1, reason="price"),
    ]
    outside = row("runs", 9, business_day=DAY - timedelta(days=1), reason="result")
    shown = text_of(page(settings, tmp_path, unit_costs=[costs()], restatements=[*rows, outside]))
    assert "2030-01-07 late events +1.50 +3 0 0 2030-01-07 12:00" in shown
    assert "2030-01-07 another price 0.00 \N{MINUS SIGN}1 0 0 2030-01-07 12:00" in shown
    assert "+9" not in shown


def test_without_restatements_it_says_so(settings: Settings, tmp_path: Path) -> None:
    assert "No figure of a complete day has changed" in page(settings, tmp_path, unit_costs=[costs()])


def test_a_resolved_line_is_no_longer_shown(settings: Settings, tmp_path: Path) -> None:
    lines = [
        {"line_sha256": "a", "reason": "not_json", "recorded_at": "2030-01-07T00:00:00Z"},
        {"line_sha256": "a", "reason": "not_json", "recorded_at": "2030-01-08T00:00:00Z", "status": "resolved"},
        {"line_sha256": "b", "reason": "schema", "recorded_at": "2030-01-07T00:00:00Z"},
    ]
    shown = text_of(page(settings, tmp_path, unit_costs=[costs()], quarantine=lines))
    assert "1 line could not be taken" in shown
    assert "schema does not meet" in shown


def test_more_workflows_than_colours_share_the_last_one(settings: Settings, tmp_path: Path) -> None:
    rows = [costs(workflow=f"w{n}", cost_pico_usd=(20 - n) * USD) for n in range(9)]
    html = page(settings, tmp_path, unit_costs=rows)
    assert re.search(r'class="c7"/></svg><span>others <span class="muted">25.00<', html)


@pytest.mark.parametrize(("days", "bucket"), [(92, "day"), (93, "week"), (731, "month")])
def test_long_periods_have_wider_bars(settings: Settings, tmp_path: Path, days: int, bucket: str) -> None:
    rows = [costs(), costs(business_day=DAY + timedelta(days=days - 1))]
    assert f"Cost per {bucket}</h2>" in page(settings, tmp_path, unit_costs=rows)


def test_only_the_days_asked_for_count(settings: Settings, tmp_path: Path) -> None:
    make_database(settings, unit_costs=[costs(), costs(business_day=DAY + timedelta(days=1), cost_pico_usd=5 * USD)])
    out = render(settings, tmp_path / "r.html", from_=DAY, to=DAY)
    assert "TOTAL 1.00 " in text_of(out.read_text(encoding="utf-8"))


def test_an_empty_period_says_so(settings: Settings, tmp_path: Path) -> None:
    make_database(settings, unit_costs=[costs()])
    out = render(settings, tmp_path / "r.html", from_=date(2031, 1, 1), to=date(2031, 1, 2))
    assert "Nothing to report" in out.read_text(encoding="utf-8")


def test_an_empty_lake_says_so(settings: Settings, tmp_path: Path) -> None:
    assert "Nothing to report" in page(settings, tmp_path)


def test_days_in_the_wrong_order_are_refused(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="2030-01-08 is after --to 2030-01-07"):
        render(settings, tmp_path / "r.html", from_=DAY + timedelta(days=1), to=DAY)


def test_nothing_published_yet_is_a_usage_error(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist yet"):
        render(settings, tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == []
