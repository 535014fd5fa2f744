"""What a prompt's layout costs at run time: putting it together, hashing and counting it, and comparing two requests.

python -m benchmarks.agent_layout
"""

import random
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from beleg.agent.example.prompt import INSTRUCTIONS, PLAYBOOKS, SAMPLES
from beleg.agent.layout import Layout, Prompt, Segment, follow, predict, rules
from beleg.contract.tokens import estimate
from benchmarks.timing import seconds

ROUNDS = 300
TOKENS = 20_000
FAMILY = "o200k"
MODEL = "claude-sonnet-4-5"


@dataclass
class Request:
    """A conversation that grows; every one is another company's."""

    company: str
    messages: list[dict[str, Any]] = field(default_factory=list)


def measure(work: Path, *, quick: bool, say: Callable[[str], None]) -> list[tuple[object, ...]]:  # noqa: ARG001
    """Rows of the table about layouts."""
    say("agent_layout: a prompt of 20 000 tokens")
    rounds = 30 if quick else ROUNDS
    prompt, requests = _prompt(), [_request(number) for number in range(rounds + 1)]
    tokens = _render(prompt, requests[-1]).tokens(FAMILY).tokens
    put_together = _median(lambda each: _put_together(prompt, each), requests[:rounds])
    layouts = [_render(prompt, each) for each in requests[:2]]
    layouts[0].event(FAMILY)
    compared = sorted(seconds(lambda: _compare(*layouts)) for _ in range(rounds))
    return [
        _row(f"layout of a prompt of {tokens} tokens: put together, hashed, counted", 1, 0.5, put_together, rounds),
        _row("two such requests compared: shared prefix and what changed", 5, 2, compared, rounds),
    ]


def _prompt() -> Prompt[Request]:
    """Tools, instructions and index of the example, filled up with instructions to the wanted size."""
    definitions = [tool.data.decode() for tool in SAMPLES.samples["company"].context.cohort.tools]
    fixed: Prompt[Request] = Prompt([Segment(name="tools", scope="static", part="tools", make=lambda _: definitions)])
    have = fixed.render(Request("x")).tokens(FAMILY).tokens
    bodies = "\n\n".join(each.body for each in PLAYBOOKS.all)
    while estimate(bodies, FAMILY).tokens < TOKENS - have - 3_500:
        bodies += INSTRUCTIONS
    return Prompt(
        (
            *fixed.segments,
            Segment(name="instructions", scope="static", make=bodies),
            Segment(name="workflows", scope="static", make=PLAYBOOKS.index()),
            Segment(name="company", scope="tenant", make=lambda request: f"The company: {request.company}."),
            Segment(name="history", scope="conversation", part="messages", make=lambda request: request.messages),
        )
    )


def _request(number: int) -> Request:
    dice = random.Random(number)
    words = INSTRUCTIONS.split()
    texts = [" ".join(dice.choices(words, k=120)) for _ in range(20)]
    return Request(f"Company {number}", [{"role": "user", "content": each} for each in texts])


def _render(prompt: Prompt[Request], request: Request) -> Layout:
    return prompt.render(request, rules=rules("anthropic"), model=MODEL)


def _put_together(prompt: Prompt[Request], request: Request) -> None:
    layout = _render(prompt, request)
    layout.hashes()
    layout.tokens(FAMILY)
    assert layout.breakpoints


def _compare(first: Layout, second: Layout) -> None:
    predict(first, second, FAMILY)
    follow(first, second)


def _median(call: Callable[[Request], None], requests: list[Request]) -> list[float]:
    call(requests[0])  # warm: what is the same for all has been seen once; every company and message is new
    return sorted(seconds(lambda each=each: call(each)) for each in requests[1:])  # type: ignore[misc]


def _row(what: str, at_most: float, aim: float, taken: list[float], rounds: int) -> tuple[object, ...]:
    note = f"[{taken[0] * 1000:.2f}, {taken[-1] * 1000:.2f}] {rounds} rounds, every company and message another"
    return what, "time, warm", at_most, aim, "ms", round(statistics.median(taken) * 1000, 2), note


if __name__ == "__main__":
    for row in measure(Path(), quick=False, say=print):
        print(*row, sep=" | ")
