"""Adding a day to a year and to ten: ingest, commit and marts against writing that day's Parquet alone."""

import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from beleg import flow
from beleg.core.settings import Settings
from beleg.lake import catalog, publication
from benchmarks.timing import Ratio, ratio, seconds
from benchmarks.validate import plain
from benchmarks.year import Shape, build, day_events, settings_of

RUNS = 27_400
"""Runs of the added day: a year of them is 10 million."""
AS_OF = datetime(2027, 1, 1, tzinfo=UTC)


def measure(work: Path, *, quick: bool, say: Callable[[str], None]) -> list[tuple[object, ...]]:
    """Rows of the table about adding a day."""
    rounds = 2 if quick else 7
    year = build(work / ("year-2740" if quick else "year-27400"), Shape(365, 2_740 if quick else RUNS), say)
    say("days: one year and ten years of a hundredth of the runs a day: what history costs is days and files")
    thin = build(work / "year-274", Shape(365, 274), say)
    decade = build(work / "decade-274", Shape(3_650, 274), say)
    added = {settings.home: _day(work, number) for settings, number in ((year, 365), (thin, 365), (decade, 3_650))}
    taken = []
    for number in range(rounds + 1):
        say(f"days: round {number} of {rounds}")
        added_s = [_add(work, settings, added[settings.home]) for settings in (year, thin, decade)]
        taken.append([*added_s, _plain(work, added[year.home])])
    del taken[0]  # the first round warms up
    day = ratio([(t[0], t[3]) for t in taken])
    history = ratio([(t[2], t[1]) for t in taken])
    return [
        ("adding a day to a year of 10 million runs", "writing that day's Parquet alone", 6.0, 3.0, "×", *_shown(day)),
        ("the same after ten years of history", "after one year", 1.2, 1.05, "×", *_shown(history)),
    ]


def _shown(found: Ratio) -> tuple[float, str]:
    spread = f"[{found.low:.2f}, {found.high:.2f}]"
    return round(found.median, 2), f"{spread} {found.subject_s:.2f} s against {found.limit_s:.2f} s, {RUNS:,} runs"


def _day(work: Path, number: int) -> Path:
    path = work / f"day-{number}.jsonl"
    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        day_events(con, path, number, RUNS)
    return path


def _add(work: Path, settings: Settings, events: Path) -> float:
    """Seconds to take a day into a copy of the installation."""
    copy = work / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(settings.home, copy, copy_function=_link)
    there = settings_of(copy)
    published = publication.current(there)
    assert published is not None
    catalog.rebuild(there, published)  # as the day before left it, at this place
    took = seconds(lambda: flow.run(there, [events], as_of=AS_OF))
    shutil.rmtree(copy)
    return took


def _link(source: str, target: str) -> str:
    """Parquet files never change, so a link serves; everything else is copied."""
    if source.endswith(".parquet"):
        os.link(source, target)
    else:
        shutil.copy2(source, target)
    return target


def _plain(work: Path, events: Path) -> float:
    folder = work / "plain"
    folder.mkdir(exist_ok=True)
    took = seconds(lambda: plain(events, folder))
    shutil.rmtree(folder)
    return took
