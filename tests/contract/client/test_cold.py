"""A process of its own: what loading imports, and a start while the registry is away."""

import os
import subprocess
import sys
from pathlib import Path

from tests.contract.client.released import FEATURE, Shop
from tests.contract.client.server import Web

ROOT = Path(__file__).parents[3]
HEAVY = {
    "jsonschema",
    "jsonschema_rs",
    "jinja2",
    "yaml",
    "openai",
    "anthropic",
    "httpx2",
    "pydantic",
    "asyncio",
    "fsspec",
}


def python(code: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


LOAD = f"""
import sys
from beleg.contract.client.load import load
feature = load({FEATURE!r}, major=1)
print(feature.version, feature.freshness.state)
print(*sorted(name for name in sys.modules if "." not in name))
"""


def test_loading_imports_nothing_but_the_standard_library(shop: Shop, web: Web) -> None:
    shop.publish("1.0.0")
    said, modules = python(LOAD, BELEG_REGISTRY=web.url).splitlines()
    assert said == "1.0.0 fresh"
    assert not HEAVY & set(modules.split())
    assert set(modules.split()) - {"beleg"} <= set(sys.stdlib_module_names) | {
        "__main__",
        "__mp_main__",
        "sitecustomize",
    } | {name for name in modules.split() if name.startswith("_")}


def test_warm_load_imports_nothing_at_all(shop: Shop) -> None:
    shop.publish("1.0.0")
    code = f"{LOAD}\nbefore = set(sys.modules)\nload({FEATURE!r}, major=1)\nassert set(sys.modules) == before"
    python(code)


def test_new_process_starts_from_the_copy_of_an_earlier_one(shop: Shop, web: Web) -> None:
    shop.publish("1.0.0")
    python(LOAD, BELEG_REGISTRY=web.url)
    url = web.url
    web.stop()
    assert python(LOAD, BELEG_REGISTRY=url).splitlines()[0] == "1.0.0 offline"


def test_process_may_end_while_a_question_hangs(shop: Shop, web: Web) -> None:
    from tests.contract.client.server import hangs

    web.fault = hangs
    code = "from beleg.contract.prompts.prompt import prompt; print(prompt('x', default='baked', budget_s=0.05))"
    assert python(code, BELEG_REGISTRY=web.url) == "baked\n"
