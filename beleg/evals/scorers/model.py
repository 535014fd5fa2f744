"""What a scorer is: a named, versioned rule that holds an answer against what was expected.

`Scorer.score` decides what every scorer decides alike (no result, no expectation, nothing expected, a rule
that breaks down), so a scorer of one's own says only how two values compare.
"""

import dataclasses
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, ClassVar, Final, Literal, Protocol, Self, get_args

from beleg.contract.model import Schema
from beleg.evals.cases.pointer import look_up, parts, pointer
from beleg.evals.scorers.options import quoted, read_options, text
from beleg.trace.fingerprint import Fingerprint, fingerprint

Kind = Literal["binary", "score", "measure"]
"""`binary` scores are 0 or 1, `score` lies between them, a `measure` is a number with a unit and no judgement."""
Status = Literal["scored", "failed", "missing"]


class _Absent(Enum):
    ABSENT = "absent"


ABSENT: Final = _Absent.ABSENT
"""Nothing stands there, not even null."""
_NOTE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,79}")


@dataclass(frozen=True, slots=True)
class Score:
    """What a scorer says about one answer.

    `value` lies in [0, 1] (a measure: any number that is not negative) and is None unless `status` is `scored`.
    `failed`: the scorer could not judge. `missing`: there is no result to judge. `note` is a word for the kind of
    miss, such as `unit_error_1000`; it never holds anything of the answer.
    """

    value: float | None
    status: Status = "scored"
    note: str | None = None


RIGHT = Score(1.0)
MISSING = Score(None, "missing", "no_result")


def wrong(note: str = "different") -> Score:
    """A miss, and of which kind."""
    return Score(0.0, "scored", note)


def failed(note: str) -> Score:
    """The scorer could not judge."""
    return Score(None, "failed", note)


NOT_KNOWN = failed("no_expected_value")


def at(value: Any, names: list[str]) -> Any:
    """What stands at a path in a result; ABSENT where nothing does."""
    try:
        return look_up(value, names)
    except LookupError:
        return ABSENT


class CannotJudge(Exception):
    """Raised by a scorer that cannot judge the case; its word becomes the note of the failure."""


@dataclass(frozen=True, kw_only=True)
class Scorer(ABC):
    """A rule with a name, a version and options; the options are the fields of the dataclass.

    A scorer of one's own sets `name`, `version` and `kind` and implements `compare`. Whoever changes what it
    says about any pair changes its version: scores of different versions are never compared.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    kind: ClassVar[Kind] = "score"
    needs_expected: ClassVar[bool] = True
    """False for rules that look at the answer alone; their `compare` gets None for what was expected."""

    field: str = ""
    """Where in the result it looks: a dot path, a JSON pointer, or empty for the whole."""

    @classmethod
    def made(cls, field: str, options: Mapping[str, str], shelf: "Shelf") -> Self:  # noqa: ARG003 - for those that need it
        """From the parts of a spec; raises UsageError for an option that is unknown or cannot be read."""
        return cls(**({"field": field} if field else {}), **read_options(cls, options))

    @abstractmethod
    def compare(self, expected: Any, actual: Any) -> Score:
        """Hold two values that are there (neither None) against each other.

        Raises CannotJudge where the case itself is unfit; whatever else it raises is a failure too.
        """

    def score(self, expected: Any, actual: Any, *, expected_hash: Fingerprint | None = None) -> Score:
        """Score one answer by whole results, in which `field` is looked up; never raises.

        None for `actual`: there is no result. None for `expected`: no value is stored; `expected_hash` may then be
        the fingerprint of what should stand at `field`, and exact equality can use it.
        """
        if actual is None:
            return MISSING
        wanted = ABSENT if expected is None else at(expected, self._path)
        return self.score_value(wanted, at(actual, self._path), expected_hash=expected_hash)

    def score_value(self, expected: Any, actual: Any, *, expected_hash: Fingerprint | None = None) -> Score:
        """Score what stands at `field` by what should stand there, ABSENT where nothing does or is known.

        An expected None says that nothing should stand there: null and an absent member are right then.
        """
        try:
            if expected is ABSENT and expected_hash is not None:
                return self._checked(self.compare_hash(expected_hash, None if actual is ABSENT else actual))
            return self._checked(self._of(expected, None if actual is ABSENT else actual))
        except CannotJudge as error:
            return failed(str(error) if _NOTE.fullmatch(str(error)) else "cannot_judge")
        except Exception as error:  # noqa: BLE001 - foreign code on hostile input; its message may hold payload
            return failed(f"raised_{type(error).__name__}"[:80])

    def compare_hash(self, expected: Fingerprint, actual: Any) -> Score:  # noqa: ARG002 - for those that can
        """Hold a value (None for nothing) against the fingerprint of the expected one."""
        raise CannotJudge("needs_the_expected_value")

    def _of(self, expected: Any, actual: Any) -> Score:
        if not self.needs_expected:
            return wrong("missing") if actual is None else self.compare(None, actual)
        if expected is ABSENT:
            return NOT_KNOWN
        if expected is None:
            return RIGHT if actual is None else wrong("unexpected")
        return wrong("missing") if actual is None else self.compare(expected, actual)

    def _checked(self, score: Score) -> Score:
        """The score, if it is one: a scorer of one's own may return anything."""
        if score is RIGHT:
            return score
        if score.note is not None and not _NOTE.fullmatch(score.note):
            score = dataclasses.replace(score, note="note_withheld")
        if score.status not in get_args(Status):
            return failed("no_score")
        if score.status != "scored":
            return dataclasses.replace(score, value=None)
        value: Any = score.value
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            return failed("no_number")
        if value < 0 or (self.kind != "measure" and value > 1) or (self.kind == "binary" and value not in {0, 1}):
            return failed("out_of_range")
        return score if type(value) is float else dataclasses.replace(score, value=float(value))

    def options(self) -> Mapping[str, str]:
        """The options that differ from the default, as text; `field` is none of them."""
        return {
            each.name: text(getattr(self, each.name))
            for each in dataclasses.fields(self)
            if each.name != "field" and getattr(self, each.name) != each.default
        }

    def basis(self) -> Any:
        """What else the scores rest on, as JSON; it goes into the digest."""
        return None

    @cached_property
    def _path(self) -> list[str]:
        return parts(pointer(self.field))

    @cached_property
    def spec(self) -> str:
        """How a contract names this scorer; equal scorers have equal specs."""
        options = "&".join(f"{name}={quoted(value)}" for name, value in sorted(self.options().items()))
        field = f":{quoted(self.field)}" if self.field else ""
        return f"{self.name}{field}{'?' if options else ''}{options}"

    @cached_property
    def digest(self) -> str:
        """64 hex digits over name, version, field, options and `basis`: what evidence rests on."""
        return fingerprint([self.name, self.version, self.field, dict(self.options()), self.basis()])


class Shelf(Protocol):
    """Where scorers are looked up, for those that are made of others or of the contract's schema."""

    @property
    def output_schema(self) -> Schema | None:
        """The output schema of the contract, where one is at hand."""

    def resolve(self, spec: str) -> Scorer:
        """The scorer of a spec."""
