"""The whole way: cases and results of an installation, `beleg gate`, the evidence, and a person who publishes."""

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from beleg import flow
from beleg.cli.main import app
from beleg.contract import evidence as evidences
from beleg.contract.model import Contract
from beleg.contract.promotion import Override
from beleg.core.errors import BelegError, UsageError
from beleg.core.settings import Settings
from beleg.evals.cases.case import Case, Expectation, case_id_of
from beleg.evals.cases.dataset import Dataset, empty
from beleg.evals.cases.files import write_case
from beleg.evals.gate import gate
from beleg.evals.gate.attempts import FILE
from beleg.evals.gate.table import tabulate
from beleg.evals.results import Answered, Result, event_line
from beleg.evals.scoring.contenders import with_fallback
from beleg.evals.scoring.journal import Journal
from beleg.lake import catalog
from beleg.trace.fingerprint import fingerprint
from tests.contract.promotion.support import NAME, NOW, Project, approve, with_prompt

MARK = "marked-value-4711"


@dataclass
class House:
    """A project, an installation and a registry."""

    project: Project
    settings: Settings

    @property
    def place(self) -> Path:
        return self.project.root

    def cases(self, count: int, *, first: int = 0, at: Path | None = None) -> Dataset:
        """Freeze cases and name them in the next version of the dataset."""
        root = at or self.place
        made = [frozen(number) for number in range(first, first + count)]
        (root / "evals").mkdir(parents=True, exist_ok=True)
        for each in made:
            write_case(root, each)
        known = root / "evals" / "datasets" / "receipts"
        before = Dataset.load(root, "receipts") if known.exists() else empty(root, "receipts", NAME)
        after = before.next({**before.members, **{each.case_id: each.digest for each in made}}, {})
        after.write()
        return after

    def answer(self, contract: Contract, dataset: Dataset, *, wrong: int = 0, **over: Any) -> None:
        """Results of a version on every case of the dataset, in the lake."""
        made = [
            scored(contract, dataset, case_id, float(number >= wrong), **over)
            for number, case_id in enumerate(sorted(dataset.members))
        ]
        path = self.place.parent / f"{fingerprint([contract.digest, dataset.digest, wrong, repr(over)])[:12]}.jsonl"
        path.write_bytes(b"".join(map(event_line, made)))
        report = flow.ingest(self.settings, [path])
        assert (report.accepted, report.quarantined) == (len(made), 0)

    def run(self, *arguments: str) -> tuple[int, Any]:
        """Exit code and output of `beleg gate`."""
        found = CliRunner().invoke(app, ["gate", NAME, *arguments])
        if isinstance(found.exception, BelegError):
            return found.exception.exit_code, str(found.exception)
        assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
        return found.exit_code, json.loads(found.output) if "--json" in arguments else found.output


def frozen(number: int) -> Case:
    input_hash = fingerprint(f"receipt {number}")
    family = case_id_of(NAME, None, input_hash)
    expected = {"/total": Expectation(f"{MARK} {number}")}
    return Case(NAME, "ocr", f"erp/{number}", input_hash, None, "jcs", expected, family)


def scored(contract: Contract, dataset: Dataset, case_id: str, score: float, **over: Any) -> Result:
    values: dict[str, Any] = {
        "feature": NAME,
        "case_id": case_id,
        "dataset_digest": dataset.digest,
        "side": "candidate",
        "digest": contract.digest,
        "repetition": 1,
        "scorer": "exact_match:total",
        "scorer_version": VERSION,
        "status": "scored",
        "event_time": NOW - timedelta(hours=1),
        "score": score,
        "actual_hash": fingerprint(score),
    }
    return Result(**values | over)


def _version() -> str:
    from beleg.evals.scorers import resolve

    return resolve("exact_match:total").version


VERSION = _version()


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    """A first version is published; a second draft changes the prompt."""
    project = Project(tmp_path / "project").write()
    (project.root / "evals").mkdir()
    project.publish(project.contract())
    project.save(with_prompt(project.contract(), "Read the total in cents."))
    home = tmp_path / "home"
    environment: Mapping[str, Path] = {
        "BELEG_HOME": home,
        "BELEG_PROJECT": project.root,
        "BELEG_REGISTRY": project.root / "registry",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, str(value))
    return House(project, Settings(home, home / "spool", project.root))


def active(house: House) -> Contract:
    return house.project.registry.releases(NAME)[-1].contract


