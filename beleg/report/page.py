"""What every page shares: how templates are read, and the look."""

from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup


def environment() -> Environment:
    """Templates that escape what they are given and refuse a name nobody has given."""
    return Environment(
        loader=PackageLoader("beleg.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def css() -> Markup:
    """The style sheet, which stands in every page, so that a page needs nothing but itself."""
    return Markup(files("beleg.report").joinpath("templates", "style.css").read_text(encoding="utf-8"))  # noqa: S704 - our own file
