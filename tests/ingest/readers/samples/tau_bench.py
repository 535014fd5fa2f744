"""A trajectory of τ-bench; a mark wherever payload may stand."""

import json
from typing import Any

NAME = "trajectories.json"


def sample(mark: str) -> bytes:
    return json.dumps([trial(mark), trial(mark, trial=1, reward=0.0)]).encode()


def trial(mark: str = "text", **changed: Any) -> dict[str, Any]:
    """A solved task: two answers and a tool call."""
    function = {"name": "get_user", "arguments": json.dumps({"id": mark})}
    called = {"id": "call_1", "type": "function", "function": function}
    made = {
        "task_id": 0,
        "reward": 1.0,
        "info": {"task": {"user_id": mark, "instruction": mark}, "user_cost": 0.0035475000000000003, "source": mark},
        "traj": [
            {"role": "system", "content": mark},
            {"role": "user", "content": mark},
            {"role": "assistant", "content": None, "tool_calls": [called]},
            {"role": "tool", "tool_call_id": "call_1", "name": "get_user", "content": mark},
            {"role": "assistant", "content": mark},
        ],
        "trial": 0,
    }
    return {**made, **changed}