def test_a_draft_that_is_no_worse_passes(house: House) -> None:
    dataset = house.cases(160)
    house.answer(house.project.contract(), dataset)
    house.answer(active(house), dataset, side="baseline")
    code, told = house.run("--json")
    assert code == 0
    assert told["evidence"]["verdict"] == "pass"
    assert told["evidence"]["baseline_version"] == "1.0.0"
    found = evidences.find(house.project.feature, house.project.contract().digest)
    assert found is not None
    assert (found.cases, found.attempt, found.dataset_digest) == (160, 1, dataset.digest)


def test_a_worse_draft_fails_and_too_few_cases_are_inconclusive(house: House) -> None:
    dataset = house.cases(80)
    house.answer(active(house), dataset, side="baseline")
    house.answer(house.project.contract(), dataset, wrong=20)
    assert house.run()[0] == 1
    house.project.save(with_prompt(house.project.contract(), "Read the sum in cents."))
    assert house.run()[0] == 3  # nothing was measured


def test_the_first_version_is_judged_by_its_thresholds(house: House) -> None:
    dataset = house.cases(30)
    house.answer(house.project.contract(), dataset)
    code, told = house.run("--baseline", "none", "--json")
    assert code == 0
    assert told["evidence"]["baseline_digest"] is None


def test_the_same_inputs_give_the_same_bytes_and_one_attempt(house: House) -> None:
    dataset = house.cases(80)
    house.answer(house.project.contract(), dataset)
    house.answer(active(house), dataset, side="baseline")
    runs = [gate(house.settings, house.project.registry, NAME).data for _ in range(2)]
    assert runs[0] == runs[1]
    assert len((house.settings.ledger / FILE).read_bytes().splitlines()) == 1


def test_a_grown_set_is_another_look(house: House) -> None:
    few = house.cases(40)
    for contract in (house.project.contract(), active(house)):
        house.answer(contract, few)
    assert house.run()[0] == 3
    more = house.cases(40, first=40)
    for contract in (house.project.contract(), active(house)):
        house.answer(contract, more)
    code, told = house.run("--json")
    assert code == 3
    assert [each["code"] for each in told["evidence"]["reasons"]] == ["repeated_look"]


def test_what_ci_and_people_read_is_written(house: House, tmp_path: Path) -> None:
    dataset = house.cases(80)
    house.answer(house.project.contract(), dataset, wrong=20)
    house.answer(active(house), dataset, side="baseline")
    summary, junit, report = (tmp_path / name for name in ("summary.md", "gate.xml", "gate.html"))
    summary.write_text("# What an earlier step said\n")
    code, _ = house.run("--summary", str(summary), "--junit", str(junit), "--report", str(report), "--lang", "de")
    assert code == 1
    assert summary.read_text().startswith("# What an earlier step said\n## ❌ receipt-extraction: fail")
    assert 'failures="2"' in junit.read_text()
    assert "nicht bestanden" in report.read_text()
    assert "erp/" in report.read_text()


def test_values_of_a_workflow_that_hashes_stand_nowhere(house: House, tmp_path: Path) -> None:
    dataset = house.cases(80)
    house.answer(house.project.contract(), dataset, wrong=20)
    house.answer(active(house), dataset, side="baseline")
    report = tmp_path / "gate.html"
    house.run("--report", str(report), "--summary", str(tmp_path / "s.md"), "--junit", str(tmp_path / "j.xml"))
    written = [report, tmp_path / "s.md", tmp_path / "j.xml"]
    written += [*house.settings.home.rglob("*"), *house.project.feature.folder.rglob("*")]
    texts = [path.read_bytes() for path in written if path.is_file()]
    assert not [text for text in texts if MARK.encode() in text]


def test_a_hidden_set_lies_outside_and_leaves_counts_alone(house: House, tmp_path: Path) -> None:
    shown, secret = house.cases(80), house.cases(70, first=1000, at=tmp_path / "owner")
    for contract in (house.project.contract(), active(house)):
        house.answer(contract, shown)
        house.answer(contract, secret, wrong=20 if contract == house.project.contract() else 0)
    code, told = house.run("--hidden", str(tmp_path / "owner"), "--json")
    assert code == 1
    hidden = told["evidence"]["hidden"]
    assert hidden == {"cases": 70, "dataset_digest": secret.digest, "missing": 0, "verdict": "fail"}
    assert not [each for each in secret.members if each in json.dumps(told)]
    assert house.run("--hidden", str(house.place))[0] == 2


