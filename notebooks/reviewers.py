"""How good is what reviewers say, and where do prompt versions differ: `marimo edit notebooks/reviewers.py`."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Reviewers")


with app.setup:
    import marimo as mo
    import polars as pl

    from beleg.core.settings import Settings
    from beleg.evals import stats
    from beleg.lake import catalog


@app.cell
def _():
    con = catalog.connect(Settings.load())
    mo.md(
        """
        # What do people tell us?
        A correction is only as good as its tie to the run it is about, and as the agreement between people. This
        notebook looks at both before it looks at the versions.
        """
    )
    return (con,)


@app.cell
def _(con):
    def ask(sql):
        """The rows as a frame: counts and shares only, no money."""
        return pl.from_arrow(con.sql(sql).to_arrow_table())

    return (ask,)


@app.cell
def _(ask):
    reached = ask(
        """
        SELECT kind, workflow, coalesce(how, unbound_reason) AS tie, unbound_reason IS NULL AS bound,
               count(DISTINCT source || event_id) AS words
        FROM bindings GROUP BY ALL ORDER BY kind, words DESC
        """
    )
    mo.vstack(
        [
            mo.md("## 1. Do the words reach their runs?\nWhat is bound to nothing teaches nothing; the tie says why."),
            mo.ui.table(reached, selection=None),
        ]
    )
    return (reached,)


@app.cell
def _(ask):
    # Two people on the same field of the same run: whether they say the same is all that is known of who is right.
    agreement = ask(
        """
        WITH said AS (
            SELECT b.workflow, b.run_id, b.field, b.author_hash,
                   coalesce(c.expected_hash, md5(c.expected::VARCHAR)) AS value
            FROM bindings AS b JOIN corrections AS c ON b.source = c.source AND b.event_id = c.event_id
            WHERE b.kind = 'correction' AND b.is_counted AND b.holds AND b.author_hash IS NOT NULL
        )
        SELECT one.workflow, count(*) AS pairs, count(*) FILTER (one.value = other.value) AS agreed
        FROM said AS one JOIN said AS other
          ON one.run_id = other.run_id AND one.field = other.field AND one.author_hash < other.author_hash
        GROUP BY one.workflow ORDER BY one.workflow
        """
    )
    decided = ask(
        """
        SELECT workflow, reason, count(*) AS corrections,
               count(*) FILTER (decision = 'accept') AS accepted, count(*) FILTER (decision = 'reject') AS rejected
        FROM bindings WHERE kind = 'correction' AND is_counted AND holds IS NOT NULL
        GROUP BY ALL ORDER BY corrections DESC
        """
    )
    mo.vstack(
        [
            mo.md(
                "## 2. Do people agree?\nPairs of people who corrected the same field of the same run; and what became "
                "of corrections when somebody decided. No pairs means that nobody looks twice: the signal is untested."
            ),
            mo.ui.table(agreement, selection=None),
            mo.ui.table(decided, selection=None),
        ]
    )
    return agreement, decided


@app.cell
def _(ask):
    patterns = ask(
        """
        SELECT workflow, field, reason, prompt_version, kind, status, inputs, people, of_runs, rate, rate_low,
               rate_high, base_rate, adjusted_p, trend
        FROM findings ORDER BY kind = 'finding' DESC, inputs DESC
        """
    )
    mo.vstack(
        [
            mo.md(
                "## 3. Patterns, apart from noise\nA finding stands on several inputs and lies above what people "
                "correct elsewhere in the workflow. Slips and matters of taste are shown, and count for nothing."
            ),
            mo.ui.table(patterns, selection=None, page_size=10),
        ]
    )
    return (patterns,)


@app.cell
def _(ask):
    counted = ask(
        """
        SELECT workflow, prompt_version, sum(ended_runs)::BIGINT AS runs, sum(corrected_runs)::BIGINT AS corrected
        FROM prompt_versions WHERE purpose = 'production' AND prompt_version IS NOT NULL
        GROUP BY ALL HAVING sum(ended_runs) > 0 ORDER BY workflow, prompt_version
        """
    )
    # People look at some runs only, so this is a rate of corrections, not of errors; its interval is exact.
    limits = [stats.clopper_pearson(row["corrected"], row["runs"], 0.025) for row in counted.iter_rows(named=True)]
    versions = counted.with_columns(
        (pl.col("corrected") / pl.col("runs")).alias("rate"),
        pl.Series("low", [each.lower for each in limits], pl.Float64),
        pl.Series("high", [each.upper for each in limits], pl.Float64),
    )
    mo.vstack(
        [
            mo.md(
                "## 4. Versions in production\nCorrected runs of those that ended. Versions ran on different inputs at "
                "different times: a difference here is a question. The gate answers it on the same cases."
            ),
            mo.ui.table(versions, selection=None),
        ]
    )
    return (versions,)


@app.cell
def _(ask):
    measured = ask(
        """
        SELECT feature, dataset_digest[:12] AS dataset, candidate_digest[:12] AS version, scorer,
               count(DISTINCT case_id) AS cases, round(avg(score), 4) AS mean_score,
               count(*) FILTER (status <> 'scored') AS not_scored
        FROM eval_results GROUP BY ALL ORDER BY feature, dataset, scorer, version
        """
    )
    mo.vstack(
        [
            mo.md(
                "## 5. Versions on the same cases\nMeans without an interval, for orientation: `beleg gate` pairs the "
                "cases, counts what is missing, and says what follows."
            ),
            mo.ui.table(measured, selection=None, page_size=10),
        ]
    )
    return (measured,)


if __name__ == "__main__":
    app.run()
