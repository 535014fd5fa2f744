"""Files that are almost of a format: samples with parts removed, repeated, replaced, cut and damaged."""

import base64
import gzip
import io
import json
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from google.protobuf import json_format
from hypothesis import strategies as st
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from beleg.ingest.readers.parsing import UNREADABLE, loads
from tests.ingest.readers.samples import inspect, litellm, opencode, otlp

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, -0.0, 1e308, float("nan"), float("inf"), 10**12, 2**63, 10**30, -(10**25)),
    *("", " ", "x", "0", "-5", "12", "1e999", "NaN", "null", "\ud800", "\x00", "a\nb", "é" * 50, "9" * 5000),
    *("2026-13-45T99:99:99Z", "2026-03-01", "0000-00-00", "{", '{"a": 1}', "[1, 2", '"x"', "//8=", "True"),
    *([], {}, [[]], [None], [[], {}], {"": {}}, {"a": None}, [{}], {"input": [], "output": {}}, [1, "x", {}]),
    *({"total": -1}, {"input_tokens": "x"}, {"value": {"intValue": "x"}}, [[[[[[[[]]]]]]]]),
)
"""Values of other kinds than those that stand there."""
DEEP = json.loads("[" * 100 + "]" * 100)

Change = tuple[str, int, Any]
"""What to do, where (any number), with which value."""
CHANGES: st.SearchStrategy[list[Change]] = st.lists(
    st.tuples(
        st.sampled_from(["drop", "put", "put", "put", "repeat", "wrap", "rename", "swap", "deep"]),
        st.integers(0, 100_000),
        st.sampled_from(ODD) | st.integers() | st.text(max_size=20) | st.floats(),
    ),
    min_size=1,
    max_size=5,
)
DAMAGES: st.SearchStrategy[list[tuple[str, int, bytes]]] = st.lists(
    st.tuples(
        st.sampled_from(["cut", "insert", "flip", "repeat", "blank"]), st.integers(0, 10**6), st.binary(max_size=6)
    ),
    max_size=2,
)


def changed(data: bytes, changes: list[Change]) -> bytes:
    """The JSON document, or lines of it, with changes; other data as it is."""
    whole = loads(data)
    lines = [whole] if whole is not UNREADABLE else [loads(line) for line in data.splitlines() if line.strip()]
    if not lines or any(line is UNREADABLE for line in lines):
        return data
    for change in changes:
        _change(lines, *change)
    return b"\n".join(json.dumps(line).encode() for line in lines) + b"\n"


def damaged(data: bytes, damages: list[tuple[str, int, bytes]]) -> bytes:
    """The bytes with damages."""
    for kind, where, extra in damages:
        at = where % (len(data) + 1)
        if kind == "cut":
            data = data[:at]
        elif kind == "insert":
            data = data[:at] + extra + data[at:]
        elif kind == "flip":
            data = data[:at] + bytes(byte ^ 0x55 for byte in data[at : at + 1]) + data[at + 1 :]
        elif kind == "repeat":
            data = data[:at] + data[at // 2 : at] + data[at:]
        else:
            data = data[:at] + b"\n\r\n \n" + data[at:]
    return data


def _change(lines: list[Any], kind: str, where: int, value: Any) -> None:
    places = list(_places(lines))
    holder, key = places[where % len(places)]
    if kind == "drop":
        del holder[key]
    elif kind == "put":
        holder[key] = deepcopy(value)
    elif kind == "deep":
        holder[key] = deepcopy(DEEP)
    elif kind == "wrap":
        holder[key] = [holder[key]] if where % 2 else {"value": holder[key]}
    elif kind == "swap":
        other, there = places[where // 7 % len(places)]
        holder[key] = deepcopy(other[there])
    elif isinstance(holder, list):
        holder.insert(key, deepcopy(holder[key]))
    elif kind == "rename":
        holder[str(value)] = holder.pop(key)
    if not lines:
        lines.append(deepcopy(value))


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in the value with every key of it."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


def seeds(folder: Path) -> dict[str, tuple[str, bytes]]:
    """Files to begin with that are no JSON as they stand: name → format, bytes."""
    (folder / "o.db").unlink(missing_ok=True)
    spans = otlp.sample("a text")
    message = json_format.Parse(_with_base64_ids(spans), TracesData()).SerializeToString()
    frame = len(message).to_bytes(4, "big") + message
    table = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([_flat(litellm.row("a text"))]), table)
    return {
        "traces.pb": ("otlp", message),
        "frames.pb": ("otlp", frame * 3),
        "traces.json.gz": ("otlp", gzip.compress(spans, mtime=0)),
        "traces.json.zst": ("otlp", zstandard.ZstdCompressor().compress(spans)),
        "log.eval": ("inspect", inspect.archive("a text")),
        "opencode.db": ("opencode", opencode.database(folder / "o.db", opencode.message()).read_bytes()),
        "spend.parquet": ("litellm", table.getvalue()),
    }


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    return {name: json.dumps(cell) if isinstance(cell, dict | list) else cell for name, cell in row.items()}


def _with_base64_ids(spans: bytes) -> str:
    """OTLP/JSON as protobuf's own JSON has it, whose bytes are base64."""
    ids = re.compile(rb'("(?:traceId|spanId|parentSpanId)": ?)"([0-9a-f]+)"')
    return ids.sub(lambda m: m[1] + b'"' + base64.b64encode(bytes.fromhex(m[2].decode())) + b'"', spans).decode()
