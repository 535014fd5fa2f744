"""Whether an answer meets the contract's output schema, by the validator that the client uses."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from beleg.contract.client.errors import Tampered
from beleg.contract.model import Schema
from beleg.contract.run.validate import Validator
from beleg.core.errors import UsageError
from beleg.evals.scorers.model import RIGHT, Kind, Score, Scorer, Shelf, wrong


@dataclass(frozen=True, kw_only=True)
class SchemaValid(Scorer):
    """The answer meets `schema` (JSON Schema 2020-12, formats checked), whatever was expected.

    The note names the rule that is broken first, such as `breaks_required`.
    """

    name: ClassVar[str] = "schema_valid"
    version: ClassVar[str] = "1.0.0"
    kind: ClassVar[Kind] = "binary"
    needs_expected: ClassVar[bool] = False

    schema: Schema

    def __post_init__(self) -> None:
        try:
            self._judge  # noqa: B018 - compiles it
        except Tampered as error:
            raise UsageError(f"scorer {self.name}: {error}") from error

    @classmethod
    def made(cls, field: str, options: Mapping[str, str], shelf: Shelf) -> Self:
        """With the contract's output schema."""
        if field or options:
            raise UsageError(f"scorer {cls.name}: it judges the whole answer and takes no field and no option")
        if shelf.output_schema is None:
            raise UsageError(f"scorer {cls.name}: no output schema is at hand; pass output_schema=")
        return cls(schema=shelf.output_schema)

    def compare(self, expected: Any, actual: Any) -> Score:  # noqa: ARG002 - the schema is what is expected
        """Validate."""
        broken = self._judge.broken(actual)
        return RIGHT if broken is None else wrong(f"breaks_{broken.rule}")

    def options(self) -> Mapping[str, str]:
        """None: the schema comes with the contract."""
        return {}

    def basis(self) -> Any:
        """The schema."""
        return self.schema

    @cached_property
    def _judge(self) -> Validator:
        return Validator(self.schema, "the output schema")
