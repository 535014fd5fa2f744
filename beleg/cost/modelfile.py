"""Reads `models.yaml`; every refusal names the row and what to do."""

from itertools import pairwise
from pathlib import Path

from beleg.cost.policy import RISK_LEVELS, Alias, ModelPolicies, ModelRow
from beleg.cost.pricefile import PriceLists
from beleg.cost.reading import Fields, read_yaml

_ROW_KEYS = (
    "provider", "model", "valid_from", "valid_to", "per", "prices", "tiers", "service_tiers", "batch", "units",
    "latency_ceiling_ms", "risk_level", "run_budget_usd", "unusual_price", "why",
)  # fmt: skip


def load_models(path: Path) -> ModelPolicies:
    """Read `models.yaml`; raises UsageError that names the row and what to do."""
    top = Fields(read_yaml(path), path.name, ("aliases", "models"))
    aliases = [_alias(raw, f"{path.name}, aliases[{i}]") for i, raw in enumerate(top.items("aliases"))]
    rows = [_row(raw, f"{path.name}, models[{i}]") for i, raw in enumerate(top.items("models"))]
    return ModelPolicies(tuple(aliases), tuple(_close(rows, path.name)))


def _alias(raw: object, where: str) -> Alias:
    fields = Fields(raw, where, ("match", "to", "why"))
    match, to, why = fields.text("match"), fields.text("to"), fields.text("why")
    for key, pattern in (("match", match), ("to", to)):
        if "/" not in pattern.rstrip("/") or pattern.count("*") > 1 or set("?[]") & set(pattern):
            fields.fail(f"{key} must be provider/model with at most one '*', got {pattern!r}")
    if "*" in match and not match.endswith("*"):
        fields.fail(f"match may hold '*' at its end only, got {match!r}")
    if "*" in to and "*" not in match:
        fields.fail(f"to {to!r} has a '*' that match {match!r} does not fill")
    return Alias(match, to, why)


def _row(raw: object, where: str) -> ModelRow:
    fields = Fields(raw, where, _ROW_KEYS)
    provider, model = fields.text("provider"), fields.text("model")
    fields.where = f"{where} ({provider}/{model})"
    valid_from, valid_to = fields.instant("valid_from"), fields.instant("valid_to")
    if valid_from is None:
        fields.fail("valid_from is missing: write the first day on which the row holds, for example 2026-03-01")
    if valid_to is not None and valid_to <= valid_from:
        fields.fail(f"goes backwards: valid_to {valid_to:%Y-%m-%d} is not after valid_from {valid_from:%Y-%m-%d}")
    lists = PriceLists(fields)
    return ModelRow(
        provider=provider,
        model=model,
        valid_from=valid_from,
        valid_to=valid_to,
        standard=lists.standard(),
        service_tiers={t: lists.variant(p, f"service_tiers.{t}") for t, p in fields.mapping("service_tiers").items()},
        batch=lists.variant(fields.raw["batch"], "batch") if "batch" in fields.raw else None,
        latency_ceiling_ms=fields.count("latency_ceiling_ms"),
        risk_level=fields.choice("risk_level", RISK_LEVELS),
        run_budget_pico_usd=fields.usd("run_budget_usd"),
    )


def _close(rows: list[ModelRow], file: str) -> list[ModelRow]:
    """Let each row end where the next of its model begins; refuse overlaps and rows out of order."""
    closed = list(rows)
    for name in dict.fromkeys(row.name for row in rows):
        places = [i for i, row in enumerate(rows) if row.name == name]
        for earlier, later in pairwise(places):
            closed[earlier] = _until(rows[earlier], rows[later], f"{file}, models[{earlier}] and models[{later}]")
    return closed


def _until(row: ModelRow, following: ModelRow, where: str) -> ModelRow:
    label = f"{row.provider}/{row.model}"
    if following.valid_from <= row.valid_from:
        msg = f"rows of {label} go backwards: {following.valid_from:%Y-%m-%d} comes after {row.valid_from:%Y-%m-%d}"
        Fields({}, where).fail(f"{msg}; list them in order of valid_from, one per instant")
    if row.valid_to is not None and row.valid_to > following.valid_from:
        msg = f"rows of {label} overlap from {following.valid_from:%Y-%m-%d} to {row.valid_to:%Y-%m-%d}"
        Fields({}, where).fail(f"{msg}; end the earlier one or leave out its valid_to")
    end = following.valid_from if row.valid_to is None else row.valid_to
    return ModelRow(**{**row.__dict__, "valid_to": end})
