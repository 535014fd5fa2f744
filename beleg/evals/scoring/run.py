"""Runs an evaluation: every case, both versions, as often as asked, in parallel; what is done already stays done.

Both versions answer a case one right after the other: cost and latency are measured under the same conditions.
Where fallbacks are ordered, they answer the same cases after that.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from beleg.contract.registry.registry import Registry
from beleg.core.errors import UsageError
from beleg.core.progress import OnProgress, silent
from beleg.core.settings import Settings
from beleg.core.values import stores_values
from beleg.cost.pricing import Pricing
from beleg.evals.cases.dataset import Dataset
from beleg.evals.cases.files import project_of
from beleg.evals.scoring import contenders
from beleg.evals.scoring.agenda import Agenda, Unit
from beleg.evals.scoring.answering import Desk, hindrance
from beleg.evals.scoring.contenders import Contender
from beleg.evals.scoring.hall import Hall
from beleg.evals.scoring.inherit import inherit
from beleg.evals.scoring.journal import Journal
from beleg.evals.scoring.judging import Bench
from beleg.evals.scoring.jury import Jury
from beleg.evals.scoring.order import Order, Report, Substitute
from beleg.evals.scoring.pace import Pace
from beleg.evals.scoring.purse import Purse
from beleg.evals.scoring.receipt import listening
from beleg.evals.scoring.tariff import Tariff
from beleg.evals.suite import MOST_REPETITIONS, MOST_WORKERS, Suite


def run(
    settings: Settings,
    registry: Registry,
    order: Order,
    *,
    on_progress: OnProgress = silent,
    pace: Callable[[int | None], Pace] = Pace,
) -> Report:
    """Run an evaluation and send its results to the spool; `beleg ingest` takes them into the lake.

    Raises UsageError for a wrong order, suite, contract, dataset or key, Busy while another process runs the same
    cases, DamagedError where journal, cases or spool cannot be used. Ctrl-C lets the answers that are under way
    come in and is reported as `interrupted`.
    """
    project = project_of(settings)
    suite = Suite.load(project, order.feature)
    sides = _sides(project, registry, order)
    fallbacks = _fallbacks(sides) if order.fallbacks else ()
    everyone = (*sides, *fallbacks)
    dataset = dataset_of(project, order.feature, sides[0])
    juries = juries_of(project, everyone)
    resolver, tools = suite.load_resolver(), suite.load_tools()
    tariff = Tariff(Pricing.load(settings).book)
    journal = Journal(settings, order.feature, dataset.digest)
    with ExitStack() as held:
        held.enter_context(journal.alone())
        trace = held.enter_context(listening(settings.spool))
        inherit(settings, journal, dataset, [each.digest for each in everyone], trace.keep)
        repetitions = _within("--repeat", order.repetitions, suite.repetitions, MOST_REPETITIONS)
        agenda = Agenda(order, dataset, (sides, fallbacks), juries, journal, repetitions=repetitions)
        journal.send_lost(agenda.ingested, trace.keep)
        units = list(agenda.units())
        report = Report(
            dataset,
            sides[0],
            sides[1] if len(sides) > 1 else None,
            agenda.planned,
            agenda.planned - sum(map(len, units)),
            fallbacks=_substitutes(sides[0], fallbacks, agenda.planned_each, units),
        )
        limit = suite.max_cost_pico_usd if order.max_cost_pico_usd is None else order.max_cost_pico_usd
        hall = Hall(
            iter(units),
            resolver,
            Desk(everyone, tools, tariff),
            Bench(juries),
            journal,
            trace,
            pace(suite.requests_per_minute),
            Purse(limit),
            report,
            stores_values(settings, sides[0].contract.workflow),
            on_progress,
        )
        hall.work(_within("--workers", order.workers, suite.workers, MOST_WORKERS))
    return report


def dataset_of(project: Path, feature: str, contender: Contender) -> Dataset:
    """The dataset that a contract names, at its latest version; raises UsageError for one of another feature."""
    dataset = Dataset.load(project, contender.contract.evals.dataset)
    if dataset.feature != feature:
        raise UsageError(f"the dataset {dataset.name} holds cases of {dataset.feature}, not of {feature}")
    return dataset


def juries_of(project: Path, sides: Sequence[Contender]) -> dict[str, Jury]:
    """Digest → the scorers of its answers: those of all sides, by its own output schema."""
    contracts = [each.contract for each in sides]
    return {each.digest: Jury.of(project, contracts, each.contract.output_schema) for each in sides}


def _sides(project: Path, registry: Registry, order: Order) -> tuple[Contender, ...]:
    first = contenders.candidate(project, registry, order.feature, order.candidate)
    second = contenders.baseline(registry, order.feature, order.baseline)
    return (first,) if second is None or second.digest == first.digest else (first, second)


def _fallbacks(sides: Sequence[Contender]) -> tuple[Contender, ...]:
    """Those of the candidate; one that is the baseline answers as such."""
    known = {each.digest for each in sides}
    return tuple(each for each in contenders.fallbacks(sides[0]) if each.digest not in known)


def _substitutes(
    tried: Contender, fallbacks: Sequence[Contender], planned: int, units: Sequence[Unit]
) -> tuple[Substitute, ...]:
    open_ones = Counter(question.digest for unit in units for question in unit)

    def made(each: Contender) -> Substitute:
        provider = each.contract.providers.primary
        name = f"{tried.version} with {provider.provider}/{provider.model}"
        return Substitute(each, name, planned, planned - open_ones[each.digest], hindrance(each))

    return tuple(map(made, fallbacks))


def _within(option: str, wanted: int | None, default: int, most: int) -> int:
    value = default if wanted is None else wanted
    if not 1 <= value <= most:
        raise UsageError(f"{option} {value} is not allowed; use 1 to {most}")
    return value
