"""`workflows.yaml`: what a workflow's result is, when its runs count as abandoned, what it may spend and use."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal

from beleg.core import values
from beleg.cost.policy import RISK_LEVELS
from beleg.cost.reading import Fields, read_yaml

DEFAULT_ABANDON_AFTER = timedelta(days=1)

_KEYS = ("unit", "per", "result", "abandon_after", "risk_levels", "budget", "tenant_budget", "tenants", "values", "why")


@dataclass(frozen=True)
class Budget:
    """What may be spent in one business day or month, runs of every purpose included."""

    scope: Literal["workflow", "tenant"]
    period: Literal["day", "month"]
    tenant: str | None
    """The tenant it is for; None for the workflow as a whole and for every tenant not named."""
    budget_pico_usd: int


@dataclass(frozen=True)
class WorkflowPolicy:
    """What holds for one workflow."""

    workflow: str
    unit: str
    """Name of one business result, in the singular."""
    unit_per: int
    """Number of results that the unit cost is quoted for."""
    result_from: Literal["run_unit", "outcome"]
    result_kind: str
    """Name of the run unit or kind of the outcome that counts."""
    abandon_after: timedelta
    risk_levels: tuple[str, ...] | None
    """Risk levels of models that its runs may use; None allows every one."""
    budgets: tuple[Budget, ...]


@dataclass(frozen=True)
class WorkflowPolicies:
    """The content of `workflows.yaml`."""

    workflows: tuple[WorkflowPolicy, ...] = ()
    abandon_after: timedelta = DEFAULT_ABANDON_AFTER
    """For workflows that have no entry."""


def load_workflows(path: Path) -> WorkflowPolicies:
    """Read `workflows.yaml`; raises UsageError that names the workflow and what to do."""
    top = Fields(read_yaml(path), path.name, ("defaults", "workflows"))
    defaults = Fields(top.mapping("defaults"), f"{path.name}, defaults", ("abandon_after",))
    abandon_after = defaults.span("abandon_after") or DEFAULT_ABANDON_AFTER
    workflows = [
        _workflow(str(name), raw, f"{path.name}, workflows.{name}", abandon_after)
        for name, raw in top.mapping("workflows").items()
    ]
    return WorkflowPolicies(tuple(workflows), abandon_after)


def _workflow(name: str, raw: object, where: str, abandon_after: timedelta) -> WorkflowPolicy:
    fields = Fields(raw, where, _KEYS)
    if "unit" not in fields.raw:
        fields.fail("has no unit: name one business result, for example unit: document")
    values.parse(fields.raw, where)  # ingest acts on it
    source, kind = _result(fields)
    return WorkflowPolicy(
        workflow=name,
        unit=fields.text("unit"),
        unit_per=fields.count("per", 1) or 1,
        result_from=source,
        result_kind=kind,
        abandon_after=fields.span("abandon_after") or abandon_after,
        risk_levels=_risk_levels(fields),
        budgets=tuple(_budgets(fields)),
    )


def _result(fields: Fields) -> tuple[Literal["run_unit", "outcome"], str]:
    result = Fields(fields.mapping("result"), f"{fields.where}, result", ("run_unit", "outcome"))
    if len(result.raw) != 1:
        result.fail("say what counts as a result: either run_unit: NAME or outcome: KIND")
    return ("run_unit", result.text("run_unit")) if "run_unit" in result.raw else ("outcome", result.text("outcome"))


def _risk_levels(fields: Fields) -> tuple[str, ...] | None:
    if "risk_levels" not in fields.raw:
        return None
    levels = fields.items("risk_levels")
    for level in levels:
        if level not in RISK_LEVELS:
            fields.fail(f"risk_levels holds {level!r}; allowed are {', '.join(RISK_LEVELS)}")
    return tuple(level for level in RISK_LEVELS if level in levels)


def _budgets(fields: Fields) -> Iterator[Budget]:
    yield from _periods(Fields(fields.mapping("budget"), f"{fields.where}, budget", _PERIOD_KEYS), "workflow", None)
    each = Fields(fields.mapping("tenant_budget"), f"{fields.where}, tenant_budget", _PERIOD_KEYS)
    yield from _periods(each, "tenant", None)
    for tenant, raw in fields.mapping("tenants").items():
        own = Fields(raw, f"{fields.where}, tenants.{tenant}", _PERIOD_KEYS)
        yield from _periods(own, "tenant", str(tenant))


_PERIOD_KEYS = ("per_day_usd", "per_month_usd")


def _periods(fields: Fields, scope: Literal["workflow", "tenant"], tenant: str | None) -> Iterator[Budget]:
    periods: tuple[tuple[str, Literal["day", "month"]], ...] = (("per_day_usd", "day"), ("per_month_usd", "month"))
    for key, period in periods:
        amount = fields.usd(key)
        if amount is not None:
            yield Budget(scope, period, tenant, amount)
