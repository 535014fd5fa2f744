"""Some weeks of a made-up company's agent runs, with answers known while they are made."""

from beleg.demo.generate import as_of, write_demo
from beleg.demo.tally import DemoSummary

__all__ = ["DemoSummary", "as_of", "write_demo"]
