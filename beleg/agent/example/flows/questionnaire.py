"""The tax questionnaire of a freelancer: five sections, twelve tools, the last of which hands over a link."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from beleg.agent.flows import Field, Flow, FlowTools, Invariant, Record, Section, Store, given
from beleg.agent.flows.tools import Tool

Changes = Mapping[str, Any]
SMALL_BUSINESS_MOST_CENTS = 25_000_00
"""Turnover of the first year up to which the small-business rule may be chosen (§ 19 UStG, since 2025)."""


def _too_large(record: Record) -> Changes | None:
    turnover = record["expected_turnover_cents"]
    if record["vat_scheme"] != "small_business" or turnover <= SMALL_BUSINESS_MOST_CENTS:
        return None
    return {"turnover_cents": turnover, "most_cents": SMALL_BUSINESS_MOST_CENTS}


QUESTIONNAIRE = Flow(
    name="questionnaire",
    sections=(
        Section(
            name="person",
            fields=tuple(Field(name=name) for name in ("full_name", "birth_date", "tax_id", "home_address")),
        ),
        Section(name="activity", fields=(Field(name="profession"), Field(name="activity"), Field(name="begun_on"))),
        Section(
            name="figures",
            fields=(
                Field(name="expected_turnover_cents"),
                Field(name="expected_profit_cents"),
                Field(name="accounting_method"),
            ),
        ),
        Section(
            name="vat",
            fields=(
                Field(name="vat_scheme"),
                Field(name="vat_id_wanted", when=lambda record: record.get("vat_scheme") != "small_business"),
            ),
            invariants=(
                Invariant(
                    marker="turnoverAboveSmallBusiness",
                    fields=("vat_scheme", "expected_turnover_cents"),
                    violated=_too_large,
                ),
            ),
        ),
        Section(name="bank", fields=(Field(name="iban"), Field(name="account_holder"))),
    ),
    computed={"readyToSubmit": lambda _, complete: complete},
    operational=frozenset({"submitted_at", "tax_number"}),
)


def _app(record_id: str) -> str:
    return f"https://app.example/questionnaires/{record_id}/preview"


def tools(store: Store, *, link: Callable[[str], str] = _app) -> tuple[Tool, ...]:
    """The twelve tools over a store; `link` makes the address of the page on which the user decides."""
    made = FlowTools(QUESTIONNAIRE, store)
    _look(made)
    _person(made)
    _figures(made)

    @made.read
    def get_questionnaire_link(record: Record, record_id: str) -> Changes:
        """Address of the page on which the user sees every answer and decides, and whether all is there."""
        return {"url": link(record_id), "readyToSubmit": QUESTIONNAIRE.state(record).complete}

    return tuple(made.tools)


def _look(made: FlowTools) -> None:
    @made.read
    def get_questionnaire(record: Record) -> Changes:
        """The freelancer's tax questionnaire as it stands now."""
        return {name: record[name] for name in QUESTIONNAIRE.fields if name in record}

    @made.read
    def get_questionnaire_choices() -> Changes:
        """What may be chosen in the questionnaire: VAT schemes and ways to determine the profit."""
        return {"vat_scheme": ["small_business", "agreed", "received"], "accounting_method": ["cash", "balance_sheet"]}

    @made.create
    def create_questionnaire(full_name: str) -> Changes:
        """Begin the questionnaire. There is one for each record id."""
        return {"full_name": full_name}


def _person(made: FlowTools) -> None:
    @made.write("person")
    def update_questionnaire_person(
        full_name: str | None = None, birth_date: str | None = None, tax_id: str | None = None
    ) -> Changes:
        """Name, date of birth and tax identification number; what is left out stays."""
        return given(full_name=full_name, birth_date=birth_date, tax_id=tax_id)

    @made.write("person")
    def update_questionnaire_address(home_address: str) -> Changes:
        """Street, number, postcode and city of the home."""
        return {"home_address": home_address}

    @made.write("activity")
    def update_questionnaire_activity(profession: str | None = None, activity: str | None = None) -> Changes:
        """The liberal profession and, in one or two sentences, what is done in it."""
        return given(profession=profession, activity=activity)

    @made.write("activity")
    def update_questionnaire_start(begun_on: str) -> Changes:
        """First day of the activity, preparation included (YYYY-MM-DD)."""
        return {"begun_on": begun_on}


def _figures(made: FlowTools) -> None:
    @made.write("figures")
    def update_questionnaire_figures(
        expected_turnover_cents: int | None = None, expected_profit_cents: int | None = None
    ) -> Changes:
        """Expected turnover and profit of the first year in cents; 0 is an answer."""
        return given(expected_turnover_cents=expected_turnover_cents, expected_profit_cents=expected_profit_cents)

    @made.write("figures")
    def update_questionnaire_accounting(accounting_method: Literal["cash", "balance_sheet"]) -> Changes:
        """How the profit is determined."""
        return {"accounting_method": accounting_method}

    @made.write("vat")
    def update_questionnaire_vat(
        vat_scheme: Literal["small_business", "agreed", "received"] | None = None,
        vat_id_wanted: bool | None = None,
    ) -> Changes:
        """VAT scheme, and whether a VAT id is wanted."""
        return given(vat_scheme=vat_scheme, vat_id_wanted=vat_id_wanted)

    @made.write("bank")
    def update_questionnaire_bank(iban: str | None = None, account_holder: str | None = None) -> Changes:
        """The account on which refunds arrive, and its holder."""
        return given(iban=iban, account_holder=account_holder)
