"""Words in a text: what must occur in it, and what it must look like."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import jsonschema_rs

from beleg.evals.scorers.exact import plain
from beleg.evals.scorers.model import RIGHT, CannotJudge, Kind, Score, Scorer, wrong
from beleg.evals.scorers.options import refuse


@dataclass(frozen=True, kw_only=True)
class Contains(Scorer):
    """The text holds every expected phrase (a text, or a list of texts), both in the normal form of `text`."""

    name: ClassVar[str] = "contains"
    version: ClassVar[str] = "1.0.0"
    kind: ClassVar[Kind] = "binary"

    keep_case: bool = False

    def compare(self, expected: Any, actual: Any) -> Score:
        """Look for each phrase."""
        phrases = [expected] if isinstance(expected, str) else expected
        if not isinstance(phrases, (list, tuple)) or not all(isinstance(each, str) for each in phrases):
            raise CannotJudge("expected_is_no_text")
        if not all(wanted := [plain(each, keep_case=self.keep_case) for each in phrases]):
            raise CannotJudge("expected_is_empty")
        if not isinstance(actual, str):
            return wrong("wrong_type")
        text = plain(actual, keep_case=self.keep_case)
        return RIGHT if all(each in text for each in wanted) else wrong("phrase_missing")


@dataclass(frozen=True, kw_only=True)
class Matches(Scorer):
    """The text holds a match of `pattern`, whatever was expected; anchor it with ^ and $ to mean the whole.

    A pattern of JSON Schema, without look-around and back-references: it runs in linear time on any text.
    """

    name: ClassVar[str] = "regex"
    version: ClassVar[str] = "1.0.0"
    kind: ClassVar[Kind] = "binary"
    needs_expected: ClassVar[bool] = False

    pattern: str = ""

    def __post_init__(self) -> None:
        try:
            self._judge  # noqa: B018 - compiles it
        except (ValueError, jsonschema_rs.ValidationError):
            raise refuse(self, "pattern", self.pattern, "a regular expression without look-around") from None

    def compare(self, expected: Any, actual: Any) -> Score:  # noqa: ARG002 - the pattern is what is expected
        """Look for the pattern."""
        if not isinstance(actual, str):
            return wrong("wrong_type")
        return RIGHT if self._judge.is_valid(actual) else wrong("no_match")

    @cached_property
    def _judge(self) -> Any:
        if not self.pattern:
            raise ValueError("empty")
        schema = {"type": "string", "pattern": self.pattern}
        return jsonschema_rs.validator_for(schema, pattern_options=jsonschema_rs.RegexOptions())
