"""The workers of an evaluation: they take questions, keep to pace and budget, and stop together."""

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field

from beleg.core.progress import OnProgress
from beleg.cost.money import usd_text
from beleg.evals.scoring.agenda import Unit
from beleg.evals.scoring.answering import Desk, Unaskable
from beleg.evals.scoring.journal import Entry, Journal
from beleg.evals.scoring.judging import Bench, Question
from beleg.evals.scoring.order import Report, State, Substitute, Unusable
from beleg.evals.scoring.pace import Pace
from beleg.evals.scoring.purse import Purse
from beleg.evals.scoring.receipt import Trace
from beleg.evals.scoring.resolving import Payload, Unfit, resolve
from beleg.evals.suite import Resolver


@dataclass
class Hall:
    """Everything that the workers share."""

    units: Iterator[Unit]
    resolver: Resolver
    desk: Desk
    bench: Bench
    journal: Journal
    trace: Trace
    pace: Pace
    purse: Purse
    report: Report
    keep_answers: bool
    on_progress: OnProgress
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _stopped: State | None = None

    def work(self, workers: int) -> None:
        """Ask everything that is open, or until the run is stopped; raises the first error that concerns the run."""
        self._tell()
        with ThreadPoolExecutor(workers, thread_name_prefix="beleg-eval") as pool:
            running = [pool.submit(self._worker) for _ in range(workers)]
            self._await(running)
        for each in running:
            each.result()
        self.report.state = self._stopped or "complete"

    def _await(self, running: list[Future[None]]) -> None:
        """Wait for the workers; Ctrl-C stops them after the answers that are under way."""
        for each in running:
            while not each.done():
                try:
                    with suppress(Exception):  # raised again by `work`, once all have ended
                        each.result()
                except KeyboardInterrupt:
                    self._stop("interrupted")

    def _stop(self, why: State) -> None:
        with self._lock:
            self._stopped = self._stopped or why

    def _worker(self) -> None:
        try:
            while (unit := self._next()) is not None:
                self._ask_all(unit)
        except BaseException:
            self._stop("interrupted")
            raise

    def _next(self) -> Unit | None:
        with self._lock:
            return next(self.units, None) if self._stopped is None else None

    def _ask_all(self, unit: Unit) -> None:
        askable = [each for each in unit if not self._is_left_out(each)]
        if not askable:
            return
        payload = resolve(self.resolver, unit[0].case)
        for question in askable:
            if isinstance(payload, Unfit):
                self._skip(question, payload)
            elif not self._asked(question, payload):
                return

    def _skip(self, question: Question, why: Unfit) -> None:
        entry = self.bench.without(question, why.status, why.reason)
        with self._lock:
            self.report.unusable[question.case.case_id] = Unusable(question.case.case_id, why.status, why.reason)
            before = self.journal.entries.get(question.key)
            if before is None or not before.says_the_same(entry):
                self.journal.write(entry, self.trace.keep)

    def _substitute(self, digest: str) -> Substitute | None:
        return next((each for each in self.report.fallbacks if each.contender.digest == digest), None)

    def _is_left_out(self, question: Question) -> bool:
        found = self._substitute(question.digest)
        return found is not None and found.left_out is not None

    def _asked(self, question: Question, payload: Payload) -> bool:
        """Ask and keep the answer; False where the run is over."""
        refusal: State | None = self._stopped or self.purse.begin()
        if refusal is not None:
            self._stop(refusal)
            return False
        entry: Entry | None = None
        try:
            self.pace.wait()
            answer = self.desk.ask(question, payload)
            self.pace.owe(max(answer.receipt.requests - 1, 0))
            entry = self.bench.entry(question, answer)
            with self._lock:
                self.journal.write(entry, self.trace.keep)
                if self.keep_answers and answer.reason is None:
                    self.journal.keep_answer(question.key, answer.value)
        except Unaskable as error:
            found = self._substitute(question.digest)
            if found is None:
                raise
            found.left_out = str(error)
            return True
        finally:
            if entry is None:
                self.purse.give_back()
            else:
                self.purse.end(entry.cost_pico_usd)
        self._count(entry)
        return True

    def _count(self, entry: Entry) -> None:
        with self._lock:
            self.report.answered += 1
            if (found := self._substitute(entry.answered.digest)) is not None:
                found.answered += 1
            if entry.reason is not None:
                self.report.failed = dict(Counter(self.report.failed) + Counter([entry.reason]))
            self.report.cost_pico_usd, self.report.unpriced = self.purse.spent_pico_usd, self.purse.unpriced
            self._tell()

    def _tell(self) -> None:
        done = self.report.before + self.report.answered
        self.on_progress("answers", done, self.report.planned, f"{usd_text(self.report.cost_pico_usd)} USD so far")
