"""Fixtures of this folder."""

from tests.catalog.demo import demo

__all__ = ["demo"]
