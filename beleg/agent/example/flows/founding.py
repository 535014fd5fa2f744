"""Founding a GmbH or UG: five sections, 18 tools, and seven steps after the notary that two parties may call done."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from beleg.agent.flows import (
    Field,
    Flow,
    FlowTools,
    Invariant,
    Record,
    RefusedError,
    Roadmap,
    Section,
    Step,
    Store,
    given,
)
from beleg.agent.flows.tools import Tool

Changes = Mapping[str, Any]
LOWEST_CAPITAL_CENTS = {"gmbh": 25_000_00, "ug": 1_00}

ROADMAP = Roadmap(
    steps=(
        Step(name="notary_appointment", milestone="notarised"),
        Step(name="bank_account", milestone="account_opened"),
        Step(name="capital_paid_in", milestone="capital_proven"),
        Step(name="commercial_register", milestone="entered"),
        Step(name="trade_office", milestone="trade_notified"),
        Step(name="tax_questionnaire", milestone="tax_number_given"),
        Step(name="transparency_register", milestone="owners_notified"),
    ),
    milestones=(
        "notarised",
        "account_opened",
        "capital_proven",
        "entered",
        "trade_notified",
        "tax_number_given",
        "owners_notified",
    ),
    marks="roadmap_marks",
    operational="operations_status",
)


def _sum_mismatch(record: Record) -> Changes | None:
    """The parts must make up the whole, to the cent."""
    declared, parts = record["share_capital_cents"], sum(each["nominal_cents"] for each in record["shareholders"])
    return None if declared == parts else {"declared_cents": declared, "sum_cents": parts}


def _too_little(record: Record) -> Changes | None:
    lowest, declared = LOWEST_CAPITAL_CENTS[record["legal_form"]], record["share_capital_cents"]
    return None if declared >= lowest else {"declared_cents": declared, "lowest_cents": lowest}


FOUNDING = Flow(
    name="founding",
    sections=(
        Section(
            name="company",
            fields=tuple(
                Field(name=name) for name in ("legal_form", "company_name", "business_purpose", "registered_office")
            ),
        ),
        Section(
            name="shareholders",
            fields=(
                Field(name="shareholders", each=("name", "birth_date", "address", "nominal_cents")),
                Field(name="managing_director"),
            ),
        ),
        Section(
            name="capital",
            fields=(Field(name="share_capital_cents"), Field(name="contribution")),
            invariants=(
                Invariant(
                    marker="nominalSumMismatch",
                    fields=("share_capital_cents", "shareholders"),
                    violated=_sum_mismatch,
                ),
                Invariant(marker="capitalTooLow", fields=("legal_form", "share_capital_cents"), violated=_too_little),
            ),
        ),
        Section(name="bank", fields=(Field(name="bank_name"), Field(name="account_holder"))),
        Section(
            name="notary",
            fields=(
                Field(name="notary_city"),
                Field(name="possible_dates"),
                Field(name="interpreter_language", when=lambda record: record.get("interpreter_needed") is True),
                Field(name="interpreter_needed"),
            ),
        ),
    ),
    computed={"roadmap": lambda record, _: ROADMAP.read(record)},
    operational=frozenset({ROADMAP.operational, "notarised_at"}),
)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def tools(store: Store, *, now: Callable[[], str] = _now) -> tuple[Tool, ...]:
    """The 18 tools over a store; `now` gives the time of a mark."""
    made = FlowTools(FOUNDING, store)
    _company(made)
    _shareholders(made)
    _capital_and_notary(made)
    _roadmap(made, now)
    return tuple(made.tools)


def _company(made: FlowTools) -> None:
    @made.read
    def get_founding(record: Record) -> Changes:
        """The data of the founding as it stands now."""
        return {name: record[name] for name in FOUNDING.fields if name in record}

    @made.read
    def get_founding_choices() -> Changes:
        """What may be chosen: legal forms with their lowest capital, ways to contribute it."""
        return {"legal_form": LOWEST_CAPITAL_CENTS, "contribution": ["cash_full", "cash_half"]}

    @made.create
    def create_founding(legal_form: Literal["gmbh", "ug"]) -> Changes:
        """Begin a founding. There is one for each record id."""
        return {"legal_form": legal_form}

    @made.write("company")
    def set_legal_form(legal_form: Literal["gmbh", "ug"]) -> Changes:
        """Change the legal form; the founder may decide otherwise at any time."""
        return {"legal_form": legal_form}

    @made.write("company")
    def set_company_name(company_name: str) -> Changes:
        """Name of the company without its legal form."""
        return {"company_name": company_name}

    @made.write("company")
    def set_business_purpose(business_purpose: str) -> Changes:
        """What the company does, one or two sentences as the articles will have them."""
        return {"business_purpose": business_purpose}

    @made.write("company")
    def set_registered_office(registered_office: str) -> Changes:
        """Street, number, postcode and city of the office."""
        return {"registered_office": registered_office}


def _shareholders(made: FlowTools) -> None:
    @made.write("shareholders", appends=True)
    def add_shareholder(record: Record, name: str, birth_date: str, address: str, nominal_cents: int) -> Changes:
        """Add one shareholder with the nominal value of the shares in cents."""
        new = {"name": name, "birth_date": birth_date, "address": address, "nominal_cents": nominal_cents}
        return {"shareholders": [*_held(record), new]}

    @made.write("shareholders")
    def update_shareholder(
        record: Record,
        *,
        number: int,
        name: str | None = None,
        birth_date: str | None = None,
        address: str | None = None,
        nominal_cents: int | None = None,
    ) -> Changes:
        """Change one shareholder, counted from 0 as in `shareholders[0]`; what is left out stays."""
        changes = given(name=name, birth_date=birth_date, address=address, nominal_cents=nominal_cents)
        shareholders = _held(record)
        shareholders[_at(shareholders, number)] |= changes
        return {"shareholders": shareholders}

    @made.write("shareholders", appends=True)
    def leave_out_shareholder(record: Record, number: int) -> Changes:
        """Take one shareholder, counted from 0, out of the founding."""
        shareholders = _held(record)
        del shareholders[_at(shareholders, number)]
        return {"shareholders": shareholders}

    @made.write("shareholders")
    def set_managing_director(managing_director: str) -> Changes:
        """Full name of the managing director, who need not hold shares."""
        return {"managing_director": managing_director}


def _capital_and_notary(made: FlowTools) -> None:
    @made.write("capital")
    def set_founding_capital(
        share_capital_cents: int, contribution: Literal["cash_full", "cash_half"] | None = None
    ) -> Changes:
        """Share capital in cents, and how much of it is paid in before the entry."""
        return given(share_capital_cents=share_capital_cents, contribution=contribution)

    @made.write("shareholders")
    def split_founding_capital(record: Record, nominal_cents: list[int]) -> Changes:
        """Set the nominal values of all shareholders at once, in cents, in their sequence."""
        shareholders = _held(record)
        if len(nominal_cents) != len(shareholders):
            raise RefusedError(f"{len(nominal_cents)} values for {len(shareholders)} shareholders; give one for each")
        return {"shareholders": [s | {"nominal_cents": n} for s, n in zip(shareholders, nominal_cents, strict=True)]}

    @made.write("bank")
    def set_business_account(bank_name: str | None = None, account_holder: str | None = None) -> Changes:
        """Where the company's account will be opened, and in whose name."""
        return given(bank_name=bank_name, account_holder=account_holder)

    @made.write("notary")
    def set_notary_wishes(
        notary_city: str | None = None,
        possible_dates: list[str] | None = None,
        interpreter_needed: bool | None = None,
        interpreter_language: str | None = None,
    ) -> Changes:
        """City of the notary, dates that suit everybody, and whether an interpreter is needed for which language."""
        return given(
            notary_city=notary_city,
            possible_dates=possible_dates,
            interpreter_needed=interpreter_needed,
            interpreter_language=interpreter_language,
        )


def _roadmap(made: FlowTools, now: Callable[[], str]) -> None:
    @made.read
    def get_founding_roadmap(record: Record) -> list[dict[str, Any]]:
        """The seven steps after the notary, each done or not and who says so."""
        return ROADMAP.read(record)

    @made.write(fields=(ROADMAP.marks,))
    def mark_founding_step(record: Record, step: str) -> Changes:
        """The founder says that a step of the roadmap is done."""
        return ROADMAP.mark(record, step, now())

    @made.write(fields=(ROADMAP.marks,))
    def unmark_founding_step(record: Record, step: str) -> Changes:
        """The founder takes such a mark back; what operations know stays as it is."""
        return ROADMAP.unmark(record, step)


def _held(record: Record) -> list[dict[str, Any]]:
    return [dict(each) for each in record.get("shareholders") or ()]


def _at(shareholders: list[dict[str, Any]], number: int) -> int:
    if not 0 <= number < len(shareholders):
        raise RefusedError(f"there is no shareholder {number}; {len(shareholders)} are entered, counted from 0")
    return number
