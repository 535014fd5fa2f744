"""Frozen cases: what a person accepted becomes an immutable file, and datasets say which files count.

`case` and `dataset` are what the files hold, `files` how they are written, `decide` and `edit` what a person
says. `sources` reads from the lake what was accepted, as `claims`; `assemble` makes cases of them, `freeze` files.
"""