def test_a_set_that_everybody_sees_is_not_hidden_wherever_it_lies(house: House, tmp_path: Path) -> None:
    shown = house.cases(80)
    for contract in (house.project.contract(), active(house)):
        house.answer(contract, shown)
    shutil.copytree(house.place / "evals", tmp_path / "copy" / "evals")
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "evals").symlink_to(house.place / "evals")
    assert house.run("--hidden", str(tmp_path / "copy"))[0] == 2
    assert house.run("--hidden", str(tmp_path / "link"))[0] == 2


def test_a_case_that_an_earlier_version_of_the_dataset_showed_is_not_hidden(house: House, tmp_path: Path) -> None:
    earlier = house.cases(60)
    shutil.copytree(house.place / "evals", tmp_path / "owner" / "evals")
    shutil.rmtree(house.place / "evals" / "datasets")
    shown = house.cases(80, first=1000)
    assert not earlier.members.keys() & shown.members.keys()
    for contract in (house.project.contract(), active(house)):
        house.answer(contract, shown)
    assert house.run("--hidden", str(tmp_path / "owner"))[0] == 2


def test_a_hidden_set_may_have_been_answered_more_often_than_the_visible_one(house: House, tmp_path: Path) -> None:
    shown, secret = house.cases(80), house.cases(70, first=1000, at=tmp_path / "owner")
    for contract in (house.project.contract(), active(house)):
        house.answer(contract, shown)
        for number in (1, 2):
            house.answer(contract, secret, repetition=number)
    assert house.run("--hidden", str(tmp_path / "owner"))[0] in (0, 3)


def test_no_repetition_that_was_answered_can_be_left_out(house: House) -> None:
    shown = house.cases(80)
    for contract in (house.project.contract(), active(house)):
        for number in (1, 2, 3):
            house.answer(contract, shown, repetition=number)
    assert house.run("--repeat", "1")[0] == 2
    assert house.run("--repeat", "3")[0] != 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--candidate", "7.0.0"), "was never published"),
        (("--baseline", "7.0.0"), "was never published"),
        (("--candidate", "1.0.0"), "the same version"),
        (("--lang", "fr", "--report", "x.html"), "not spoken"),
    ],
)
def test_what_cannot_be_asked_is_a_usage_error(house: House, arguments: tuple[str, ...], told: str) -> None:
    house.cases(10)
    code, output = house.run(*arguments)
    assert code == 2
    assert told in output


def test_damaged_and_stale_cases_have_exit_codes_of_their_own(house: House) -> None:
    dataset = house.cases(80)
    house.answer(house.project.contract(), dataset)
    one = sorted(dataset.members)[3]
    path = house.place.parent / "stale.jsonl"
    stale = scored(house.project.contract(), dataset, one, 1.0, status="stale", event_time=NOW)
    path.write_bytes(event_line(replace(stale, score=None, actual_hash=None)))
    flow.ingest(house.settings, [path])
    assert house.run()[0] == 1
    assert one in house.run()[1]
    (house.place / "evals" / "cases" / NAME / f"{dataset.members[one]}.json").write_text("{}")
    assert house.run()[0] == 4


def test_a_dataset_of_another_feature_is_refused(house: House) -> None:
    other = replace(empty(house.place, "receipts", "other"), version=1, members={frozen(1).case_id: "0" * 64})
    other.write()
    with pytest.raises(UsageError, match="is of other, not of receipt-extraction"):
        gate(house.settings, house.project.registry, NAME)


def test_the_gate_s_evidence_is_what_publishing_asks_for(house: House) -> None:
    """Tier 2 with a fallback, which must be measured too."""
    house.project.tier(2)
    contract, dataset = house.project.contract(), house.cases(160)
    approve(house.project, contract, "Bob")
    house.answer(active(house), dataset, side="baseline")
    house.answer(contract, dataset)
    house.run()
    before = [each.sentence for each in house.project.check(contract, now=NOW).blockers]
    assert any("L46" in each for each in before)
    house.answer(with_fallback(contract, contract.providers.fallbacks[0]), dataset)
    assert house.run()[0] == 0
    readiness = house.project.check(contract, now=NOW)
    assert readiness.blockers == ()
    release = house.project.publish(contract, now=NOW)
    assert release.evidence is not None
    assert release.evidence["verdict"] == "pass"


