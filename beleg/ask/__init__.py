"""Answers about single runs and versions: what a run did and why, what changed, how versions fare."""
