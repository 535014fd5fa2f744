"""A feature's life by command: init, edit, lint, publish, draft, diff, roll back, deprecate, sunset, prove."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from beleg.cli.main import app
from beleg.core.errors import CheckFailed, DamagedError, UsageError
from tests.contract.cli.support import NAME, asked, edit_schema, note
from tests.invoke import run

OPTIONAL = {"type": "string", "description": "ISO code, left out if none is named"}
IN_A_YEAR = (datetime.now(UTC).date() + timedelta(days=365)).isoformat()


@pytest.fixture
def published(feature: Path) -> Path:
    asked("contract", "publish", NAME, "--yes")
    return feature


def second(feature: Path) -> None:
    """Publish a minor version."""
    edit_schema(feature, currency=OPTIONAL)
    note(feature, "currency")
    asked("contract", "publish", NAME, "--yes")


def test_a_new_feature_lints_clean_and_can_be_published_as_it_is(feature: Path) -> None:
    assert [f for f in asked("contract", "lint")["findings"] if f["severity"] == "error"] == []
    told = asked("contract", "publish", NAME, "--yes")
    assert told["published"] == "1.0.0"
    assert "beleg.load" in told["snippet"]
    assert asked("contract", "status")["features"][0]["active"] == "1.0.0"


def test_publishing_asks_first_and_no_is_no(feature: Path) -> None:
    refused = CliRunner().invoke(app, ["contract", "publish", NAME], input="n\n")
    assert isinstance(refused.exception, CheckFailed)
    assert asked("contract", "status")["features"][0]["active"] is None
    done = CliRunner().invoke(app, ["contract", "publish", NAME], input="y\n")
    assert done.exit_code == 0
    assert "is active now" in done.stdout


def test_a_dry_run_writes_nothing(feature: Path) -> None:
    assert asked("contract", "publish", NAME, "--dry-run")["readiness"]["ready"]
    assert not (feature.parents[2] / "home").exists()


def test_a_break_needs_confirmation_and_a_migration_note(published: Path) -> None:
    edit_schema(published, title=None)
    (published / "draft" / "examples.yaml").write_text("examples: [{amount_cents: 95000}]")
    note(published, "no title")
    told = asked("contract", "status", NAME)["readiness"]
    assert (told["version"], told["ready"]) == ("2.0.0", False)
    assert any(change["rule"] == "R03" for change in told["comparison"]["changes"])
    with pytest.raises(CheckFailed, match="cannot be published"):
        run(app, "contract", "publish", NAME, "--yes", "--confirm-breaking")
    note(published, "no title", migration={"note": "read the amount alone", "deadline": IN_A_YEAR})
    with pytest.raises(CheckFailed):
        run(app, "contract", "publish", NAME, "--yes")
    assert asked("contract", "publish", NAME, "--yes", "--confirm-breaking")["published"] == "2.0.0"


def test_diff_reads_like_a_review(published: Path) -> None:
    edit_schema(published, title=None)
    text = run(app, "contract", "diff", NAME).stdout
    assert "R03" in text
    assert '-    "title"' in text
    assert asked("contract", "diff", NAME)["comparison"]["bump"] == "major"


def test_a_rollback_is_one_step_and_says_why(published: Path) -> None:
    second(published)
    told = asked("contract", "rollback", NAME, "--to", "1.0.0", "--why", "currency was wrong", "--yes")
    assert told["active"] == "1.0.0"
    entries = asked("contract", "history", NAME)["entries"]
    assert [(e["verb"], e["version"]) for e in entries] == [
        ("publish", "1.0.0"),
        ("publish", "1.1.0"),
        ("rollback", "1.0.0"),
    ]
    assert entries[-1]["why"] == "currency was wrong"
    with pytest.raises(UsageError, match="active already"):
        run(app, "contract", "rollback", NAME, "--to", "1.0.0", "--why", "again", "--yes")


def test_a_new_draft_inherits_the_active_version_and_spares_an_edited_one(published: Path) -> None:
    asked("contract", "draft", NAME)
    assert asked("contract", "show", NAME, "--version", "draft")["contract"]["output_schema"]
    edit_schema(published, currency=OPTIONAL)
    with pytest.raises(UsageError, match="was edited"):
        run(app, "contract", "draft", NAME)


def test_a_feature_on_its_way_out_cannot_be_changed(published: Path) -> None:
    asked("contract", "deprecate", NAME, "--why", "replaced", "--sunset-on", IN_A_YEAR)
    assert asked("contract", "status")["features"][0]["state"] == "deprecated"
    second_try = (
        ["publish", NAME, "--yes"],
        ["draft", NAME],
        ["approve", NAME],
        ["edit", NAME],
        ["rollback", NAME, "--to", "1.0.0", "--why", "x", "--yes"],
    )
    for words in second_try:
        with pytest.raises(CheckFailed):
            run(app, "contract", *words)


def test_an_edit_is_checked_at_once(published: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text("#!/bin/sh\nsed -i 's/The document:/The {{ nothing }}:/' \"$1\"\n")
    editor.chmod(0o700)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)
    told = run(app, "contract", "edit", NAME, "prompt").stdout
    assert "L01" in told
    assert "not ready" in told


def test_lint_fails_for_ci_where_a_draft_has_an_error(feature: Path) -> None:
    (feature / "draft" / "output.schema.json").write_text('{"type": "nothing"}')
    with pytest.raises(CheckFailed, match=NAME):
        run(app, "contract", "lint")


def test_lint_names_the_draft_it_cannot_read_and_looks_at_the_others(feature: Path) -> None:
    run(app, "contract", "init", "second", "--workflow", "expenses")
    with (feature / "draft" / "change.yaml").open("a") as file:
        file.write("bogus: 1\n")
    done = CliRunner().invoke(app, ["contract", "lint"])
    assert isinstance(done.exception, CheckFailed)
    assert f"{NAME}/draft: the contract: Additional properties" in done.stdout
    assert "second" in done.stdout


def test_where_nobody_can_be_asked_the_option_is_named(feature: Path) -> None:
    done = CliRunner().invoke(app, ["contract", "publish", NAME], input="")
    assert "--yes" in str(done.exception)


def test_a_broken_draft_does_not_hide_the_others(feature: Path) -> None:
    run(app, "contract", "init", "second", "--workflow", "expenses")
    (feature / "draft" / "providers.yaml").write_text("primary: [")
    rows = {row["feature"]: row["draft"] for row in asked("contract", "status")["features"]}
    assert rows["second"] == "would be 1.0.0"
    assert rows[NAME].startswith("unreadable")


def test_the_registry_is_proved_and_damage_told(published: Path) -> None:
    assert asked("contract", "verify")["proved"]
    (release,) = (published.parents[2] / "home" / "registry" / "features" / NAME / "releases").iterdir()
    release.write_bytes(release.read_bytes().replace(b"title", b"tittle", 1))
    with pytest.raises(DamagedError, match="not as it was written"):
        run(app, "contract", "verify")


def test_the_dossier_holds_tiers_versions_and_proofs(published: Path) -> None:
    second(published)
    told = json.loads(run(app, "contract", "export", NAME, "--compliance").stdout)
    assert [v["version"] for v in told["versions"]] == ["1.0.0", "1.1.0"]
    assert told["risk_tier_history"][0]["risk_tier"] == 1
    assert told["binding_tools"]["proved_absent"]
    assert told["data_kept_of_runs"]["payload_policy"] == "hashed_not_stored"
    out = published / "dossier.json"
    run(app, "contract", "export", NAME, "--compliance", "--out", str(out))
    assert json.loads(out.read_text()) == told


def test_a_released_contract_can_be_taken_elsewhere(published: Path) -> None:
    told = json.loads(run(app, "contract", "export", NAME).stdout)
    assert told["version"] == "1.0.0"
    assert told["contract"]["feature"] == NAME


def test_a_push_brings_a_mirror_up_to_date(published: Path, tmp_path: Path) -> None:
    assert asked("contract", "push", str(tmp_path / "mirror"))["heads"] == 1
    assert (tmp_path / "mirror" / "features" / NAME / "head.json").exists()
    assert asked("contract", "push", str(tmp_path / "mirror"))["heads"] == 0


def test_a_tool_enters_the_catalogue_with_its_pin_and_never_changes(feature: Path, tmp_path: Path) -> None:
    file = tmp_path / "tools.yaml"
    entry = {"name": "find_booking", "version": "1.0.0", "description": "Finds.", "input_schema": {"type": "object"}}
    file.write_text(json.dumps({"tools": [entry]}))
    with pytest.raises(UsageError, match=r"binding is missing"):
        run(app, "contract", "tool", str(file))
    file.write_text(json.dumps({"tools": [{**entry, "binding": False}]}))
    (told,) = asked("contract", "tool", str(file))["tools"]
    assert len(told["digest"]) == 64
    file.write_text(json.dumps({"tools": [{**entry, "binding": False, "description": "Other."}]}))
    with pytest.raises(UsageError, match="cannot change"):
        run(app, "contract", "tool", str(file))


def test_a_registry_elsewhere_is_for_readers_only(feature: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELEG_REGISTRY", "s3://bucket/registry")
    with pytest.raises(UsageError, match="contract push"):
        run(app, "contract", "publish", NAME, "--yes")


@pytest.mark.parametrize("verb", ["status", "lint", "diff", "show", "history", "snippet", "publish", "approve"])
def test_an_unknown_feature_is_told(project: Path, verb: str) -> None:
    with pytest.raises((UsageError, CheckFailed)) as told:
        run(app, "contract", verb, "no-such-feature")
    assert os.linesep not in str(told.value)
