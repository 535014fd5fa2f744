"""Approvals: bound to a digest and a person, counted by tier, signed where keys are configured."""

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from beleg.contract import approvals, promotion
from beleg.contract.registry import signatures
from beleg.contract.registry.people import identity, person
from beleg.core.errors import DamagedError, UsageError
from tests.contract.promotion.support import NAME, NOW, Project, approve, dump, whats, with_prompt


def tiered(project: Project, tier: int) -> str:
    """A draft in a tier with its evidence; returns its digest."""
    project.tier(tier)
    contract = project.contract()
    project.prove(contract)
    return contract.digest


def test_tier_1_needs_nobody_but_the_publisher(project: Project) -> None:
    assert project.check(project.contract()).ready


def test_tier_2_needs_one_person_other_than_the_author(project: Project) -> None:
    tiered(project, 2)
    contract = project.contract()
    assert whats(project.check(contract)) == ["approvals"]
    approve(project, contract, "Anna Author")
    refused = project.check(contract)
    assert refused.approved.passed_over == ("Anna Author is the author",)
    approve(project, contract, "Bob")
    release = project.publish(contract)
    assert [(each["by"], each["role"]) for each in release.approvals] == [("Bob", "approver")]


def test_tier_3_needs_two_of_whom_one_is_the_risk_owner(project: Project) -> None:
    tiered(project, 3)
    contract = project.contract()
    approve(project, contract, "Bob", "Cleo")
    assert [each.sentence for each in project.check(contract).blockers if each.what == "approvals"] == [
        "the risk owner, Rita Risk, must approve"
    ]
    approve(project, contract, "RITA  risk")
    assert project.check(contract).ready
    assert sorted(each["role"] for each in project.publish(contract).approvals) == [
        "approver",
        "approver",
        "risk_owner",
    ]


def test_one_person_under_several_spellings_counts_once(project: Project) -> None:
    tiered(project, 3)
    contract = project.contract()
    approve(project, contract, "Rita Risk", "rita risk", " RITA\u00a0RISK ", "Ｒita Risk")  # noqa: RUF001
    folder = approvals.folder(project.feature, contract.digest)
    (one,) = folder.iterdir()
    (folder / "another.json").write_text(one.read_text().replace("Ｒita Risk", "rITA rISK"))  # noqa: RUF001
    found = project.check(contract)
    assert len(found.approved.counted) == 1
    assert [each.partition(" has ")[2] for each in found.approved.passed_over] == ["approved already"]
    assert "approvals" in whats(found)


@pytest.mark.parametrize("hidden", ["\u200b", "\u00ad", "\u034f", "\ufe0f", "\u3164", "\U000e0101", "\x00", "\u2060"])
def test_an_author_cannot_hide_from_their_own_approval(project: Project, hidden: str) -> None:
    project.tier(2)
    contract = project.save(project.contract(author=f"Bo{hidden}b"))
    project.prove(contract)
    with pytest.raises(UsageError, match="nobody sees"):
        approve(project, contract, f"B{hidden}ob")
    approve(project, contract, "Bob")
    assert project.check(contract).approved.passed_over == ("Bob is the author",)


def test_an_approval_is_void_once_the_draft_changed(project: Project) -> None:
    tiered(project, 2)
    contract = project.contract()
    approve(project, contract, "Bob")
    changed = project.save(with_prompt(contract, "Read the total in cents."))
    project.prove(changed)
    assert whats(project.check(changed)) == ["approvals"]
    with pytest.raises(UsageError, match="any more"):
        approvals.approve(project.feature, contract.digest, by="Cleo", now=NOW)


def test_a_copied_approval_does_not_count(project: Project) -> None:
    tiered(project, 2)
    contract = project.contract()
    approve(project, contract, "Bob")
    changed = project.save(with_prompt(contract, "Read the total in cents."))
    project.prove(changed)
    approvals.folder(project.feature, contract.digest).rename(approvals.folder(project.feature, changed.digest))
    assert project.check(changed).approved.passed_over == ("Bob has approved another draft",)


