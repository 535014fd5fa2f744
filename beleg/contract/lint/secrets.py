"""L36, L47 and L48: what may not stand in a contract's texts, which every version keeps for ever.

Keys are told by the formats that their issuers document, so a long word is none. Personal data: e-mail
addresses, IBANs and German tax ids whose check digits hold. Values that are published as examples (the
IBAN registry's, the tax office's, the domains of RFC 2606) are no one's and allowed.
"""

import re
from collections.abc import Iterator, Mapping
from math import isfinite

from beleg.contract.lint.schemas import MAX_DEPTH
from beleg.contract.lint.subject import Hit, Subject
from beleg.contract.unseen import unseen

JSON = (str, int, float, bool, type(None), list, tuple, Mapping)
MAX_CHARS = 2_000_000
"""Of one text; L44 refuses longer prompts."""
KEYS = {
    "an Anthropic key": r"\bsk-ant-[A-Za-z0-9_-]{20,}",
    "an OpenAI key": r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}",
    "a Google key": r"\bAIza[0-9A-Za-z_-]{35}\b",
    "an AWS key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})",
    "a GitLab token": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "a Slack token": r"\bxox[abeprs]-[A-Za-z0-9-]{10,}",
    "a Stripe key": r"\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}",
    "a Hugging Face token": r"\bhf_[A-Za-z0-9]{30,}",
    "a private key": r"-----BEGIN (?:[A-Z]+ ){0,5}PRIVATE KEY-----",
    "a signed web token": r"\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,}",
    "a password in an address": r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,100}:[^\s/@]{3,100}@",
    "a bearer token": r"\b[Bb]earer [A-Za-z0-9._~+/-]{20,}=*",
}
_KEY = re.compile("|".join(f"(?P<k{n}>{pattern})" for n, pattern in enumerate(KEYS.values())))
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@((?:[\w-]{1,63}\.){1,5}[A-Za-z]{2,24})(?![\w-])")
_RESERVED = re.compile(r"(?:^|\.)(?:example(?:\.(?:com|org|net|de))?|test|invalid|localhost)$", re.IGNORECASE)
_IBAN = re.compile(r"(?<![A-Z0-9])[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,30}(?![A-Z0-9])")
_TAX_ID = re.compile(r"(?<![\w.,])[0-9]{2} ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}(?![.,]?\w)")
_HALF = re.compile("[\ud800-\udfff]")
IBAN_CHARS = {
    country: int(chars)
    for chars, countries in {
        "15": "NO", "16": "BE", "18": "DK FI NL FO GL", "19": "SI MK", "20": "AT EE LT LU BA XK", "21": "CH HR LI LV",
        "22": "DE BG GB IE GE BH ME RS", "23": "AE GI IL", "24": "CZ ES MD PK RO SA SE SK AD", "25": "PT",
        "26": "IS TR", "27": "FR GR IT MC SM", "28": "AL AZ CY HU LB PL", "29": "BR UA", "31": "MT",
    }.items()
    for country in countries.split()
}  # fmt: skip
"""Characters of an IBAN by country, from the IBAN registry."""
PUBLISHED = frozenset(
    # Examples of the IBAN registry for the countries around, and of the German tax office.
    (
        "DE89370400440532013000",
        "AT611904300234573201",
        "CH9300762011623852957",
        "FR1420041010050500013M02606",
        "NL91ABNA0417164300",
        "BE68539007547034",
        "LU280019400644750000",
        "PL61109010140000071219812874",
        "ES9121000418450200051332",
        "GB29NWBK60161331926819",
        "86095742719",
        "47036892816",
        "65929970489",
    )
)


def secrets(subject: Subject) -> Iterator[Hit]:
    """Look through everything that a person typed in; the value itself is never repeated."""
    for place, words in _texts(subject):
        for what in sorted(set(_found(words[:MAX_CHARS]))):
            yield Hit(place, f"Here stands {what}.")


def _texts(subject: Subject) -> Iterator[tuple[str, str]]:
    return ((place, value) for place, value, _ in subject.values if isinstance(value, str))


def _found(words: str) -> Iterator[str]:
    names = tuple(KEYS)
    yield from (names[int((match.lastgroup or "k0")[1:])] for match in _KEY.finditer(words))
    if "@" in words and any(not _RESERVED.search(match[1]) for match in _MAIL.finditer(words)):
        yield "an e-mail address"
    if any(_is_iban(match[0]) for match in _IBAN.finditer(words)):
        yield "an IBAN"
    if any(_is_tax_id(match[0]) for match in _TAX_ID.finditer(words)):
        yield "a German tax id"


def _is_iban(written: str) -> bool:
    """Modulo 97 by ISO 13616; a published example is no one's account."""
    iban = written.replace(" ", "")[: IBAN_CHARS.get(written[:2], 0)]
    if len(iban) != IBAN_CHARS.get(written[:2]) or iban in PUBLISHED:
        return False
    return int("".join(str(int(c, 36)) for c in iban[4:] + iban[:4])) % 97 == 1


def _is_tax_id(written: str) -> bool:
    """ISO 7064, MOD 11, 10, and the tax office's rule: among the first ten digits one or two repeat."""
    digits = written.replace(" ", "")
    if digits[0] == "0" or digits in PUBLISHED or not 1 <= 10 - len(set(digits[:10])) <= 2:
        return False
    product = 10
    for digit in digits[:10]:
        total = (int(digit) + product) % 10 or 10
        product = total * 2 % 11
    return (11 - product) % 10 == int(digits[10])


def hidden(subject: Subject) -> Iterator[Hit]:
    """L47: what reviewers do not see, the model reads all the same."""
    for place, words in _texts(subject):
        if codes := unseen(words):
            yield Hit(place, f"Here stand characters that nobody sees: {codes}.")


def unwritable(subject: Subject) -> Iterator[Hit]:
    """L48: what no file can hold has no digest, so nothing else can be said about it."""
    for place, value, depth in subject.values:
        if depth > MAX_DEPTH:
            yield Hit(place, f"Here values lie more than {MAX_DEPTH} levels deep.")
            return
        if isinstance(value, str) and _HALF.search(value):
            yield Hit(place, "Here stands half a character (a lone surrogate).")
        if isinstance(value, float) and not isfinite(value):
            yield Hit(place, f"Here stands {value}, which is no JSON.")
        if isinstance(value, Mapping) and not all(isinstance(name, str) for name in value):
            yield Hit(place, "Here stands a member whose name is no text.")
        if not isinstance(value, JSON):
            yield Hit(place, f"Here stands a {type(value).__name__}, which is no JSON.")


CHECKS = {"L36": secrets, "L47": hidden, "L48": unwritable}
