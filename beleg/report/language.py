"""Languages of the report: its texts from one file, and how numbers are written in each."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml
from markupsafe import Markup

from beleg.core.errors import UsageError
from beleg.report.amounts import ENGLISH, GERMAN, Numbers

_NUMBERS = {"en": ENGLISH, "de": GERMAN}


@dataclass(frozen=True)
class Language:
    """One language."""

    code: str
    """ISO 639-1, as `lang` in HTML."""
    numbers: Numbers
    texts: Mapping[str, str]

    def text(self, key: str, **values: object) -> Markup:
        """A text of the report, the values escaped in it; KeyError for one that does not exist.

        Our own texts may hold markup. With `number`, a text that ends in `_one` is taken for exactly one.
        """
        one = f"{key}_one"
        chosen = one if values.get("number") == "1" and one in self.texts else key
        return Markup(self.texts[chosen]).format(**values)  # noqa: S704 - our own file

    def word(self, group: str, code: str, default: str) -> str:
        """What a stable code is called, for example ("flag", "run_budget"); `default` where nothing says."""
        return self.texts.get(f"{group}.{code}", default)


@cache
def language(code: str) -> Language:
    """The language of a code; raises UsageError for one the report does not speak."""
    if code not in _NUMBERS:
        msg = f"--lang {code!r} is not spoken here; languages are {', '.join(sorted(_NUMBERS))}"
        raise UsageError(msg)
    raw = yaml.safe_load(files("beleg.report").joinpath("texts.yaml").read_text(encoding="utf-8"))
    return Language(code, _NUMBERS[code], {key: text[code] for key, text in raw.items() if code in text})
