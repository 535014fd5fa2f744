"""What ingest takes at most: every number of it in one place, none of them hidden in code."""

from dataclasses import dataclass

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True)
class Limits:
    """Bounds of one ingest. The defaults hold the memory of a worker near 60 MB at any file size."""

    line_bytes: int = MIB
    """Longest line that is parsed; a longer one is hashed and quarantined."""
    value_bytes: int = 16 * KIB
    """Largest artifact `content` and correction `expected`, as compact JSON."""
    depth: int = 64
    """Deepest nesting of a free-form value."""
    range_bytes: int = 32 * MIB
    """Share of a plain file that one worker judges at a time."""
    inline_bytes: int = 48 * MIB
    """Input up to this size is judged in the calling process: starting workers would take longer."""
    inflated_bytes: int = 256 * MIB
    """A compressed file may grow to this size whatever its ratio."""
    inflated_ratio: int = 200
    """Beyond `inflated_bytes`, how many times its own size a compressed file may grow."""

    def inflated_limit(self, compressed_bytes: int) -> int:
        """How many bytes a compressed file of that size may decompress to."""
        return max(self.inflated_bytes, self.inflated_ratio * compressed_bytes)
