"""The table of rules: what each is called, how bad it is by risk tier, where its guide stands, how to mend it.

The checks live in one module per part of a contract; this table is what docs/contract/lint.md is made from.
Rules L01 to L40 follow the project's research of 2026; L41 to L50 are Beleg's own.
"""

from dataclasses import dataclass

from beleg.contract.lint.facts import Facts
from beleg.contract.lint.finding import Severity

_SEVERITY: dict[str, Severity] = {"E": "error", "W": "warning", "I": "info"}


@dataclass(frozen=True)
class Rule:
    """One row of the table."""

    id: str
    title: str
    tiers: str
    """Severity in tier 1, 2 and 3: three letters of E, W, I."""
    guide: str
    fix: str
    level: int | None = None
    """Maturity level that asks for it."""
    needs: tuple[str, ...] = ()
    """Facts without which the rule stays silent."""

    def severity(self, tier: int) -> Severity:
        """How bad it is in a tier."""
        return _SEVERITY[self.tiers[tier - 1]]

    def judged(self, facts: Facts) -> bool:
        """Whether everything that the rule needs is known."""
        return all(getattr(facts, name) is not None for name in self.needs)


RULES = (
    # Prompt
    Rule(
        "L01",
        "variable used but not declared",
        "EEE",
        "prompt.md#variables",
        "declare it under variables, or correct its name",
        1,
    ),
    Rule("L02", "declared variable never used", "WWW", "prompt.md#variables", "use it in the prompt, or drop it", 1),
    Rule(
        "L03",
        "samples missing or invalid",
        "EEE",
        "prompt.md#samples",
        "give at least one sample with every required variable, valid under its schema",
        1,
    ),
    Rule(
        "L36",
        "secret or personal data",
        "EEE",
        "prompt.md#secrets",
        "take it out: versions are kept for ever and cached everywhere; for examples use published test values",
        5,
    ),
    Rule(
        "L37",
        "text of strangers in the system part",
        "WEE",
        "prompt.md#untrusted",
        "move the variable to the user part, where the SDK delimits it",
    ),
    Rule(
        "L44",
        "template that the SDK does not render",
        "EEE",
        "prompt.md#template",
        "keep to variables, if, for and the simple filters",
        1,
    ),
    Rule(
        "L47",
        "characters that nobody sees",
        "WEE",
        "prompt.md#hidden",
        "take them out; write the text again by hand if need be",
    ),
    Rule(
        "L48",
        "value that no file can hold",
        "EEE",
        "prompt.md#hidden",
        "write it anew: nothing else is judged until then",
        1,
    ),
    # Output schema
    Rule(
        "L04",
        "output schema is no JSON Schema 2020-12",
        "EEE",
        "output-schema.md#dialect",
        "correct the schema; drop $schema or set it to the 2020-12 dialect",
        1,
    ),
    Rule("L05", "no value can meet the schema", "EEE", "output-schema.md#satisfiable", "remove the contradiction", 1),
    Rule(
        "L06",
        "unknown keyword",
        "WWW",
        "output-schema.md#keywords",
        "correct its spelling, or start your own keywords with x-",
        1,
    ),
    Rule(
        "L07",
        "$ref leads nowhere or outside",
        "EEE",
        "output-schema.md#references",
        "put the definition under $defs and refer to it with #/$defs/<name>",
        1,
    ),
    Rule("L08", "object not closed", "WWW", "output-schema.md#closed-objects", 'add "additionalProperties": false', 1),
    Rule(
        "L09",
        "examples missing or invalid",
        "EEE",
        "output-schema.md#examples",
        "give answers as they should look, valid under the schema",
        1,
    ),
    Rule(
        "L13",
        "optional member written as required and nullable",
        "WWW",
        "output-schema.md#optional",
        "take it out of required and drop null; the SDK converts for providers that need it",
    ),
    Rule(
        "L14",
        "member without description",
        "III",
        "output-schema.md#descriptions",
        "say what the field means, in which unit",
    ),
    Rule(
        "L15",
        "answer stands before its reasoning",
        "III",
        "output-schema.md#order",
        "put the reasoning first: models write in the schema's order",
    ),
    # Tools
    Rule(
        "L17",
        "tool name not portable or not unique",
        "EEE",
        "tools.md#names",
        "a letter, then up to 63 letters, digits and underscores; unique whatever the case",
        2,
    ),
    Rule(
        "L18",
        "pin does not fit the tool",
        "EEE",
        "tools.md#pins",
        "set digest to the tool's pin, after looking at what changed",
        2,
    ),
    Rule(
        "L19",
        "tool differs from the catalogue",
        "EEE",
        "tools.md#catalogue",
        "take the tool as the catalogue has it, or add a new version there",
        2,
        ("catalogue",),
    ),
    Rule(
        "L20",
        "tool that nothing asks for",
        "WWW",
        "tools.md#named",
        "name it in the prompt where it is needed, or drop it",
    ),
    Rule(
        "L42",
        "binding tool",
        "EEE",
        "tools.md#binding",
        "remove it: what binds is done by a person; hand over a link instead",
        1,
    ),
    Rule(
        "L43",
        "tool looks binding but says it is not",
        "EEE",
        "tools.md#review",
        "have somebody else look at it and record reviewed_by and reviewed_why",
        1,
    ),
    Rule(
        "L50",
        "more to hold in the head than the budget allows",
        "EEE",
        "tools.md#budget",
        "drop, merge or defer tools, shorten texts, or agree on a larger budget",
    ),
    # Providers
    Rule(
        "L10",
        "schema beyond what the primary provider takes",
        "EEE",
        "models.md#limits",
        "simplify the schema, or choose a provider that takes it",
        2,
    ),
    Rule(
        "L11",
        "schema beyond what a fallback takes",
        "EEE",
        "models.md#limits",
        "simplify the schema, or choose a fallback that takes it",
        2,
    ),
    Rule(
        "L12",
        "constraint that the provider does not enforce, and no repair",
        "WWW",
        "models.md#repair",
        "set repair_attempts: 1",
    ),
    Rule(
        "L16",
        "close to a provider's limit",
        "WWW",
        "models.md#limits",
        "split the schema before the next change no longer fits",
    ),
    Rule(
        "L21",
        "too many strict tools, optional or mixed members",
        "EEE",
        "models.md#limits",
        "offer fewer tools, or make members required",
        2,
    ),
    Rule("L22", "floating model id", "WEE", "models.md#pinned", "name the dated snapshot", 3),
    Rule(
        "L23", "model retired or about to be", "EEE", "models.md#retired", "choose its successor and measure again", 4
    ),
    Rule("L24", "no fallback", "WEE", "models.md#fallbacks", "name a second provider", 4),
    Rule(
        "L25",
        "fallback that fails together with the primary",
        "WEE",
        "models.md#fallbacks",
        "choose another provider or region",
        4,
    ),
    Rule(
        "L26",
        "fallback steps in for refusals or bad requests",
        "WWE",
        "models.md#fallback-reasons",
        "keep to timeout, connection, rate_limit and server_error",
        4,
    ),
    Rule(
        "L27",
        "no time limit, or too few output tokens",
        "WEE",
        "models.md#limits-of-a-call",
        "set timeout_s and max_output_tokens for every provider",
        4,
    ),
    Rule(
        "L41",
        "model whose risk level the tier does not allow",
        "EEE",
        "risk-tier.md#models",
        "choose a model with an allowed level, or classify it in models.yaml",
        5,
        ("risk_levels",),
    ),
    Rule(
        "L46",
        "fallback never measured",
        "WEE",
        "models.md#fallbacks",
        "let the eval suite run over the fallback too",
        4,
        ("evidence",),
    ),
    # Evals
    Rule(
        "L28",
        "threshold missing or not measured",
        "EEE",
        "evaluation.md#criteria",
        "state criteria with thresholds that the suite measures",
        3,
    ),
    Rule(
        "L29",
        "evidence about something else",
        "EEE",
        "evaluation.md#evidence",
        "run the eval suite over this draft, against the active version",
        3,
        ("evidence",),
    ),
    Rule(
        "L30",
        "sample too small for the threshold",
        "WWE",
        "evaluation.md#sample-size",
        "add cases until the lower bound clears the threshold",
        3,
        ("evidence",),
    ),
    Rule(
        "L31",
        "threshold loosened",
        "WWW",
        "evaluation.md#ratchet",
        "keep the old threshold, or say in the change note why quality may fall",
        None,
        ("active",),
    ),
    Rule("L32", "model judges itself", "WWW", "evaluation.md#judges", "let another provider's model judge"),
    Rule(
        "L45",
        "thresholds not met",
        "EEE",
        "evaluation.md#verdict",
        "improve the prompt, or add the cases that would settle it",
        3,
        ("evidence",),
    ),
    Rule(
        "L49",
        "scorer that looks where nothing can stand",
        "EEE",
        "evaluation.md#criteria",
        "name a field that the output schema has",
        1,
    ),
    # Governance and workflow
    Rule(
        "L33",
        "risk tier lowered without the old tier's approvals",
        "EEE",
        "risk-tier.md#lowering",
        "collect the approvals that the old tier asks for",
        5,
        ("active", "approvals"),
    ),
    Rule(
        "L34",
        "approvals missing",
        "EEE",
        "publishing.md#approvals",
        "have the draft approved as it stands: beleg contract approve",
        5,
        ("approvals",),
    ),
    Rule("L35", "governance incomplete", "EEE", "risk-tier.md#governance", "fill in governance in feature.yaml", 5),
    Rule(
        "L38",
        "breaking change not prepared",
        "EEE",
        "publishing.md#breaking",
        "write a migration note with a deadline, and confirm with --confirm-breaking",
        5,
        ("active",),
    ),
    Rule(
        "L39", "change not explained", "WWE", "publishing.md#change-note", "say in change.yaml what changed and why", 5
    ),
    Rule("L40", "deadline too close", "EEE", "publishing.md#deadlines", "choose a later date", 5),
)
BY_ID = {rule.id: rule for rule in RULES}
