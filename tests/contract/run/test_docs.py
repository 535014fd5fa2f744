"""The examples of docs/sdk.md and docs/prompts.md run as they stand; what the pages name exists."""

import re
from pathlib import Path
from typing import Any

import pytest

import beleg
from beleg.contract.client import errors
from beleg.contract.model import Providers
from beleg.trace.settings import _NAMES as TRACE_SETTINGS
from tests.contract.client.released import ANSWER, Shop, contract, tool
from tests.contract.run.conftest import asked
from tests.contract.run.double import Double, answers

ROOT = Path(__file__).parents[3]
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("sdk", "prompts")}


@pytest.mark.parametrize("page", PAGES)
def test_examples_of_the_page_run(page: str, model: Double, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(beleg._MODULES, "load", "beleg.contract.client.load")
    monkeypatch.setitem(beleg._MODULES, "prompt", "beleg.contract.prompts.prompt")
    model.will(answers(ANSWER))
    shop = Shop(tmp_path / "registry")
    shop.publish("2.0.0", contract(providers=Providers(asked(model, "chat")), tools=(tool(),)))
    shop.prompt("categorization", "4", "Sort this: {line}")
    scope: dict[str, Any] = {"__name__": "page"}
    blocks = re.findall(r"^```python\n(.*?)^```", PAGES[page], re.DOTALL | re.MULTILINE)
    assert blocks
    for block in blocks:
        exec(compile(block, f"docs/{page}.md", "exec"), scope)
    if page == "prompts":
        assert scope["question"] == "Sort this: Office chair 119.00 EUR"


def test_every_test_named_as_proof_exists() -> None:
    sources = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "contract").rglob("test_*.py")}
    for text in PAGES.values():
        assert set(re.findall(r"`(?:tests/contract/\w+/)?(test_\w+\.py)`", text)) <= set(sources)
        named = re.findall(r"`(test_\w+)`", text)
        assert named
        assert [test for test in named if not any(f"def {test}(" in source for source in sources.values())] == []


def test_every_setting_on_the_pages_exists() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "beleg" / "contract").rglob("*.py"))
    known = set(re.findall(r'"(BELEG_\w+)"', code)) | set(TRACE_SETTINGS)
    for text in PAGES.values():
        free = ("BELEG_PROMPT_", "BELEG_BASE_URL_")  # end in a name of the user's
        named = {name for name in re.findall(r"BELEG_\w+", text) if not name.startswith(free)}
        assert named <= known, named - known


def test_every_error_on_the_page_exists_and_every_error_is_on_the_page() -> None:
    ours = {
        name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, errors.ClientError)
    }
    assert [name for name in ours - {"ClientError", "RunError"} if f"`{name}`" not in PAGES["sdk"]] == []
