"""Why a line is refused: the stable codes of the quarantine's `reason` column."""

from typing import NamedTuple

REASONS = {
    "byte_order_mark": "begins with a byte order mark; save the file as UTF-8 without it",
    "contradicted_usage": "a priced token bucket contradicts the reported figures",
    "damaged_archive": "the compressed file ends early or is corrupt; fetch it again",
    "decompression_bomb": "the compressed file grows past the limit; nothing beyond it was read",
    "document_too_large": "one JSON value that is too large to be read as a whole",
    "duplicate_key": "an object holds the same key twice, so its value is ambiguous",
    "line_too_long": "longer than the limit for one event",
    "lone_surrogate": "a \\uD800 to \\uDFFF escape without its partner is no text",
    "nesting_too_deep": "nested deeper than the limit",
    "no_id": "carries no id by which it could be told from others",
    "no_time": "carries no time between 2000 and 2099, so that it belongs to no day",
    "not_a_number": "NaN or Infinity, which JSON does not have",
    "not_json": "no JSON text",
    "not_object": "JSON, but no object",
    "not_utf8": "no UTF-8",
    "number_out_of_range": "a number that 64 bits cannot hold",
    "schema": "does not meet the schema of its event",
    "shape": "the artifact does not meet its registered shape",
    "torn_document": "the file ends in the middle of a document",
    "torn_line": "the file ends in the middle of this line",
    "unknown_event": "no such event type",
    "unknown_shape": "the artifact's kind has no registered shape",
    "unknown_version": "the event type has no such schema version",
    "unreadable_item": "an item that is not shaped as its format is",
    "unmapped_cell": "a cell of the table cannot be read as the mapping says",
    "unsupported_file": "no newline-delimited JSON; a table needs a mapping",
    "value_too_large": "a free-form value is larger than the limit",
    "wrong_encoding": "holds NUL bytes, as UTF-16 does; save the file as UTF-8",
}
"""Code → meaning. A code is never renamed or given another meaning; users filter by it."""


class Refusal(NamedTuple):
    """Why a line is not taken. `detail` holds rules and places, never a value of the line."""

    reason: str
    detail: str


def refuse(reason: str, detail: str = "") -> Refusal:
    """The refusal for a code, worded by its meaning where there is no more to say."""
    return Refusal(reason, detail or REASONS[reason])


class Refused(Exception):
    """Something that cannot be taken; carries the refusal."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal
