"""Prompts as data: the text that holds for a workflow now, or the one baked into the code."""
