"""From one request to the next: whether the second still begins like the first, and why not."""

from collections.abc import Iterator
from itertools import accumulate

from beleg.agent.finding import Finding, Severity
from beleg.agent.layout.layout import Layout, tokens_of
from beleg.agent.layout.predict import differing
from beleg.agent.layout.segment import Piece
from beleg.agent.playbooks.context import closed
from beleg.trace.canon import canonical

_REASON_CHARS = 200


def follow(previous: Layout, current: Layout, family: str = "o200k") -> list[Finding]:
    """What makes the second request of a conversation lose the prefix of the first; empty where nothing does."""
    return [
        *_of_parameters(previous, current),
        *_of_pieces(previous, current, family),
        *_of_distance(previous, current),
    ]


def miss_reason(previous: Layout, current: Layout) -> str | None:
    """The first reason in a few words, for `step(cache_miss_reason=…)` where the provider gives none."""
    found = next((each for each in follow(previous, current) if each.rule != "body-closed"), None)
    return None if found is None else f"{found.rule}: {found.place}"[:_REASON_CHARS]


def _of_parameters(previous: Layout, current: Layout) -> Iterator[Finding]:
    before = {"model": previous.model, **previous.parameters}
    after = {"model": current.model, **current.parameters}
    for name in sorted(before.keys() | after.keys()):
        if canonical(before.get(name)).data == canonical(after.get(name)).data:
            continue
        lost = current.rules.changes.get(name)
        severity: Severity = "warning" if lost is None else "error"
        loses = "it is not known what that loses" if lost is None else f"the prefix from {lost} on is lost"
        sentence = f"{name} is another than in the request before: {loses}"
        fix = "keep parameters the same throughout a conversation"
        yield Finding("parameter-changed", severity, f"parameter {name}", sentence, fix)


def _of_pieces(previous: Layout, current: Layout, family: str) -> Iterator[Finding]:
    for index, old in enumerate(previous.pieces):
        new = current.pieces[index] if index < len(current.pieces) else None
        if new is not None and (new.text, new.part) == (old.text, old.part):
            continue
        lost = tokens_of(previous.pieces[index:], family).tokens
        yield _changed(old, new, lost)
        return


def _changed(old: Piece, new: Piece | None, lost: int) -> Finding:
    again = f"about {lost} tokens are not found again"
    if new is not None and new.text != old.text and closed(old.text) == new.text:
        sentence = f"a playbook in it was closed, once: {again}"
        return Finding(
            "body-closed", "info", old.name, sentence, "nothing to do: its body would cost more in every turn"
        )
    if old.part == "messages":
        gone = "has gone" if new is None else "is another"
        sentence = f"history rewritten: what stood there in the request before {gone}, {again}"
        fix = "only append: keep what was added to a turn, also retrieved memory and old tool results"
        return Finding("history-rewritten", "error", old.name, sentence, fix)
    if new is None or new.name != old.name:
        sentence = f"{new.name if new else 'nothing'} stands where {old.name} stood, {again}"
        return Finding("segment-moved", "error", old.name, sentence, "send the same segments in every request")
    found = differing(old, new)
    sentence = f"it differs at byte {found.at_byte}, made by {found.maker}: {again}"
    return Finding("segment-changed", "error", old.name, sentence, f"its scope is {old.scope}: keep it the same there")


def _of_distance(previous: Layout, current: Layout) -> Iterator[Finding]:
    """The newest entry must lie within what a breakpoint of the second request looks back."""
    reach, same = current.rules.lookback_blocks, _same(previous, current)
    kept = [at for at in previous.breakpoints if at < same]
    if reach is None or not kept or not current.breakpoints:
        return
    blocks = list(accumulate(each.blocks for each in current.pieces))
    distances = [blocks[at] - blocks[kept[-1]] for at in current.breakpoints if at >= kept[-1]]
    if distances and min(distances) > reach:
        sentence = f"distance {min(distances)} > {reach} blocks to what was kept last: it is silently not found"
        place = current.pieces[current.breakpoints[-1]].name
        yield Finding("breakpoint-distance", "warning", place, sentence, f"add a breakpoint within {reach} blocks")


def _same(previous: Layout, current: Layout) -> int:
    pairs = zip(previous.pieces, current.pieces, strict=False)
    return next(
        (i for i, (a, b) in enumerate(pairs) if (a.text, a.part) != (b.text, b.part)),
        min(len(previous.pieces), len(current.pieces)),
    )
