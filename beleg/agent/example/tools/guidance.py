"""What everybody needs in order to be helped: where things stand, and what a person must be asked."""

from typing import Annotated

from pydantic import Field

from beleg.agent.example.context import Context, Row
from beleg.agent.example.groups import guidance
from beleg.agent.example.values import Note

Question = Annotated[str, Field(description="One question that can be answered in a sentence", max_length=300)]
Options = Annotated[list[str], Field(description="Answers to choose from, if there are only a few", max_length=6)]


@guidance.tool(binding=False, effect="read")
def get_company_overview(context: Context) -> Row:
    """What is known of the company: legal form, stage, employees, how many invoices, receipts and transactions."""
    kinds = ("invoice", "receipt", "transaction")
    counts = {kind: len(context.books.find(kind)) for kind in kinds}
    return {"incorporated": context.company.is_incorporated, "founding": context.company.is_founding, **counts}


@guidance.tool(binding=False, effect="draft")
def ask_user(context: Context, question: Question, options: Options | None = None) -> Row:
    """Put a question before the user when something is missing or two readings are possible; then wait."""
    return context.books.add("question", {"question": question, "options": options})


@guidance.tool(binding=False, effect="write")
def note_preference(context: Context, note: Note) -> Row:
    """Remember how the user wants something done from now on, in the user's own words; shown in the app."""
    return context.books.add("preference", {"note": note})
