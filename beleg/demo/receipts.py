"""The documents of the demo: made-up receipts, what stands on them, and what is right.

A receipt is a function of its number and revision, so whoever holds the reference `books/document:12` can say what
it says: nothing of it needs to be kept.
"""

import re
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import Any

from beleg.core.errors import UsageError
from beleg.demo.company import FIRST_DAY, OCR, TENANTS

_REFERENCE = re.compile(rf"\Abooks/{OCR.subject}:(\d+)(?:@(\d+))?\Z")
_SUPPLIERS = ("Getränke Quellhof", "Bäckereibedarf Nord", "Schlauchwerk GmbH", "Papier & Co.", "Holzhandel Ast")
_RATES = (19, 19, 7)
_DEPOSIT_SHARE = 0.12
_DISCOUNT_SHARE = 0.25


@dataclass(frozen=True)
class Receipt:
    """One receipt; amounts are cents, a tax rate is in percent."""

    number: int
    supplier: str
    company: str
    issued: date
    goods: tuple[tuple[int, int], ...]
    """(rate, net) per tax rate, without deposits."""
    deposit: int
    """Net deposit on bottles and crates, taxed as the goods of the first line; 0: none."""
    discounted: bool
    """Whether it grants a discount for early payment, which changes no amount."""

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The tax lines as they should be read: a deposit belongs to its goods."""
        nets = [(rate, net + (self.deposit if place == 0 else 0)) for place, (rate, net) in enumerate(self.goods)]
        return [_line(rate, net) for rate, net in nets]

    @property
    def gross_cents(self) -> int:
        """What is to be paid."""
        return sum(line["net_cents"] + line["tax_cents"] for line in self.lines)

    def variables(self) -> dict[str, Any]:
        """The input of the prompt `receipt-extraction`, as the application hands it over."""
        recognised = self.issued + timedelta(days=2)
        return {"company_name": self.company, "recognised_on": recognised.isoformat(), "document_text": self._text()}

    def result(self) -> dict[str, Any]:
        """The right answer."""
        return answer(self.supplier, self.number, self.issued, self.lines, self.gross_cents)

    def _text(self) -> str:
        rows = [f"{rate} % netto {_euro(net)} USt {_euro(tax(rate, net))}" for rate, net in self.goods]
        if self.deposit:
            rate = self.goods[0][0]
            rows.append(f"Pfand {rate} % netto {_euro(self.deposit)} USt {_euro(tax(rate, self.deposit))}")
        rows.append(f"Gesamt EUR {_euro(self.gross_cents)}")
        if self.discounted:
            rows.append("Zahlbar in 14 Tagen mit 2 % Skonto")
        return "\n".join((self.supplier, f"Rechnung Nr. R-{self.number} vom {self.issued:%d.%m.%Y}", *rows))


def receipt(number: int, revision: int = 0) -> Receipt:
    """The receipt of a number; a revision is the same one, issued anew with other amounts."""
    rng = Random(f"{number}@{revision}")  # noqa: S311 - reproducible on purpose
    rates = sorted(set(rng.choices(_RATES, k=2)), reverse=True)
    goods = tuple((rate, rng.randint(200, 40_000)) for rate in rates)
    return Receipt(
        number,
        rng.choice(_SUPPLIERS),
        TENANTS[number % len(TENANTS)].replace("-", " ").title(),
        FIRST_DAY + timedelta(days=number % 35),
        goods,
        deposit=rng.randint(150, 3_000) if rng.random() < _DEPOSIT_SHARE else 0,
        discounted=rng.random() < _DISCOUNT_SHARE,
    )


def resolve(reference: str) -> dict[str, Any]:
    """What a reference stands for, as the owner's own system would fetch it; raises UsageError for another's."""
    return _at(reference).variables()


def truth(reference: str) -> dict[str, Any]:
    """The right answer for a reference."""
    return _at(reference).result()


def answer(supplier: str, number: int, issued: date, lines: list[dict[str, Any]], gross_cents: int) -> dict[str, Any]:
    """An answer in the form the contract asks for."""
    return {
        "document_type": "invoice",
        "supplier": {"name": supplier},
        "invoice_number": f"R-{number}",
        "invoice_date": issued.isoformat(),
        "currency": "EUR",
        "tax_lines": lines,
        "gross_cents": gross_cents,
    }


def _at(reference: str) -> Receipt:
    found = _REFERENCE.match(reference)
    if found is None:
        raise UsageError(f"{reference!r} is no receipt of the demo; references look like books/{OCR.subject}:12")
    return receipt(int(found[1]), int(found[2] or 0))


def _line(rate: int, net: int) -> dict[str, Any]:
    return {"rate_percent": str(rate), "net_cents": net, "tax_cents": tax(rate, net)}


def tax(rate: int, net: int) -> int:
    """The tax on a net amount in cents at a rate in percent, rounded as a till does."""
    return (net * rate + 50) // 100


def _euro(cents: int) -> str:
    return f"{cents // 100},{cents % 100:02d}"
