"""From what people said to a gate report: findings, frozen cases, scores. Nothing here publishes a version."""

from collections.abc import Callable, Mapping
from typing import Any

import dagster as dg

from assets.common import OWNERS, WRITER, Result, plain_failures, tell
from beleg import flow, learn
from beleg.checks import expectations
from beleg.contract.registry.registry import Registry
from beleg.core.errors import BelegError
from beleg.core.settings import Settings
from beleg.cost.money import micro_usd
from beleg.evals import findings as asking
from pipelines.resources import Installation

PUBLISHED = ["publication"]


def _spoken(kind: str, words: str) -> dg.AssetsDefinition:
    """The asset of one kind of word: how many there are, and what they could not be bound to."""

    @dg.asset(
        name=words,
        deps=PUBLISHED,
        group_name="learning",
        kinds={"deltalake"},
        owners=OWNERS,
        description=f"What people said ({kind}), bound to the runs that it is about; written by ingest and `bindings`.",
    )
    def said(context: dg.AssetExecutionContext, installation: Installation) -> Result:
        counts = next((each for each in asking.spoken(installation.settings()) if each.kind == kind), None)
        if counts is None:
            return tell(context, words=0)
        why = "\n".join(f"| {reason} | {count} |" for reason, count in sorted(counts.unbound.items()))
        return tell(
            context,
            words=counts.words,
            bound=counts.bound,
            ambiguous=counts.ambiguous,
            holding=counts.holding,
            unbound=dg.MetadataValue.md(f"| reason | words |\n|---|---|\n{why}" if why else "none"),
        )

    return said


feedback = _spoken("feedback", "feedback")
corrections = _spoken("correction", "corrections")


@dg.asset(
    deps=[corrections],
    group_name="learning",
    kinds={"duckdb"},
    owners=OWNERS,
    description="Patterns of real errors, told apart from noise; a person accepts them: beleg cases accept.",
)
def findings(context: dg.AssetExecutionContext, installation: Installation) -> Result:
    """Shows what the publication found."""
    rows = asking.findings(installation.settings(), everything=True)
    shown = "\n".join(
        f"| {row['workflow']} | {row['field']} | {row['reason']} | {row['inputs']} | {row['status']} |"
        for row in rows
        if row["kind"] == "finding"
    )
    head = "| workflow | field | reason | inputs | status |\n|---|---|---|---|---|\n"
    kinds = {kind: sum(row["kind"] == kind for row in rows) for kind in sorted({row["kind"] for row in rows})}
    return tell(context, **kinds, findings=dg.MetadataValue.md(head + shown if shown else "none"))


@dg.asset(
    deps=[findings],
    group_name="learning",
    kinds={"json"},
    owners=OWNERS,
    pool=WRITER,
    description="What people accepted, as frozen cases and versioned datasets under `evals/`.",
)
def eval_cases(context: dg.AssetExecutionContext, installation: Installation) -> Result:
    """Freezes what is new; conflicts and what lacks its input wait for a person."""
    settings = installation.settings()
    if settings.project is None:
        return tell(context, project="none here: nothing is frozen")
    with plain_failures():
        made = learn.freeze(settings)
    return tell(
        context,
        cases=len(made.cases),
        new_files=len(made.written),
        datasets=dg.MetadataValue.json({each.name: each.version for each in made.datasets}),
        conflicts=len(made.conflicts),
        pending=len(made.pending),
    )


@dg.asset(
    deps=[eval_cases],
    group_name="learning",
    kinds={"deltalake"},
    owners=OWNERS,
    pool=WRITER,
    description="Answers of drafts and active versions to the cases, scored. Asks models, which costs money: at most "
    "what the suite allows. What was answered already is not asked again.",
)
def eval_scores(context: dg.AssetExecutionContext, installation: Installation) -> Result:
    """Scores every draft with a suite."""
    settings, registry = installation.settings(), _registry(installation)
    reports = _each(settings, lambda feature: learn.score(settings, registry, feature))
    return tell(
        context,
        answered=sum(each.answered for each in reports.values()),
        before=sum(each.before for each in reports.values()),
        left=sum(each.left for each in reports.values()),
        cost_micro_usd=micro_usd(sum(each.cost_pico_usd for each in reports.values())),
        features=dg.MetadataValue.json({feature: each.state for feature, each in reports.items()}),
    )


@dg.asset(
    deps=[eval_scores],
    group_name="learning",
    kinds={"html", "json"},
    owners=OWNERS,
    pool=WRITER,
    check_specs=[
        dg.AssetCheckSpec("drafts_pass", asset="gate_reports", description="every draft passes; stops nothing")
    ],
    description="The gate's verdict on every draft: evidence for whoever publishes, and a page. Publishes no version.",
)
def gate_reports(context: dg.AssetExecutionContext, installation: Installation) -> Result:
    """Judges every draft with a suite, and shows analysts what was found."""
    settings, registry = installation.settings(), _registry(installation)
    judged = _each(settings, lambda feature: learn.judge(settings, registry, feature))
    flow.publish(settings, as_of=installation.instant(), judge=expectations.judge)
    verdicts = {feature: each.outcome.report.verdict for feature, each in judged.items()}
    pages = {feature: str(each.page) for feature, each in judged.items()}
    told = tell(context, verdicts=dg.MetadataValue.json(verdicts), pages=dg.MetadataValue.json(pages))
    passed = all(verdict == "pass" for verdict in verdicts.values())
    return told._replace(
        check_results=[
            dg.AssetCheckResult(
                passed=passed, check_name="drafts_pass", severity=dg.AssetCheckSeverity.WARN, metadata=verdicts
            )
        ]
    )


def _registry(installation: Installation) -> Registry:
    return Registry.of(installation.settings().home)


def _each(settings: Settings, do: Callable[[str], Any]) -> Mapping[str, Any]:
    """What became of every feature with a suite; one that fails does not keep the others from their turn."""
    made, failed = {}, []
    for feature in learn.features(settings) if settings.project is not None else ():
        try:
            made[feature] = do(feature)
        except BelegError as error:
            failed.append(f"{feature}: {error}")
    if failed:
        raise dg.Failure(description="\n".join(failed), allow_retries=False)
    return made
