"""What surrounds an agent, and what it costs to hold it in the head: `marimo edit notebooks/agent.py`."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Agents")


with app.setup:
    import marimo as mo
    import polars as pl

    from beleg.core.settings import Settings
    from beleg.lake import catalog


@app.cell
def _():
    con = catalog.connect(Settings.load())
    mo.md(
        """
        # What must the model hold in its head?
        Tools cost twice: tokens in every request, and attention. This notebook looks at how wide the surface is and who
        walks on it, what each tool costs and whether anybody calls it, and whether the prompt keeps the cache warm.
        """
    )
    return (con,)


@app.cell
def _(con):
    def ask(sql):
        """Rows as a frame; money leaves the database as text, so that it never becomes a float."""
        return pl.from_arrow(con.sql(sql).to_arrow_table())

    return (ask,)


@app.cell
def _(ask):
    surface = ask("SELECT * FROM tools_offered_per_run() ORDER BY runs DESC")
    mo.vstack(
        [
            mo.md(
                "## 1. Runs against width\nThe widest surface should carry the thinnest traffic: what comes in masses "
                "is narrow by design. A dash is a workflow whose trace names no toolset, not one without tools."
            ),
            mo.ui.table(surface, selection=None),
        ]
    )
    return (surface,)


@app.cell
def _(ask):
    # Additive sums of the mart, then one division: a mean of daily means would weigh quiet days too much.
    tools = ask(
        """
        SELECT workflow, tool_name, sum(offering_requests)::BIGINT AS requests, sum(calls)::BIGINT AS calls,
               sum(failed_calls)::BIGINT AS failed, max(business_day) FILTER (calls > 0) AS last_called,
               CASE WHEN sum(calls) > 0 THEN (sum(sent_tokens) // sum(calls))::BIGINT END AS tokens_per_call,
               usd(sum(tax_pico_usd))::VARCHAR AS tax_usd, sum(untaxed_requests)::BIGINT AS untaxed_requests
        FROM tool_usage WHERE purpose = 'production' AND offering_requests IS NOT NULL
        GROUP BY ALL ORDER BY sum(tax_pico_usd) DESC, tool_name
        """
    )
    idle = tools.filter((pl.col("calls") == 0) & (pl.col("requests") > 0))
    mo.vstack(
        [
            mo.md("## 2. What each definition costs\nCalled or not, it goes along in every request that offers it."),
            mo.ui.table(tools, selection=None, page_size=10),
            mo.md(
                "### Offered and never called\nNot the same as useless: correcting a wrong entry is rare, and the "
                "reason to have that tool. Keep it and say why, defer it, or merge it with another."
            ),
            mo.ui.table(idle, selection=None, page_size=10),
        ]
    )
    return idle, tools


@app.cell
def _(ask):
    # Calls outside the toolset: a model that invents a tool, or a list that does not bind the dispatch.
    uninvited = ask(
        """
        SELECT workflow, tool_name, sum(calls)::BIGINT AS calls, sum(failed_calls)::BIGINT AS failed
        FROM tool_usage WHERE offering_requests = 0 GROUP BY ALL ORDER BY calls DESC, tool_name
        """
    )
    mo.vstack(
        [
            mo.md("## 3. Called without being offered\nAll of these should have failed."),
            mo.ui.table(uninvited, selection=None),
        ]
    )
    return (uninvited,)


@app.cell
def _(ask):
    held = ask(
        """
        SELECT workflow, feature, contract_version, cohort, min(business_day) AS since,
               sum(held_requests)::BIGINT AS requests, (sum(held_tokens) // sum(held_requests))::BIGINT AS held,
               (sum(tool_tokens) // sum(counted_tool_requests))::BIGINT AS tools,
               (sum(instruction_tokens) // sum(layout_requests))::BIGINT AS instructions,
               (sum(index_tokens) // sum(layout_requests))::BIGINT AS index,
               CASE WHEN sum(measured_body_requests) > 0
                    THEN (sum(body_tokens) // sum(measured_body_requests))::BIGINT END AS body
        FROM held_tokens WHERE purpose = 'production'
        GROUP BY ALL HAVING sum(held_requests) > 0 ORDER BY workflow, feature, since, contract_version, cohort
        """
    )
    playbooks = ask(
        """
        SELECT workflow, playbook, sum(openings)::BIGINT AS openings, sum(requests)::BIGINT AS requests,
               sum(tool_calls)::BIGINT AS tool_calls, sum(failed_tool_calls)::BIGINT AS failed
        FROM playbook_hits WHERE purpose = 'production' GROUP BY ALL ORDER BY openings DESC, playbook
        """
    )
    mo.vstack(
        [
            mo.md(
                "## 4. Tokens held, version by version\nThe number to keep flat with work. A body is measured, at "
                "most: by how much the prompt grew when its playbook was opened."
            ),
            mo.ui.table(held, selection=None),
            mo.ui.table(playbooks, selection=None),
        ]
    )
    return held, playbooks


@app.cell
def _(ask):
    misses = ask(
        """
        SELECT workflow, cause, detail, sum(requests)::BIGINT AS requests, sum(missed_tokens)::BIGINT AS missed_tokens,
               usd(sum(lost_pico_usd))::VARCHAR AS lost_usd, min(example_run_id) AS for_example
        FROM cache_misses WHERE purpose = 'production' GROUP BY ALL ORDER BY sum(lost_pico_usd) DESC, requests DESC
        """
    )
    mo.vstack(
        [
            mo.md(
                "## 5. Why the cache missed\nMost misses are no fault: a first use has nothing to find, an old entry "
                "is gone. What changed is named; `beleg explain RUN` tells an example step by step."
            ),
            mo.ui.table(misses, selection=None),
        ]
    )
    return (misses,)


@app.cell
def _(ask):
    layouts = ask(
        """
        SELECT workflow, layout_hash[:12] AS layout, min(business_day) AS since, sum(requests)::BIGINT AS requests,
               sum(requests) FILTER (cause = 'hit')::BIGINT AS hits,
               sum(requests) FILTER (
                   cause NOT IN ('first_use', 'expired', 'below_minimum', 'no_breakpoint'))::BIGINT AS warm
        FROM cache_misses WHERE purpose = 'production' GROUP BY ALL ORDER BY workflow, since, layout
        """
    ).with_columns((pl.col("hits").fill_null(0) / pl.col("warm")).alias("warm_hit_share"))
    mo.vstack(
        [
            mo.md(
                "## 6. Layouts side by side\nOver warm requests alone: longer pauses between requests would look like "
                "a worse layout. No warm requests, no share."
            ),
            mo.ui.table(layouts, selection=None),
        ]
    )
    return (layouts,)


if __name__ == "__main__":
    app.run()
