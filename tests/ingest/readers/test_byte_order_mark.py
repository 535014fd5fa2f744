"""Exports that Windows' editors and PowerShell saved again, with a byte order mark before them."""

import json
from codecs import BOM_UTF8
from collections.abc import Callable
from pathlib import Path

import pytest

from beleg.ingest.readers.files import WHOLE_BYTES
from tests.ingest.readers.otlp_spans import request, span
from tests.ingest.readers.samples import langfuse, litellm
from tests.ingest.readers.support import events, refusals, stage, write

CALL = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 1}
LINE = json.dumps(request(span(1, given=CALL))).encode()


@pytest.mark.parametrize(
    "content",
    [
        LINE,
        LINE + b"\n" + json.dumps(request(span(2, given=CALL))).encode() + b"\n",
        json.dumps(request(span(1, given=CALL)), indent=2).encode(),
        json.dumps(request(span(1, given=CALL | {"gen_ai.input.messages": "x" * WHOLE_BYTES}))).encode(),
    ],
    ids=["document", "lines", "indented", "taken apart"],
)
def test_byte_order_mark_changes_nothing(tmp_path: Path, content: bytes) -> None:
    plain = stage(tmp_path / "plain", write(tmp_path, "plain.json", content))
    marked = stage(tmp_path / "marked", write(tmp_path, "marked.json", BOM_UTF8 + content))
    assert refusals(marked) == []
    assert events(marked) == events(plain) != []


@pytest.mark.parametrize("sample", [langfuse.sample, litellm.sample], ids=["langfuse", "litellm"])
def test_byte_order_mark_changes_nothing_for_rows_and_traces(tmp_path: Path, sample: Callable[[str], bytes]) -> None:
    plain = stage(tmp_path / "plain", write(tmp_path, "plain.json", sample("text")))
    marked = stage(tmp_path / "marked", write(tmp_path, "marked.json", BOM_UTF8 + sample("text")))
    assert refusals(marked) == refusals(plain)
    assert events(marked) == events(plain) != []


@pytest.mark.parametrize("form", ["langfuse", "otlp", "litellm"])
def test_text_of_two_bytes_a_character_is_refused_once(tmp_path: Path, form: str) -> None:
    path = write(tmp_path, "wide.json", langfuse.sample("text").decode().encode("utf-16"))
    staged = stage(tmp_path / "wide", path, form=form)
    assert [reason for _, reason in refusals(staged)] == ["wrong_encoding"]
    assert staged.read == staged.quarantined == 1
