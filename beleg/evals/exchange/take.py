"""Takes in answers that were given elsewhere: matched to cases, scored here, kept and sent like those of a run.

All or nothing: a file is read, matched and scored as a whole before the first result is kept.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from beleg.contract.client.errors import InvalidAnswer
from beleg.contract.registry.registry import Registry
from beleg.contract.run import answer as answers
from beleg.contract.run.prepared import Prepared
from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.core.values import stores_values
from beleg.evals.cases.case import Case
from beleg.evals.cases.dataset import Dataset
from beleg.evals.cases.files import project_of
from beleg.evals.exchange import csvfile, deepeval, inspectlog, promptfoo
from beleg.evals.exchange.answerer import Answerer, answerer
from beleg.evals.exchange.matching import match
from beleg.evals.exchange.rows import Reader, Row
from beleg.evals.results import Answered
from beleg.evals.scorers.answers import first_object
from beleg.evals.scorers.model import ABSENT
from beleg.evals.scoring.journal import Entry, Journal, from_results
from beleg.evals.scoring.judging import Answer, Bench, Question
from beleg.evals.scoring.receipt import listening

READERS: Mapping[str, Reader] = {
    "csv": csvfile.read,
    "deepeval": deepeval.read,
    "inspect": inspectlog.read,
    "promptfoo": promptfoo.read,
}


@dataclass(frozen=True)
class Delivery:
    """A file with answers, and whose they are."""

    file: Path
    format: str
    feature: str
    dataset: str | None = None
    """None: the one that the contract names."""
    version: str | None = None
    """`draft` or a released version; either this or `digest`."""
    digest: str | None = None
    """Digest of the contract that answered. One that is no version here is not checked against a schema."""
    variant: str | None = None
    """Which answers, where the file holds several per case."""
    first_object: bool = False
    """Take the first JSON object out of an answer with words around it; the SDK would refuse some of these."""
    again: bool = False
    """Replace answers that are there already."""


@dataclass(frozen=True)
class Taken:
    """What was taken in."""

    digest: str
    dataset_digest: str
    answers: int = 0
    """Answers whose results were sent."""
    failed: int = 0
    """Of these, answers that are no answer under the contract, or were asked in vain."""
    missing: int = 0
    """Of these, cells that say that nothing was run."""
    stale: int = 0
    """Of these, answers to another input than the case's."""
    unchanged: int = 0
    """Answers whose results were there already."""
    unknown: tuple[str, ...] = ()
    """What told the case in rows that belong to none of the dataset."""

    def document(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return asdict(self)


@dataclass(frozen=True)
class _Judged:
    """A row of the file as an entry of the journal, and the value that it answers."""

    entry: Entry
    value: Any = None


def take(settings: Settings, registry: Registry, delivery: Delivery) -> Taken:
    """Score a file's answers and send the results to the spool.

    Raises UsageError for a wrong delivery, for answers that are there already with other results, and for copies of
    one answer; DamagedError, naming the place, for a file that cannot be read or tells a case twice; Busy while a run
    of the same cases goes on. Nothing is then taken in.
    """
    project = project_of(settings)
    if delivery.format not in READERS:
        raise UsageError(f"--format {delivery.format!r} is none of {', '.join(READERS)}")
    whose = answerer(project, registry, delivery.feature, version=delivery.version, digest=delivery.digest)
    dataset = Dataset.load(project, delivery.dataset or whose.owner.evals.dataset)
    if dataset.feature != delivery.feature:
        raise UsageError(f"the dataset {dataset.name} holds cases of {dataset.feature}, not of {delivery.feature}")
    found = READERS[delivery.format](delivery.file, delivery.variant)
    matched, unknown = match(found, dataset, delivery.file.name)
    judge = _Judge(Bench({whose.digest: whose.jury(project)}), whose, dataset.digest, lenient=delivery.first_object)
    made = [judge.judged(case, row) for case, row in matched]
    fresh = _keep(settings, Journal(settings, delivery.feature, dataset.digest), whose, made, again=delivery.again)
    status = Counter(each.results[0].status for each in fresh if each.reason is not None)
    return Taken(
        whose.digest,
        dataset.digest,
        answers=len(fresh),
        failed=status["failed"],
        missing=status["missing"],
        stale=status["stale"],
        unchanged=len(made) - len(fresh),
        unknown=unknown,
    )


class _Judge:
    """Scores rows as answers of a run are scored."""

    def __init__(self, bench: Bench, whose: Answerer, dataset_digest: str, *, lenient: bool) -> None:
        self._bench, self._whose, self._dataset, self._lenient = bench, whose, dataset_digest, lenient
        self._prepared = None if whose.contract is None else Prepared(whose.contract)

    def judged(self, case: Case, row: Row) -> _Judged:
        question = Question(self._dataset, case, self._whose.side, self._whose.digest, row.repetition or 1)
        if row.input_hash is not None and row.input_hash != case.input_hash:
            return _Judged(self._bench.without(question, "stale", "input_changed", at=row.at))
        if row.error:
            return _Judged(self._bench.entry(question, Answer(row.took, None, "error"), row.at))
        if row.answer is None:
            return _Judged(self._bench.without(question, "missing", "not_run", at=row.at))
        try:
            value = self._value(row.answer)
        except InvalidAnswer:
            return _Judged(self._bench.entry(question, Answer(row.took, None, "InvalidAnswer"), row.at))
        return _Judged(self._bench.entry(question, Answer(row.took, value), row.at), value)

    def _value(self, answer: Any) -> Any:
        """The value of an answer; raises InvalidAnswer for one that breaks the contract."""
        value = answer
        if isinstance(answer, str):
            value = first_object(answer) if self._lenient else answers.parse(answer)
        if value is ABSENT:
            raise InvalidAnswer("json")
        if self._prepared is not None and self._prepared.output.broken(value) is not None:
            raise InvalidAnswer("schema")
        return value


def _keep(settings: Settings, journal: Journal, whose: Answerer, made: list[_Judged], *, again: bool) -> list[Entry]:
    """Keep and send what is new; gives the entries."""
    with ExitStack() as held:
        held.enter_context(journal.alone())
        trace = held.enter_context(listening(settings.spool))
        ingested = journal.in_lake([whose.digest])
        journal.send_lost(ingested, trace.keep)
        fresh = list(_fresh({**from_results(ingested), **journal.entries}, made, again=again))
        stores = stores_values(settings, whose.owner.workflow)
        for each in fresh:
            journal.write(each.entry, trace.keep)
            if stores and each.entry.reason is None:
                journal.keep_answer(each.entry.answered, each.value)
    return [each.entry for each in fresh]


def _fresh(known: Mapping[Answered, Entry], made: list[_Judged], *, again: bool) -> Iterator[_Judged]:
    """What says something new; raises UsageError for answers that are there with other results.

    A cell that says that nothing was run takes no answer away.
    """
    other = []
    for each in made:
        before = known.get(each.entry.answered)
        if before is not None and (before.says_the_same(each.entry) or (before.called and not each.entry.called)):
            continue
        if before is None or not before.called:
            yield each
        elif again:
            yield replace(each, entry=each.entry.as_attempt((before.results[0].attempt or 1) + 1))
        else:
            other.append(each.entry.answered)
    if other:
        first = f"case {other[0].case_id}, repetition {other[0].repetition}"
        raise UsageError(
            f"{len(other)} answers are there already with other results, the first one to {first}: those count. "
            "Replace them with --again, which counts as another attempt"
        )
