"""Playbooks and flows of the example through the one door by which a model calls anything."""

import pytest

from beleg.agent.errors import ToolUnknown
from beleg.agent.example.agent import CONTEXTS, ROLES
from beleg.agent.example.context import Company, Context
from beleg.agent.example.prompt import PLAYBOOKS, PROMPT, TOOLSET, Turn
from beleg.agent.playbooks import lint
from beleg.agent.playbooks.lint_tools import mentioned

FOUNDER = Context(company=Company(is_founding=True))


def test_a_user_opens_the_playbooks_that_are_listed_and_no_others() -> None:
    freelancer, company = (TOOLSET.for_context(CONTEXTS[name]) for name in ("freelancer", "company"))
    assert "Preparing a payment" in freelancer.call("get_workflow_details", {"name": "pay-a-bill"})
    refused = freelancer.call("get_workflow_details", {"name": "datev-preparation"})
    assert refused.startswith("no workflow 'datev-preparation'; there are ")
    assert "trial balance" in company.call("get_workflow_details", {"name": "datev-preparation"})


def test_every_role_is_offered_the_tools_of_the_playbooks_it_is_told_of() -> None:
    cohorts = {name: TOOLSET.for_context(context).tools for name, context in ROLES.contexts.items()}
    assert lint(PLAYBOOKS, cohorts, declared=TOOLSET.tools.values()) == []


@pytest.mark.parametrize("role", ["freelancer", "company", "tax_adviser", "new_company"])
def test_who_has_no_tools_for_founding_is_told_of_no_playbook_that_names_them(role: str) -> None:
    founding = {tool.name for tool in TOOLSET.tools.values() if tool.group in ("founding", "trade")}
    theirs = {each.name for each in PLAYBOOKS.all if mentioned(each, founding)}
    assert theirs == {"found-a-company", "trade-registration"}
    offer = TOOLSET.for_context(ROLES.contexts[role])
    told = PROMPT.render(Turn(ROLES.contexts[role], "Ada", "Can we found a company?")).text
    for name in theirs:
        assert offer.call("get_workflow_details", {"name": name}).startswith(f"no workflow '{name}'; there are ")
        assert f"- {name}" not in told
    assert founding.isdisjoint(offer.cohort.by_name)


def test_a_flow_is_walked_through_by_what_its_answers_say() -> None:
    offer = TOOLSET.for_context(FOUNDER)
    begun = offer.call("create_founding", {"record_id": "walk", "legal_form": "gmbh"})
    assert begun["status"] == "data_collection"
    person = {"name": "Ada", "birth_date": "1990-01-01", "address": "Weg 1", "nominal_cents": 25_000_00}
    added = offer.call("add_shareholder", {"record_id": "walk", **person, "if_revision": begun["revision"]})
    assert added["sections"]["shareholders"]["missing"] == ["managing_director"]
    capital = offer.call(
        "set_founding_capital", {"record_id": "walk", "share_capital_cents": 30_000_00, "contribution": "cash_full"}
    )
    assert capital["sections"]["capital"]["missing"] == ["nominalSumMismatch"]


def test_no_dispatch_reaches_a_status_a_record_or_a_verb_that_is_absent() -> None:
    offer = TOOLSET.for_context(FOUNDER)
    begun = offer.call("create_founding", {"record_id": "absent", "legal_form": "gmbh"})
    for beyond in ("operations_status", "record", "status"):
        said = offer.call("set_company_name", {"record_id": "absent", "company_name": "N", beyond: "entered"})
        assert said["error"]["code"] == "refused"
        assert said["revision"] == begun["revision"]
    for name in ("submit", "submit_registration", "get_submission_link"):
        with pytest.raises(ToolUnknown):
            offer.call(name, {"record_id": "absent"})
