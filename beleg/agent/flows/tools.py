"""Tools of a flow: each answers with the whole state, writes only its own fields, and loses no one's edit.

A tool is a pure function of its arguments; where it has parameters named `record` and `record_id`, it is given
those too. The decorators add `record_id` before its arguments, `if_revision` behind them, and the envelope
around its answer:

    {"record_id", "revision", "status", "sections", "markers"?, …computed, "result"? , "error"?, "repeated"?}
"""

import functools
import logging
from collections.abc import Callable, Mapping
from typing import Any

from beleg.agent.flows.calling import (
    MOST_ID_CHARS,
    RefusedError,
    bound_arguments,
    call_key,
    called,
    is_record_id,
    record_of,
    same,
    tool_signature,
)
from beleg.agent.flows.flow import Flow
from beleg.agent.flows.store import Store, Stored
from beleg.core.errors import UsageError

Tool = Callable[..., dict[str, Any]]
_MOST_TRIES = 50
_log = logging.getLogger(__name__)


class FlowTools:
    """Makes a flow's tools and keeps them, in the order of their definition, in `tools`."""

    def __init__(self, flow: Flow, store: Store) -> None:
        self.flow = flow
        self.tools: list[Tool] = []
        self._store = store

    def key(self, record_id: str) -> str:
        """Under which id the store holds a record: flows may share a store and never a record."""
        return f"{self.flow.name}/{record_id}"

    def read(self, function: Callable[..., Any]) -> Tool:
        """A tool that only looks: the function gives the `result`."""
        return self._tool(function, lambda record_id, args, _: self._look(function, record_id, args), effect="read")

    def create(self, function: Callable[..., Mapping[str, Any]]) -> Tool:
        """A tool that begins a record: the function gives its first fields. There is one record per id."""
        self._check(function, self.flow.fields)
        return self._tool(function, lambda record_id, args, _: self._begin(function, record_id, args))

    def write(
        self, *sections: str, fields: tuple[str, ...] = (), appends: bool = False
    ) -> Callable[[Callable[..., Mapping[str, Any]]], Tool]:
        """A tool that changes fields of these sections (or these `fields`): the function gives the changes.

        It must be pure: where somebody else wrote meanwhile, it is called again on the newer record.
        `appends` says that calling it twice adds twice: `if_revision` is then required, so that a repeated call
        is known as one. Raises UsageError for a section that the flow does not have.
        """
        writable = (*fields, *self._fields_of(sections))

        def decorate(function: Callable[..., Mapping[str, Any]]) -> Tool:
            self._check(function, writable)

            def answer(record_id: str, args: dict[str, Any], revision: str | None) -> dict[str, Any]:
                return self._change(function, record_id, args, revision, writable=writable, appends=appends)

            return self._tool(function, answer, revision="required" if appends else "optional")

        return decorate

    # -- what a call does ------------------------------------------------------------------------------

    def _look(self, function: Callable[..., Any], record_id: str, args: dict[str, Any]) -> dict[str, Any]:
        stored = self._store.read(self.key(record_id))
        return self._answer(record_id, stored, result=called(function, record_id, stored, args))

    def _begin(
        self, function: Callable[..., Mapping[str, Any]], record_id: str, args: dict[str, Any]
    ) -> dict[str, Any]:
        first = Stored({}).with_call(
            self._checked(called(function, record_id, None, args), self.flow.fields), call_key(function, args, None)
        )
        if self._store.replace(self.key(record_id), None, first):
            return self._answer(record_id, first)
        stored = self._store.read(self.key(record_id))
        if stored is not None and set(first.calls) <= set(stored.calls):
            return self._answer(record_id, stored, repeated=True)
        return self._failed(record_id, stored, "exists", "the record has begun already: change it with the other tools")

    def _change(
        self,
        function: Callable[..., Mapping[str, Any]],
        record_id: str,
        args: dict[str, Any],
        if_revision: str | None,
        *,
        writable: tuple[str, ...],
        appends: bool,
    ) -> dict[str, Any]:
        key = call_key(function, args, if_revision)
        for _ in range(_MOST_TRIES):
            stored = self._store.read(self.key(record_id))
            if stored is None:
                return self._failed(record_id, None, "unknown_record", "there is no such record yet: create it first")
            if if_revision is not None and key in stored.calls:
                return self._answer(record_id, stored, repeated=True)
            if if_revision != stored.revision and (appends or if_revision is not None):
                return self._failed(record_id, stored, "conflict", _CONFLICT)
            changes = self._checked(called(function, record_id, stored, args), writable)
            if same(changes, {name: stored.record[name] for name in changes if name in stored.record}):
                return self._answer(record_id, stored, repeated=True)
            new = stored.with_call({**stored.record, **changes}, key)
            if self._store.replace(self.key(record_id), stored, new):
                return self._answer(record_id, new)
        return self._failed(record_id, self._store.read(self.key(record_id)), "busy", "others keep writing: try again")

    # -- answers ---------------------------------------------------------------------------------------

    def _answer(self, record_id: str, stored: Stored | None, **more: Any) -> dict[str, Any]:
        state = self.flow.state(record_of(stored)).to_dict()
        return {"record_id": record_id, "revision": stored and stored.revision, **state, **more}

    def _failed(self, record_id: str, stored: Stored | None, code: str, message: str) -> dict[str, Any]:
        return self._answer(record_id, stored, error={"code": code, "message": message})

    def _refuse(self, arguments: Mapping[str, Any], message: str) -> dict[str, Any]:
        """The answer to arguments that never reached the tool: an answer of the flow all the same."""
        record_id = arguments.get("record_id")
        if not is_record_id(record_id):
            shown = str(record_id)[:MOST_ID_CHARS].encode("utf-8", "replace").decode()  # half a character is no JSON
            return self._failed(shown, None, "refused", "record_id is no id of a record")
        stored = self._store.read(self.key(record_id))
        return self._failed(record_id, stored, "refused", message)

    def _guarded(self, record_id: str, call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Failed answers carry the full state too; what was not meant to fail is logged, never shown."""
        try:
            return call()
        except (RefusedError, UsageError) as error:
            return self._failed(record_id, self._store.read(self.key(record_id)), "refused", str(error))
        except Exception as error:  # noqa: BLE001 - a model can only act on an answer
            _log.exception("a tool of flow %s failed", self.flow.name)
            message = f"the tool failed ({type(error).__name__}); nothing was written"
            return self._failed(record_id, self._store.read(self.key(record_id)), "failed", message)

    # -- definition ------------------------------------------------------------------------------------

    def _tool(
        self,
        function: Callable[..., Any],
        answer: Callable[[str, dict[str, Any], str | None], dict[str, Any]],
        *,
        effect: str = "draft",
        revision: str | None = None,
    ) -> Tool:
        signature = tool_signature(function, revision)

        @functools.wraps(function)
        def tool(record_id: str, *given: Any, **named: Any) -> dict[str, Any]:
            if not is_record_id(record_id):
                return self._refuse({"record_id": record_id}, "")

            def call() -> dict[str, Any]:
                args = dict(bound_arguments(signature, record_id, given, named))
                del args["record_id"]
                return answer(record_id, args, args.pop("if_revision", None))

            return self._guarded(record_id, call)

        tool.__signature__ = signature  # type: ignore[attr-defined]
        tool.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
        tool.__annotations__["return"] = dict[str, Any]
        tool.flow, tool.effect = self.flow.name, effect  # type: ignore[attr-defined]
        tool.refuse = self._refuse  # type: ignore[attr-defined]
        del tool.__wrapped__  # the signature is no longer that of the function
        self.tools.append(tool)
        return tool

    def _fields_of(self, sections: tuple[str, ...]) -> tuple[str, ...]:
        known = {each.name: each for each in self.flow.sections}
        if unknown := [name for name in sections if name not in known]:
            raise UsageError(f"flow {self.flow.name} has no section {unknown}; its sections are {', '.join(known)}")
        return tuple(field.name for name in sections for field in known[name].fields)

    def _check(self, function: Callable[..., Any], writable: tuple[str, ...]) -> None:
        if taken := self.flow.operational & set(writable):
            name = function.__name__
            raise UsageError(f"{name} may not write {sorted(taken)}: they belong to operations, not to the agent")

    def _checked(self, changes: Mapping[str, Any], writable: tuple[str, ...]) -> dict[str, Any]:
        if beyond := sorted(set(changes) - set(writable)):
            raise UsageError(f"{beyond} cannot be written here; writable are {', '.join(writable)}")
        return dict(changes)


_CONFLICT = "the record was changed by somebody else: nothing was written; look at the state and call again"
