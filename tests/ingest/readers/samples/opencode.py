"""A message of opencode; a mark wherever payload may stand."""

import json
import sqlite3
from pathlib import Path
from typing import Any

NAME = "msg_9d0000000001.json"
SESSION = "ses_62ffffffffff"
CREATED = 1_772_704_800_000
"""2026-03-05T10:00:00Z."""


def sample(mark: str) -> bytes:
    more = {"system": [mark], "path": {"cwd": f"/home/{mark}", "root": f"/home/{mark}"}, "mode": mark, "agent": mark}
    return json.dumps(message(error={"name": mark, "data": {"message": mark}}, **more)).encode()


def message(**changed: Any) -> dict[str, Any]:
    """An answer: all counts disjoint."""
    tokens = {"input": 100, "output": 40, "reasoning": 60, "cache": {"read": 5000, "write": 300}}
    return {
        "id": "msg_9d0000000001", "sessionID": SESSION, "role": "assistant", "parentID": "msg_9d0000000000",
        "time": {"created": CREATED, "completed": CREATED + 2500}, "modelID": "claude-sonnet-4-5",
        "providerID": "anthropic", "cost": 0.004, "tokens": tokens, "agent": "build",
        "path": {"cwd": "/home/me/shop/src", "root": "/home/me/shop"}, **changed,
    }  # fmt: skip


def tool(mark: str = "text", **changed: Any) -> dict[str, Any]:
    """A part of a message: a call of a tool."""
    state = {"status": "error", "input": {mark: mark}, "error": mark, "time": {"start": CREATED, "end": CREATED + 700}}
    return {
        "id": "prt_1", "sessionID": SESSION, "messageID": "msg_9d0000000001", "type": "tool", "tool": "bash",
        "callID": "toolu_op_1", "state": state, **changed,
    }  # fmt: skip


def database(path: Path, *messages: dict[str, Any], mark: str = "text") -> Path:
    """A database as newer versions keep it; what is still in the write-ahead log is a reader's to find."""
    with sqlite3.connect(path) as con:
        con.execute(
            "CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT, "
            "time_created INTEGER, time_updated INTEGER)"
        )
        for table in ("message", "part"):
            con.execute(f"CREATE TABLE {table} (id TEXT, session_id TEXT, time_created INTEGER, data TEXT)")
        row = (SESSION, None, "/home/me/shop", mark, "1.2.0", CREATED, CREATED + 9000)
        con.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        for table, document in [*(("message", one) for one in messages), ("part", tool(mark))]:
            data = json.dumps({name: value for name, value in document.items() if name not in {"id", "sessionID"}})
            con.execute(
                f"INSERT INTO {table} VALUES (?, ?, ?, ?)", (document["id"], document["sessionID"], CREATED, data)
            )
    con.close()
    return path
