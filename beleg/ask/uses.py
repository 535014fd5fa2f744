"""How often each tool of an agent was offered and called."""

from beleg.agent.toolsets.seldom import Use
from beleg.ask.desk import desk
from beleg.core.settings import Settings
from beleg.cost.figures import Period


def uses(settings: Settings, period: Period) -> list[Use]:
    """Uses of every tool in production, by name; raises UsageError where nothing was published."""
    with desk(settings) as at:
        at.lay({"tool_usage": None})
        rows = at.ask("tool_calls", **period.parameters)
    return [Use(row["tool"], row["requests"], row["calls"], int(row["tokens"])) for row in rows]
