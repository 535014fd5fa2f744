"""What people said about a judge: without it, and unless it is good enough, a judge may not gate.

A calibration is a file `evals/judges/<name>.yaml` beside the labels it rests on, a CSV file with the columns
`human` and `judge` (pass or fail) for a random sample of the outputs judged:

    judge: tone
    version: 1.0.0
    scorer_digest: <64 hex digits>       # name, version, field, options: another judge needs labels of its own
    labels: tone.labels.csv
    labels_sha256: <64 hex digits>
    calibrated_on: 2026-11-30
    confusion: {pass_pass: 40, pass_fail: 5, fail_pass: 3, fail_fail: 52}    # human_judge
"""

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from beleg.core import yamlfile
from beleg.core.errors import BelegError, UsageError
from beleg.evals.scorers.judges import Judge
from beleg.evals.scorers.model import Scorer

if TYPE_CHECKING:
    from beleg.evals.stats.judges import JudgeCalibration

FOLDER = "evals/judges"
CELLS = tuple(f"{human}_{judge}" for human in ("pass", "fail") for judge in ("pass", "fail"))


@dataclass(frozen=True)
class Calibration:
    """What people said about a judge's verdicts."""

    judge: str
    version: str
    scorer_digest: str
    labels: str
    """Name of the file with the labels, beside the calibration."""
    labels_sha256: str
    calibrated_on: date
    confusion: Mapping[str, int]
    """How often, for each of CELLS."""

    def quality(self) -> "JudgeCalibration":
        """Agreement, sensitivity, specificity and kappa with intervals, and whether the judge is fit for gating.

        Raises StatisticsError where people passed all or failed all.
        """
        from beleg.evals.stats.judges import judge_calibration  # noqa: PLC0415 - SciPy takes half a second to import

        return judge_calibration(**self.confusion)

    def save(self, project: Path) -> Path:
        """Write `evals/judges/<judge>.yaml`."""
        path = project / FOLDER / f"{self.judge}.yaml"
        path.write_text(yaml.safe_dump(asdict(self), sort_keys=False, default_flow_style=None), encoding="utf-8")
        return path


def calibrate(scorer: Judge, project: Path, labels: str, on: date) -> Calibration:
    """The calibration of a judge from labels in `evals/judges/`; raises UsageError for labels that cannot be read."""
    data = _labels(project, labels)
    try:
        rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig")), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{FOLDER}/{labels} is no CSV file in UTF-8: {error}") from error
    found = Counter(f"{row.get('human')}_{row.get('judge')}" for row in rows)
    if unknown := sorted(set(found) - set(CELLS)):
        raise UsageError(f"{FOLDER}/{labels}: {len(unknown)} kinds of rows have no human and judge of pass or fail")
    confusion = {cell: found[cell] for cell in CELLS}
    return Calibration(scorer.name, scorer.version, scorer.digest, labels, _sha256(data), on, confusion)


def calibration(project: Path, judge: str) -> Calibration | None:
    """The calibration on file, None where there is none; raises UsageError for a file that is none."""
    path = project / FOLDER / f"{judge}.yaml"
    if not path.exists():
        return None
    values = yamlfile.load(path)
    names = {each.name for each in fields(Calibration)}
    if not isinstance(values, dict) or set(values) != names:
        raise UsageError(f"{FOLDER}/{path.name} is no calibration; it has exactly: {', '.join(sorted(names))}")
    return Calibration(**values)


def unfit(scorer: Scorer, project: Path) -> tuple[str, ...]:
    """Reasons why a scorer may not gate; empty for scorers that do not judge, and for judges that are calibrated."""
    if not isinstance(scorer, Judge):
        return ()
    found = calibration(project, scorer.name)
    if found is None:
        return (f"{scorer.name} is not calibrated against people: {FOLDER}/{scorer.name}.yaml is missing",)
    now = calibrate(scorer, project, found.labels, found.calibrated_on)
    if changed := [each.name for each in fields(now) if getattr(now, each.name) != getattr(found, each.name)]:
        return (f"{scorer.name}: {', '.join(changed)} changed since it was calibrated; calibrate it again",)
    try:
        return found.quality().unfit
    except BelegError as error:
        return (f"{scorer.name}: {error}",)


def _labels(project: Path, name: str) -> bytes:
    if Path(name).name != name:
        raise UsageError(f"labels {name!r} is no file name; labels lie in {FOLDER}")
    try:
        return (project / FOLDER / name).read_bytes()
    except OSError as error:
        raise UsageError(f"{FOLDER}/{name} cannot be read: {error.strerror}") from error


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