def test_lowering_the_tier_needs_the_old_tiers_approvals_even_after_a_rollback(project: Project) -> None:
    project.publish(project.contract())
    project.tier(3)
    strict = project.save(with_prompt(project.contract(), "Read the total in cents."))
    project.prove(strict)
    approve(project, strict, "Bob", "Rita Risk")
    project.publish(strict)
    project.tier(1)
    lowered = project.save(with_prompt(project.contract(), "Read the total, please."))
    assert "approvals" in whats(project.check(lowered))
    promotion.rollback(project.registry, NAME, "1.0.0", by="Mallory", why="so that tier 1 is active", now=NOW)
    assert "approvals" in whats(project.check(lowered))
    approve(project, lowered, "Bob", "Rita Risk")
    assert project.check(lowered).ready


def own(project: Project, **values: Any) -> None:
    """Change feature.yaml."""
    path = project.feature.folder / "feature.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | values))


@pytest.mark.parametrize("values", [{"risk_owner": "Bob"}, {"workflow": "other"}])
def test_who_owns_the_risk_and_which_workflow_is_served_is_approved_too(
    project: Project, values: dict[str, str]
) -> None:
    project.tier(3)
    approve(project, project.contract(), "Bob", "Eve")
    own(project, **values)
    assert not project.check(project.contract()).approved.counted


def test_another_risk_owner_needs_the_word_of_the_one_before(project: Project) -> None:
    project.publish(project.contract())
    project.tier(3)
    own(project, risk_owner="Bob")
    contract = project.contract(change_note="Bob takes over.")
    project.save(contract)
    approve(project, project.contract(), "Bob", "Eve")
    assert project.check(project.contract()).approved.missing == (
        "Rita Risk, the risk owner until now, must approve that it is Bob",
    )
    approve(project, project.contract(), "Rita Risk")
    assert not project.check(project.contract()).approved.missing


def test_without_an_author_nobody_can_be_someone_else(project: Project) -> None:
    project.tier(2)
    contract = project.save(project.contract(author=""))
    project.prove(contract)
    approve(project, contract, "Bob")
    assert "names no author" in project.check(contract).approved.missing[0]


@pytest.mark.parametrize("name", ["", " ", "Bob\x07", "Bo\u202eb", "Bo\u2028b", "B" * 201, "../../x\x00"])
def test_names_that_hide_something_cannot_approve(project: Project, name: str) -> None:
    with pytest.raises(UsageError):
        approvals.approve(project.feature, project.contract().digest, by=name, now=NOW)
    assert not (project.feature.folder / "approvals").exists()


@pytest.mark.parametrize("name", ["../../../../etc/passwd", "..", "/", "CON", "名前", "a/b\\c", "x" * 200])
def test_no_name_leaves_the_folder(project: Project, name: str) -> None:
    digest = project.contract().digest
    approvals.approve(project.feature, digest, by=name, now=NOW)
    assert [each.by for each in approvals.read(project.feature, digest)] == [name]
    inside = list(approvals.folder(project.feature, digest).iterdir())
    assert len(inside) == 1


@given(st.text(max_size=40))
def test_a_name_and_its_normal_form_are_one_person(name: str) -> None:
    try:
        plain = person(name)
    except UsageError:
        return
    assert person(plain) == plain
    assert identity(plain) == identity(name) == identity(identity(name))


@pytest.mark.parametrize("content", ["", "[]", '{"by": 1}', "{", '{"feature":"a","digest":"b","by":"c","at":"d"}'])
def test_a_damaged_approval_is_told(project: Project, content: str) -> None:
    digest = tiered(project, 2)
    folder = approvals.folder(project.feature, digest)
    folder.mkdir(parents=True)
    (folder / "bob.json").write_text(content)
    with pytest.raises(DamagedError, match=r"bob\.json"):
        project.check(project.contract())
    (folder / "bob.json").unlink()
    (folder / "bob.json").mkdir()
    with pytest.raises(DamagedError, match=r"bob\.json"):
        project.check(project.contract())


# Signatures


