"""What surrounds an agent: the tools it is offered, and the verbs it never gets.

Nothing here is imported by `import beleg`. Toolsets need `pydantic` (extra `agent`) to read schemas from type
hints; every adapter imports the library it adapts to when it is used.
"""
