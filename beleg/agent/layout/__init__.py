"""Prompts put together shared-first, checked before they are sent, and explained when a cache misses."""

from beleg.agent.layout.check import Report, check
from beleg.agent.layout.follow import follow, miss_reason
from beleg.agent.layout.inspect import inspect
from beleg.agent.layout.layout import Layout, Prompt
from beleg.agent.layout.predict import Difference, Prediction, Shared, predict, shared
from beleg.agent.layout.rules import Rules, rules
from beleg.agent.layout.samples import Sample, Samples
from beleg.agent.layout.segment import SCOPES, Piece, Segment

__all__ = [
    "SCOPES",
    "Difference",
    "Layout",
    "Piece",
    "Prediction",
    "Prompt",
    "Report",
    "Rules",
    "Sample",
    "Samples",
    "Segment",
    "Shared",
    "check",
    "follow",
    "inspect",
    "miss_reason",
    "predict",
    "rules",
    "shared",
]
