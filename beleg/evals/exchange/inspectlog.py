"""Logs of Inspect (`inspect_ai`), as JSON or as an `.eval` archive: one answer per sample and epoch.

The sample's id, or `case_id` or `input_ref` of its metadata, tells the case; what `beleg eval export` wrote does.
"""

import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from beleg.evals.exchange import rows
from beleg.evals.exchange.rows import Row
from beleg.evals.scoring.receipt import Receipt

_MAGIC = b"PK\x03\x04"
_HEADERS = ("header.json", "_journal/start.json")
"""Where an archive says what was run; the second one where the run did not end."""


def read(path: Path, variant: str | None) -> list[Row]:
    """The rows; raises DamagedError, naming sample or member, for a file that is no log."""
    data = rows.content(path)
    told = list(_archived(data, path.name) if data.startswith(_MAGIC) else _plain(data, path.name))
    return rows.of_variant(told, variant, path.name)


def _plain(data: bytes, name: str) -> Iterator[tuple[str, Row]]:
    log = rows.document(data, name)
    samples = log.get("samples") if isinstance(log, Mapping) else None
    if samples is None:
        rows.member(log, "eval", dict, name, "the log")
        raise rows.wrong(name, "the log", "it holds no samples: log them, or read the log of a finished run")
    model = _model(log, name)
    for number, sample in enumerate(rows.member(log, "samples", list, name, "the log"), start=1):
        yield model, _row(sample, name, f"sample {number}")


def _archived(data: bytes, name: str) -> Iterator[tuple[str, Row]]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            yield from _members(archive, name)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        told = f"{type(error).__name__}; `inspect log convert --to json` writes one that can be read"
        raise rows.wrong(name, "the archive", told) from error


def _members(archive: zipfile.ZipFile, name: str) -> Iterator[tuple[str, Row]]:
    # An archive gives no more of a member than it declares.
    if sum(each.file_size for each in archive.infolist()) > rows.MOST_BYTES:
        raise rows.wrong(name, "the archive", f"it inflates to more than {rows.MOST_BYTES >> 20} MiB")
    names = archive.namelist()
    header = next((each for each in _HEADERS if each in names), None)
    if header is None:
        raise rows.wrong(name, "the archive", "it holds no header.json: it is no log of Inspect")
    model = _model(rows.document(archive.read(header), name, header), name)
    for each in sorted(each for each in names if each.startswith("samples/") and each.endswith(".json")):
        yield model, _row(rows.document(archive.read(each), name, each), name, each)


def _model(log: Any, name: str) -> str:
    return str(rows.member(log, "eval", dict, name, "the log").get("model"))


def _row(sample: Any, name: str, place: str) -> Row:
    epoch = rows.member(sample, "epoch", int, name, place)
    told = sample.get("metadata")
    metadata: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
    keys = rows.texts(metadata.get("case_id"), sample.get("id"), metadata.get("input_ref"))
    if not keys:
        raise rows.wrong(name, place, "it has no id")
    output = sample.get("output")
    output = output if isinstance(output, Mapping) else {}
    answer = _text(output)
    failed = bool(sample.get("error")) or bool(output.get("error"))
    return Row(
        place,
        keys,
        None if failed or rows.empty(answer) else answer,
        error=failed,
        repetition=epoch,
        input_hash=None,
        took=_took(sample, output),
        at=rows.instant(sample.get("completed_at")),
    )


def _text(output: Mapping[str, Any]) -> str | None:
    """What the model said last; the parts of a content that are no text say nothing."""
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, list):
        parts = [each["text"] for each in content if isinstance(each, Mapping) and isinstance(each.get("text"), str)]
        return "".join(parts)
    return content if isinstance(content, str) else None


def _took(sample: Mapping[str, Any], output: Mapping[str, Any]) -> Receipt:
    usages = sample.get("model_usage")
    told = [each for each in (usages.values() if isinstance(usages, Mapping) else ()) if isinstance(each, Mapping)]
    if not told and isinstance(output.get("usage"), Mapping):
        told = [output["usage"]]
    seconds = sample.get("working_time", output.get("time"))
    latency_ms = rows.count(seconds * 1000) if isinstance(seconds, (int, float)) else None
    return Receipt(
        None, latency_ms, _sum(map(_tokens_in, told)), _sum(rows.count(each.get("output_tokens")) for each in told)
    )


def _tokens_in(usage: Mapping[str, Any]) -> int | None:
    """Tokens that went in, cached ones included: logs count those inside `input_tokens` until 2025, then outside.

    The total tells which it is (CACHED_TOKENS: input + output = total where they are inside).
    """
    into, out, total = (rows.count(usage.get(each)) for each in ("input_tokens", "output_tokens", "total_tokens"))
    cached = sum(rows.count(usage.get(each)) or 0 for each in ("input_tokens_cache_read", "input_tokens_cache_write"))
    if into is None or not cached:
        return into
    if out is None or total is None:
        return None
    return {into + out: into, into + cached + out: into + cached}.get(total)


def _sum(figures: Iterable[int | None]) -> int | None:
    known = list(figures)
    return sum(each for each in known if each is not None) if known and None not in known else None
