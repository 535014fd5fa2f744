"""Readers of coding agents' own logs, as far as these hold token counts. Tokens are never guessed from text.

Places, repetitions and known mistakes of each: docs/coding-agents.md.
"""

from beleg.ingest.readers.agents import claude_code, claude_sdk, codex, copilot_cli, gemini_cli, opencode

FORMATS = (
    *claude_code.FORMATS,
    *claude_sdk.FORMATS,
    *codex.FORMATS,
    *gemini_cli.FORMATS,
    *copilot_cli.FORMATS,
    *opencode.FORMATS,
)
AGENTS = frozenset(found.name for found in FORMATS)
"""Names of the formats whose runs are sessions, counted as such and told apart by project (the run's team)."""