def key(folder: Path, name: str, passphrase: str = "") -> Path:
    """A new SSH key; its public half lies beside it."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", name, "-f", path], check=True)
    return path


def public(path: Path) -> str:
    return path.with_suffix(".pub").read_text().strip()


def configure(project: Project, **keys: Path) -> None:
    project.policies.mkdir(exist_ok=True)
    rows = [{"name": name.replace("_", " "), "keys": [public(each)]} for name, each in keys.items()]
    dump(project.policies / "approvers.yaml", {"approvers": rows})


def test_where_keys_are_configured_only_signed_approvals_count(project: Project, tmp_path: Path) -> None:
    bob, mallory = key(tmp_path / "keys", "bob"), key(tmp_path / "keys", "mallory")
    configure(project, Bob_B=bob)
    digest = tiered(project, 2)

    def passed_over(by: str, signed_with: Path | None) -> tuple[str, ...]:
        approvals.approve(project.feature, digest, by=by, key=signed_with, now=NOW)
        return project.check(project.contract()).approved.passed_over

    assert passed_over("Bob B", None) == ("Bob B has not signed",)
    assert passed_over("Bob B", mallory) == ("Bob B has signed with a key that is not theirs",)
    assert passed_over("Mallory", mallory) == (
        "Bob B has signed with a key that is not theirs",
        "Mallory has no key in approvers.yaml",
    )
    approvals.approve(project.feature, digest, by="bob b", key=bob, now=NOW)
    release = project.publish(project.contract())
    assert [(each["by"], each["verified"]) for each in release.approvals] == [("bob b", True)]
    (project.policies / "approvers.yaml").rename(project.policies / "elsewhere.yaml")
    project.save(with_prompt(project.contract(), "Read the total, please."))
    assert "approvers.yaml is gone" in " ".join(each.sentence for each in project.check(project.contract()).blockers)
    (project.policies / "approvers.yaml").symlink_to(project.policies / "nowhere.yaml")
    with pytest.raises(UsageError, match="approvers"):
        project.check(project.contract())


def test_a_signature_covers_feature_digest_person_and_time(project: Project, tmp_path: Path) -> None:
    bob = key(tmp_path / "keys", "bob")
    digest = project.contract().digest
    signed = approvals.approve(project.feature, digest, by="Bob", key=bob, now=NOW)
    configure(project, Bob=bob)
    approvers = signatures.approvers(project.policies / "approvers.yaml")
    assert approvers is not None
    assert approvers.doubt("Bob", signed.message, signed.signature) is None
    for other in ({"feature": "other"}, {"digest": "0" * 64}, {"by": "Bobby"}, {"at": "2031-01-01T00:00:00+00:00"}):
        changed = replace(signed, **other)
        assert approvers.doubt("Bob", changed.message, signed.signature) is not None
    assert approvers.doubt("Bob", signed.message, "no signature\ud800") is not None


def test_a_signature_for_something_else_does_not_count(project: Project, tmp_path: Path) -> None:
    bob = key(tmp_path / "keys", "bob")
    command = ["ssh-keygen", "-Y", "sign", "-n", "git", "-f", str(bob)]
    done = subprocess.run(command, input=b"message", capture_output=True, check=True)
    assert not signatures.verify(b"message", done.stdout.decode(), (public(bob),))
    assert signatures.verify(b"message", signatures.sign(b"message", bob), (public(bob),))


def test_a_key_that_cannot_sign_is_told(project: Project, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot sign"):
        approvals.approve(project.feature, project.contract().digest, by="Bob", key=tmp_path / "none", now=NOW)
    assert not (project.feature.folder / "approvals").exists()


def test_one_key_is_one_persons(project: Project, tmp_path: Path) -> None:
    bob = key(tmp_path / "keys", "bob")
    configure(project, Bob=bob, Rita_Risk=bob)
    with pytest.raises(UsageError, match="stands there twice"):
        project.check(project.contract())


@pytest.mark.parametrize(
    "content",
    [
        "approvers: []\napprovers: []",
        "approvers: 1",
        "[]",
        "approvers: [{name: Bob}]",
        "approvers: [{name: Bob, keys: []}]",
        "approvers: [{name: Bob, keys: [not-a-key]}]",
        'approvers: [{name: "Bo\\u200bb", keys: ["ssh-ed25519 AAAA"]}]',
        'approvers: [{name: Bob, keys: ["ssh-ed25519 AAAA\\nroot ssh-ed25519 BBBB"]}]',
    ],
)
def test_a_wrong_approvers_file_stops_everything(project: Project, content: str) -> None:
    project.policies.mkdir(exist_ok=True)
    (project.policies / "approvers.yaml").write_text(content)
    with pytest.raises(UsageError, match=r"approvers|character"):
        project.check(project.contract())


def test_an_empty_list_of_approvers_means_that_nobody_can_approve(project: Project) -> None:
    project.policies.mkdir(exist_ok=True)
    (project.policies / "approvers.yaml").write_text("approvers: []\n")
    tiered(project, 2)
    approve(project, project.contract(), "Bob")
    assert project.check(project.contract()).approved.passed_over == ("Bob has no key in approvers.yaml",)
