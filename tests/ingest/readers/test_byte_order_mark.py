"""Exports that Windows' editors and PowerShell saved again, with a byte order mark before them."""

import json
from codecs import BOM_UTF8
from pathlib import Path

import pytest

from beleg.ingest.readers.files import WHOLE_BYTES
from tests.ingest.readers.otlp_spans import request, span
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