def test_cases_that_changed_since_void_the_evidence(house: House) -> None:
    house.project.tier(2)
    contract, dataset = house.project.contract(), house.cases(160)
    approve(house.project, contract, "Bob")
    for each in (active(house), contract, with_fallback(contract, contract.providers.fallbacks[0])):
        house.answer(each, dataset)
    house.run()
    house.cases(1, first=500)
    told = [each.sentence for each in house.project.check(contract, now=NOW).blockers]
    assert told == ["the cases 'receipts' have changed since the gate ran: run the gate again"]


def test_only_a_person_by_name_takes_an_inconclusive_gate_on_themselves(house: House) -> None:
    house.project.tier(2)
    contract, dataset = house.project.contract(), house.cases(60)
    approve(house.project, contract, "Bob")
    for each in (active(house), contract, with_fallback(contract, contract.providers.fallbacks[0])):
        house.answer(each, dataset)
    assert house.run()[0] == 3
    found = house.project.check(contract, now=NOW)
    assert any("override it by name" in each.sentence for each in found.blockers)
    owner = Override("Olga Owner", "Only 60 receipts exist.")
    assert house.project.check(contract, now=NOW, override=owner).blockers == ()
    release = house.project.publish(contract, now=NOW, override=owner)
    assert release.override == {"by": "Olga Owner", "why": "Only 60 receipts exist."}


def test_an_override_takes_no_fallback_that_was_never_measured_along(house: House) -> None:
    house.project.tier(2)
    contract, dataset = house.project.contract(), house.cases(60)
    approve(house.project, contract, "Bob")
    for each in (active(house), contract):
        house.answer(each, dataset)
    house.run()
    left = house.project.check(contract, now=NOW, override=Override("Olga", "Only 60 receipts exist.")).blockers
    assert any("L46" in each.sentence for each in left)


def test_analysts_see_scores_and_verdicts(house: House) -> None:
    dataset = house.cases(80)
    house.answer(house.project.contract(), dataset, wrong=20)
    house.answer(active(house), dataset, side="baseline")
    house.run()
    assert tabulate(house.settings) == {"eval_scores": 160, "gate_reports": 1}
    assert tabulate(house.settings) == {"eval_scores": 160, "gate_reports": 1}
    flow.publish(house.settings, as_of=NOW)
    with catalog.connect(house.settings) as con:
        verdicts = con.execute("SELECT verdict, failed_criteria, cases, attempt FROM gate_reports").fetchall()
        differ = con.execute(
            "SELECT count(*) FROM eval_scores AS new JOIN eval_scores AS old USING (case_id, scorer) "
            "WHERE new.candidate_digest = $1 AND old.candidate_digest <> $1 AND new.mean_score < old.mean_score",
            [house.project.contract().digest],
        ).fetchall()
    assert verdicts == [("fail", ["total_exact"], 80, 1)]
    assert differ == [(20,)]


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_around_the_ledger_the_next_run_is_the_same_attempt(house: House, when: str) -> None:
    dataset = house.cases(80)
    for contract in (house.project.contract(), active(house)):
        house.answer(contract, dataset)
    step = "beleg.evals.gate.attempts:Ledger.record"
    dead = subprocess.run([sys.executable, "-m", "tests.dying", step, when, "1", "gate", NAME], check=False)
    assert dead.returncode == -9
    assert evidences.find(house.project.feature, house.project.contract().digest) is None
    house.run()
    found = evidences.find(house.project.feature, house.project.contract().digest)
    assert found is not None
    assert found.attempt == 1
    assert len((house.settings.ledger / FILE).read_bytes().splitlines()) == 1


def test_values_of_a_workflow_that_stores_them_are_shown(house: House, tmp_path: Path) -> None:
    policy = "workflows:\n  ocr: {unit: document, result: {run_unit: documents}, values: stored}\n"
    house.project.policies.mkdir(exist_ok=True)
    (house.project.policies / "workflows.yaml").write_text(policy)
    dataset = house.cases(80)
    draft = house.project.contract()
    house.answer(draft, dataset, wrong=20)
    house.answer(active(house), dataset, side="baseline")
    journal = Journal(house.settings, NAME, dataset.digest)
    one = min(dataset.members)
    journal.keep_answer(Answered(dataset.digest, one, draft.digest, 1), {"total": "what it said"})
    report = tmp_path / "gate.html"
    house.run("--report", str(report))
    assert MARK in report.read_text()
    assert "what it said" in report.read_text()
    assert MARK not in json.dumps(house.run("--json")[1])
