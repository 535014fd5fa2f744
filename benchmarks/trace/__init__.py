"""The tracer against OpenTelemetry, and its canonicaliser against the reference implementation."""
