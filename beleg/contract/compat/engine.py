"""The comparison of two output schemas, for the readers of the results."""

import contextlib
import dataclasses
from collections.abc import Sequence

from beleg.contract.compat import patterns, readers, surface, values
from beleg.contract.compat.answers import EMPTY, Empty, Found, Unknown
from beleg.contract.compat.documents import Document
from beleg.contract.compat.inquiry import Inquiry
from beleg.contract.compat.spelling import Grammar, differs
from beleg.contract.compat.verdict import BUMPS, Bump, Change, Comparison, Schema, Unprovable, in_order, worst
from beleg.contract.compat.walk import Walk

_TOO_DEEP = "the schema is nested too deeply"


def compare(old: Schema, new: Schema, *, time_limit_s: float = 5.0) -> Comparison:
    """What the step from one output schema to the next means for readers of the results.

    Both are parsed JSON. What cannot be decided within `time_limit_s` seconds is called major and
    `unprovable`. Raises SchemaError for what is no JSON Schema. The rules: docs/schema-changes.md.
    """
    try:
        return _compared(old, new, time_limit_s)
    except RecursionError:
        return _undecided(Unprovable(_TOO_DEEP))
    except Unprovable as reason:
        return _undecided(reason)


def compare_all(versions: Sequence[Schema], new: Schema, *, time_limit_s: float = 5.0) -> Comparison:
    """Compare with every published version of the same major, oldest first; the worst verdict wins.

    Two steps that are each minor can together break readers of the first version. `against` of a change
    is the index of the version it was found against; of equal changes the latest is kept. Each version
    has `time_limit_s` seconds.
    """
    all_found = [compare(old, new, time_limit_s=time_limit_s) for old in versions]
    changes: dict[tuple[str, Bump, str, str], Change] = {}
    for index, found in enumerate(all_found):
        for change in found.changes:
            at = (change.rule, change.bump, change.pointer, change.sentence)
            changes[at] = dataclasses.replace(change, against=index)
    bump = worst([found.bump for found in all_found])
    return Comparison(
        bump,
        in_order(list(changes.values())),
        reader_safe=all(found.reader_safe for found in all_found),
        rollback_safe=all(found.rollback_safe for found in all_found),
        unprovable=any(found.unprovable for found in all_found),
    )


def _undecided(reason: Unprovable) -> Comparison:
    change = Change(reason.rule, "major", "", f"The comparison could not be decided: {reason.reason}.")
    return Comparison("major", (change,), reader_safe=False, rollback_safe=False, unprovable=True)


def _compared(old: Schema, new: Schema, time_limit_s: float) -> Comparison:
    if values.text(old) == values.text(new):
        _check(old, time_limit_s)
        return Comparison("none")
    documents = Document(old), Document(new)
    grammars: list[Grammar] = ["python"]
    if any(differs(pattern) for document in documents for pattern in document.patterns):
        grammars.append("ecmascript")
    share_s = time_limit_s / len(grammars)
    return readers.together({grammar: _under(grammar, *documents, share_s) for grammar in grammars})


def _check(schema: Schema, time_limit_s: float) -> None:
    """Raises SchemaError for what is no schema."""
    with contextlib.suppress(Unprovable):
        Inquiry(Document(schema), Document(schema), time_limit_s)


def _under(grammar: Grammar, old: Document, new: Document, time_limit_s: float) -> Comparison:
    """The verdict for readers who read patterns in that way."""
    with patterns.read_as(grammar):
        try:
            return _asked(Inquiry(old, new, time_limit_s))
        except RecursionError:
            return _undecided(Unprovable(_TOO_DEEP))
        except Unprovable as reason:
            return _undecided(reason)


def _asked(inquiry: Inquiry) -> Comparison:
    inquiry.ask()
    if not isinstance(inquiry.solver.find(inquiry.new.valid), Empty):
        return _verdict(inquiry)
    inquiry.breaking = EMPTY
    if isinstance(inquiry.solver.find(inquiry.old.valid), Empty):  # no result was possible, and none is
        inquiry.undone = EMPTY
        surface.compare(inquiry, same_results=False)
        _dialect(inquiry)
    else:
        _impossible(inquiry)
    return _summary(inquiry)


def _impossible(inquiry: Inquiry) -> None:
    """R60: the new schema allows no result at all."""
    pointer, label = "", "result"
    sentence = f"No {label} is possible any more: what is demanded contradicts itself."
    old = inquiry.solver.find(inquiry.old.valid)
    if isinstance(old, Found) and inquiry.proves(inquiry.old, inquiry.new, old.value):
        inquiry.changes.append(Change("R60", "major", pointer, sentence, old.value, "rollback"))
    else:
        inquiry.note("R60", "major", pointer, sentence)


def _verdict(inquiry: Inquiry) -> Comparison:
    if isinstance(inquiry.solver.find(inquiry.old.valid), Empty):
        text = "The schema allowed no result before and allows some now."
        inquiry.report_break("R61", "", text, inquiry.breaking)
        return _summary(inquiry)
    if not inquiry.same_results:
        Walk(inquiry).start()
    surface.compare(inquiry, same_results=inquiry.same_results)
    _dialect(inquiry)
    _rest(inquiry)
    return _summary(inquiry)


def _dialect(inquiry: Inquiry) -> None:
    """R63: the same text may mean something else in another dialect."""
    if inquiry.old.document.dialect != inquiry.new.document.dialect:
        bump = worst(["patch", *(change.bump for change in inquiry.changes)])
        proof = next((change for change in in_order(inquiry.changes) if change.bump == bump), None)
        text = "The schema is written in another dialect of JSON Schema, in which some keywords mean something else."
        found = Change("R63", bump, "/$schema", text)
        if proof is not None:
            found = dataclasses.replace(found, witness=proof.witness, witness_kind=proof.witness_kind)
        inquiry.changes.append(found)


def _rest(inquiry: Inquiry) -> None:
    """R70: what the changes do together, where no single one does it."""
    told = worst([change.bump for change in inquiry.changes])
    proved = any(change.witness_kind == "reader" for change in inquiry.changes)
    if isinstance(inquiry.breaking, Found) and not proved:
        text = "Taken together, the changes let results through that readers cannot read."
        inquiry.report_break("R70", "", text, inquiry.breaking)
    elif isinstance(inquiry.breaking, Unknown) and told != "major":
        text = "The schema changed."
        inquiry.report_break(inquiry.breaking.rule, "", text, inquiry.breaking)
    elif not inquiry.same_results and BUMPS.index(told) < BUMPS.index("minor"):
        text = "Taken together, the changes alter which results are possible."
        inquiry.report_loss("R70", "", text, inquiry.undone)
        if not inquiry.changes or worst([change.bump for change in inquiry.changes]) != "minor":
            inquiry.note("R70", "minor", "", text)


def _summary(inquiry: Inquiry) -> Comparison:
    return Comparison(
        worst([change.bump for change in inquiry.changes]),
        in_order(inquiry.changes),
        reader_safe=isinstance(inquiry.breaking, Empty),
        rollback_safe=isinstance(inquiry.undone, Empty),
        unprovable=isinstance(inquiry.breaking, Unknown),
    )
