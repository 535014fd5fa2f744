"""An analyst's first hour on beleg.duckdb: `marimo edit notebooks/unit_costs.py`, BELEG_HOME as for the command."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Unit costs")


with app.setup:
    import marimo as mo
    import polars as pl

    from beleg.core.settings import Settings
    from beleg.lake import catalog


@app.cell
def _():
    con = catalog.connect(Settings.load())
    publication = con.execute("SELECT number, as_of, timezone FROM publication").fetchone()
    mo.md(
        f"""
        # What does a business result cost?
        Publication {publication[0]}, as of {publication[1]:%Y-%m-%d %H:%M} UTC; business days in {publication[2]}.

        The connection is read-only. Whatever the pipeline does meanwhile, these figures stay those of one
        publication until the notebook is run again.
        """
    )
    return (con,)


@app.cell
def _(con):
    def ask(sql):
        """Rows as dicts. Money comes as exact Decimal; a frame would make int64 of it, which wraps silently."""
        result = con.execute(sql)
        names = [column[0] for column in result.description]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    contents = ask(
        """
        SELECT kind, object, description FROM data_dictionary
        WHERE column_name IS NULL AND kind IN ('mart', 'metric')
        ORDER BY kind, object
        """
    )
    mo.vstack(
        [
            mo.md("## 1. What is there\nTables, metrics and their meaning stand in the file itself."),
            mo.ui.table(contents, selection=None, page_size=8),
        ]
    )
    return ask, contents


@app.cell
def _(ask):
    unit_costs = ask(
        """
        SELECT workflow, usd(unit_cost_pico_usd) AS usd, unit_per, unit, usd(cost_pico_usd) AS cost_usd, results
        FROM unit_cost() ORDER BY cost_pico_usd DESC
        """
    )
    mo.vstack(
        [
            mo.md(
                "## 2. The unit cost\nThe cost of *all* production runs, failed ones too, over the results that "
                "came out. Both sums stand beside the ratio; `unit_per` results are quoted for."
            ),
            mo.ui.table(unit_costs, selection=None),
        ]
    )
    return (unit_costs,)


@app.cell
def _(ask):
    trend = ask(
        """
        SELECT
          date_trunc('week', business_day) AS week,
          workflow,
          usd(divide_half_even(
            known_cost(sum(CAST(cost_pico_usd AS HUGEINT)), sum(runs), sum(steps), sum(unpriced_steps)) * min(unit_per),
            sum(results)
          )) AS usd
        FROM unit_cost_by_day() GROUP BY ALL ORDER BY workflow, week
        """
    )
    # Text, not numbers: the amounts were divided exactly in SQL, the frame only lays them out.
    trend_by_week = (
        pl.DataFrame(
            [
                {"workflow": row["workflow"], "week": f"{row['week']:%Y-%m-%d}", "usd": shown(row["usd"])}
                for row in trend
            ]
        )
        .pivot(on="week", index="workflow", values="usd")
        .fill_null("—")
    )
    mo.vstack(
        [
            mo.md(
                "## 3. Its trend\nPer week: the days' sums divided again. An average of daily unit costs would "
                "weigh a quiet Sunday like a busy Monday. USD, rounded for reading."
            ),
            mo.ui.table(trend_by_week, selection=None),
        ]
    )
    return trend, trend_by_week


@app.function
def shown(usd):
    """An exact amount, rounded once for reading; unknown is a dash."""
    return "—" if usd is None else f"{usd:.4f}"


@app.cell
def _(ask):
    coverage = ask("SELECT workflow, price_coverage_share, unpriced_calls, calls FROM price_coverage()")
    gaps = ask(
        """
        SELECT unpriced_reason, provider, model, count(*) AS calls
        FROM step_costs WHERE NOT priced GROUP BY ALL ORDER BY calls DESC
        """
    )
    mo.vstack(
        [
            mo.md(
                "## 4. What is missing\nA call without a price is unknown, not free: every amount above lacks it. "
                "Counted are the calls that need a price: model calls, and others that report usage."
            ),
            mo.ui.table(coverage, selection=None),
            mo.ui.table(gaps, selection=None),
        ]
    )
    return coverage, gaps


@app.cell
def _(ask):
    (trap,) = ask(
        """
        SELECT usd(sum(run_costs.cost_pico_usd)) AS cost_usd
        FROM run_costs JOIN step_costs USING (run_id)
        """
    )
    (right,) = ask("SELECT usd(sum(cost_pico_usd)) AS cost_usd FROM run_costs")
    (joined,) = ask(
        """
        SELECT usd(sum(run_costs.cost_pico_usd)) AS cost_usd
        FROM run_costs
        LEFT JOIN (SELECT run_id, count(*) AS tool_calls FROM step_costs WHERE kind = 'tool' GROUP BY run_id) AS tools
          USING (run_id)
        """
    )
    factor = trap["cost_usd"] / right["cost_usd"]
    mo.md(
        f"""
        ## 5. The trap
        Runs joined with their steps: each run stands there once per step, and so does its cost.

        | query | USD |
        |:--|--:|
        | `sum(run_costs.cost_pico_usd)`, joined with the steps | **{trap["cost_usd"]:.2f}**, {factor:.1f} times it |
        | the same without the join | {right["cost_usd"]:.2f} |
        | steps counted per run first, then joined | {joined["cost_usd"]:.2f} |

        Sum before you join. Metrics are summed already: `unit_cost() JOIN flag_count() USING (workflow)` repeats a
        row, but its ratio stays right.
        """
    )
    return joined, right, trap


@app.cell
def _(ask):
    models = ask(
        """
        SELECT
          provider,
          model,
          known_cost(cost_pico_usd, 0, steps, unpriced_steps) AS known_pico_usd,
          ratio(known_pico_usd, sum(cost_pico_usd) OVER ()) AS cost_share,
          input_tokens + output_tokens AS tokens,
          unpriced_steps,
          steps
        FROM cost_by_model() ORDER BY cost_pico_usd DESC
        """
    )
    bars = "\n".join(
        f"| {row['model'] or 'no model'} | — | no known price for its {row['steps']} steps |"
        if row["cost_share"] is None
        else f"| {row['model'] or 'no model'} | {row['known_pico_usd'] / 10**12:.2f} "
        f"| {'█' * round(40 * row['cost_share'])} {100 * row['cost_share']:.1f} % |"
        for row in models
    )
    mo.md(f"## 6. Who gets the money\n| model | USD | share of the known cost |\n|:--|--:|:--|\n{bars}")
    return bars, models


@app.cell
def _(ask):
    versions = ask(
        """
        SELECT
          u.workflow, u.prompt_version, u.runs, usd(u.unit_cost_pico_usd) AS unit_cost_usd,
          f.failure_share, d.dislike_share, d.judged_runs
        FROM unit_cost_by_version() AS u
        LEFT JOIN failure_rate_by_version() AS f USING (workflow, prompt_version)
        LEFT JOIN dislike_rate() AS d USING (workflow, prompt_version)
        WHERE u.runs > 0
        QUALIFY count(*) OVER (PARTITION BY u.workflow) > 1
        ORDER BY u.workflow, u.prompt_version
        """
    )
    mo.vstack(
        [
            mo.md(
                "## 7. Prompt versions\nObserved side by side, not compared on the same inputs: read a difference as "
                "a question. `beleg versions WORKFLOW` adds the intervals."
            ),
            mo.ui.table(versions, selection=None),
        ]
    )
    return (versions,)


@app.cell
def _():
    mo.md("""
    ## Where to go on
    Twenty questions with their SQL stand in `docs/analysts.md`; `beleg explain RUN` tells a single run line by
    line, `beleg sql "…" --csv` feeds a spreadsheet.
    """)


if __name__ == "__main__":
    app.run()
