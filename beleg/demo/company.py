"""The made-up company: who its customers are, which models it calls, and what happened on which day.

Musterkontor keeps books for small businesses with the help of agents. Every date is fixed, so that the
same seed gives the same bytes on any day and machine.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal

FIRST_DAY = date(2026, 9, 7)
"""A Monday."""
SECOND_US = 1_000_000
HOUR_US = 3600 * SECOND_US
DAY_US = 24 * HOUR_US
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(at: datetime) -> int:
    """Microseconds since 1970 of an aware instant."""
    return (at - _EPOCH) // timedelta(microseconds=1)


def _utc(month: int, day: int, hour: int = 0) -> int:
    return micros(datetime(2026, month, day, hour, tzinfo=UTC))


START_US = _utc(9, 7)
PRICE_CHANGE_US = _utc(9, 21)
"""From here on the own model is cheaper (a dated row of the demo's models.yaml)."""
BILL_CATCHES_UP_US = _utc(9, 24)
"""Until here the host of the own model still bills the old price: the planted difference."""
NEW_PROMPT_US = _utc(9, 24, 10)
"""The next prompt version of categorization and copilot was activated."""
OUTAGE_US = (_utc(9, 29, 7), _utc(9, 29, 13))
"""Anthropic could not be reached: calls fell back to OpenRouter."""
RUNAWAY_US = (_utc(10, 1, 9), _utc(10, 1, 17))
"""A fault let some chats call their tools in a loop."""

TENANTS = (
    "baeckerei-sonnenkorn",
    "blumen-im-hof",
    "buchladen-lesezeit",
    "cafe-morgenrot",
    "dachdecker-firstmann",
    "fahrrad-speiche",
    "goldschmiede-funkel",
    "hofladen-ackerglueck",
    "praxis-am-ring",
    "schreinerei-spanwerk",
    "tanzschule-dreivierteltakt",
    "weingut-sonnenhang",
)

Api = Literal["messages", "responses", "chat", "generate_content"]


@dataclass(frozen=True)
class Model:
    """A model as its provider names it."""

    provider: str
    name: str
    api: Api
    convention: Literal["inclusive", "exclusive"]
    """Whether the reported input count holds the cached tokens."""
    endpoint_provider: str | None = None


HAIKU = Model("anthropic", "claude-haiku-4-5-20251001", "messages", "exclusive")
SONNET = Model("anthropic", "claude-sonnet-4-6", "messages", "exclusive")
GPT_MINI = Model("openai", "gpt-5-mini-2025-08-07", "responses", "inclusive")
GEMINI_FLASH = Model("google", "gemini-2.5-flash", "generate_content", "inclusive")
GEMINI_PRO = Model("google", "gemini-2.5-pro", "generate_content", "inclusive")
MISTRAL = Model("mistral", "mistral-small-2603", "chat", "inclusive")
ROUTED = Model("openrouter", "anthropic/claude-haiku-4.5", "chat", "inclusive", "amazon-bedrock")
OWN = Model("muster-cloud", "muster-ocr-2", "chat", "inclusive")
"""Rented by the company: only its own policy knows the price."""
CANARY = Model("aurora-labs", "aurora-preview-3", "chat", "inclusive")
"""A preview that no price list knows."""

OWN_PRICES = (
    {"input_uncached": 120_000, "cache_read": 12_000, "output": 480_000},
    {"input_uncached": 90_000, "cache_read": 9_000, "output": 360_000},
)
"""micro-USD per million tokens, before and from PRICE_CHANGE_US on; tokens times price is pico-USD."""


@dataclass(frozen=True)
class Workflow:
    """One AI feature of the company."""

    name: str
    team: str
    share: int
    """Of a hundred runs that nobody's run started."""
    subject: str
    """What one run is about: names the input key and reference."""
    prompts: tuple[str, str]
    """Prompt version before and from NEW_PROMPT_US on."""

    def prompt_version(self, at_us: int) -> str:
        """The version active at an instant."""
        return self.prompts[at_us >= NEW_PROMPT_US]


OCR = Workflow("ocr", "documents", 35, "document", ("5", "5"))
CATEGORIZATION = Workflow("categorization", "bookkeeping", 28, "statement", ("7", "8"))
RECONCILIATION = Workflow("reconciliation", "bookkeeping", 12, "payment_run", ("3", "3"))
DUNNING = Workflow("dunning", "receivables", 6, "invoice", ("2", "2"))
VAT_RETURN = Workflow("vat_return", "tax", 1, "period", ("11", "11"))
CHAT_COPILOT = Workflow("chat_copilot", "assistant", 18, "question", ("12", "13"))
WORKFLOWS = (OCR, CATEGORIZATION, RECONCILIATION, DUNNING, VAT_RETURN, CHAT_COPILOT)
