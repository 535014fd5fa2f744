"""What an evaluation has done, kept answer by answer: a killed run goes on where it stopped.

`BELEG_HOME/evals/<feature>/<dataset>/journal.jsonl` holds one line per answer, written before its events go to
the spool, so that none is lost between the two. It holds fingerprints and scores. What a model answered stands
beside it, in `answers.jsonl`, and only for workflows whose policy stores values.
"""

import json
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from beleg.core.errors import DamagedError
from beleg.core.lock import hold
from beleg.core.settings import Settings
from beleg.evals.results import Answered, Result, event_line, from_event, read
from beleg.lake.publication import append_fact, facts

FORMAT = 1
MOST_ANSWER_BYTES = 16 << 10
"""Largest answer that is kept, as compact JSON: the limit that ingest sets to any stored value."""


_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Entry:
    """One answer that was scored, or that could not be had."""

    results: tuple[Result, ...]
    called: bool
    """Whether a model was asked. What failed before that is tried again by the next run."""
    reason: str | None = None
    """Class of what went wrong; None for an answer that meets its contract."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Scorer → its word for the kind of miss, for example `unit_error_1000`."""
    cost_pico_usd: int | None = None

    @property
    def answered(self) -> Answered:
        """What it is an answer to."""
        return self.results[0].answered

    def says_the_same(self, other: "Entry") -> bool:
        """Whether two entries have the same results, whenever and in whichever attempt they were made."""
        return _timeless(self.results) == _timeless(other.results)

    def as_attempt(self, attempt: int) -> "Entry":
        """The entry as that of another attempt."""
        return replace(self, results=tuple(replace(each, attempt=attempt) for each in self.results))

    def fact(self) -> dict[str, Any]:
        """As a line of the journal."""
        return {
            "journal_format": FORMAT,
            "called": self.called,
            "reason": self.reason,
            "notes": dict(self.notes),
            "cost_pico_usd": self.cost_pico_usd,
            "results": [json.loads(event_line(each)) for each in self.results],
        }

    @classmethod
    def of_fact(cls, fact: Mapping[str, Any]) -> "Entry":
        """From a line of the journal."""
        results = tuple(from_event(each) for each in fact["results"])
        return cls(results, fact["called"], fact["reason"], fact["notes"], fact["cost_pico_usd"])


class Journal:
    """The journal of a feature on one dataset, with what the lake knows besides."""

    def __init__(self, settings: Settings, feature: str, dataset_digest: str) -> None:
        self.folder = settings.home / "evals" / feature / dataset_digest[:16]
        self._settings, self._feature, self._dataset = settings, feature, dataset_digest
        self.entries: dict[Answered, Entry] = {}
        """The latest answer to each question."""
        self._read()

    @contextmanager
    def alone(self) -> Generator[None]:
        """Hold the journal, as it is now; raises Busy, naming who has it, for a second run of the same cases."""
        with hold(self.folder / "run.lock", wait_s=0):
            self._read()
            yield

    def _read(self) -> None:
        for fact in facts(self.folder / "journal.jsonl"):
            try:
                entry = Entry.of_fact(fact)
            except (LookupError, TypeError, ValueError) as error:
                told = f"{self.folder / 'journal.jsonl'} is damaged ({error!r}): move it away"
                raise DamagedError(f"{told}; what was ingested stays done") from error
            self.entries[entry.answered] = entry

    def in_lake(self, digests: Collection[str]) -> list[Result]:
        """Results of some versions that were ingested, those made elsewhere included."""
        return read(self._settings, self._feature, digests, self._dataset)

    def write(self, entry: Entry, send: Callable[[bytes], None]) -> None:
        """Keep an answer, then send its events."""
        append_fact(self.folder / "journal.jsonl", entry.fact())
        self.entries[entry.answered] = entry
        _send(entry.results, send)

    def send_lost(self, ingested: Iterable[Result], send: Callable[[bytes], None]) -> None:
        """Send once more the events that the lake does not have.

        They wait in the spool, or they are lost: the run that made them was killed in between, the spool was thrown
        away, the lake was made anew. The bytes are the same, and ingest counts an event once.
        """
        latest: dict[str, datetime] = {}
        for each in ingested:
            latest[each.event_id] = max(each.event_time, latest.get(each.event_id, _NEVER))
        for entry in self.entries.values():
            _send((each for each in entry.results if latest.get(each.event_id, _NEVER) < each.event_time), send)

    def keep_answer(self, answered: Answered, value: Any) -> None:
        """Keep what was answered, for reports; one that is too large is left out."""
        data = json.dumps(value, separators=(",", ":"))
        if len(data) <= MOST_ANSWER_BYTES:
            append_fact(self.folder / "answers.jsonl", {"answered": list(answered), "answer": value})

    def answers(self) -> dict[Answered, Any]:
        """What was answered, as far as it was kept; the latest answer to a question."""
        return {Answered(*fact["answered"]): fact["answer"] for fact in facts(self.folder / "answers.jsonl")}


def _send(results: Iterable[Result], send: Callable[[bytes], None]) -> None:
    for each in results:
        send(event_line(each))


def _timeless(results: Iterable[Result]) -> list[Result]:
    same = (replace(each, event_time=_NEVER, attempt=None) for each in results)
    return sorted(same, key=lambda each: (each.scorer, each.scorer_version))


def from_results(results: Iterable[Result]) -> dict[Answered, Entry]:
    """What the lake knows, as entries: why something failed it does not know."""
    by_answer: dict[Answered, list[Result]] = {}
    for each in results:
        by_answer.setdefault(each.answered, []).append(each)
    return {
        answered: Entry(tuple(told), any(each.status in {"scored", "failed"} for each in told))
        for answered, told in by_answer.items()
    }
