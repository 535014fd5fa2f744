"""Names of scorers: what a contract may write, and what it means."""

import ast
import re
from dataclasses import fields
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from beleg.core.errors import UsageError
from beleg.core.paths import shipped
from beleg.evals.results import MEASURES
from beleg.evals.scorers import library, resolve
from beleg.evals.scorers.exact import ExactMatch
from beleg.evals.scorers.library import BUILT_IN
from beleg.evals.scorers.money import Money
from beleg.evals.scorers.number import Number

ROOT = shipped("contracts").parent
PAGE = (ROOT / "docs" / "scorers.md").read_text(encoding="utf-8")
SUITES = sorted([*ROOT.glob("contracts/features/*/draft/evals.yaml"), *ROOT.glob("beleg/demo/features/*/*/evals.yaml")])


@pytest.mark.parametrize("path", SUITES, ids=lambda path: "-".join(path.parts[-4:-1]))
def test_every_scorer_of_the_example_contracts_exists_and_fits_the_kind_of_its_criterion(path: Path) -> None:
    for criterion in yaml.safe_load(path.read_text(encoding="utf-8"))["criteria"]:
        kind = resolve(criterion["scorer"]).kind
        assert {"cost": "measure", "latency": "measure"}.get(criterion["kind"], criterion["kind"]) == kind


def test_every_measure_of_a_suite_exists() -> None:
    assert {resolve(name).kind for name in MEASURES} == {"measure"}


def test_field_and_options_are_read() -> None:
    assert resolve("exact_match:totals.gross") == ExactMatch(field="totals.gross")
    assert resolve("number:/a~1b?abs=0.010&strip=%24") == Number(field="/a~1b", abs=Decimal("0.01"), strip="$")
    assert resolve("money?currency=EUR&decimal=,") == Money(currency="EUR", decimal=",")
    assert resolve("exact_match:matches?ignore=reason,note") == ExactMatch(field="matches", ignore=("reason", "note"))


SPECS = [
    "exact_match",
    "exact_match:/a~1b%3Fc",
    "exact_match:matches?ignore=reason",
    "text:name?keep_case=true",
    "number:gross?abs=0.01&rel=0.5&strip=%24%25",
    "date:invoice_date?forms=DD.MM.YYYY,D.M.YY",
    "money:gross?currency=EUR&decimal=,&unit=minor",
    "list_f1:lines?key=net,rate&ordered=true",
    "rows_f1:tax_lines?key=rate_percent",
    "record:invoice?gross=2*money%3Fcurrency%3DEUR%26decimal%3D%2C&invoice_date=0.5*date&note=1",
    "contains:summary",
    "regex:iban?pattern=%5EDE%5B0-9%5D%7B20%7D%24",
    "no_false_match:matches",
    "cost_usd",
]


@pytest.mark.parametrize("spec", SPECS)
def test_a_scorer_spells_a_spec_that_means_itself(spec: str) -> None:
    scorer = resolve(spec)
    assert resolve(scorer.spec) == scorer
    assert resolve(scorer.spec).digest == scorer.digest


def test_specs_that_mean_the_same_have_one_digest_and_others_have_others() -> None:
    same = {resolve(spec).digest for spec in ("number?abs=0.10", "number?abs=0.1&rel=0", "number?rel=0.0&abs=.1")}
    assert len(same) == 1
    assert len({resolve(spec).digest for spec in SPECS}) == len(SPECS)


def test_the_digest_of_schema_valid_is_over_the_schema() -> None:
    one, other = (resolve("schema_valid", output_schema={"type": kind}) for kind in ("object", "array"))
    assert one.digest != other.digest
    assert one.spec == other.spec == "schema_valid"


WRONG = [
    ("", "names no scorer"),
    ("exact match", "names no scorer"),
    ("exact_match:", "names no scorer"),
    ("exact_match?", "names no scorer"),
    ("number:" + "a" * 200, "up to 200 characters"),
    ("exactly", "there are: contains, cost_pico_usd"),
    ("exact_match:/a~2", "no JSON pointer"),
    ("number?tolerance=1", "its options are: abs, rel, decimal, strip"),
    ("number?abs", "write option=value"),
    ("number?abs=1&abs=2", "twice"),
    ("number?abs=x", "abs=x is not allowed"),
    ("number?abs=-1", "abs=-1 is not allowed"),
    ("number?rel=NaN", "rel=NaN is not allowed"),
    ("number?abs=1e9999", "abs=1E+9999 is not allowed"),
    ("number?decimal=;", "decimal=; is not allowed"),
    ("text?keep_case=yes", "true or false"),
    ("date?forms=DD.MM", "forms=DD.MM is not allowed"),
    ("date?forms=DD.MM.YYYY.DD", "is not allowed"),
    ("money?currency=euro", "ISO 4217"),
    ("money?unit=cent", "unit=cent is not allowed"),
    ("regex", "regular expression"),
    ("regex?pattern=(", "regular expression"),
    ("regex?pattern=(?=a)", "regular expression"),
    ("record", "no field is named"),
    ("record?gross=much", "WEIGHT or WEIGHT*SCORER"),
    ("record?gross=0", "a weight above 0"),
    ("record?gross=inf", "a weight above 0"),
    ("record?gross=1*latency_ms", "a measure has no place"),
    ("record?gross=1*nothing", "no scorer 'nothing'"),
    ("schema_valid", "output_schema="),
    ("schema_valid:x", "takes no field"),
    ("latency_ms?unit=s", "no option unit"),
]


