"""Commands that only look: status, lint, diff, history, show, snippet."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from beleg.cli.contract import place
from beleg.cli.contract import show as shown
from beleg.cli.contract.place import FeatureName
from beleg.cli.options import Json
from beleg.cli.output import print_json, show_rows
from beleg.core.errors import CheckFailed, UsageError

if TYPE_CHECKING:
    from beleg.contract.draft import Feature
    from beleg.contract.lint import Finding
    from beleg.contract.model import Contract
    from beleg.contract.promotion import Readiness
    from beleg.contract.registry.records import Release

COLUMNS = ("feature", "state", "active", "draft", "tier", "owner", "errors", "in the way")
DRAFT = "draft"


def status(
    name: Annotated[
        str | None, typer.Argument(metavar="[FEATURE]", help="One feature with all that is missing.")
    ] = None,
    json: Json = False,
) -> None:
    """Show every feature's state, or what stands between one feature's draft and its publication.

    Example: beleg contract status receipt-extraction
    """
    if name is not None:
        _status_of(name, json=json)
        return
    from beleg.contract import draft

    rows = [_row(each) for each in draft.features(place.project())]
    if json:
        print_json({"schema_version": 1, "features": rows})
        return
    show_rows(
        "Features", COLUMNS, [[row[c] for c in COLUMNS] for row in rows], numbers=("tier", "errors", "in the way")
    )


def _status_of(name: str, *, json: bool) -> None:
    feature = place.feature(name)
    found = readiness(feature)
    if json:
        print_json({"schema_version": 1, **_row(feature, found), "readiness": found.to_dict()})
        return
    shown.facts({c: value for c, value in _row(feature, found).items() if c not in {"errors", "in the way"}})
    shown.readiness(found)


def readiness(feature: "Feature") -> "Readiness":
    """The dry run of publishing a feature's draft."""
    from beleg.contract import draft
    from beleg.contract.promotion import check

    return check(feature, draft.read(feature), place.registry(), ask=place.ask())


def _row(feature: "Feature", found: "Readiness | None" = None) -> dict[str, Any]:
    from datetime import UTC, datetime

    from beleg.contract.lifecycle import state

    head = place.registry().head(feature.name)
    row: dict[str, Any] = {
        "feature": feature.name,
        "state": state(head, datetime.now(UTC).date()),
        "active": head and head.active.version,
        "sunset_on": head and head.sunset_on,
        "owner": feature.owner,
        "workflow": feature.workflow,
    }
    return {**row, **_draft_of(feature, found, None if head is None else head.active.digest)}


def _draft_of(feature: "Feature", found: "Readiness | None", active: str | None) -> dict[str, Any]:
    from beleg.contract import draft

    nothing = {"draft": None, "tier": None, "errors": None, "in the way": None}
    if not feature.draft.is_dir():
        return nothing
    try:
        contract = draft.read(feature)
        found = found or readiness(feature)
    except UsageError as error:
        return {**nothing, "draft": f"unreadable: {error}"}
    same = contract.digest == active
    return {
        "draft": "as published" if same else f"would be {found.version}",
        "tier": contract.risk_tier,
        "errors": sum(each.severity == "error" for each in found.findings),
        "in the way": None if same else len(found.blockers),
    }


def lint(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[FEATURE]...", help="All features if none is named.")
    ] = None,
    json: Json = False,
) -> None:
    """Check drafts against the rules of docs/contract/lint.md; exit code 1 where one has an error.

    What only publishing asks for (approvals, evidence, confirmation) is left to `beleg contract status FEATURE`.

    Example: beleg contract lint receipt-extraction
    """
    from beleg.contract import draft

    features = [place.feature(each) for each in names or ()] or draft.features(place.project())
    found: dict[str, tuple[Finding, ...]] = {}
    unreadable: dict[str, str] = {}
    for each in (one for one in features if one.draft.is_dir()):
        try:
            found[each.name] = _of_draft(each)
        except UsageError as error:  # the others are looked at all the same
            unreadable[each.name] = str(error)
    if json:
        rows = [{"feature": name, **each.to_dict()} for name, findings in found.items() for each in findings]
        print_json({"schema_version": 1, "findings": rows, "unreadable": unreadable})
    else:
        for name, findings in found.items():
            shown.say((name, "bold"))
            shown.findings(findings)
        for name, why in unreadable.items():
            shown.say((name, "bold"))
            shown.say(("✗", "bold red"), f" {why}")
    failing = [name for name, each in found.items() if any(f.severity == "error" for f in each)]
    if failing or unreadable:
        raise CheckFailed(f"lint found errors in {', '.join((*failing, *unreadable))}")


