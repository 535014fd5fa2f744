"""What users ask the copilot for, and what it calls to answer. The copilot's model is a script; its tools are real."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from beleg.agent.example.agent import ROLES
from beleg.agent.example.context import Books, Context
from beleg.demo.company import TENANTS

Arguments = Mapping[str, Any]
LATEST = "the revision that the last answer gave"
"""Stands in arguments for what only the answer before can tell."""


@dataclass(frozen=True)
class Errand:
    """One thing that users want."""

    share: int
    """How often, beside the other errands that this user's tools allow."""
    question: str
    calls: tuple[tuple[str, Arguments], ...]
    playbook: str | None = None
    """The workflow that is read before."""
    record: str | None = field(default=None)
    """What the record of its flow is called; each call is then given its `record_id`."""

    @property
    def needs(self) -> frozenset[str]:
        """The tools it cannot do without."""
        return frozenset(name for name, _ in self.calls)


_ADA = {"name": "Ada", "birth_date": "1990-01-01", "address": "Ulm", "nominal_cents": 25_000_00}
ERRANDS = (
    Errand(60, "When is the next VAT return due?", (("list_tax_dates", {"year": 2026}),)),
    Errand(40, "How much money is on our accounts?", (("list_bank_accounts", {}),)),
    Errand(
        16, "Which receipts do I still owe you for September?",
        (("find_missing_receipts", {"month": "2026-09"}), ("list_receipts", {})), "find-missing-receipts",
    ),
    Errand(
        12, "Who has not paid yet?",
        (("find_overdue_invoices", {"today": "2026-09-30"}),), "overdue-reminders",
    ),
    Errand(10, "Can I afford a new van this autumn?", (("get_cash_forecast", {"month": "2026-10"}),), "cash-forecast"),
    Errand(
        8, "Please prepare the VAT return for August.",
        (
            ("check_vat_period", {"period": "2026-08"}),
            ("get_vat_figures", {"period": "2026-08"}),
            ("get_vat_return_link", {"month": "2026-08"}),
        ),
        "vat-return",
    ),
    Errand(
        5, "What will I pay in income tax this year?",
        (("estimate_income_tax", {"year": 2026}),), "income-tax-estimate",
    ),
    Errand(
        9, "Fill in the tax office's questionnaire with me.",
        (
            ("create_questionnaire", {"full_name": "Ada Lehmann"}),
            ("update_questionnaire_activity", {"profession": "journalist"}),
            (
                "update_questionnaire_figures",
                {"expected_turnover_cents": 20_000_00, "expected_profit_cents": 14_000_00},
            ),
            ("update_questionnaire_vat", {"vat_scheme": "small_business"}),
            ("get_questionnaire_link", {}),
        ),
        "tax-questionnaire", "questionnaire",
    ),
    Errand(
        40, "We want to found a GmbH.",
        (
            ("create_founding", {"legal_form": "gmbh"}),
            ("add_shareholder", {**_ADA, "if_revision": LATEST}),
            ("set_founding_capital", {"share_capital_cents": 30_000_00, "contribution": "cash_full"}),
            ("set_founding_capital", {"share_capital_cents": "25.000 €"}),
            ("set_founding_capital", {"share_capital_cents": 25_000_00, "contribution": "cash_full"}),
        ),
        "found-a-company", "founding",
    ),
    Errand(
        20, "Is our corporate tax registration complete?",
        (
            ("create_registration", {"company_name": "Nordlicht GmbH", "legal_form": "gmbh"}),
            ("get_submission_link", {}),
        ),
        "corporate-tax-registration", "registration",
    ),
    Errand(
        14, "Put the books of August in order for the DATEV export.",
        (("get_trial_balance", {"month": "2026-08"}), ("list_accounts", {})), "datev-preparation",
    ),
    Errand(10, "Check the payroll of September.", (("check_payroll", {"month": "2026-09"}),), "monthly-payroll"),
    Errand(
        60, "Which of my clients need me first?",
        (("list_clients", {}), ("list_client_dates", {"until": "2026-10-10"})), "client-review",
    ),
)  # fmt: skip
_ROLES = (*["freelancer"] * 5, *["company"] * 4, "tax_adviser", "founder", "new_company")
ROLE_OF = dict(zip(TENANTS, _ROLES, strict=True))
"""Tenant → the role of whoever asks there: a founder asks seldom enough to be one in twelve."""


def context_of(tenant: str) -> Context:
    """The user's context, with books that have something in them."""
    books, known = Books(), ROLES.contexts[ROLE_OF[tenant]]
    books.add("bank_account", {"bank": "Sparkasse", "balance_cents": 1_250_00})
    for day in (3, 11, 19):
        books.add("transaction", {"day": f"2026-09-{day:02d}", "amount": -95_00 * day, "text": "Material"})
        books.add("receipt", {"supplier": "Bahn", "day": f"2026-09-{day:02d}", "gross": 95_00 * day})
        books.add("client", {"name": f"{tenant} {day}"})
    return Context(known.user, known.company, books)
