"""What happens in a run of each workflow; each function plays one run from its first call to its end."""

from asyncio import CancelledError
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from beleg.agent.layout.segment import text_of
from beleg.demo.calls import (
    AmbiguousMatchError,
    ContradictoryPeriodError,
    OutputValidationError,
    ToolTimeoutError,
    UnreadableDocumentError,
    anthropic,
    attempt_with_fallback,
    failing_sometimes,
    openai,
    plain,
)
from beleg.demo.company import (
    CANARY,
    CATEGORIZATION,
    CHAT_COPILOT,
    DAY_US,
    DUNNING,
    GEMINI_FLASH,
    GEMINI_PRO,
    GPT_MINI,
    HOUR_US,
    MISTRAL,
    NEW_PROMPT_US,
    OCR,
    OWN,
    RECONCILIATION,
    RUNAWAY_US,
    SONNET,
    VAT_RETURN,
)
from beleg.demo.copilot import OPENS, Chat
from beleg.demo.errands import LATEST, Errand
from beleg.demo.reader import UNTOLD, read
from beleg.demo.run import Run
from beleg.demo.vendor import tokens

Story = Callable[[Run], None]


def ocr(run: Run) -> None:
    """Reads a document; one the own model cannot read goes to a larger one."""
    between = run.recorder.between
    pages = between(1, 4)
    failing_sometimes(run, OWN, plain(run, 1_150 * pages, 260, cached=640), latency_ms=900 * pages)
    if run.recorder.chance(0.06):
        repaired = plain(run, 1_290 * pages, 300) | {"reasoning": between(0, 900)}
        run.model(GEMINI_FLASH, repaired, latency_ms=2_100, attempt=2, attempt_reason="repair")
    if run.recorder.chance(0.012):
        run.finish(UnreadableDocumentError)
        return
    run.output = read(UNTOLD, run.input["document_text"])
    if run.recorder.chance(0.1):
        fields = [{"name": name, "value": run.output[name]} for name in ("gross_cents", "invoice_number")]
        run.artifact("extracted_fields", {"document_type": run.output["document_type"], "fields": fields})
    run.finish(documents=1)


def categorization(run: Run) -> None:
    """Puts the transactions of a bank statement into accounts; at night as a batch."""
    transactions = run.recorder.between(8, 40)
    shared = 3_400 if run.now_us < NEW_PROMPT_US else 1_750
    own, answer = 46 * transactions, 15 * transactions
    if run.now_us % DAY_US < 5 * HOUR_US:
        run.model(GPT_MINI, openai(run, shared + own, answer), latency_ms=240_000, batch=True)
    else:
        attempt_with_fallback(run, anthropic(run, own, answer, shared=shared, lifetime="5m"))
    if run.recorder.chance(0.015):
        run.finish(OutputValidationError)
        return
    run.finish(transactions=transactions)


def reconciliation(run: Run) -> None:
    """Matches payments with invoices."""
    between = run.recorder.between
    run.tool("list_open_items", latency_ms=between(30, 160))
    for _ in range(between(1, 3)):
        failing_sometimes(run, GPT_MINI, openai(run, between(2_200, 7_500), between(120, 420)), latency_ms=2_800)
        run.tool("propose_match", latency_ms=between(20, 90))
    if run.recorder.chance(0.02):
        run.finish(AmbiguousMatchError)
        return
    run.finish(reconciled_items=between(3, 24))


def dunning(run: Run) -> None:
    """Drafts a reminder; most wait for a person, who answers hours or days later, or never."""
    between = run.recorder.between
    run.model(MISTRAL, plain(run, 1_900, 380), latency_ms=between(1_200, 3_000))
    if run.recorder.chance(0.6):
        run.ask_person(between(2, 130) * HOUR_US)
        run.model(MISTRAL, plain(run, 2_400, 160), latency_ms=between(700, 1_800))
    if run.recorder.chance(0.08):
        run.finish(CancelledError)
        return
    run.finish(letters=1)


def vat_return(run: Run) -> None:
    """Puts a VAT return together with the help of reconciliation runs; what counts is the filing, days later."""
    recorder = run.recorder
    run.tool("vat_progress", latency_ms=40)
    _start_children(run, recorder.between(1, 3))
    for _ in range(recorder.between(3, 7)):
        fresh = anthropic(run, recorder.between(900, 4_000), recorder.between(200, 900), shared=21_000, lifetime="1h")
        run.model(SONNET, fresh, latency_ms=recorder.between(3_000, 9_000))
        run.tool("compute_vat_boxes", latency_ms=recorder.between(40, 300))
    if recorder.chance(0.04):  # a year in one call: the long-context price holds for all of its tokens
        run.model(GEMINI_PRO, plain(run, 215_000, 2_400), latency_ms=41_000)
    if recorder.chance(0.03):
        run.finish(ContradictoryPeriodError)
        return
    if run.finish(returns_prepared=1) and run.purpose == "production":
        _file(run)


