"""Questions about two whole schemas, and the changes that their answers make."""

from collections.abc import Iterable
from typing import Any

from beleg.contract.compat import dropping, proofs, values
from beleg.contract.compat.answers import EMPTY, Answer, Empty, Found, Unknown
from beleg.contract.compat.compiling import Compiler
from beleg.contract.compat.documents import Document
from beleg.contract.compat.evaluate import Evaluation, holds
from beleg.contract.compat.formula import Node, Pool
from beleg.contract.compat.places import Place
from beleg.contract.compat.readings import LENIENT
from beleg.contract.compat.solving import Solver
from beleg.contract.compat.verdict import NO_WITNESS, Bump, Change

_MAX_WITNESS = 10_000
"""Nobody reads a proof of more values than that."""


class Version:
    """One of the two schemas."""

    def __init__(self, pool: Pool, document: Document) -> None:
        self.pool = pool
        self.document = document
        self.compiler = Compiler(pool, self.document)
        self.dropping = dropping.Dropping(self.document)
        self.validator = proofs.Validator(self.document)
        self.valid = self.compiler.node(document.root)
        """The results it allows."""
        self.readable = self.compiler.node(document.root, LENIENT)
        """The results its readers can read."""

    def formula(self, raws: Iterable[Any]) -> Node:
        """What several subschemas say together."""
        return self.pool.and_([self.compiler.node(raw) for raw in raws])


class Inquiry:
    """What is asked about OLD and NEW, and what came of it."""

    def __init__(self, old: Document, new: Document, time_limit_s: float) -> None:
        self.pool = Pool(time_limit_s)
        self.solver = Solver(self.pool)
        self.old = Version(self.pool, old)
        self.new = Version(self.pool, new)
        self.changes: list[Change] = []
        self._evaluation = Evaluation(self.pool)

    def ask(self) -> None:
        """Answer the four questions about whole results."""
        self.breaking = self._confirmed(self.new, self.old, self._outside(self.new.valid, self.old.readable))
        """A result of NEW that readers of OLD cannot read."""
        self.undone = self._confirmed(self.old, self.new, self._outside(self.old.valid, self.new.readable))
        """A result of OLD that readers of NEW cannot read."""
        self.gained = self._outside(self.new.valid, self.old.valid)
        self.lost = self._outside(self.old.valid, self.new.valid)

    def _outside(self, inner: Node, outer: Node) -> Answer:
        return self.solver.find(inner, self.pool.not_(outer))

    @property
    def same_results(self) -> bool:
        """Whether both are proved to allow the same results."""
        return isinstance(self.gained, Empty) and isinstance(self.lost, Empty)

    def _confirmed(self, giver: Version, reader: Version, answer: Answer) -> Answer:
        if not isinstance(answer, Found) or self.proves(giver, reader, answer.value):
            return answer
        return Unknown("no value was found that certainly breaks a reader and can be shown")

    def proves(self, giver: Version, reader: Version, value: Any) -> bool:
        """Whether the value is certainly valid on one side and certainly unreadable on the other."""
        if values.size(value) > _MAX_WITNESS:
            return False
        obeys = self._evaluation.of
        if giver.validator.accepts(value) is False or obeys(reader.readable, value) is not False:
            return False
        if self._is_read_by_dropping(reader, value):
            return False
        if reader.validator.accepts(value) is True:  # such as a number that is another one as a float
            return False
        return giver.validator.second_opinion(value) is not False and reader.validator.second_opinion(value) is not True

    def _is_read_by_dropping(self, reader: Version, value: Any) -> bool:
        """Whether the reader may read it without some members; True where that is not certain."""
        try:
            reduced = (each for each in reader.dropping.reductions(value) if each != value)
            return any(holds(self.pool, reader.valid, each) is not False for each in reduced)
        except dropping.TooMany:
            return True

    def breaks(self, place: Place, promise: Node) -> Answer:
        """A result of NEW that breaks what OLD promised at a place."""
        if isinstance(self.breaking, Empty):
            return EMPTY
        return self.solver.find(self.new.valid, self.pool.not_(place.says(self.pool, promise, "new")))

    def loses(self, place: Place, promise: Node) -> Answer:
        """A result of OLD that breaks what NEW promises at a place."""
        if isinstance(self.lost, Empty):
            return EMPTY
        return self.solver.find(self.old.valid, self.pool.not_(place.says(self.pool, promise, "old")))

    def report_break(self, rule: str, pointer: str, sentence: str, answer: Answer) -> bool:
        """Note a break of readers, if it is one; tells whether it is."""
        if isinstance(answer, Empty):
            return False
        if isinstance(answer, Unknown):
            self.note(rule, "major", pointer, f"{sentence} That no reader breaks could not be proved: {answer.reason}.")
            return True
        if not self.proves(self.new, self.old, answer.value):
            return False
        self.changes.append(Change(rule, "major", pointer, sentence, answer.value, "reader"))
        return True

    def report_loss(self, rule: str, pointer: str, sentence: str, answer: Answer) -> bool:
        """Note that fewer results are possible, if so, with one that a rollback would bring back."""
        if isinstance(answer, Empty):
            return False
        self._note_rolled_back(rule, "minor", pointer, sentence, answer)
        return True

    def report_policy(self, rule: str, pointer: str, sentence: str, answer: Answer) -> None:
        """Note a change that breaks no reader and is major by decision: a rollback would take a promise back."""
        self._note_rolled_back(rule, "major", pointer, sentence, answer)

    def _note_rolled_back(self, rule: str, bump: Bump, pointer: str, sentence: str, answer: Answer) -> None:
        if isinstance(answer, Found) and self.proves(self.old, self.new, answer.value):
            self.changes.append(Change(rule, bump, pointer, sentence, answer.value, "rollback"))
        else:
            self.note(rule, bump, pointer, sentence)

    def note(self, rule: str, bump: Bump, pointer: str, sentence: str) -> None:
        """Note a change that no value proves."""
        self.changes.append(Change(rule, bump, pointer, sentence, NO_WITNESS, None))
