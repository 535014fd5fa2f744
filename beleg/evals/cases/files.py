"""Where cases and manifests lie in a project, and how they come there: whole, once, and never changed.

    evals/cases/<feature>/<digest>.json      evals/datasets/<name>/v001.json, v002.json, …

Writers hold `evals/.lock`. A case file is invisible until a manifest names it, so the manifest comes last.
"""

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from beleg.contract.draft import Feature
from beleg.contract.registry.fields import parse
from beleg.core import yamlfile
from beleg.core.errors import DamagedError, UsageError
from beleg.core.files import replace_text
from beleg.core.lock import folder_writer
from beleg.core.settings import Settings
from beleg.evals.cases.case import Case, file_text

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")
_MERGE = re.compile(rb"^(<{7}|>{7}) ", re.MULTILINE)


def project_of(settings: Settings) -> Path:
    """The folder with `contracts/` and `evals/`; raises UsageError where there is none."""
    if settings.project is None:
        raise UsageError("no project here: run this where contracts/ and evals/ lie, or set BELEG_PROJECT to it")
    return settings.project


def folder_name(kind: str, name: str) -> str:
    """The name as that of a folder; raises UsageError for one that could lead elsewhere."""
    if NAME.match(name):
        return name
    raise UsageError(f"{kind} {name[:60]!r} cannot name a folder; allowed: letters, digits, '.', '_' and '-'")


def case_path(project: Path, feature: str, digest: str) -> Path:
    """Where a case lies."""
    return project / "evals" / "cases" / folder_name("feature", feature) / f"{digest}.json"


def dataset_folder(project: Path, name: str) -> Path:
    """Where the manifests of a dataset lie."""
    return project / "evals" / "datasets" / folder_name("dataset", name)


def dataset_name(feature: Feature) -> str | None:
    """The dataset that a feature's draft names; None where there is no draft, or it names none."""
    path = feature.draft / "evals.yaml"
    if not path.exists():
        return None
    values = yamlfile.load(path)
    name = values.get("dataset") if isinstance(values, dict) else None
    if name is not None and not isinstance(name, str):
        raise UsageError(f"{feature.name}/draft/evals.yaml: dataset must be a name, got {name!r}")
    return name or None


@contextmanager
def writing(project: Path) -> Generator[None]:
    """Hold the lock of the project's `evals/`, and clear away what a killed writer left; raises Busy."""
    folder = project / "evals"
    with folder_writer(folder):
        for left in folder.glob("*/*/.*.json.*"):
            left.unlink(missing_ok=True)
        yield


def read_document(path: Path) -> dict[str, Any]:
    """The JSON object of a file; raises DamagedError for one that is missing or no such thing."""
    name = short(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DamagedError(f"{name} cannot be read: {error.strerror}; restore it from version control") from error
    if _MERGE.search(data):
        raise DamagedError(f"{name} holds both sides of a merge: {MERGE_ADVICE}")
    return parse(data, name)


MERGE_ADVICE = (
    "two branches each made this version. Keep one side's file as it was (git checkout --ours or --theirs), delete "
    "the later versions of the other side, then repeat what that side did: `beleg cases freeze`, and `beleg cases "
    "add` or `retire` for the rest; the case files of both sides stay"
)
"""What to do after two branches made the same version of a dataset."""


def read_case(project: Path, feature: str, digest: str) -> Case:
    """A case by its digest; raises DamagedError, naming the file, for one that is not what its name says."""
    path = case_path(project, feature, digest)
    case = Case.from_document(read_document(path), short(path))
    if (case.feature, case.digest) != (feature, digest):
        found = f"its content is that of {case.feature}/{case.digest[:12]}"
        raise DamagedError(f"{short(path)} is damaged: {found}; a frozen case never changes, restore it")
    return case


def write_case(project: Path, case: Case) -> bool:
    """Write a case; False where it is there already. Raises DamagedError where another content is."""
    path = case_path(project, case.feature, case.digest)
    if path.exists():
        read_case(project, case.feature, case.digest)
        return False
    write_new(path, case.document())
    return True


def write_new(path: Path, document: Mapping[str, Any]) -> None:
    """Write a document whole; raises DamagedError for a file that is there: nothing frozen is written twice."""
    if path.exists():
        raise DamagedError(f"{short(path)} exists and cannot change")
    replace_text(path, file_text(document))


def short(path: Path) -> str:
    """The path from `evals/` on."""
    return "/".join(path.parts[-4:])
