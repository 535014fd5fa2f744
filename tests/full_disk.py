"""Fills a small file system, so that what is written next does not fit."""

import os
from pathlib import Path


def fill(disk: Path, left_kib: int) -> Path:
    """Leave so much room; returns the file to delete to have it back."""
    ballast = disk / "ballast"
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    ballast.write_bytes(b"x" * max(0, free - left_kib * 1024))
    return ballast
