"""Functions that reach an effect, by a way that a reader would overlook."""

import functools
import importlib
import os
import smtplib
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen


def direct(text: str) -> None:
    """Runs a shell."""
    subprocess.run(text, shell=True, check=False)


def through_another(text: str) -> None:
    """Calls one that calls one."""
    _first(text)


def _first(text: str) -> None:
    _second(text)


def _second(text: str) -> None:
    os.system(text)


class Client:
    def __init__(self, host: str) -> None:
        self.host = host

    def deliver(self, text: str) -> None:
        with smtplib.SMTP(self.host) as server:
            server.sendmail("a", "b", text)

    @property
    def mail(self) -> "Client":
        return self

    @classmethod
    def default(cls) -> "Client":
        return cls("localhost")


@dataclass(frozen=True)
class Context:
    client: Client


CLIENT = Client("localhost")


def by_method_of_the_context(context: Context, text: str) -> None:
    """Goes through two attributes."""
    context.client.mail.deliver(text)


def by_global_object(text: str) -> None:
    """Goes through an object of the module."""
    CLIENT.deliver(text)


def by_local_name(text: str) -> None:
    """Goes through a name given on the way."""
    client = Client.default()
    client.deliver(text)


def by_callback(text: str) -> None:
    """Hands a function on."""
    list(map(_second, [text]))


def by_builtin_callback(text: str) -> None:
    """Hands a built-in on."""
    list(map(eval, [text]))


def by_lambda(text: str) -> None:
    """Hides the call in a lambda."""
    sorted([text], key=lambda each: urlopen(each + "/"))


def by_comprehension(text: str) -> list[Any]:
    """Hides the call in a comprehension."""
    return [eval(each) for each in text]


def by_import(text: str) -> None:
    """Loads what it calls."""
    importlib.import_module(text)


def by_name(context: Any, text: str) -> None:
    """Looks a method up by its name."""
    getattr(context, "sub" + "mit")(text)


def by_table(text: str) -> None:
    """Looks a function up in a table."""
    {"go": _second}[text](text)


def by_unknown_client(context: Any, text: str) -> None:
    """Calls a method of which nothing is known but its name."""
    context.api.post(text)


def by_sql(text: str) -> None:
    """Runs any statement."""
    sqlite3.connect(":memory:").execute(text)


def by_file(text: str) -> None:
    """Writes a file."""
    Path(text).write_text(text)


def by_inner_name(text: str) -> None:
    """Gives a harmless name another meaning inside."""

    def inner(harmless: Any) -> None:
        harmless(text).submit()

    inner(text)


class Acting:
    """An object that is called."""

    def __call__(self, text: str) -> None:
        _second(text)


by_object = Acting()
by_partial = functools.partial(_second, "ls")


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def inner(*args: Any, **kwargs: Any) -> Any:
        direct("ls")
        return function(*args, **kwargs)

    return inner


@wrapped
def by_decorator(text: str) -> str:
    """Looks harmless."""
    return text


async def by_coroutine(text: str) -> None:
    """Does it later."""
    _second(text)


def harmless(context: Context, text: str) -> dict[str, Any]:
    """Looks, counts and joins."""
    words = text.strip().lower().split(",")
    return {"host": context.client.host, "count": len(words), "sum": sum(map(len, words)), "text": "".join(words)}


class Door:
    """Does everything by syntax."""

    def __enter__(self) -> None:
        _second("enter")

    def __exit__(self, *said: object) -> None:
        """Leaves."""

    def __getitem__(self, text: str) -> str:
        _second(text)
        return text

    def __iter__(self) -> Iterator[str]:
        _second("iterate")
        yield ""

    def __str__(self) -> str:
        _second("show")
        return ""

    def __or__(self, text: str) -> str:
        _second(text)
        return text

    @property
    def opened(self) -> bool:
        _second("open")
        return True

    @opened.setter
    def opened(self, text: str) -> None:
        _second(text)

    @functools.cached_property
    def kept(self) -> bool:
        _second("keep")
        return True


DOOR = Door()


def by_with(text: str) -> str:
    """Enters."""
    with Door():
        return text


def by_item(text: str) -> str:
    """Reads an item."""
    return Door()[text]


def by_operator(text: str) -> str:
    """Joins."""
    return Door() | text


def by_loop(text: str) -> str:
    """Loops."""
    for _ in Door():
        pass
    return text


def by_comprehension_over(text: str) -> list[str]:
    """Loops in an expression."""
    return [text for _ in Door()]


def by_format(text: str) -> str:
    """Writes a text."""
    return f"{Door()} {text}"


def by_builtin(text: str) -> str:
    """Writes a text."""
    return text + str(Door())


def by_property(text: str) -> str:
    """Reads a member."""
    return text if Door().opened else ""


def by_property_of_global(text: str) -> str:
    """Reads a member."""
    return text if DOOR.opened else ""


def by_setter(text: str) -> None:
    """Sets a member."""
    DOOR.opened = text


def by_cached_property(text: str) -> str:
    """Reads a member."""
    return text if DOOR.kept else ""


def by_item_of_global(text: str) -> str:
    """Reads an item."""
    return DOOR[text]
