"""OpenTelemetry traces: OTLP as JSON or protobuf, in whatever GenAI convention their spans are written.

`items_of` reads one export request, be it part of a file or sent to the receiver.
"""

from beleg.ingest.readers.otlp.files import FORMATS
from beleg.ingest.readers.otlp.items import items_of
from beleg.ingest.readers.otlp.tree import Tree
from beleg.ingest.readers.otlp.wire import from_protobuf

__all__ = ["FORMATS", "Tree", "from_protobuf", "items_of"]
