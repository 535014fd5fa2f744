"""A traced run of ours against the same run in Langfuse, Logfire, MLflow and Opik.

The peers live in an environment of their own, whose Python `BELEG_PEERS` names (else this one is asked):

    python -m venv DIR && DIR/bin/pip install langfuse logfire mlflow-tracing opik orjson
    BELEG_PEERS=DIR/bin/python python -m benchmarks --only trace

The same run: one run with one model call in it, 1 KB in and 1 KB out on both, model and token counts on the
call. They record the payload, ours fingerprints it. What they send goes nowhere, or to a server on this machine
that says yes; sending is not timed, only what the caller waits for.
"""

import contextlib
import importlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.trace import Row

PEERS = ("langfuse", "logfire", "mlflow", "opik")
_USAGE = {"input": 100, "output": 20}
_SERVER = """
import http.server
class Yes(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")
    do_GET = do_POST = do_PUT = do_PATCH = answer
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Yes)
print(server.server_port, flush=True)
server.serve_forever()
"""
Call = Callable[[], object]


def measure(say: Callable[[str], None], *, quick: bool) -> dict[str, dict[str, float]]:
    """Peer → its microseconds a run, ours in the same process, and both ratios; peers not installed are absent."""
    python = os.environ.get("BELEG_PEERS", sys.executable)
    found = {}
    for peer in PEERS:
        try:
            found[peer] = _measured([python, "-m", "benchmarks.trace.peers", peer, "3" if quick else "9"])
        except (OSError, ValueError) as error:
            say(f"trace: {peer} not measured: {error}")
    return found


def _measured(command: list[str]) -> dict[str, float]:
    """What a process of the peers' Python found; raises OSError or ValueError where it found nothing."""
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONWARNINGS": "ignore"}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ValueError((done.stderr.strip().splitlines() or ["?"])[-1])
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def rows(say: Callable[[str], None], *, quick: bool) -> list[Row]:
    """Rows of the table."""
    return [
        (
            "a whole run, 1 KB in, 1 KB out",
            f"the same in {peer}",
            0.2,
            0.2,
            "×",
            round(found["per_peer"], 3),
            f"{found['run_us']:.0f} against {found['peer_us']:.0f} µs; {found['with_answer_per_peer']:.2f} × with it",
        )
        for peer, found in measure(say, quick=quick).items()
    ]


def against(peer: str, rounds: int, count: int = 100) -> dict[str, float]:
    """One peer in this process, in turn with ours."""
    import beleg  # noqa: PLC0415 - after the peer, whose imports must not be ours
    from benchmarks.trace.tracer import caller_us, run_with_answer, run_with_step  # noqa: PLC0415

    beleg.configure(spool=Path.cwd() / "spool")
    with _yes_server() as url:
        call, flush = _CALLS[peer](url)
        taken: list[tuple[float, float, float]] = []
        for _ in range(rounds + 1):
            theirs = caller_us(call, count)  # type: ignore[arg-type]
            with contextlib.suppress(Exception):
                flush()
            taken.append((theirs, caller_us(run_with_step, 10 * count), caller_us(run_with_answer, 10 * count)))
        theirs, ours, read = (statistics.median(column) for column in zip(*taken[1:], strict=True))
    return {"peer_us": theirs, "run_us": ours, "per_peer": ours / theirs, "with_answer_per_peer": read / theirs}


@contextlib.contextmanager
def _yes_server() -> Iterator[str]:
    with subprocess.Popen([sys.executable, "-c", _SERVER], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}"
        server.kill()


def _null_exporter() -> Any:
    export = importlib.import_module("opentelemetry.sdk.trace.export")

    class Null(export.SpanExporter):  # type: ignore[misc,name-defined]
        def export(self, spans: Any) -> Any:  # noqa: ARG002
            return export.SpanExportResult.SUCCESS

    return Null()


def _payloads() -> tuple[Any, Any]:
    from benchmarks.trace.tracer import PAYLOAD, RESULT  # noqa: PLC0415

    return PAYLOAD, RESULT


def _langfuse(url: str) -> tuple[Call, Call]:
    client = importlib.import_module("langfuse").Langfuse(
        public_key="pk-lf-x", secret_key="sk-lf-x", base_url=url, span_exporter=_null_exporter()
    )
    given, result = _payloads()

    def call() -> None:
        with client.start_as_current_observation(name="ocr", input=given) as run:
            with client.start_as_current_observation(
                as_type="generation", name="extract", model="gpt-4o", input=given
            ) as step:
                step.update(output=result, usage_details=_USAGE)
            run.update(output=result)

    return call, client.flush


def _logfire(_: str) -> tuple[Call, Call]:
    logfire = importlib.import_module("logfire")
    export = importlib.import_module("opentelemetry.sdk.trace.export")
    processor = export.BatchSpanProcessor(_null_exporter())
    logfire.configure(send_to_logfire=False, console=False, additional_span_processors=[processor])
    given, result = _payloads()

    def call() -> None:
        with logfire.span("ocr", input=given) as run:
            with logfire.span("extract", input=given, model="gpt-4o") as step:
                step.set_attributes({"output": result, **_USAGE})
            run.set_attribute("output", result)

    return call, logfire.force_flush


def _mlflow(url: str) -> tuple[Call, Call]:
    mlflow = importlib.import_module("mlflow")
    mlflow.set_tracking_uri(url)
    locations = importlib.import_module("mlflow.entities.trace_location")
    mlflow.tracing.set_destination(locations.MlflowExperimentLocation(experiment_id="0"))
    with mlflow.start_span("probe") as probe:
        if type(probe).__name__ == "NoOpSpan":
            raise RuntimeError("mlflow does not record here")
    given, result = _payloads()

    def call() -> None:
        with mlflow.start_span("ocr", span_type="AGENT") as run:
            run.set_inputs(given)
            with mlflow.start_span("extract", span_type="CHAT_MODEL") as step:
                step.set_inputs(given)
                step.set_attribute("mlflow.llm.model", "gpt-4o")
                step.set_attribute("mlflow.chat.tokenUsage", _USAGE)
                step.set_outputs(result)
            run.set_outputs(result)

    return call, mlflow.flush_trace_async_logging


def _opik(url: str) -> tuple[Call, Call]:
    os.environ.update(OPIK_URL_OVERRIDE=f"{url}/api", OPIK_PROJECT_NAME="bench", OPIK_CONSOLE_LOGGING_LEVEL="ERROR")
    opik = importlib.import_module("opik")
    given, result = _payloads()

    def call() -> None:
        with opik.start_as_current_trace("ocr", input=given) as run:
            with opik.start_as_current_span(
                "extract", type="llm", model="gpt-4o", provider="openai", input=given
            ) as step:
                step.output = result
                step.usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
            run.output = result

    return call, opik.flush_tracker


_CALLS: dict[str, Callable[[str], tuple[Call, Call]]] = {
    "langfuse": _langfuse,
    "logfire": _logfire,
    "mlflow": _mlflow,
    "opik": _opik,
}

if __name__ == "__main__":
    if importlib.util.find_spec(sys.argv[1]) is None:
        sys.exit("not installed")
    print(json.dumps(against(sys.argv[1], int(sys.argv[2]))), flush=True)
    os._exit(0)  # their exporters may wait long for a server that is gone
