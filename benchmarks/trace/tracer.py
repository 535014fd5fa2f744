"""What tracing costs the caller: one event, a whole run, against one OpenTelemetry span, in the same run.

The span carries 12 attributes and goes through a batch processor to a file, as it would in production.
"""

import gc
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import beleg
from beleg.trace import runtime as runtime_module
from benchmarks.trace import Row

PAYLOAD = {"messages": [{"role": "user", "content": "word " * 190}], "temperature": 0.7, "n": 1}
RESULT = {"text": "word " * 190, "total": 4711, "lines": [{"net": 12.5, "account": "4400"}]}
ANSWER = {
    "id": "chatcmpl-abcdefghijkl",
    "model": "gpt-4o",
    "usage": {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 64},
    },
}
ATTRIBUTES = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-4o",
    "gen_ai.response.model": "gpt-4o",
    "gen_ai.response.id": "chatcmpl-abcdefghijkl",
    "gen_ai.usage.input_tokens": 100,
    "gen_ai.usage.output_tokens": 20,
    "gen_ai.usage.cache_read.input_tokens": 64,
    "gen_ai.conversation.id": "c-1",
    "server.address": "localhost",
    "app.workflow": "ocr",
    "app.ok": True,
}
Call = Callable[[], None]


def event_call() -> Call:
    """One event with an empty payload."""
    run = beleg.attach_run("0190a000-0000-7000-8000-000000000000")
    run.start()

    def call() -> None:
        with run.step("extract"):
            pass

    return call


def run_with_step() -> None:
    """A whole run: start, one model step, end; 1 KB in and out, hashed."""
    with beleg.traced_agent_run(workflow="ocr", input_payload=PAYLOAD) as trace:
        with trace.step("extract", provider="openai", model="gpt-4o"):
            pass
        trace.set_output(RESULT)


def run_with_answer() -> None:
    """The same, and usage, ids and model read from the provider's answer."""
    with beleg.traced_agent_run(workflow="ocr", input_payload=PAYLOAD) as trace:
        trace.set_output(RESULT, response=ANSWER)


