"""Commands by which a person decides: approve, publish, roll back, deprecate, sunset."""

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beleg.cli.contract import place
from beleg.cli.contract import show as shown
from beleg.cli.contract.place import By, FeatureName, Why
from beleg.cli.options import Json
from beleg.cli.output import print_json
from beleg.core.errors import CheckFailed, UsageError

if TYPE_CHECKING:
    from beleg.contract.promotion import Readiness

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Confirm without being asked.")]


def approve(
    name: FeatureName,
    by: By = None,
    key: Annotated[Path | None, typer.Option(help="Private SSH key to sign with.")] = None,
    json: Json = False,
) -> None:
    """Vouch for a feature's draft as it stands now; any change of the draft voids it.

    Example: beleg contract approve receipt-extraction --by "Ada Berg"
    """
    from beleg.contract import approvals, draft
    from beleg.contract.lifecycle import check_changeable

    feature = place.feature(name)
    check_changeable(place.registry().head(name))
    made = approvals.approve(feature, draft.read(feature).digest, by=place.person(by), key=key)
    if json:
        print_json({"schema_version": 1, **made.to_json()})
        return
    shown.say(f"{made.by} approved {name}, digest {made.digest[:12]}", "" if made.signature is None else ", signed")


def publish(
    name: FeatureName,
    *,
    by: By = None,
    yes: Yes = False,
    confirm_breaking: Annotated[bool, typer.Option(help="A new major version is meant.")] = False,
    bump: Annotated[str | None, typer.Option(help="A higher bump than the changes ask for: minor or major.")] = None,
    override: Annotated[
        str | None, typer.Option("--override-inconclusive", help="Why you take an inconclusive gate on yourself.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Judge only; exit code 1 where it is not ready.")] = False,
    json: Json = False,
) -> None:
    """Make a feature's draft the active version, if nothing is in the way; prints the snippet that runs it.

    Example: beleg contract publish receipt-extraction --by "Ada Berg"
    """
    from beleg.contract import draft, promotion
    from beleg.contract.snippet import snippet

    feature, registry, who = place.feature(name), place.registry(), place.person(by)
    contract = draft.read(feature)
    ask = place.ask(confirm_breaking=confirm_breaking, bump=bump, override=override, by=who)
    found = promotion.check(feature, contract, registry, ask=ask)
    if not json:
        shown.readiness(found)
    if not found.ready:
        if json:
            print_json({"schema_version": 1, "published": None, "readiness": found.to_dict()})
        count = f"{len(found.blockers)} {'thing is' if len(found.blockers) == 1 else 'things are'}"
        raise CheckFailed(f"{name} {found.version} cannot be published: {count} in the way")
    if dry_run:
        if json:
            print_json({"schema_version": 1, "published": None, "readiness": found.to_dict()})
        return
    _confirm(found, who, yes=yes)
    made = promotion.publish(feature, contract, registry, by=who, digest=found.digest, epoch=found.epoch, ask=ask)
    if json:
        told = {"published": made.version, "digest": made.digest, "readiness": found.to_dict()}
        print_json({"schema_version": 1, **told, "snippet": snippet(made)})
        return
    shown.say(("published", "bold green"), f": {name} {made.version} is active now. It runs with:\n")
    typer.echo(snippet(made))


def _confirm(found: "Readiness", who: str, *, yes: bool) -> None:
    if yes:
        return
    if not confirmed(f"{who}, make {found.feature} {found.version} ({found.digest[:12]}) the active version?"):
        raise CheckFailed("not published: not confirmed")


def confirmed(question: str) -> bool:
    """Whether the user says yes; raises UsageError where nobody can be asked."""
    try:
        return typer.confirm(question, err=True)
    except typer.Abort:
        raise UsageError("not confirmed; where nobody can be asked, --yes confirms") from None


def rollback(
    name: FeatureName,
    *,
    to: Annotated[str, typer.Option(help="The published version to return to.")],
    why: Why,
    by: By = None,
    yes: Yes = False,
    deadline: Annotated[
        str | None, typer.Option(help="Until when readers of a major that is left may stay, YYYY-MM-DD.")
    ] = None,
    json: Json = False,
) -> None:
    """Make an earlier version active again, in one step; shows first what that means for readers.

    Example: beleg contract rollback receipt-extraction --to 1.1.0 --why "totals wrong since 1.2.0"
    """
    from beleg.cli.contract.look import contract_of, release_of
    from beleg.contract import promotion, semver

    registry, who = place.registry(), place.person(by)
    active, target = release_of(name, None), contract_of(name, to)
    head = registry.head(name)
    if not json:
        shown.assessment(semver.assess([(active.version, active.contract)], active.version, target[1]), to)
    if not yes and not confirmed(f"{who}, make {name} {to} active instead of {active.version}?"):
        raise CheckFailed("not rolled back: not confirmed")
    until = None if deadline is None else day(deadline, "--deadline")
    epoch = None if head is None else head.epoch
    done = promotion.rollback(
        registry, name, to, by=who, why=why, epoch=epoch, deadline=until, policies=place.policies()
    )
    if json:
        print_json({"schema_version": 1, "feature": name, "active": done.head.active.version, **done.to_dict()})
        return
    shown.say(f"{name} {done.head.active.version} is active again, before it was {done.previous}")


def deprecate(
    name: FeatureName,
    why: Why,
    by: By = None,
    on: Annotated[str | None, typer.Option("--sunset-on", help="The day it ends, YYYY-MM-DD.")] = None,
    json: Json = False,
) -> None:
    """Tell readers to leave a feature; with a date it is on its way out and can no longer be changed.

    Example: beleg contract deprecate old-matching --why "replaced by bank-reconciliation"
    """
    from beleg.contract import lifecycle

    end = None if on is None else day(on, "--sunset-on")
    head = lifecycle.deprecate(
        place.registry(), name, by=place.person(by), why=why, sunset_on=end, policies=place.policies()
    )
    _told(name, head.state, head.sunset_on, json=json)


def sunset(
    name: FeatureName,
    on: Annotated[str, typer.Option("--on", help="From this UTC day on it is gone, YYYY-MM-DD.")],
    why: Why,
    by: By = None,
    json: Json = False,
) -> None:
    """Set the day from which a feature refuses to run; until then it runs and warns.

    Example: beleg contract sunset old-matching --on 2027-03-01 --why "no reader left"
    """
    from beleg.contract import lifecycle

    head = lifecycle.sunset(
        place.registry(), name, by=place.person(by), why=why, on=day(on, "--on"), policies=place.policies()
    )
    _told(name, head.state, head.sunset_on, json=json)


def _told(name: str, state: str, end: date | None, *, json: bool) -> None:
    if json:
        print_json({"schema_version": 1, "feature": name, "state": state, "sunset_on": end})
        return
    shown.say(f"{name} is {state}", "" if end is None else f"; it ends on {end} and warns until then")


def day(text: str, option: str) -> date:
    """A date as the user typed it; raises UsageError."""
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"{option} {text!r} is no date; write YYYY-MM-DD") from error
