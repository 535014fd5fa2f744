"""`beleg agent account`: what the tools of each role cost, and what is saved by those it is not offered."""

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beleg.cli.options import MOST, Json
from beleg.cli.output import console, print_json, show_rows
from beleg.core.errors import UsageError
from beleg.core.settings import Settings

if TYPE_CHECKING:
    from beleg.agent.toolsets import Account, CohortReport, Month
    from beleg.agent.verbs import Roles
    from beleg.contract.tokens import Counter, Estimate

COLUMNS = ("role", "tools", "tokens", "saved", "low", "high", "saved a month", "USD uncached", "USD cached")


def register(agent: typer.Typer) -> None:
    """Add the command."""
    agent.command("account")(account)


def account(
    target: Annotated[str, typer.Argument(help="MODULE:NAME of a beleg.agent.verbs.Roles. The module is run.")],
    *,
    family: Annotated[
        str | None, typer.Option(help="Family of models to count in; default: that of the roles.")
    ] = None,
    requests: Annotated[int, typer.Option(min=0, max=MOST, help="Requests a month.")] = 100_000,
    price: Annotated[str | None, typer.Option(help="USD per million input tokens, for example 3.00.")] = None,
    cached_price: Annotated[str | None, typer.Option(help="USD per million tokens read from the cache.")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Count with the family's tokenizer (beleg[tokens]).")] = False,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Correct the estimate by what providers reported of traced requests.")
    ] = False,
    max_tokens: Annotated[
        int | None, typer.Option(min=0, max=MOST, help="Fail where a role's tools may cost more.")
    ] = None,
    json: Json = False,
) -> None:
    """Account for the tools of each role in tokens and money; exit 1 where a role is past --max-tokens.

    Example: beleg agent account beleg.agent.example.agent:ROLES --price 1.25 --cached-price 0.125
    """
    from beleg.agent.toolsets import account as account_of
    from beleg.agent.toolsets import cohorts, month
    from beleg.agent.verbs.roles import load_roles

    roles = load_roles(target)
    counted_in = family or roles.family
    by = _counter(roles, counted_in, exact=exact, calibrate=calibrate)
    prices = (_micro_usd("--price", price), _micro_usd("--cached-price", cached_price))
    accounts = {
        name: account_of(roles.toolset.for_context(context).cohort, counted_in, by=by)
        for name, context in roles.contexts.items()
    }
    report = cohorts(roles.toolset, roles.contexts, counted_in, by=by)
    months = {
        name: month(each.saved_tokens, requests, price=prices[0], cached_price=prices[1])
        for name, each in accounts.items()
    }
    if json:
        print_json(_document(counted_in, accounts, months, report))
    else:
        _show(accounts, months, report)
    over = [name for name, each in accounts.items() if max_tokens is not None and each.offered_tokens.high > max_tokens]
    if over:
        console(stderr=True).print(f"past {max_tokens} tokens of tools: {', '.join(over)}")
        raise typer.Exit(1)


def _counter(roles: "Roles", family: str, *, exact: bool, calibrate: bool) -> "Counter":
    """How tokens are counted; a calibration that the traces do not give is said, and the estimate stands."""
    from beleg.agent.calibration import CannotCalibrate
    from beleg.agent.toolsets.account import tools_tokens
    from beleg.contract.tokens import count, estimate

    if exact and calibrate:
        raise UsageError("--exact counts and --calibrate corrects an estimate: give one of them")
    if not calibrate:
        return count if exact else estimate
    from beleg.ask.calibration import calibration

    found = (roles.toolset.for_context(context).cohort for context in roles.contexts.values())
    try:
        return calibration(
            Settings.load(), {each.digest: tools_tokens(each.tools, family).tokens for each in found}, family
        ).by
    except CannotCalibrate as error:
        console(stderr=True).print(f"not calibrated: {error}")
        return estimate


def _micro_usd(option: str, text: str | None) -> int | None:
    """A price in USD as whole micro-USD; raises UsageError for what is none."""
    try:
        value = None if text is None else Decimal(text) * 1_000_000
    except InvalidOperation:
        value = Decimal("NaN")
    if value is not None and (not value.is_finite() or value < 0 or value != int(value)):
        raise UsageError(f"{option} is {text!r}; it must be USD per million tokens with at most six decimals")
    return None if value is None else int(value)


def _usd(micro_usd: int | None) -> str | None:
    return None if micro_usd is None else f"{Decimal(micro_usd).scaleb(-6):.2f}"


def _show(accounts: "dict[str, Account]", months: "dict[str, Month]", report: "CohortReport") -> None:
    rows = [
        [
            name,
            len(each.tools),
            each.offered_tokens.tokens,
            each.saved_tokens.tokens,
            each.saved_tokens.low,
            each.saved_tokens.high,
            months[name].tokens.tokens,
            _usd(months[name].uncached_micro_usd),
            _usd(months[name].cached_micro_usd),
        ]
        for name, each in accounts.items()
    ]
    show_rows("Tools per role, in tokens of every request", COLUMNS, rows, numbers=COLUMNS[1:])
    omitted = [
        [name, o.group, len(o.tools), o.saves.tokens, o.reason] for name, a in accounts.items() for o in a.omissions
    ]
    show_rows("Left out", ("role", "group", "tools", "tokens", "why"), omitted, numbers=("tools", "tokens"))
    shared = [
        [s.first, s.second, s.tools, s.tokens.tokens, f"{s.share:.0%}", f"{s.share_by_name:.0%}"] for s in report.shared
    ]
    columns = ("cohort", "other cohort", "shared tools", "shared tokens", "share", "sorted by name")
    show_rows("Shared prefix", columns, shared, numbers=columns[2:])
    for said in (*report.warnings, *(f"{name}: {said}" for name, each in accounts.items() for said in each.warnings)):
        console(stderr=True).print(said)


def _document(
    family: str, accounts: "dict[str, Account]", months: "dict[str, Month]", report: "CohortReport"
) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "family": family,
        "roles": {name: _role(each, months[name]) for name, each in accounts.items()},
        "shared": [
            {
                "cohorts": [each.first, each.second],
                "tools": each.tools,
                "tokens": _tokens(each.tokens),
                "share": round(each.share, 4),
                "share_by_name": round(each.share_by_name, 4),
            }
            for each in report.shared
        ],
        "warnings": list(report.warnings),
    }


def _role(each: "Account", monthly: "Month") -> dict[str, Any]:
    return {
        "cohort": each.cohort,
        "tools": {name: tokens.tokens for name, tokens in each.tools},
        "offered": _tokens(each.offered_tokens),
        "core": _tokens(each.core_tokens),
        "saved": _tokens(each.saved_tokens),
        "left_out": [
            {"group": o.group, "reason": o.reason, "tools": list(o.tools), "saves": _tokens(o.saves)}
            for o in each.omissions
        ],
        "saved_a_month": {
            "requests": monthly.requests,
            "tokens": _tokens(monthly.tokens),
            "uncached_usd": _usd(monthly.uncached_micro_usd),
            "cached_usd": _usd(monthly.cached_micro_usd),
        },
        "warnings": list(each.warnings),
    }


def _tokens(each: "Estimate") -> dict[str, Any]:
    return {"tokens": each.tokens, "low": each.low, "high": each.high, "tokenizer": each.tokenizer}