def _of_draft(feature: "Feature") -> tuple["Finding", ...]:
    """Findings on the draft itself: whoever still works on it has no approvals, no evidence, perhaps no registry."""
    from dataclasses import replace
    from datetime import UTC, datetime

    from beleg.contract import draft
    from beleg.contract.lint import lint
    from beleg.contract.promotion.case import gather

    contract = draft.read(feature)
    facts = gather(feature, contract, place.registry(), place.ask(confirm_breaking=True), datetime.now(UTC)).facts
    known = {"catalogue": facts.catalogue or None, "risk_levels": facts.risk_levels or None}
    return lint(contract, replace(facts, approvals=None, evidence=None, **known))  # type: ignore[arg-type]


def diff(
    name: FeatureName,
    old: Annotated[str | None, typer.Option("--from", help="A published version; default: the active one.")] = None,
    new: Annotated[str, typer.Option("--to", help="A published version, or draft.")] = DRAFT,
    json: Json = False,
) -> None:
    """Review what changes: for whom it breaks and why, then every part line by line.

    Example: beleg contract diff receipt-extraction --from 1.0.0
    """
    from beleg.contract import semver

    before, after = contract_of(name, old), contract_of(name, new)
    found = semver.assess([(before[0], before[1])], before[0], after[1])
    if json:
        print_json(
            {"schema_version": 1, "feature": name, "from": before[0], "to": after[0], "comparison": found.to_dict()}
        )
        return
    shown.assessment(found, after[0])
    shown.texts(before[1], after[1], (before[0], after[0]))


def contract_of(name: str, version: str | None) -> tuple[str, "Contract"]:
    """(version, contract) of a published version, the active one (None) or the draft."""
    from beleg.contract import draft

    if version == DRAFT:
        return DRAFT, draft.read(place.feature(name))
    release = release_of(name, version)
    return release.version, release.contract


def release_of(name: str, version: str | None) -> "Release":
    """A published version, or the active one; raises UsageError that lists those there are."""
    registry = place.registry()
    if version is None:
        active = registry.active(name)
        if active is None:
            raise UsageError(f"{name} was never published; see: beleg contract status {name}")
        return active
    releases = {each.version: each for each in registry.releases(name)}
    if version not in releases:
        raise UsageError(f"{name} {version!r} was not published; there are: {', '.join(releases) or 'none'}")
    return releases[version]


def history(name: FeatureName, json: Json = False) -> None:
    """Who did what to a feature, when and why.

    Example: beleg contract history receipt-extraction
    """
    registry = place.registry()
    entries = registry.history(name)
    if not entries:
        raise UsageError(f"{name} was never published; there are: {', '.join(registry.features()) or 'none'}")
    rows = [
        {"epoch": e.epoch, "verb": e.verb, "version": e.head["active"]["version"], "at": e.at, "by": e.by, "why": e.why}
        for e in entries
    ]
    if json:
        print_json({"schema_version": 1, "feature": name, "entries": rows})
        return
    columns = ("epoch", "verb", "version", "at", "by", "why")
    show_rows(f"History of {name}", columns, [[row[c] for c in columns] for row in rows], numbers=("epoch",))


def show(
    name: FeatureName,
    version: Annotated[str | None, typer.Option(help="A published version or draft; default: the active one.")] = None,
    json: Json = False,
) -> None:
    """Show one version of a contract, as it is run.

    Example: beleg contract show receipt-extraction --version 1.1.0
    """
    found, contract = contract_of(name, version)
    whole = contract.document()
    if json:
        print_json(
            {"schema_version": 1, "feature": name, "version": found, "digest": contract.digest, "contract": whole}
        )
        return
    primary = contract.providers.primary
    shown.facts(
        {
            "feature": name,
            "version": found,
            "digest": contract.digest,
            "risk tier": contract.risk_tier,
            "model": f"{primary.provider}/{primary.model}",
            "fallbacks": ", ".join(f"{each.provider}/{each.model}" for each in contract.providers.fallbacks) or None,
            "tools": ", ".join(f"{each.name} {each.version}" for each in contract.tools) or None,
            "variables": ", ".join(each.name for each in contract.prompt.variables) or None,
            "note": contract.change_note or None,
        }
    )
    for title, text in (("system", contract.prompt.system), ("user", contract.prompt.user)):
        shown.say((f"\n# {title}", "bold"))
        shown.lines(text)
    shown.say(("\n# output schema", "bold"))
    shown.lines(shown.pretty(whole["output_schema"]))


def snippet(
    name: FeatureName,
    version: Annotated[str | None, typer.Option(help="A published version; default: the active one.")] = None,
    json: Json = False,
) -> None:
    """Print the Python that runs a released version, ready to paste.

    Example: beleg contract snippet receipt-extraction
    """
    from beleg.contract.snippet import snippet as made

    release = release_of(name, version)
    text = made(release)
    if json:
        print_json({"schema_version": 1, "feature": name, "version": release.version, "snippet": text})
        return
    typer.echo(text)
