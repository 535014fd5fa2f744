"""The comparison of prompt variables: callers write them and the prompt reads, so the direction turns round."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from beleg.contract.compat.documents import escaped
from beleg.contract.compat.engine import compare
from beleg.contract.compat.verdict import NO_WITNESS, Change, Comparison, Schema, SchemaError, in_order, worst

Variables = Mapping[str, Mapping[str, Any]]


def compare_inputs(old_variables: Variables, new_variables: Variables, *, time_limit_s: float = 5.0) -> Comparison:
    """What new prompt variables mean for the callers of a feature.

    Variables are `{name: {"schema": …, "required": bool}}`. `reader_safe` tells whether the new prompt takes
    everything that callers may send today, `rollback_safe` whether the old one takes what callers may send then.
    Rules are those of the comparison from the new schema to the old one. A witness is an object of variables;
    its kind is `reader` where the new prompt refuses what was accepted. Each variable has `time_limit_s`
    seconds. Raises SchemaError for what is no such mapping.
    """
    found = [_one(name, old_variables, new_variables, time_limit_s) for name in {**old_variables, **new_variables}]
    return Comparison(
        worst([each.bump for each in found]),
        in_order([change for each in found for change in each.changes]),
        reader_safe=all(each.reader_safe for each in found),
        rollback_safe=all(each.rollback_safe for each in found),
        unprovable=any(each.unprovable for each in found),
    )


def _one(name: str, olds: Variables, news: Variables, time_limit_s: float) -> Comparison:
    place = f"/{escaped(name)}"
    if name not in olds:
        return _added(name, place, required=_required(name, news))
    if name not in news:
        text = f"Variable “{name}” is gone; what callers still send for it is ignored."
        return Comparison("minor", (Change("R04", "minor", place, text),), rollback_safe=not _required(name, olds))
    found = _both(name, place, _schema(name, olds), _schema(name, news), time_limit_s)
    was, is_now = _required(name, olds), _required(name, news)
    if was == is_now:
        return found
    return _presence(found, name, place, required=is_now)


def _added(name: str, place: str, *, required: bool) -> Comparison:
    if required:
        text = f"Variable “{name}” is new and required: callers do not send it yet."
        return Comparison("major", (Change("R02", "major", place, text, {}, "reader"),), reader_safe=False)
    return Comparison("minor", (Change("R01", "minor", place, f"Optional variable “{name}” is new."),))


def _presence(found: Comparison, name: str, place: str, *, required: bool) -> Comparison:
    if required:
        text = f"Variable “{name}” is now required: callers may leave it out today."
        change = Change("R02", "major", place, text, {}, "reader")
        return replace(found, bump="major", changes=in_order([*found.changes, change]), reader_safe=False)
    change = Change("R01", "minor", place, f"Variable “{name}” may now be left out.")
    bump = worst([found.bump, "minor"])
    return replace(found, bump=bump, changes=in_order([*found.changes, change]), rollback_safe=False)


def _both(name: str, place: str, old: Schema, new: Schema, time_limit_s: float) -> Comparison:
    turned = compare(new, old, time_limit_s=time_limit_s)
    accepted = replace(turned, changes=(), bump=turned.bump if turned.bump in {"none", "patch"} else "minor")
    if turned.bump == "none":
        return accepted
    first = turned.changes[0]
    if turned.bump == "patch":
        return replace(accepted, changes=(Change("R40", "patch", place, f"A note on variable “{name}” changed."),))
    if turned.reader_safe:
        text = f"The schema of variable “{name}” changed; all that callers may send today is still accepted."
        return replace(accepted, changes=(Change(first.rule, "minor", place, text),))
    text = f"Variable “{name}” accepts less than before."
    if turned.unprovable:
        text = f"That variable “{name}” still accepts what callers send could not be proved: {first.sentence}"
        return replace(accepted, bump="major", changes=(Change("R62", "major", place, text),))
    proof = next(change for change in turned.changes if change.witness_kind == "reader")
    text = f"{text} It refuses, for example, {_short(proof.witness)}."
    return replace(
        accepted, bump="major", changes=(Change(proof.rule, "major", place, text, {name: proof.witness}, "reader"),)
    )


def _short(value: Any) -> str:
    text = "nothing" if value is NO_WITNESS else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _required(name: str, variables: Variables) -> bool:
    return bool(_variable(name, variables).get("required", False))


def _schema(name: str, variables: Variables) -> Schema:
    schema: Schema = _variable(name, variables).get("schema", True)
    return schema


def _variable(name: str, variables: Variables) -> Mapping[str, Any]:
    found = variables[name]
    if not isinstance(found, Mapping):
        msg = f"variable {name!r} is {type(found).__name__}; it must be an object with schema and required"
        raise SchemaError(msg)
    return found
