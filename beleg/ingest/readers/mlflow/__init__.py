"""MLflow: traces with their spans, as versions 2 and 3 of the trace and 2, 3 and 4 of the span write them."""

from collections.abc import Iterator

from beleg.ingest.readers.formats import Format, Reading
from beleg.ingest.readers.head import Head
from beleg.ingest.readers.item import Item, Origin, Value, item
from beleg.ingest.readers.mlflow.fields import trace_id
from beleg.ingest.readers.mlflow.rows import Traces
from beleg.ingest.readers.parsing import member, parsed

_PARTS = ("item", "traces.item", "info", "data.spans.item", "spans.item")
"""Where traces and their parts stand in a document too large to be read as a whole."""
_SIGNS = ("info.trace_metadata", "info.request_metadata", "info.trace_location", "data.spans.item.attributes")


def _recognises(head: Head) -> bool:
    paths = head.keys
    return any(f"{prefix}{sign}" in paths for prefix in ("", "item.", "traces.item.") for sign in _SIGNS) or any(
        path.endswith(("attributes.mlflow.spanType", "attributes.mlflow.traceRequestId")) for path in paths
    )


def _read(reading: Reading) -> Iterator[Item]:
    traces = Traces(reading.make, reading.naming)
    for value in reading.file.values("", large=_PARTS):
        content = value.content
        many = content if isinstance(content, list) else member(content, "traces")
        if not isinstance(many, list):
            yield from _items(traces, value)
            continue
        for number, one in enumerate(many, 1):
            yield from _items(traces, Value(Origin(value.origin.byte_offset, number, None, one), one))
    left = list(traces.rest())
    if left:
        yield Item(Origin(0, 0), left)


def _items(traces: Traces, value: Value) -> Iterator[Item]:
    """The trace and each of its spans; parts of a document too large to be read as a whole come alone."""
    content = parsed(value.content)
    info, spans = member(content, "info"), member(content, "data", "spans") or member(content, "spans")
    if isinstance(info, dict):
        yield item(value.origin._replace(line=None, value=info), traces.trace, info, spans)
    elif spans is None:
        is_info = isinstance(content, dict) and ("trace_metadata" in content or "request_metadata" in content)
        yield item(value.origin, traces.trace if is_info else traces.span, content)
        return
    for number, span in enumerate(spans if isinstance(spans, list) else [], value.origin.number + 1):
        origin = Origin(value.origin.byte_offset, number, None, span)
        yield item(origin, traces.span, parsed(span), trace_id(info if isinstance(info, dict) else {}))


FORMATS = (
    Format(
        name="mlflow",
        title="MLflow",
        files="traces as JSON or lines, of versions 2 to 4, and the spans of a trace alone",
        yields="traces as runs, their spans as steps with tokens, model, linked prompt and MLflow's own cost",
        cannot_know="cached tokens that MLflow dropped on import before 2026; reasoning where the answer is not kept",
        recognises=_recognises,
        read=_read,
    ),
)