def _start_children(run: Run, count: int) -> None:
    for _ in range(min(count, run.recorder.runs_left)):
        child = Run(
            run.recorder,
            RECONCILIATION,
            subject=run.recorder.tally.workflows[RECONCILIATION.name] + 1,
            purpose=run.purpose,
            tenant=run.tenant,
        )
        reconciliation(child)


def _file(run: Run) -> None:
    """A person files the return, or not; the tax office may send it back, which takes the result back."""
    if run.recorder.chance(0.06):
        return
    filed = run.outcome("filed_return", run.recorder.between(20, 150) * HOUR_US)
    if filed and run.recorder.chance(0.03) and run.outcome("filed_return", 190 * HOUR_US, count=0, retracts=filed):
        run.recorder.tally.results["filed_return"] -= 1


def chat_copilot(run: Run) -> None:
    """Answers a question with real tools; on one day a fault made some chats call their tools in a loop."""
    recorder = run.recorder
    loops = RUNAWAY_US[0] <= run.now_us < RUNAWAY_US[1] and recorder.chance(0.25)
    run.search("search_books", latency_ms=recorder.between(20, 120))
    chat = recorder.copilot.chat(run.tenant)
    for _ in range(2 if recorder.chance(0.1) else 1):
        _help(run, chat, times=48 if loops else 1)
    if recorder.chance(0.03):
        run.finish(CancelledError)
        return
    if recorder.chance(0.05):
        run.artifact("answer_summary", {"summary": "Explained which receipts are missing.", "language": "de"})
    run.finish(answers=1)


def _help(run: Run, chat: Chat, *, times: int) -> None:
    """One thing that the user wants, from the question to the answer."""
    errand = run.recorder.one_of(chat.errands, [each.share for each in chat.errands])
    chat.say("user", errand.question)
    for name, arguments in _calls(run, chat, errand, times=times):
        _ask(run, chat, {"type": "tool_use", "name": name, "input": arguments})
        _act(run, chat, name, arguments)
    _ask(run, chat, _answer(run))


def _calls(run: Run, chat: Chat, errand: Errand, *, times: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What the model calls: the workflow's text first, then its tools, the last of them over and over in a loop."""
    if errand.playbook is not None:
        yield OPENS, {"name": errand.playbook}
    record = {} if errand.record is None else {"record_id": f"{errand.record}-{run.id[-6:]}"}
    for name, arguments in (*errand.calls, *(errand.calls[-1:] * (times - 1))):
        now = {key: chat.revision if value is LATEST else value for key, value in arguments.items()}
        yield name, {**record, **now}


def _ask(run: Run, chat: Chat, said: Any) -> None:
    """A request to the model, which says a text or asks for a call."""
    recorder = run.recorder
    used, surroundings = chat.request(run.now_us)
    output = tokens(text_of(said))
    if recorder.chance(0.008):
        run.model(CANARY, plain(run, sum(used.values()), output), latency_ms=1_700, **surroundings)
    else:
        latency_ms = recorder.between(1_100, 4_200)
        failing_sometimes(run, SONNET, {**used, "output": output}, latency_ms=latency_ms, **surroundings)
    chat.say("assistant", [said])
    run.think(1)


def _act(run: Run, chat: Chat, name: str, arguments: Mapping[str, Any]) -> None:
    """A call of a tool; now and then it comes too late, and the model goes on without its answer."""
    recorder = run.recorder
    if name == OPENS:
        chat.call(name, arguments)
        recorder.tally.call(name, is_over=recorder.is_over)
    elif recorder.chance(0.015):
        run.tool(name, latency_ms=recorder.between(5_000, 9_000), error=ToolTimeoutError)
        chat.say("user", [{"type": "tool_result", "content": "the tool failed (ToolTimeoutError)"}])
    else:
        chat.call(name, arguments)
        run.tool(name, latency_ms=recorder.between(30, 400))


def _answer(run: Run) -> str:
    """A text of some sentences; the new prompt version made answers longer."""
    more = 5 if run.now_us >= NEW_PROMPT_US else 0
    return " ".join(_SENTENCES[run.recorder.between(0, 3)] for _ in range(run.recorder.between(3, 14) + more))


_SENTENCES = (
    "Im September fehlen noch zwei Belege über zusammen 312,40 Euro.",
    "The advance return for August is due on 10 September; 1,204.18 euros remain to be paid.",
    "Nothing was sent or paid: you find the draft in the app and decide there.",
    "Three invoices are overdue, the oldest by 24 days.",
)


STORIES: Mapping[str, Story] = {
    OCR.name: ocr,
    CATEGORIZATION.name: categorization,
    RECONCILIATION.name: reconciliation,
    DUNNING.name: dunning,
    VAT_RETURN.name: vat_return,
    CHAT_COPILOT.name: chat_copilot,
}
"""Workflow → how one of its runs goes."""
