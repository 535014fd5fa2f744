"""Keys and personal data are found by format and check digit; what is published as an example is not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.contract.lint import lint
from beleg.contract.lint.secrets import IBAN_CHARS, PUBLISHED, _found, _is_iban, _is_tax_id
from tests.contract.lint.support import contract

KEYS = {
    "an Anthropic key": "sk-ant-" + "api03-" + "a1B2" * 8,
    "an OpenAI key": "sk-" + "proj-" + "a1B2" * 8,
    "a Google key": "AI" + "za" + "B" * 35,
    "an AWS key": "AK" + "IA" + "ABCDEFGHIJKLMNOP",
    "a GitHub token": "gh" + "p_" + "a" * 36,
    "a GitLab token": "gl" + "pat-" + "a" * 20,
    "a Slack token": "xo" + "xb-" + "1234567890-a",
    "a Stripe key": "sk_" + "live_" + "a" * 20,
    "a Hugging Face token": "h" + "f_" + "a" * 34,
    "a private key": "-----BEGIN " + "RSA PRIVATE KEY-----",
    "a signed web token": "ey" + "J" + "a" * 12 + ".eyJ" + "b" * 12 + "." + "c" * 12,
    "a password in an address": "postgres://books:" + "hunter22@db.internal/x",
    "a bearer token": "Authorization: Bearer " + "a" * 24,
}


@pytest.mark.parametrize(("what", "key"), KEYS.items(), ids=KEYS)
@pytest.mark.parametrize(
    "place", ["prompt.system", "prompt.samples", "examples", "output_schema", "tools", "providers"]
)
def test_a_key_is_found_wherever_it_stands(what: str, key: str, place: str) -> None:
    over: dict[str, dict[str, Any]] = {
        "prompt.system": {"prompt": {"system": f"{{{{ company }}}} {key}"}},
        "prompt.samples": {"prompt": {"samples": [{"company": key, "document": "x"}]}},
        "examples": {"examples": [{"total": f"x {key} x"}]},
        "output_schema": {"output_schema": {"properties": {"total": {"description": key}}}},
        "tools": {"tools": [_tool(key)]},
        "providers": {"providers": {"primary": {"base_url": f"https://x.example/{key}"}}},
    }
    found = [each for each in lint(contract(over[place])) if each.rule == "L36"]
    assert what in {each.sentence.removeprefix("Here stands ").removesuffix(".") for each in found}
    assert not any(key in each.sentence for each in found)


def _tool(words: str) -> dict[str, object]:
    return {"name": "a", "version": "1", "description": words, "input_schema": {}, "binding": False, "digest": ""}


def iban(country: str, rest: str) -> str:
    """The IBAN of a country and its account part, with right check digits."""
    number = int("".join(str(int(each, 36)) for each in rest + country + "00"))
    return f"{country}{98 - number % 97:02d}{rest}"


DIGITS = st.text("0123456789", min_size=18, max_size=18)


@given(DIGITS)
def test_every_iban_with_right_check_digits_is_found_and_with_another_digit_is_not(rest: str) -> None:
    good = iban("DE", rest)
    assert good in PUBLISHED or _is_iban(good)
    wrong = good[:-1] + str((int(good[-1]) + 1) % 10)
    assert not _is_iban(wrong)


@given(DIGITS)
def test_an_iban_is_found_in_groups_of_four_within_a_sentence(rest: str) -> None:
    good = iban("DE", rest)
    grouped = " ".join(good[start : start + 4] for start in range(0, len(good), 4))
    assert good in PUBLISHED or "an IBAN" in list(_found(f"Bitte auf {grouped} zahlen."))


def test_published_examples_are_real_ibans_and_tax_ids_and_allowed() -> None:
    for each in PUBLISHED:
        if each[:2] in IBAN_CHARS:
            assert len(each) == IBAN_CHARS[each[:2]]
            assert int("".join(str(int(c, 36)) for c in each[4:] + each[:4])) % 97 == 1
        assert list(_found(f"x {each} x")) == []


@pytest.mark.parametrize("tax_id", ["12345678911", "12 345 678 911"])
def test_a_tax_id_is_found_by_its_check_digit(tax_id: str) -> None:
    assert _is_tax_id(tax_id)
    assert "a German tax id" in list(_found(f"IdNr. {tax_id}"))


@pytest.mark.parametrize(
    "words", ["12345678912", "01234567899", "11111111111", "1234567891", "x12345678911", "12345678911.5"]
)
def test_other_numbers_are_no_tax_id(words: str) -> None:
    assert list(_found(words)) == []


@pytest.mark.parametrize("words", ["max@musterfirma.de", "MAX.M+x@sub.firma.museum"])
def test_an_address_is_found(words: str) -> None:
    assert list(_found(f"<{words}>")) == ["an e-mail address"]


@pytest.mark.parametrize(
    "words", ["max@example.com", "a@b.test", "a@host.invalid", "@decorator", "a@b", "5 € @ 3 Stück"]
)
def test_reserved_domains_and_other_uses_of_the_sign_are_no_address(words: str) -> None:
    assert list(_found(words)) == []


@pytest.mark.parametrize(
    "words",
    [
        "a" * 100_000 + "@",
        "1" * 100_000,
        "DE12 " * 20_000,
        "sk-" * 30_000,
        "eyJ-" * 25_000,
        "-----BEGIN " + "A " * 50_000,
        "a." * 50_000 + "@b",
    ],
)
def test_long_texts_are_looked_through(words: str) -> None:
    assert isinstance(list(_found(words)), list)
