"""Colours can be told apart: WCAG contrast, computed from the stylesheet's variables in each theme."""

import re
from importlib.resources import files

import pytest

CSS = files("beleg.report").joinpath("templates", "style.css").read_text(encoding="utf-8")
TEXT = [
    *((ink, ground) for ink in ("ink", "muted", "accent", "warn") for ground in ("page", "card", "paper")),
    ("good", "card"),
    ("warn", "warn-soft"),
]
FILLS = [(f"c{number}", "card") for number in range(8)]


def themes() -> dict[str, dict[str, str]]:
    blocks = re.findall(r":root \{(.*?)\}", CSS, flags=re.DOTALL)
    named = zip(("light", "dark", "print"), blocks, strict=True)
    return {name: dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for name, block in named}


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_black_on_white_has_the_contrast_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
@pytest.mark.parametrize(("ink", "ground"), TEXT)
def test_text_can_be_read(theme: str, ink: str, ground: str) -> None:
    assert contrast(themes()[theme][ink], themes()[theme][ground]) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
@pytest.mark.parametrize(("fill", "ground"), FILLS)
def test_bars_stand_out_from_their_ground(theme: str, fill: str, ground: str) -> None:
    assert contrast(themes()[theme][fill], themes()[theme][ground]) >= 3


def test_every_theme_sets_every_colour() -> None:
    assert len({frozenset(colours) for colours in themes().values()}) == 1
