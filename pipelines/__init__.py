"""Wiring for Dagster: what runs when, on which days, and who is told."""
