"""Coverage-guided fuzzing of one format: `python -m tests.ingest.readers.atheris_target FORMAT SECONDS [FOLDER]`.

A crash or a hang ends it with an exit code of libFuzzer's and leaves the input in the folder.
"""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["beleg.ingest.readers", "beleg.ingest.inflate", "beleg.trace"]):
    from beleg.ingest.readers.events import Maker
    from beleg.ingest.readers.files import File
    from beleg.ingest.readers.formats import Reading, format_named, formats, recognise
    from beleg.ingest.readers.naming import Naming

    formats()  # imports the module of each

from beleg.ingest.foreign import stage_foreign
from beleg.ingest.sources import find_sources
from tests.ingest.readers.fuzzing import seeds
from tests.ingest.readers.test_leaks import sample_of


def main() -> None:
    """Fuzz until the time is over."""
    name, seconds, *folders = sys.argv[1:]
    form = format_named(name)
    folder = Path(folders[0] if folders else tempfile.mkdtemp())
    corpus, path = folder / "corpus", folder / "file"
    corpus.mkdir(parents=True, exist_ok=True)
    (corpus / "sample").write_bytes(sample_of(name).sample("a text"))
    for file_name, (of_format, data) in seeds(folder).items():
        if of_format == name:
            (corpus / file_name).write_bytes(data)

    def one(data: bytes) -> None:
        path.write_bytes(data)
        (source,) = find_sources([path])
        recognise(source)
        for item in form.read(Reading(File(source), Maker(name), Naming())):
            assert item.refusal is None or not item.events
        staged = stage_foreign([(source, form)], folder / "staged", naming=Naming())
        assert staged.read == staged.accepted + staged.quarantined + staged.pending

    limits = [f"-max_total_time={seconds}", "-timeout=30", "-rss_limit_mb=3000", f"-artifact_prefix={folder}/"]
    atheris.Setup([sys.argv[0], *limits, "-max_len=20000", str(corpus)], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
