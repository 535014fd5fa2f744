"""`make dev`: webserver and daemon over this project, everything they write under `.dagster/`."""

import os
import signal
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def command(port: str) -> list[str]:
    """The command that starts both; the page is for this machine alone."""
    return [sys.executable, "-m", "dagster", "dev", "--host", "127.0.0.1", "--port", port]


def main() -> None:
    """Become `dagster dev`, which stops all it started at Ctrl-C and at TERM."""
    # A shell starts background jobs with these ignored, and what is ignored at the start stays so.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    os.chdir(ROOT)
    os.environ.setdefault("DAGSTER_HOME", str(ROOT))
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    words = command(os.environ.get("PORT", "3000"))
    os.execv(words[0], words)  # noqa: S606 - our own interpreter


if __name__ == "__main__":
    main()
