"""The tracer: one receipt per run, never in the way of the caller. Standard library only."""