def span_call(folder: Path) -> tuple[Call, Call] | None:
    """One OpenTelemetry span, and what empties its queue; None where the SDK is not installed."""
    try:
        sdk = importlib.import_module("opentelemetry.sdk.trace")
        export = importlib.import_module("opentelemetry.sdk.trace.export")
    except ImportError:
        return None
    out = (folder / "spans.jsonl").open("w")
    exporter = export.ConsoleSpanExporter(out=out, formatter=lambda span: span.to_json(indent=None) + "\n")
    provider = sdk.TracerProvider()
    provider.add_span_processor(export.BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("bench")

    def call() -> None:
        with tracer.start_as_current_span("chat") as span:
            for name, value in ATTRIBUTES.items():
                span.set_attribute(name, value)

    return call, lambda: provider.force_flush() and None


def caller_us(call: Call, count: int) -> float:
    """Microseconds a call takes its caller: the median of ten batches."""
    batch = max(1, count // 10)
    taken = []
    gc.disable()
    for _ in range(10):
        begin = time.perf_counter()
        for _ in range(batch):
            call()
        taken.append(time.perf_counter() - begin)
    gc.enable()
    return statistics.median(taken) / batch * 1e6


def tail_ratio(call: Call, count: int) -> float:
    """99th percentile over the median, call by call."""
    taken = []
    for _ in range(count):
        begin = time.perf_counter_ns()
        call()
        taken.append(time.perf_counter_ns() - begin)
    taken.sort()
    return taken[int(count * 0.99)] / statistics.median(taken)


def measure(rounds: int = 9, count: int = 1000) -> dict[str, Any]:
    """Medians over interleaved rounds, in microseconds, and their ratios to the span."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        beleg.configure(spool=folder / "spool")
        calls: dict[str, Call] = {"event": event_call(), "run": run_with_step, "run_with_answer": run_with_answer}
        span = span_call(folder)
        if span is not None:
            calls["otel_span"] = span[0]
        taken: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(rounds):
            for name, call in calls.items():
                taken[name].append(caller_us(call, count))
                if span is not None and name == "otel_span":
                    span[1]()  # its thread must not take the time of what comes next
        result: dict[str, Any] = {f"{name}_us": round(statistics.median(us[1:]), 2) for name, us in taken.items()}
        for subject in ("event", "run", "run_with_answer") if span is not None else ():
            ratios = [a / b for a, b in zip(taken[subject][1:], taken["otel_span"][1:], strict=True)]
            result[f"{subject}_per_span"] = round(statistics.median(ratios), 3)
        if span is not None:
            result["run_per_idle_span"] = round(_per_idle_span(span, rounds), 3)
        result["run_best_us"] = round(min(taken["run"]), 2)
        result["p99_over_median"] = round(tail_ratio(run_with_step, 5000), 2)
        result["lost"] = runtime_module.health().lost
        return result


def _per_idle_span(span: tuple[Call, Call], rounds: int) -> float:
    """A run against a span with fewer spans waiting than make the exporter's thread work beside the caller."""
    ratios = []
    for _ in range(rounds):
        run_us, span_us = caller_us(run_with_step, 400), caller_us(span[0], 400)
        span[1]()
        ratios.append(run_us / span_us)
    return statistics.median(ratios)


def without_orjson(rounds: int) -> dict[str, Any]:
    """The same figures of a process that has the standard library alone."""
    code = (
        "import sys, json; sys.modules['orjson'] = None\n"
        f"from benchmarks.trace.tracer import measure\nprint(json.dumps(measure({rounds})))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def import_ms() -> float:
    """Milliseconds that `import beleg` takes a fresh interpreter, with all a call site uses; the fastest of 7."""
    code = (
        "import time; t = time.perf_counter(); import beleg; "
        "print((time.perf_counter() - t) * 1e3, end=' '); beleg.traced_agent_run; "
        "print((time.perf_counter() - t) * 1e3)"
    )
    runs = [subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True) for _ in range(7)]
    return min(float(done.stdout.split()[1]) for done in runs)


def third_party_modules() -> int:
    """How many modules of other packages `import beleg` and a traced run load, with the standard library alone."""
    code = (
        "import sys; sys.modules['orjson'] = None; before = set(sys.modules); import beleg\n"
        "with beleg.traced_agent_run(workflow='w'): pass\n"
        "names = {name.partition('.')[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)\n"
        "print(len(names - {'beleg'}))"
    )
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "BELEG_SPOOL": folder}
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=env)
    return int(done.stdout)


def rows(*, quick: bool) -> list[Row]:
    """Rows of the table."""
    rounds = 3 if quick else 9
    fast, plain = measure(rounds), without_orjson(rounds)
    span = "one OpenTelemetry span, 12 attributes, batch processor to a file"
    if "otel_span_us" not in fast:
        return []
    times = f"{{}} against {fast['otel_span_us']} µs"
    idle = f"{fast['run_per_idle_span']} × a span whose exporter has nothing to do"
    read = f"{fast['run_with_answer_per_span']} × with usage read from an answer; {idle}"
    event, run = fast["event_per_span"], fast["run_per_span"]
    # Two processes, one after the other: the best rounds are what can be compared.
    alone = round(plain["run_best_us"] / fast["run_best_us"], 2)
    modules = third_party_modules()
    return [
        ("one event, empty payload", span, 0.25, 0.17, "×", event, times.format(fast["event_us"])),
        ("a whole run, 1 KB in, 1 KB out", span, 1.0, 0.7, "×", run, f"{times.format(fast['run_us'])}; {read}"),
        ("p99 of a whole run", "its median", 5, 5, "×", fast["p99_over_median"], f"lost: {fast['lost'] or 'none'}"),
        ("a whole run, standard library alone", "with beleg[fast]", 2, 2, "×", alone, f"{plain['run_best_us']} µs"),
        ("import beleg and its call site", "", 50, 50, "ms", round(import_ms(), 1), "fastest of 7 interpreters"),
        ("modules of other packages it loads", "", 0, 0, "", modules, "with the standard library alone"),
    ]