@pytest.mark.parametrize(("spec", "why"), WRONG)
def test_a_wrong_spec_is_refused_with_what_is_right(spec: str, why: str) -> None:
    with pytest.raises(UsageError) as refused:
        resolve(spec)
    assert why in str(refused.value)


def test_a_schema_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="no JSON Schema"):
        resolve("schema_valid", output_schema={"type": "nothing"})


PLUG_IN = """
from __future__ import annotations
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar
from beleg.evals.scorers import Score, Scorer, wrong
from beleg.evals.scorers.exact import ExactMatch

@dataclass(frozen=True, kw_only=True)
class Longer(Scorer):
    name: ClassVar[str] = "longer"
    version: ClassVar[str] = "2.1.0"
    by: Decimal = Decimal(0)

    def compare(self, expected, actual):
        return Score(1.0) if len(actual) > len(expected) + self.by else wrong("shorter")
"""


def project(folder: Path, code: str) -> Path:
    (folder / "evals").mkdir(parents=True)
    (folder / "evals" / "scorers.py").write_text(code, encoding="utf-8")
    return folder


def test_a_project_adds_scorers_of_its_own(tmp_path: Path) -> None:
    scorer = resolve("longer:name?by=2", project=project(tmp_path, PLUG_IN))
    assert (scorer.spec, scorer.version) == ("longer:name?by=2", "2.1.0")
    assert scorer.score({"name": "ab"}, {"name": "abcde"}).value == 1
    assert scorer.score({"name": "ab"}, {"name": "abcd"}).note == "shorter"
    assert set(library(tmp_path).scorers) == {*BUILT_IN, "longer"}


def test_two_projects_have_scorers_of_the_same_name(tmp_path: Path) -> None:
    one = project(tmp_path / "one", PLUG_IN)
    other = project(tmp_path / "other", PLUG_IN.replace("2.1.0", "3.0.0"))
    assert [resolve("longer", project=each).version for each in (one, other)] == ["2.1.0", "3.0.0"]


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import nothing_of_this_name", "ModuleNotFoundError"),
        ("raise SystemError('x')", "SystemError"),
        (PLUG_IN.replace('"longer"', '"exact_match"'), "exists already"),
        (PLUG_IN.replace('"longer"', '"a:b"'), "write name = 'word'"),
        (PLUG_IN.replace('"2.1.0"', '"2"'), "version = '1.0.0'"),
        (PLUG_IN.replace('    version: ClassVar[str] = "2.1.0"\n', ""), "version None"),
    ],
)
def test_scorers_of_a_project_that_cannot_be_used_are_refused(tmp_path: Path, code: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        resolve("exact_match", project=project(tmp_path, code))


def installed(folder: Path, value: str) -> None:
    (folder / "more_scorers.py").write_text(PLUG_IN, encoding="utf-8")
    meta = folder / "more_scorers-1.0.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: more-scorers\nVersion: 1.0\n", encoding="utf-8")
    (meta / "entry_points.txt").write_text(f"[beleg.scorers]\nlonger = {value}\n", encoding="utf-8")


def test_an_installed_package_adds_scorers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, "more_scorers:Longer")
    monkeypatch.syspath_prepend(tmp_path)
    assert resolve("longer").version == "2.1.0"


@pytest.mark.parametrize("value", ["more_scorers:Shorter", "less_scorers:Longer", "more_scorers:Decimal"])
def test_an_entry_point_that_is_no_scorer_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    installed(tmp_path, value)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match=value.partition(":")[2]):
        resolve("exact_match")


def test_every_built_in_scorer_is_documented_with_its_options() -> None:
    for name, scorer in BUILT_IN.items():
        assert f"| `{name}`" in PAGE
        for option in {each.name for each in fields(scorer)} - {"field", "parts", "schema"}:
            assert f"`{option}" in PAGE


def test_the_examples_of_the_page_run_and_give_what_stands_there(tmp_path: Path) -> None:
    scoring, own, frames = re.findall(r"^```python\n(.+?)^```", PAGE, re.DOTALL | re.MULTILINE)
    code, _, said = scoring.partition("# ")
    assert repr(run(code)) == said.strip()
    iban = resolve("iban:supplier.iban?country=DE", project=project(tmp_path, own))
    assert iban.score({"supplier": {"iban": "DE89 3704"}}, {"supplier": {"iban": "DE893704"}}).value == 1
    assert run(frames.partition("  #")[0]).rows() == [
        (1, "scored", None),
        (0, "scored", "unit_error_1000"),
        (None, "failed", "no_expected_value"),
    ]


def run(code: str) -> Any:
    """The value of the last expression of a piece of code."""
    tree = ast.parse(code)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    names: dict[str, Any] = {}
    exec(compile(tree, "page", "exec"), names)
    return eval(compile(ast.Expression(last.value), "page", "eval"), names)
