"""For tests of applications that trace: `beleg.testing.capture()`; see `beleg.trace.testing`."""

from beleg.trace.testing import Captured, CapturedRun, FixedClock, assemble, capture

__all__ = ["Captured", "CapturedRun", "FixedClock", "assemble", "capture"]
