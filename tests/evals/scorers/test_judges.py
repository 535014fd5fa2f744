"""Judges: what they say counts only once people have checked it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

import pytest

from beleg.core.errors import UsageError
from beleg.evals.scorers import Scorer, resolve
from beleg.evals.scorers.calibration import FOLDER, calibrate, calibration, unfit
from beleg.evals.scorers.judges import Judge, Likeness

DAY = date(2026, 11, 30)


@dataclass(frozen=True, kw_only=True)
class Polite(Judge):
    name: ClassVar[str] = "polite"
    version: ClassVar[str] = "1.0.0"

    word: str = "please"

    def agrees(self, expected: Any, actual: Any) -> bool:
        return self.word in actual


@dataclass(frozen=True, kw_only=True)
class Letters(Likeness):
    """An embedding that anybody can check: how often each letter occurs."""

    name: ClassVar[str] = "letters"
    version: ClassVar[str] = "1.0.0"

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return [[float(text.count(letter)) for letter in "abcdef"] for text in texts]


def labelled(project: Path, *, both: int, human_only: int, judge_only: int, neither: int) -> None:
    rows = [("pass", "pass")] * both + [("pass", "fail")] * human_only
    rows += [("fail", "pass")] * judge_only + [("fail", "fail")] * neither
    (project / FOLDER).mkdir(parents=True, exist_ok=True)
    text = "human,judge\n" + "".join(f"{human},{judge}\n" for human, judge in rows)
    (project / FOLDER / "polite.csv").write_text(text, encoding="utf-8")


def calibrated(project: Path, scorer: Judge, **counts: int) -> None:
    labelled(project, **counts)
    calibrate(scorer, project, "polite.csv", DAY).save(project)


GOOD = {"both": 60, "human_only": 3, "judge_only": 2, "neither": 60}


def test_a_judge_says_yes_or_no() -> None:
    assert Polite().score("x", "please sit").value == 1
    assert Polite().score("x", "sit").note == "judged_wrong"
    assert Polite().score("x", 5).note == "raised_TypeError"


def test_likeness_goes_by_the_angle() -> None:
    scorer = Letters(least=Decimal("0.9"))
    scores = [scorer.score("abc", each) for each in ("cba", "aabbcc", "def", "", 5)]
    assert [each.value for each in scores] == [1, 1, 0, None, 0]
    assert scores[3].note == "embedding_has_no_direction"


def test_only_a_threshold_that_tells_apart_is_allowed() -> None:
    with pytest.raises(UsageError, match="least=0 is not allowed"):
        Letters(least=Decimal(0))


@pytest.mark.parametrize("scorer", [resolve("exact_match"), resolve("latency_ms")])
def test_scorers_that_do_not_judge_need_nobody(scorer: Scorer, tmp_path: Path) -> None:
    assert unfit(scorer, tmp_path) == ()


def test_a_judge_without_calibration_may_not_gate(tmp_path: Path) -> None:
    assert "not calibrated against people" in unfit(Polite(), tmp_path)[0]


def test_a_judge_that_people_agree_with_may_gate(tmp_path: Path) -> None:
    calibrated(tmp_path, Polite(), **GOOD)
    assert unfit(Polite(), tmp_path) == ()
    found = calibration(tmp_path, "polite")
    assert found is not None
    assert found.confusion == {"pass_pass": 60, "pass_fail": 3, "fail_pass": 2, "fail_fail": 60}
    assert found.quality().agreement == 0.96


@pytest.mark.parametrize(
    ("counts", "why"),
    [
        ({"both": 20, "human_only": 0, "judge_only": 0, "neither": 20}, "40 human labels"),
        ({"both": 60, "human_only": 30, "judge_only": 20, "neither": 60}, "sensitivity"),
        ({"both": 100, "human_only": 2, "judge_only": 0, "neither": 0}, "both classes"),
        ({"both": 0, "human_only": 0, "judge_only": 0, "neither": 0}, "both classes"),
    ],
)
def test_a_judge_that_is_not_shown_to_be_good_may_not_gate(tmp_path: Path, counts: dict[str, int], why: str) -> None:
    calibrated(tmp_path, Polite(), **counts)
    assert why in " ".join(unfit(Polite(), tmp_path))


def test_a_calibration_is_of_one_judge_with_its_options(tmp_path: Path) -> None:
    calibrated(tmp_path, Polite(), **GOOD)
    assert "scorer_digest changed" in unfit(Polite(word="thanks"), tmp_path)[0]

    @dataclass(frozen=True, kw_only=True)
    class Newer(Polite):
        version: ClassVar[str] = "1.1.0"

    assert "version, scorer_digest changed" in unfit(Newer(), tmp_path)[0]


def test_labels_that_changed_take_the_calibration_with_them(tmp_path: Path) -> None:
    calibrated(tmp_path, Polite(), **GOOD)
    labelled(tmp_path, **{**GOOD, "human_only": 4})
    assert "labels_sha256, confusion changed" in unfit(Polite(), tmp_path)[0]


def test_a_confusion_that_is_better_than_the_labels_is_found_out(tmp_path: Path) -> None:
    labelled(tmp_path, **{**GOOD, "judge_only": 40})
    found = calibrate(Polite(), tmp_path, "polite.csv", DAY)
    replace(found, confusion={**found.confusion, "fail_pass": 0}).save(tmp_path)
    assert "confusion changed" in unfit(Polite(), tmp_path)[0]


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        (b"human,judge\npass,maybe\n", "pass or fail"),
        (b"person,judge\npass,pass\n", "pass or fail"),
        (b"human,judge\n\xff,pass\n", "no CSV file"),
        (b'human,judge\n"pass,pass\n', "no CSV file"),
    ],
)
def test_labels_that_cannot_be_read_are_refused(tmp_path: Path, labels: bytes, why: str) -> None:
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / "polite.csv").write_bytes(labels)
    with pytest.raises(UsageError, match=why):
        calibrate(Polite(), tmp_path, "polite.csv", DAY)


def test_labels_lie_beside_the_calibration(tmp_path: Path) -> None:
    for name in ("../polite.csv", "/etc/passwd"):
        with pytest.raises(UsageError, match="no file name"):
            calibrate(Polite(), tmp_path, name, DAY)
    with pytest.raises(UsageError, match="cannot be read"):
        calibrate(Polite(), tmp_path, "polite.csv", DAY)


@pytest.mark.parametrize("text", ["", "[]", "judge: polite\n"])
def test_a_file_that_is_no_calibration_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / "polite.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="is no calibration"):
        unfit(Polite(), tmp_path)
