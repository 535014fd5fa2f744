"""What things are called in the report."""

from beleg.report.figures import Row

NO_START = "(start not reported)"


def name_of(workflow: str | None) -> str:
    """Name of a workflow; steps whose run has no reported start belong to none."""
    return NO_START if workflow is None else workflow


def per_of(row: Row) -> str:
    """What a unit cost is for, from the columns `unit` and `unit_per`."""
    if row["unit"] is None:
        return "no unit in workflows.yaml"
    return (
        f"per {row['unit']}"
        if row["unit_per"] == 1
        else f"per {row['unit_per']:,} \N{MULTIPLICATION SIGN} {row['unit']}"
    )
