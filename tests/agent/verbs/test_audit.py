"""The audit finds what may bind, says what it rests on, and fails until a person has looked."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from beleg.agent.example.agent import ROLES
from beleg.agent.toolsets import Group, Toolset
from beleg.agent.verbs import Authority, Link, Review, Roles, audit, link_tool, read_reviews
from beleg.agent.verbs.snapshot import differences, write
from beleg.contract.binding_words import CLASSES
from beleg.contract.tools import Tool
from beleg.core.errors import UsageError
from tests.agent.offered import ADVISER, FREELANCER, groups, numbered, toolset
from tests.agent.verbs import reaching

HATCHES = {
    "shell": ("run_shell", {"command": {"type": "string"}}),
    "code": ("evaluate", {"code": {"type": "string"}}),
    "http": ("call_api", {"headers": {"type": "string"}}),
    "fetch": ("fetch_url", {"url": {"type": "string"}}),
    "browser": ("browser_click", {"selector": {"type": "string"}}),
    "message": ("notify", {"recipient": {"type": "string"}}),
    "query": ("run_sql", {"statement": {"type": "string"}}),
    "file_write": ("write_file", {"file_path": {"type": "string"}}),
    "trigger": ("schedule", {"run_at": {"type": "string"}}),
    "proxy": ("ask_specialist", {"agent": {"type": "string"}}),
    "credentials": ("get_token", {"name": {"type": "string"}}),
    "crud": ("change_registration", {"status": {"type": "string"}}),
    "multiplexed": ("review_write", {"method": {"type": "string"}}),
    "settings": ("set_recipient", {"iban_new": {"type": "string"}}),
    "rendered": ("render_html", {"html": {"type": "string"}}),
    "bridge": ("act_as", {"on_behalf_of": {"type": "string"}}),
    "time": ("scheduled_send", {"send_at": {"type": "string"}}),
}
"""One tool for each of the 17 kinds of universal verb."""


def roles(*made: Group, **more: Any) -> Roles:
    return Roles(toolset=Toolset(made), contexts={"owner": FREELANCER}, **{"beside": (), **more})


def one(name: str, properties: dict[str, Any]) -> Group:
    return numbered(Group("core", rank=1), name, schema={"type": "object", "properties": properties})


def test_there_is_an_example_of_every_kind_of_universal_verb() -> None:
    assert set(HATCHES) == {kind for kind, _, _ in CLASSES}
    assert len(HATCHES) == 17


@pytest.mark.parametrize("kind", HATCHES)
def test_every_kind_of_universal_verb_fails_the_audit(kind: str) -> None:
    result = audit(roles(one(*HATCHES[kind])))
    assert kind in {each.kind for each in result.failures}
    assert not result.passed


def test_case_30_a_verb_behind_an_enum_is_found() -> None:
    group = one("review_write", {"what": {"type": "string", "enum": ["create", "submit_pending", "delete"]}})
    found = {(each.kind, each.place, each.word) for each in audit(roles(group)).failures}
    assert {("act", "what", "submit"), ("act", "what", "delete")} <= found


@pytest.mark.parametrize(
    ("name", "parameter", "choices"),
    [
        ("actions_run_trigger", "method", ["run_workflow", "rerun_failed_jobs", "cancel_workflow_run"]),
        ("issue_write", "state", ["open", "closed"]),
        ("projects_write", "method", ["add_item", "delete_item"]),
        ("pull_request_review_write", "event", ["APPROVE", "REQUEST_CHANGES", "COMMENT"]),
    ],
)
def test_case_30_writing_tools_of_a_public_server_do_not_pass_by_their_names(
    name: str, parameter: str, choices: list[str]
) -> None:
    group = one(name, {parameter: {"type": "string", "enum": choices}})
    assert not audit(roles(group)).passed


def test_case_31_a_status_among_the_writable_columns_is_found() -> None:
    group = Group("core", rank=1)

    @group.tool(binding=False, effect="write", writable=["street", "Status", "submitted_at", "freigegeben"])
    def change_registration(values: dict[str, str]) -> None:
        """Changes the registration."""

    words = {each.word for each in audit(roles(group)).failures if each.kind == "status"}
    assert words == {"Status", "submitted_at", "freigegeben"}


def test_an_effect_within_reach_is_found_behind_a_harmless_name() -> None:
    group = Group("core", rank=1)
    group.tool(binding=False, effect="read", name="get_note")(reaching.by_method_of_the_context)
    (found, *_) = audit(roles(group)).failures
    assert (found.tool, found.kind) == ("get_note", "message")
    assert found.place == "by_method_of_the_context → Client.deliver"


def test_a_tool_that_no_role_has_today_is_looked_through_too() -> None:
    hidden = numbered(Group("hidden", rank=2, when=groups()[1].when), "submit_return")
    result = audit(roles(numbered(Group("core", rank=1), "look"), hidden))
    assert {each.tool for each in result.failures} == {"submit_return"}
    assert "1 tools are offered to none of these roles" in " ".join(each.says for each in result.claims)


def linking() -> Group:
    group = Group("core", rank=1)

    @link_tool(group, hosts=["app.example"])
    def get_return_page(return_id: str) -> Link:
        """Page on which the user decides."""
        return Link(f"https://app.example/returns/{return_id}", ready=True)

    return group


FETCH = Tool(name="fetch", version="1", description="Gets a page.", input_schema={}, binding=False, digest="")


def test_case_33_a_link_beside_a_tool_that_fetches_is_found() -> None:
    assert not [each for each in audit(roles(linking())).findings if each.kind == "composition"]
    (found,) = [each for each in audit(roles(linking(), beside=(FETCH,))).failures if each.kind == "composition"]
    assert (found.tool, found.place, found.word) == ("fetch", "get_return_page", "link + fetch")


def test_what_another_server_brings_the_agent_has() -> None:
    pay = replace(FETCH, name="pay_bill", binding=True)
    kinds = {each.kind for each in audit(roles(linking(), beside=(pay,))).failures}
    assert {"binding", "act"} <= kinds


def test_an_unknown_host_is_said_to_be_unknown() -> None:
    claims = audit(roles(linking(), beside=None)).claims
    assert [each.standing for each in claims if "the host brings" in each.says] == ["unknown"]


def test_a_review_lets_pass_exactly_what_was_looked_at() -> None:
    group = one("review_write", {"method": {"type": "string", "enum": ["draft", "list"]}})
    digest = group.tools[0].digest
    seen = Review("review_write", digest, "risk@example.com", "Both methods only prepare.")
    assert audit(roles(group, reviews=(seen,))).passed
    stale = audit(roles(group, reviews=(replace(seen, digest="0" * 64),)))
    assert {each.verdict for each in stale.failures} == {"stale"}
    assert not stale.passed


def test_authority_is_proved_by_trying_broken_by_succeeding_and_else_only_stated() -> None:
    def fails() -> bool:
        raise ConnectionError

    given = [None, lambda: True, lambda: False, fails]
    authorities = tuple(Authority(f"role {n}", "UPDATE", probe) for n, probe in enumerate(given))
    result = audit(roles(linking(), authorities=authorities))
    standing = [each.standing for each in result.claims if each.basis == "authority"]
    assert standing == ["stated", "proved", "broken", "broken"]
    assert not result.passed


def test_without_authority_nothing_is_claimed_of_it() -> None:
    assert ("authority", "unknown") in {(each.basis, each.standing) for each in audit(roles(linking())).claims}


def test_the_examples_audit_passes_and_holds_no_verb_that_binds() -> None:
    result = audit(ROLES)
    assert result.passed
    assert {each.tool for each in result.findings} == {"draft_payment"}
    assert {role: len(cohort.by_name) for role, cohort in result.roles.items()} == {
        "freelancer": 46, "company": 46, "tax_adviser": 47, "founder": 62, "new_company": 49,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("reviews: 1", "must hold `reviews`"),
        ("reviews:\n- tool: a\n  digest: b\n  by: c", r"reviews\[0\] must have exactly"),
        ("reviews:\n- {tool: a, digest: b, by: c, why: '  '}", "says nothing for why"),
        ("reviews:\n- {tool: a, tool: b}", "stands here twice"),
        ("reviews:\n- {tool: a, digest: 1234, by: c, why: d}", r"reviews\[0\]\.digest must be text"),
        ("- a", "must hold `reviews`"),
    ],
)
def test_a_review_says_who_and_why_or_is_none(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "reviews.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=problem):
        read_reviews(path)


@pytest.mark.parametrize("name", ["../owner", "", "a/b", "a b", "x" * 65])
def test_a_role_is_named_like_a_file(name: str) -> None:
    with pytest.raises(UsageError, match="is no name of a role"):
        Roles(toolset=Toolset([linking()]), contexts={name: FREELANCER})


def everybody(*more: Group) -> Roles:
    return Roles(
        toolset=Toolset([*groups(), *more]), contexts={"freelancer": FREELANCER, "adviser": ADVISER}, beside=()
    )


def test_a_new_verb_shows_in_every_role_that_gets_it(tmp_path: Path) -> None:
    write(audit(everybody()), tmp_path)
    assert differences(audit(everybody()), tmp_path) == []
    changed = audit(everybody(numbered(Group("more", rank=9), "send_letter")))
    assert differences(changed, tmp_path) == [
        "adviser.json: `send_letter` is new (read)",
        "freelancer.json: `send_letter` is new (read)",
    ]


def test_a_changed_a_lost_and_a_moved_tool_show(tmp_path: Path) -> None:
    def built(rank: int, description: str, *names: str) -> Roles:
        moved = Group("moved", rank=rank)
        moved.tool(binding=False, effect="read", name="a", description=description)(toolset)
        return roles(moved, numbered(Group("core", rank=2), *names))

    write(audit(built(1, "Looks.", "x", "y")), tmp_path)
    assert differences(audit(built(1, "Looks.", "x")), tmp_path) == ["owner.json: `y` is gone"]
    assert differences(audit(built(1, "Looks twice.", "x", "y")), tmp_path) == ["owner.json: `a`: digest changed"]
    (said,) = differences(audit(built(3, "Looks.", "x", "y")), tmp_path)
    assert "the order of the tools changed" in said


def test_roles_that_come_and_go_show(tmp_path: Path) -> None:
    write(audit(roles(linking())), tmp_path)
    said = differences(audit(everybody()), tmp_path)
    assert said[0] == "owner.json: the role is gone"
    assert "adviser.json: the role is new, with 6 tools" in said
    write(audit(everybody()), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["adviser.json", "freelancer.json"]


def test_a_damaged_vocabulary_is_no_agreement(tmp_path: Path) -> None:
    write(audit(roles(linking())), tmp_path)
    (tmp_path / "owner.json").write_text("{")
    with pytest.raises(UsageError, match=r"owner\.json is no vocabulary"):
        differences(audit(roles(linking())), tmp_path)
    with pytest.raises(UsageError, match="there is no folder"):
        differences(audit(roles(linking())), tmp_path / "none")
