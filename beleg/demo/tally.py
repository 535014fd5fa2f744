"""The known answers: counted from what happens, before the tracer hears of it and without the pipeline."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from beleg.demo.company import OWN, OWN_PRICES, PRICE_CHANGE_US


@dataclass(frozen=True)
class DemoSummary:
    """What a pipeline must find in the files of a demo. Token and cost figures count each call once."""

    seed: int
    weeks: int
    runs: int
    runs_by_workflow: Mapping[str, int]
    runs_by_purpose: Mapping[str, int]
    finished_by_status: Mapping[str, int]
    """succeeded, failed, cancelled → runs; the others were still running, waiting or abandoned."""
    events: Mapping[str, int]
    """Event type → identities: what the lake must hold."""
    read: int
    """Lines in all files: accepted, quarantined and pending."""
    accepted: int
    """Lines that meet their schema: sum(events) + duplicates + superseded."""
    duplicates: int
    """Accepted lines that repeat another one unchanged."""
    superseded: int
    """Accepted lines that lost to a later revision."""
    quarantined: Mapping[str, int]
    """Reason → lines."""
    pending: int
    """Unfinished last lines of growing files."""
    tokens: Mapping[str, Mapping[str, int]]
    """Model → bucket → tokens; buckets without tokens are left out."""
    repeated_calls: int
    """Steps that report a call another source reports too."""
    results: Mapping[str, int]
    """Kind of result → results of production runs; outcomes taken back do not count."""
    copilot_requests: Mapping[str, int]
    """toolset_hash → requests that were offered it."""
    copilot_cache_read_tokens: Mapping[str, int]
    """Prompt version → tokens that the copilot's provider found in its cache."""
    tool_calls: Mapping[str, int]
    """Tool → calls, those of all workflows."""
    playbook_requests: Mapping[str, int]
    """Playbook → requests that had it in context."""
    own_model: str
    own_model_cost_pico_usd: int
    """Exact cost of the model that only the demo's policy prices."""
    own_model_billed_pico_usd: int
    """What its host billed: more, since the host was late with the price change."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class Tally:
    """Counts what happens in the demo."""

    def __init__(self) -> None:
        self.workflows: Counter[str] = Counter()
        self.purposes: Counter[str] = Counter()
        self.statuses: Counter[str] = Counter()
        self.events: Counter[str] = Counter()
        self.quarantined: Counter[str] = Counter()
        self.results: Counter[str] = Counter()
        self.tokens: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.toolsets: Counter[str] = Counter()
        self.found_again: Counter[str] = Counter()
        self.tools: Counter[str] = Counter()
        self.playbooks: Counter[str] = Counter()
        self.duplicates = self.superseded = self.pending = self.repeated_calls = 0
        self.own_cost_pico_usd = self.own_billed_pico_usd = 0

    @property
    def runs(self) -> int:
        """Runs that started."""
        return self.events["run_started"]

    def start(self, workflow: str, purpose: str) -> None:
        """A run started."""
        self.workflows[workflow] += 1
        self.purposes[purpose] += 1

    def finish(self, status: str, results: Mapping[str, int]) -> None:
        """A run ended, with results that count."""
        self.statuses[status] += 1
        self.results.update(results)

    def use(self, model: str, buckets: Mapping[str, int], at_us: int, billed_pico_usd: int | None) -> None:
        """A call used tokens."""
        self.tokens[model].update(buckets)
        if model == OWN.name:
            self.own_cost_pico_usd += own_cost_pico_usd(buckets, at_us)
            self.own_billed_pico_usd += billed_pico_usd or 0

    def offer(self, toolset: str, playbook: str | None, prompt_version: str, cache_read_tokens: int) -> None:
        """A request was made, with these tools offered and this playbook open."""
        self.toolsets[toolset] += 1
        self.found_again[prompt_version] += cache_read_tokens
        self.playbooks.update([playbook] if playbook else [])

    def call(self, tool: str, *, is_over: bool) -> None:
        """A tool was called."""
        self.tools.update([] if is_over else [tool])

    def summary(self, seed: int, weeks: int) -> DemoSummary:
        """The answers, sorted by name."""
        accepted = self.events.total() + self.duplicates + self.superseded
        return DemoSummary(
            seed=seed,
            weeks=weeks,
            runs=self.runs,
            runs_by_workflow=_sorted(self.workflows),
            runs_by_purpose=_sorted(self.purposes),
            finished_by_status=_sorted(self.statuses),
            events=_sorted(self.events),
            read=accepted + self.quarantined.total() + self.pending,
            accepted=accepted,
            duplicates=self.duplicates,
            superseded=self.superseded,
            quarantined=_sorted(self.quarantined),
            pending=self.pending,
            tokens={model: _sorted(+self.tokens[model]) for model in sorted(self.tokens)},
            repeated_calls=self.repeated_calls,
            results=_sorted(self.results),
            copilot_requests=_sorted(self.toolsets),
            copilot_cache_read_tokens=_sorted(self.found_again),
            tool_calls=_sorted(self.tools),
            playbook_requests=_sorted(self.playbooks),
            own_model=OWN.name,
            own_model_cost_pico_usd=self.own_cost_pico_usd,
            own_model_billed_pico_usd=self.own_billed_pico_usd,
        )


def own_cost_pico_usd(buckets: Mapping[str, int], at_us: int) -> int:
    """Cost of a call of the own model at the price of that instant."""
    prices = OWN_PRICES[at_us >= PRICE_CHANGE_US]
    return sum(tokens * prices[bucket] for bucket, tokens in buckets.items())


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: counts[name] for name in sorted(counts)}
