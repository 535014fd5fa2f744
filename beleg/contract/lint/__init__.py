"""Lint: what is wrong with a draft before anybody runs it, rule by rule (docs/contract/lint.md).

    findings = lint(contract, Facts(today=...))

A rule that needs a fact which is unknown says nothing, and no maturity level counts it as passed.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from beleg.contract.lint.facts import Facts as Facts
    from beleg.contract.lint.finding import Finding as Finding
    from beleg.contract.lint.run import lint as lint

_HOMES = {"Facts": "facts", "Finding": "finding", "lint": "run"}


def __getattr__(name: str) -> Any:
    # Lazy: the SDK reads `lint.profiles` and must not load a template engine for it.
    if name in _HOMES:
        from importlib import import_module  # noqa: PLC0415

        return getattr(import_module(f"beleg.contract.lint.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'beleg.contract.lint' has no attribute {name!r}")
