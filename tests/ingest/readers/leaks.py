"""Looks for a mark in everything an installation holds, and puts one into real files."""

import gzip
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import zstandard

from beleg.core.settings import Settings
from beleg.ingest.readers.parsing import UNREADABLE, loads
from beleg.ingest.sources import container_of
from beleg.lake import catalog

MARK = "LEAK7f3a"
SENTENCE = f"Dear Mrs {MARK}, your account"
_STRUCTURE = re.compile(
    r"[0-9a-fA-F]{8,64}|[0-9a-fA-F-]{32,40}|-?[0-9.]+(e[+-]?[0-9]+)?|"  # ids, numbers
    r"\d{4}-\d\d-\d\d[T ][0-9:.]+( ?UTC|Z|[+-][0-9:]+)?|"  # times
    r"(chatcmpl|msg|req|resp|run|tr|toolu|call)[-_]\w+"  # ids of providers
)
_KEPT_KEYS = {
    *("type", "kind", "role", "event", "status", "state", "level", "model", "object", "key", "as_type", "subtype"),
    *("request_model", "response_model", "provider", "providedModelName", "model_name", "run_type", "call_type"),
    *("schemaUrl", "schema_url", "stop_reason", "service_tier", "custom_id", "cache_hit", "endpoint", "uuid", "id"),
    *("sessionId", "session_id", "requestId", "request_id", "mlflow.spanType", "span_type", "dotted_order"),
}
"""Keys whose words are structure: what kind of thing it is, which model, which call."""
_KEPT_ATTRIBUTES = re.compile(
    r"gen_ai\.(system|provider\.name|operation\.name|(request|response)\.model|response\.id)|"
    r"llm\.(model_name|provider|system|request\.type)|openinference\.span\.kind|traceloop\.span\.kind|"
    r"ai\.(model\.(id|provider)|operationId|response\.(model|id))|langfuse\.observation\.type"
)


def marked(value: Any, key: str = "") -> Any:
    """The value with every text replaced by the sentence that is no id, number, time or word of the format."""
    if isinstance(value, dict):
        is_kept = _KEPT_ATTRIBUTES.fullmatch(str(value.get("key", ""))) is not None
        return {k: v if is_kept and k == "value" else marked(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [marked(inner, key) for inner in value]
    if not isinstance(value, str) or not value or _STRUCTURE.fullmatch(value):
        return value
    if key in _KEPT_KEYS or _KEPT_ATTRIBUTES.fullmatch(key):
        return value
    inner = loads(value) if value[0] in '{["' else UNREADABLE
    return SENTENCE if inner is UNREADABLE else json.dumps(marked(inner))


def marked_file(path: Path, to: Path) -> Path:
    """A copy of a real JSON, JSON-lines or zip file with the sentence in every text."""
    with path.open("rb") as file:
        container = container_of(file)
        data = gzip.decompress(file.read()) if container == "gzip" else file.read()
    to.write_bytes(_marked_zip(data) if data.startswith(b"PK") else _marked_json(data))
    return to


def _marked_json(data: bytes) -> bytes:
    whole = loads(data)
    if whole is not UNREADABLE:
        return json.dumps(marked(whole)).encode()
    lines = (loads(line) for line in data.splitlines() if line.strip())
    return b"".join(json.dumps(marked(line)).encode() + b"\n" for line in lines if line is not UNREADABLE)


def _marked_zip(data: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, _marked_json(old.read(name)))
    return made.getvalue()


def assert_nowhere(settings: Settings, *texts: str) -> None:
    """Fails where the mark stands in a file of the installation, in any column of a table, or in the texts."""
    found = [name for name, text in _everything(settings, texts) if MARK in text]
    assert found == []


def _everything(settings: Settings, texts: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for number, text in enumerate(texts):
        yield f"text {number}", text
    for path in settings.home.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            yield str(path), path.name
            yield str(path), data.decode("latin-1")
            yield f"{path}, unpacked", _unpacked(path, data)
    if settings.database.exists():
        with catalog.connect(settings) as con:
            yield from _tables(con)


def _unpacked(path: Path, data: bytes) -> str:
    if data.startswith(b"PAR1"):
        return str(pq.read_table(path).to_pylist()) + str(pq.read_metadata(path).metadata)
    if data.startswith(b"\x1f\x8b"):
        return gzip.decompress(data).decode("latin-1")
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=1 << 30).decode("latin-1")
    return ""


def _tables(con: duckdb.DuckDBPyConnection) -> Iterator[tuple[str, str]]:
    names = con.execute("SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    names += con.execute("SELECT schema_name, table_name FROM duckdb_tables()").fetchall()
    for schema, name in names:
        yield name, str(con.execute(f'SELECT t::VARCHAR FROM "{schema}"."{name}" AS t').fetchall())
