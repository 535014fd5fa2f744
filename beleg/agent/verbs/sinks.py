"""Where an effect leaves the process: the functions and methods that the reachability check looks for."""

import re
from types import ModuleType
from typing import Any

MODULES = {
    "subprocess": "shell",
    "pty": "shell",
    "socket": "http",
    "socketserver": "http",
    "ssl": "http",
    "asyncio.subprocess": "shell",
    "http.client": "http",
    "httpx": "http",
    "httpx2": "http",
    "requests": "http",
    "aiohttp": "http",
    "urllib.request": "http",
    "urllib3": "http",
    "ftplib": "http",
    "xmlrpc": "http",
    "webbrowser": "browser",
    "selenium": "browser",
    "playwright": "browser",
    "smtplib": "message",
    "imaplib": "message",
    "poplib": "message",
    "importlib": "code",
    "runpy": "code",
    "code": "code",
    "ctypes": "code",
    "multiprocessing": "shell",
    "sched": "trigger",
    "sqlite3": "query",
    "duckdb": "query",
    "sqlalchemy": "query",
    "psycopg": "query",
    "psycopg2": "query",
}
"""A module and all in it, by the kind of universal verb it gives."""
FUNCTIONS = {
    "builtins.eval": "code",
    "builtins.exec": "code",
    "builtins.compile": "code",
    "builtins.__import__": "code",
    "builtins.open": "file_write",
    "os.system": "shell",
    "os.popen": "shell",
    "os.fork": "shell",
    "os.execv": "shell",
    "os.execve": "shell",
    "os.execvp": "shell",
    "os.spawnv": "shell",
    "os.posix_spawn": "shell",
    "os.kill": "shell",
    "os.remove": "file_write",
    "os.unlink": "file_write",
    "os.rename": "file_write",
    "os.replace": "file_write",
    "os.write": "file_write",
    "shutil.rmtree": "file_write",
    "shutil.copy": "file_write",
    "shutil.move": "file_write",
    "threading.Timer": "trigger",
    "asyncio.create_subprocess_exec": "shell",
    "asyncio.create_subprocess_shell": "shell",
    "asyncio.open_connection": "http",
}
METHODS = re.compile(
    r"execute|executemany|executescript|post|put|patch|delete|request|urlopen|send|sendall|sendmail|send_message"
    r"|system|popen|spawn|run_command|submit|pay|publish|write_text|write_bytes|unlink|rmtree|transmit|dispatch|enqueue"
    r"|call_tool|invoke|getattr"
)
"""Methods that count as reached on an object of which nothing is known."""
HARMLESS = frozenset(
    {"append", "extend", "items", "keys", "values", "setdefault", "join", "split", "strip", "lower", "upper", "replace"}
    | {"format", "startswith", "endswith", "sort", "index", "count", "encode", "decode", "isoformat", "get", "copy"}
    | {
        "removeprefix",
        "removesuffix",
        "partition",
        "rpartition",
        "casefold",
        "title",
        "add",
        "discard",
        "pop",
        "update",
    }
)
"""Methods of the built-in containers and texts. A client's `get` passes here: the audit is no proof, and says so."""
KNOWN = ("beleg.trace.", "beleg.core.")
"""Modules that are not followed: they hash and read settings, and are checked where they stand."""
_ALIASES = {"nt": "os", "posix": "os", "_io": "builtins", "_socket": "socket", "_sqlite3": "sqlite3"}


def kind_of(target: Any) -> str | None:
    """The kind of universal verb that a function or class is; None for any other."""
    module = target.__name__ if isinstance(target, ModuleType) else str(getattr(target, "__module__", "") or "")
    module = _ALIASES.get(module, module)
    name = str(getattr(target, "__qualname__", ""))
    if kind := FUNCTIONS.get(f"{module}.{name}"):
        return kind
    if module.partition(".")[0] == "pathlib" and METHODS.fullmatch(name.rpartition(".")[2]):
        return "file_write"
    return next((kind for each, kind in MODULES.items() if module == each or module.startswith(f"{each}.")), None)
