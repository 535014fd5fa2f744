"""Trade registration: five sections, ten tools, the last of which hands over a link."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from beleg.agent.flows import Field, Flow, FlowTools, Invariant, Record, Section, Store, given
from beleg.agent.flows.tools import Tool

Changes = Mapping[str, Any]


def _begins_too_early(record: Record) -> Changes | None:
    begins, founded = record["begins_on"], record["founded_on"]
    return None if begins >= founded else {"begins_on": begins, "founded_on": founded}  # ISO dates sort as texts


TRADE = Flow(
    name="trade",
    sections=(
        Section(
            name="owner",
            fields=tuple(Field(name=name) for name in ("owner_name", "birth_date", "nationality", "home_address")),
        ),
        Section(
            name="business",
            fields=(
                Field(name="business_name"),
                Field(name="founded_on"),
                Field(name="registry_number", when=lambda record: record.get("legal_form") != "sole_trader"),
                Field(name="legal_form"),
            ),
        ),
        Section(name="place", fields=(Field(name="business_address"), Field(name="municipality"))),
        Section(
            name="activity",
            fields=(
                Field(name="activity"),
                Field(name="begins_on"),
                Field(name="is_side_line"),
                Field(name="employees"),
            ),
            invariants=(
                Invariant(
                    marker="beginsBeforeFounding", fields=("begins_on", "founded_on"), violated=_begins_too_early
                ),
            ),
        ),
        Section(
            name="permits",
            fields=(
                Field(name="permit_needed"),
                Field(name="permit_number", when=lambda record: record.get("permit_needed") is True),
            ),
        ),
    ),
    computed={"readyToSubmit": lambda _, complete: complete},
    operational=frozenset({"submitted_at", "trade_licence"}),
)


def _app(record_id: str) -> str:
    return f"https://app.example/trade/{record_id}/preview"


def tools(store: Store, *, link: Callable[[str], str] = _app) -> tuple[Tool, ...]:
    """The ten tools over a store; `link` makes the address of the page on which the user decides."""
    made = FlowTools(TRADE, store)
    _look(made)
    _update(made)
    _activity(made)

    @made.read
    def get_trade_link(record: Record, record_id: str) -> Changes:
        """Address of the page on which the user sees every answer and decides, and whether all is there."""
        return {"url": link(record_id), "readyToSubmit": TRADE.state(record).complete}

    return tuple(made.tools)


def _look(made: FlowTools) -> None:
    @made.read
    def get_trade_registration(record: Record) -> Changes:
        """The trade registration as it stands now."""
        return {name: record[name] for name in TRADE.fields if name in record}

    @made.read
    def get_trade_choices() -> Changes:
        """What may be chosen in the trade registration: legal forms."""
        return {"legal_form": ["sole_trader", "gbr", "gmbh", "ug"]}

    @made.create
    def create_trade_registration(owner_name: str) -> Changes:
        """Begin the trade registration. There is one for each record id."""
        return {"owner_name": owner_name}


def _update(made: FlowTools) -> None:
    @made.write("owner")
    def update_trade_owner(
        owner_name: str | None = None,
        birth_date: str | None = None,
        nationality: str | None = None,
        home_address: str | None = None,
    ) -> Changes:
        """Name, date of birth, nationality and home address of the owner; what is left out stays."""
        return given(owner_name=owner_name, birth_date=birth_date, nationality=nationality, home_address=home_address)

    @made.write("business")
    def update_trade_business(
        business_name: str | None = None,
        founded_on: str | None = None,
        legal_form: Literal["sole_trader", "gbr", "gmbh", "ug"] | None = None,
        registry_number: str | None = None,
    ) -> Changes:
        """Name, day of founding, legal form, and number in the commercial registry where there is one."""
        return given(
            business_name=business_name, founded_on=founded_on, legal_form=legal_form, registry_number=registry_number
        )

    @made.write("place")
    def update_trade_place(business_address: str | None = None, municipality: str | None = None) -> Changes:
        """Address of the business and the municipality that is responsible."""
        return given(business_address=business_address, municipality=municipality)


def _activity(made: FlowTools) -> None:
    @made.write("activity")
    def update_trade_activity(
        activity: str | None = None, begins_on: str | None = None, is_side_line: bool | None = None
    ) -> Changes:
        """What is done, from which day on (YYYY-MM-DD), and whether as a side line."""
        return given(activity=activity, begins_on=begins_on, is_side_line=is_side_line)

    @made.write("activity")
    def update_trade_staff(employees: int) -> Changes:
        """How many people will be employed at the start; 0 is an answer."""
        return {"employees": employees}

    @made.write("permits")
    def update_trade_permits(permit_needed: bool | None = None, permit_number: str | None = None) -> Changes:
        """Whether the trade needs a permit, and its number."""
        return given(permit_needed=permit_needed, permit_number=permit_number)
