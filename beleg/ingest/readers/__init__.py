"""Readers: one module per foreign format, each of which turns its files into events in normal form.

A reader reduces first (DESIGN, decision 4): payloads become fingerprints right where they are read, and
nothing else of them is handed on. How to add one: docs/readers.md.
"""
