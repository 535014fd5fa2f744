"""A small file of each format with a mark in every place that may hold payload.

Each module is named after its format (`-` as `_`) and has

    NAME: str                          the name of such a file, for example "traces.jsonl"
    def sample(mark: str) -> bytes     a file that is read without a refusal

`mark` is a sentence with blanks; it stands in every attribute, event, message, tool argument, exception,
metadata value and other text of the format that is no id, name of a model or time.
"""
