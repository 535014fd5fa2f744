"""Refuses a dependency whose licence is not permissive; reads what is installed, knows nothing of the network."""

import re
import sys
from importlib.metadata import Distribution, distribution, distributions

NAMES = [
    *("MIT", "MIT-0", "Apache", "BSD", "0BSD", "ISC", "PSF", "Python.Software.Foundation"),
    *("Unlicense", "Zlib", "HPND", "MPL", "Mozilla"),
]
PERMISSIVE = re.compile(rf"\b({'|'.join(NAMES)})\b", re.IGNORECASE)
COPYLEFT = re.compile(r"\b(A?GPL|LGPL|SSPL|BUSL|Commons Clause)\b", re.IGNORECASE)
REVIEWED = {
    "docutils": "public domain but for an Emacs mode under the GPL, which nothing here uses; development only",
    "jsoncompat": "MIT by its repository; the wheel does not say so; development only",
    "psycopg2-binary": "LGPL with exceptions: Dagster's driver where a user chooses Postgres; in tests only",
}
"""Package → why its licence is fine although its metadata does not say so."""


def licence(found: Distribution) -> str:
    """What a distribution says of its licence, in one line."""
    meta = found.metadata
    classifiers = [c for c in meta.get_all("Classifier") or [] if c.startswith("License ::")]
    said = [meta.get("License-Expression") or "", (meta.get("License") or "").split("\n")[0], *classifiers]
    return "; ".join(s for s in said if s)


def refused() -> list[str]:
    """Installed distributions whose licence is not known to be permissive."""
    problems = []
    for found in distributions():
        name = found.metadata["Name"]
        said = licence(found)
        if name == "beleg" or name in REVIEWED:
            continue
        if not PERMISSIVE.search(said) or (COPYLEFT.search(said) and " OR " not in said):
            problems.append(f"{name} {found.version}: {said or 'says nothing'}")
    return sorted(problems)


if __name__ == "__main__":
    distribution("beleg")
    bad = refused()
    for line in bad:
        sys.stderr.write(f"licence not permissive or unknown: {line}\n")
    sys.stdout.write(f"licences: {len(list(distributions()))} distributions read, {len(bad)} refused\n")
    sys.exit(1 if bad else 0)
