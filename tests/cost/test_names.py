"""Which model of the price book a name means: exactly, or by a rule that is written down; never by likeness."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.cost.book import Call, PriceBook, book_calls
from beleg.cost.names import names
from beleg.cost.policy import ModelPolicies

SONNET = "anthropic.claude-sonnet-4-5-20250929-v1:0"
BOOK = PriceBook(ModelPolicies())


def key(provider: str | None, model: str) -> str | None:
    return BOOK.resolve(Call(provider, model, None, None)).price_key


@pytest.mark.parametrize(
    ("provider", "model", "priced_as"),
    [
        # M3 langfuse PR11118: the provider's prefix
        ("openai", "openai/gpt-4o", "openai/gpt-4o"),
        (None, "openai/gpt-4o", "openai/gpt-4o"),
        ("litellm", "openai/gpt-4o", "openai/gpt-4o"),
        ("azure", "azure/gpt-4o", "azure/openai/gpt-4o"),
        ("google", "gemini/gemini-2.5-pro", "google/gemini-2.5-pro"),
        ("openrouter", "openrouter/anthropic/claude-sonnet-4.5", "openrouter/anthropic/claude-sonnet-4.5"),
        ("groq", "openai/gpt-oss-120b", "groq/openai/gpt-oss-120b"),
        # M3 langfuse PR13254: with a date and without
        ("anthropic", "claude-haiku-4-5", "anthropic/claude-haiku-4-5"),
        ("anthropic", "claude-haiku-4-5-20251001", "anthropic/claude-haiku-4-5"),
        ("anthropic", "anthropic/claude-haiku-4-5-20251001", "anthropic/claude-haiku-4-5"),
        ("openai", "gpt-4o-2024-08-06", "openai/gpt-4o"),
        ("openai", "gpt-4o-mini-2099-01-01", "openai/gpt-4o-mini"),
        # M1 langflow-e2e#1211: -preview and -latest
        ("openai", "gpt-4o-latest", "openai/gpt-4o"),
        ("openai", "chatgpt-4o-latest", "openai/chatgpt-4o-latest"),
        ("google", "gemini-2.5-pro-preview-05-06", "google/gemini-2.5-pro"),
        ("google", "gemini-2.5-flash-001", "google/gemini-2.5-flash"),
        # Bedrock and Vertex
        ("aws", f"us.{SONNET}", f"aws/regional.{SONNET}"),
        (None, f"us.{SONNET}", f"aws/regional.{SONNET}"),
        ("aws", f"arn:aws:bedrock:us-east-1:1:inference-profile/us.{SONNET}", f"aws/regional.{SONNET}"),
        ("aws", "bedrock/converse/us.amazon.nova-pro-v1:0", "aws/amazon.nova-pro-v1:0"),
        ("google", "vertex_ai/claude-sonnet-4-5@20250929", "google/claude-sonnet-4-5"),
        ("google", "claude-sonnet-4-5@default", "google/claude-sonnet-4-5"),
        ("google", "projects/p/locations/us/publishers/google/models/gemini-2.5-pro", "google/gemini-2.5-pro"),
        (None, "publishers/google/models/gemini-2.5-pro", "google/gemini-2.5-pro"),
        ("google", "models/gemini-2.5-flash", "google/gemini-2.5-flash"),
    ],
)  # fmt: skip
def test_m1_m3_names_are_resolved_by_rule(provider: str | None, model: str, priced_as: str) -> None:
    assert key(provider, model) == priced_as


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-4o-my-own"),
        ("openai", "my-gpt-4o"),
        ("openai", "anthropic/claude-sonnet-4-5"),  # says another seller than the call
        ("azure", "my-deployment"),
        ("azure", "gpt-4o-prod"),  # a deployment's name is free, whatever it sounds like
        ("azure", "o4-mini-deep-research"),  # the book looks for o4-mini within
        ("google", "gemini-1.5-flash-8b"),  # half the price of gemini-1.5-flash
        ("google", "my-claude-opus-4-5-clone"),
        ("openai", "gpt-4o-2024-13-45"),  # no date
        ("openai", "-latest"),
        ("openai", "openai/"),
    ],
)
def test_m1_a_name_that_is_only_alike_has_no_price(provider: str, model: str) -> None:
    assert key(provider, model) is None


def test_m1_a_longer_name_is_never_taken_for_a_shorter_one() -> None:
    """PR1213: gpt-4o-mini-search-preview at the price of gpt-4o is 16 times too dear."""
    assert key("openai", "gpt-4o-mini-search-preview") == "openai/gpt-4o-mini"
    assert key("openai", "gpt-4o-search-preview") == "openai/gpt-4o-search-preview"
    assert key("openai", "gpt-4o-mini-realtime-preview") == "openai/gpt-4o-mini-realtime-preview"


def test_every_model_of_the_book_is_found_under_its_own_name() -> None:
    assert all(BOOK.resolve(call).price_key is not None for call in book_calls())


@given(st.none() | st.text(max_size=20), st.text(max_size=60))
def test_any_name_has_an_answer_and_itself_comes_first(provider: str | None, model: str) -> None:
    found = list(names(provider, model))
    assert all(len(name.model) <= len(model) for name in found)
    assert (not model) or found[0] == (provider or None, model)
    assert len(found) == len(set(found)) <= 100
    key(provider, model)
