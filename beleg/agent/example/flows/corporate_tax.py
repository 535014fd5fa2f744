"""Corporate tax registration: nine tools that gather and check, the last of which hands over a door.

There is no tool that submits. The user sees every answer in the app behind the link and decides there.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from beleg.agent.flows import Field, Flow, FlowTools, Invariant, Record, RefusedError, Section, Store, given
from beleg.agent.flows.tools import Tool

Changes = Mapping[str, Any]


def _not_whole(record: Record) -> Changes | None:
    parts = sum(each["share_basis_points"] for each in record["people"])
    return None if parts == 10_000 else {"sum_basis_points": parts, "whole_basis_points": 10_000}


CORPORATE_TAX = Flow(
    name="corporate_tax",
    sections=(
        Section(
            name="company",
            fields=tuple(Field(name=name) for name in ("company_name", "legal_form", "registry_number", "office")),
        ),
        Section(name="details", fields=tuple(Field(name=name) for name in ("begun_on", "activity", "fiscal_year_end"))),
        Section(
            name="people",
            fields=(Field(name="people", each=("name", "address", "share_basis_points")),),
            invariants=(Invariant(marker="sharesNotWhole", fields=("people",), violated=_not_whole),),
        ),
        Section(
            name="financials",
            fields=(
                Field(name="expected_profit_year_1_cents"),
                Field(name="expected_profit_year_2_cents"),
                Field(name="opening_balance_cents"),
            ),
        ),
        Section(
            name="vat_and_bank",
            fields=(
                Field(name="vat_scheme"),
                Field(name="expected_turnover_cents", when=lambda record: record.get("vat_scheme") != "exempt"),
                Field(name="iban"),
            ),
        ),
    ),
    computed={"readyToSubmit": lambda _, complete: complete},
    operational=frozenset({"submitted_at", "tax_number"}),
)


def _app(record_id: str) -> str:
    return f"https://app.example/registrations/{record_id}/preview"


def tools(store: Store, *, link: Callable[[str], str] = _app) -> tuple[Tool, ...]:
    """The nine tools over a store; `link` makes the address of the page on which the user decides."""
    made = FlowTools(CORPORATE_TAX, store)
    _look(made)
    _update(made)

    @made.read
    def get_submission_link(record: Record, record_id: str) -> Changes:
        """Address of the page on which the user sees every answer and decides, and whether all is there."""
        return {"url": link(record_id), "readyToSubmit": CORPORATE_TAX.state(record).complete}

    return tuple(made.tools)


def _look(made: FlowTools) -> None:
    @made.read
    def get_registration(record: Record) -> Changes:
        """The corporate tax registration as it stands now."""
        return {name: record[name] for name in CORPORATE_TAX.fields if name in record}

    @made.read
    def get_choices() -> Changes:
        """What may be chosen in the corporate tax registration: legal forms and VAT schemes."""
        return {"legal_form": ["gmbh", "ug"], "vat_scheme": ["agreed", "received", "exempt"]}

    @made.create
    def create_registration(company_name: str, legal_form: Literal["gmbh", "ug"]) -> Changes:
        """Begin the corporate tax registration. There is one for each record id."""
        return {"company_name": company_name, "legal_form": legal_form}


def _update(made: FlowTools) -> None:
    @made.write("company")
    def update_company(
        company_name: str | None = None,
        legal_form: Literal["gmbh", "ug"] | None = None,
        registry_number: str | None = None,
        office: str | None = None,
    ) -> Changes:
        """Name, legal form, number in the commercial registry and address; what is left out stays."""
        return given(company_name=company_name, legal_form=legal_form, registry_number=registry_number, office=office)

    @made.write("details")
    def update_details(
        begun_on: str | None = None, activity: str | None = None, fiscal_year_end: str | None = None
    ) -> Changes:
        """First day of business, what is done, and the last day of the fiscal year (MM-DD)."""
        return given(begun_on=begun_on, activity=activity, fiscal_year_end=fiscal_year_end)

    @made.write("people")
    def update_people(names: list[str], addresses: list[str], share_basis_points: list[int]) -> Changes:
        """All shareholders at once, in one sequence: names, addresses, shares in basis points (10000 is everything)."""
        if not len(names) == len(addresses) == len(share_basis_points):
            counts = f"{len(names)} names, {len(addresses)} addresses, {len(share_basis_points)} shares"
            raise RefusedError(f"{counts}: give one of each for every shareholder")
        people = zip(names, addresses, share_basis_points, strict=True)
        return {"people": [{"name": n, "address": a, "share_basis_points": s} for n, a, s in people]}

    @made.write("financials")
    def update_financials(
        expected_profit_year_1_cents: int | None = None,
        expected_profit_year_2_cents: int | None = None,
        opening_balance_cents: int | None = None,
    ) -> Changes:
        """Expected profits of the first two years and the total of the opening balance, in cents; 0 is an answer."""
        return given(
            expected_profit_year_1_cents=expected_profit_year_1_cents,
            expected_profit_year_2_cents=expected_profit_year_2_cents,
            opening_balance_cents=opening_balance_cents,
        )

    @made.write("vat_and_bank")
    def update_vat_and_bank(
        vat_scheme: Literal["agreed", "received", "exempt"] | None = None,
        expected_turnover_cents: int | None = None,
        iban: str | None = None,
    ) -> Changes:
        """VAT scheme, expected turnover in cents, and the account of the company."""
        return given(vat_scheme=vat_scheme, expected_turnover_cents=expected_turnover_cents, iban=iban)
