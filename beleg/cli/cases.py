"""`beleg cases`: what people accept becomes frozen cases, and datasets of them."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beleg.cli.contract import place
from beleg.cli.contract.place import By
from beleg.cli.options import MOST, Json
from beleg.cli.output import console, print_json, printable, show_rows
from beleg.core.errors import UsageError
from beleg.core.settings import Settings

if TYPE_CHECKING:
    from beleg.evals.cases.case import Case
    from beleg.evals.cases.dataset import Dataset
    from beleg.evals.cases.decide import Decided
    from beleg.evals.cases.pen import Person

Why = Annotated[str, typer.Option("--why", help="The reason, in a few words.")]
DatasetName = Annotated[str | None, typer.Option("--dataset", help="Name of the dataset; default: the draft's.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    noun = typer.Typer(help="Accept corrections, freeze them into cases, keep datasets.", no_args_is_help=True)
    commands: dict[str, Callable[..., None]] = {
        "accept": accept,
        "reject": reject,
        "freeze": freeze,
        "pending": pending,
        "conflicts": conflicts,
        "settle": settle,
        "list": list_,
        "show": show,
        "diff": diff,
        "verify": verify,
        "retire": retire,
        "add": add,
        "import": import_,
    }
    for name, command in commands.items():
        noun.command(name)(command)
    app.add_typer(noun, name="cases")


def accept(
    subject: Annotated[str, typer.Argument(help="Id of a correction or finding; a finding means all its corrections.")],
    *,
    why: Why,
    by: By = None,
    critical: Annotated[bool, typer.Option("--critical", help="No version may get this case wrong again.")] = False,
    family: Annotated[
        str | None, typer.Option(help="Cases that stand or fall together, for example a supplier.")
    ] = None,
    slices: Annotated[list[str] | None, typer.Option("--slice", help="NAME=VALUE; may be given again.")] = None,
    input_ref: Annotated[str | None, typer.Option(help="Where the input is, if the correction does not say.")] = None,
    expected: Annotated[str | None, typer.Option(help="What is right instead, as JSON.")] = None,
    json: Json = False,
) -> None:
    """Accept a correction or finding: the next freeze makes cases of it.

    Example: beleg cases accept 019b0a3e-7c1f-7a20-9d31-5f0c2b8e6a44 --why "seen on the invoice"
    """
    from beleg.evals.cases import decide

    wish = decide.Wish(critical, family, _pairs(slices or []), input_ref, _value("--expected", expected))
    _decided(decide.accept(Settings.load(), subject, _person(by, why), wish), json=json)


def reject(
    subject: Annotated[str, typer.Argument(help="Id of a correction or finding.")],
    *,
    why: Why,
    by: By = None,
    json: Json = False,
) -> None:
    """Turn a correction or finding down; what was frozen from it is retired by the next freeze.

    Example: beleg cases reject 019b0a3e-7c1f-7a20-9d31-5f0c2b8e6a44 --why "the invoice says otherwise"
    """
    from beleg.evals.cases import decide

    _decided(decide.reject(Settings.load(), subject, _person(by, why)), json=json)


def settle(
    case: Annotated[str, typer.Argument(help="case_id of the conflict.")],
    *,
    field: Annotated[str, typer.Option(help="The field in dispute; an empty text is the whole result.")],
    why: Why,
    by: By = None,
    correction: Annotated[str | None, typer.Option(help="The correction that is right.")] = None,
    expected: Annotated[str | None, typer.Option(help="What is right instead, as JSON.")] = None,
    json: Json = False,
) -> None:
    """Say what is right where two people disagree; the next freeze takes the case in.

    Example: beleg cases settle 3f0c2b8e6a44019b0a3e7c1f --field /gross --expected 119.0 --why "read on paper"
    """
    from beleg.evals.cases import decide

    value = _value("--expected", expected)
    settings, who = Settings.load(), _person(by, why)
    _decided(decide.settle(settings, case, field, who, correction=correction, expected=value), json=json)


def freeze(*, json: Json = False) -> None:
    """Take in what was decided, freeze everything accepted, and show it to analysts.

    Example: beleg cases freeze
    """
    from beleg import flow, learn

    settings = Settings.load()
    flow.ingest(settings)
    made = learn.freeze(settings)
    flow.publish(settings)
    if json:
        print_json(
            {
                "schema_version": 1,
                "cases": len(made.cases),
                "written": list(made.written),
                "datasets": [_version(each) for each in made.datasets],
                "conflicts": len(made.conflicts),
                "pending": len(made.pending),
            }
        )
        return
    out = console()
    out.print(f"{len(made.cases)} cases stand, {len(made.written)} files are new")
    for each in made.datasets:
        out.print(f"{each.name} is at version {each.version}: {len(each.members)} cases, digest {each.digest}")
    if made.conflicts:
        out.print(f"{len(made.conflicts)} conflicts wait for a person: beleg cases conflicts")
    if made.pending:
        out.print(f"{len(made.pending)} accepted subjects are in no dataset: beleg cases pending")


def pending(
    *,
    undecided: Annotated[bool, typer.Option("--undecided", help="What nobody decided on yet, instead.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=MOST, help="At most so many undecided ones.")] = 50,
    json: Json = False,
) -> None:
    """List what was accepted and is in no dataset, with the reason.

    Example: beleg cases pending --undecided --limit 10
    """
    from beleg.evals.cases.freeze import look
    from beleg.evals.cases.sources import undecided as find_undecided

    if undecided:
        found = find_undecided(Settings.load(), limit=limit)
        columns = ("correction_id", "workflow", "field", "reason", "run_id", "unbound_reason", "event_time")
        return _listed("corrections nobody decided on", "undecided", columns, found, json=json)
    rows = [
        {"subject": each.subject, "code": each.code, "reason": each.reason, "by": each.by, "at": each.at}
        for each in look(Settings.load()).pending
    ]
    return _listed("accepted, in no dataset", "pending", ("subject", "reason", "by", "at"), rows, json=json)


def conflicts(*, json: Json = False) -> None:
    """List the fields on which people disagree, with their corrections.

    Example: beleg cases conflicts
    """
    from beleg.evals.cases.freeze import look

    rows = [
        {
            "case_id": each.case_id,
            "feature": each.feature,
            "input_ref": each.input_ref,
            **word._asdict(),
            "field": each.field,
        }
        for each in look(Settings.load()).conflicts
        for word in each.words
    ]
    columns = ("case_id", "feature", "input_ref", "field", "correction", "hash", "accepted_by", "accepted_at")
    _listed("words in conflict", "conflicts", columns, rows, json=json)


def list_(
    dataset: Annotated[str | None, typer.Argument(help="Its cases; default: all datasets.")] = None,
    *,
    version: Annotated[int | None, typer.Option(min=1, max=MOST, help="A version; default: the latest.")] = None,
    json: Json = False,
) -> None:
    """List datasets, or the cases of one.

    Example: beleg cases list receipts-2026-08
    """
    from beleg.evals.cases import dataset as datasets

    project = place.project()
    if dataset is None:
        rows = [_version(datasets.Dataset.load(project, name)) for name in datasets.names(project)]
        columns = ("name", "feature", "version", "cases", "retired", "digest")
        return _listed("datasets", "datasets", columns, rows, json=json)
    found = datasets.Dataset.load(project, dataset, version)
    columns = ("case_id", "input_ref", "fields", "family", "critical", "digest")
    title = f"{found.name} version {found.version}"
    return _listed(f"cases in {title}", "cases", columns, [_short(each) for each in found.cases()], json=json)


def show(
    case: Annotated[str, typer.Argument(help="case_id or digest.")],
    *,
    dataset: DatasetName = None,
    json: Json = False,
) -> None:
    """Show a frozen case: what is expected, and who says so.

    Example: beleg cases show 3f0c2b8e6a44019b0a3e7c1f
    """
    from beleg.evals.cases.case import file_text
    from beleg.evals.cases.edit import find_case

    found = find_case(place.project(), case, dataset)
    if json:
        print_json({"schema_version": 1, "digest": found.digest, "case": found.document()})
        return
    out = console()
    out.print(f"digest {found.digest}")
    for line in file_text(found.document()).splitlines():
        out.print(printable(line))


def diff(
    dataset: Annotated[str, typer.Argument(help="Name of the dataset.")],
    older: Annotated[int, typer.Argument(min=1, max=MOST, help="A version.")],
    newer: Annotated[int | None, typer.Argument(min=1, max=MOST, help="A later one; default: the latest.")] = None,
    json: Json = False,
) -> None:
    """Say what changed between two versions, and how much: patch, minor or major.

    Example: beleg cases diff receipts-2026-08 3 4
    """
    from beleg.evals.cases.dataset import Dataset
    from beleg.evals.cases.diff import compare

    project = place.project()
    found = compare(Dataset.load(project, dataset, older), Dataset.load(project, dataset, newer)).document()
    if json:
        print_json({"schema_version": 1, "dataset": dataset, **found})
        return
    bump = found.pop("bump")
    rows = [[what, case_id] for what, ids in found.items() for case_id in ids]
    show_rows(f"{bump}: {len(rows)} cases differ", ("what", "case_id"), rows)


def verify(*, json: Json = False) -> None:
    """Compute every digest again, and hold every version of a dataset against the one before.

    Example: beleg cases verify
    """
    from beleg.evals.cases.verify import verify as look

    found = look(place.project())
    if json:
        counts = {"cases": found.cases, "manifests": found.manifests}
        print_json({"schema_version": 1, **counts, "problems": list(found.problems)})
    else:
        for each in found.problems:
            console(stderr=True).print(each)
        console().print(f"{found.cases} cases and {found.manifests} manifests, {len(found.problems)} problems")
    if found.problems:
        raise typer.Exit(4)


def retire(
    case: Annotated[str, typer.Argument(help="case_id.")],
    *,
    why: Why,
    by: By = None,
    json: Json = False,
) -> None:
    """Take a case out of every dataset that holds it, for good.

    Example: beleg cases retire 3f0c2b8e6a44019b0a3e7c1f --why "the document was deleted"
    """
    from beleg.evals.cases import edit

    _versions(edit.retire(Settings.load(), case, _person(by, why)), json=json)


def add(
    cases: Annotated[list[str], typer.Argument(help="case_ids or digests.")],
    *,
    why: Why,
    by: By = None,
    dataset: DatasetName = None,
    json: Json = False,
) -> None:
    """Put frozen cases into a dataset, retired ones too.

    Example: beleg cases add 3f0c2b8e6a44019b0a3e7c1f --dataset hard-receipts --why "typical of handwriting"
    """
    from beleg.evals.cases import edit

    _versions([edit.add(Settings.load(), cases, _person(by, why), dataset=dataset)], json=json)


def import_(
    file: Annotated[Path, typer.Argument(help="A .csv or .jsonl file.")],
    *,
    feature: Annotated[str, typer.Option(help="Feature that the cases test.")],
    dataset: Annotated[str, typer.Option(help="Dataset to put them into.")],
    why: Why,
    by: By = None,
    json: Json = False,
) -> None:
    """Freeze cases that exist already; inputs are fingerprinted and dropped.

    Example: beleg cases import old.csv --feature receipt-extraction --dataset receipts-2026-08 --why "old test set"
    """
    from beleg.evals.cases.imports import import_cases

    made = import_cases(Settings.load(), file, feature, dataset, _person(by, why))
    if json:
        told = {"rows": made.rows, "changed": list(made.changed), "dataset": _version(made.dataset)}
        print_json({"schema_version": 1, **told})
        return
    version = f"{made.dataset.name} is at version {made.dataset.version}"
    console().print(f"{made.rows} rows, {len(made.changed)} cases are new or know more; {version}")


def _person(by: str | None, why: str) -> "Person":
    from beleg.evals.cases.pen import Person

    return Person(place.person(by), why)


def _pairs(given: list[str]) -> dict[str, str]:
    pairs = [each.partition("=") for each in given]
    if wrong := [name for name, equals, value in pairs if not (name and equals and value)]:
        raise UsageError(f"--slice {wrong[0]!r} has no name or no value: write NAME=VALUE")
    return {name: value for name, _, value in pairs}


def _value(option: str, text: str | None) -> Any:
    from beleg.evals.cases.case import UNKNOWN
    from beleg.evals.cases.values import json_value

    if text is None:
        return UNKNOWN
    try:
        return json_value(text)
    except ValueError as error:
        raise UsageError(f"{option} is no JSON: {error}; a text stands in quotes, as in '\"4400\"'") from error


def _decided(made: "Decided", *, json: bool) -> None:
    if json:
        told = {"decision": made.decision, "subjects": list(made.subjects), "correction": made.correction}
        print_json({"schema_version": 1, **told})
        return
    instead = f" (in place of it: correction {made.correction})" if made.correction else ""
    console().print(f"{made.decision}: {len(made.subjects)} corrections{instead}; `beleg cases freeze` acts on it")


def _version(dataset: "Dataset") -> dict[str, Any]:
    return {
        "name": dataset.name,
        "feature": dataset.feature,
        "version": dataset.version,
        "cases": len(dataset.members),
        "retired": len(dataset.retired),
        "digest": dataset.digest,
    }


def _versions(datasets: "list[Dataset]", *, json: bool) -> None:
    rows = [_version(each) for each in datasets]
    _listed("datasets", "datasets", ("name", "feature", "version", "cases", "retired", "digest"), rows, json=json)


def _short(case: "Case") -> dict[str, Any]:
    return {
        "case_id": case.case_id,
        "input_ref": case.input_ref,
        "fields": sorted(case.expected),
        "family": case.family,
        "critical": case.critical,
        "digest": case.digest,
    }


def _listed(title: str, name: str, columns: tuple[str, ...], rows: list[dict[str, Any]], *, json: bool) -> None:
    if json:
        print_json({"schema_version": 1, name: rows})
        return
    show_rows(f"{len(rows)} {title}", columns, [[_cell(row[column]) for column in columns] for row in rows])


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return ", ".join(each or '""' for each in value)
    return ("yes" if value else None) if isinstance(value, bool) else value
