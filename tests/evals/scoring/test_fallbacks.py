"""A fallback answers in the primary's place, so that gate and lint know what it is worth."""

import json
import signal
from collections import Counter
from typing import Any

import pytest

from beleg.cli.output import printable
from beleg.contract import evidence
from beleg.contract.lint import Facts, lint
from beleg.contract.model import Contract, Evals, Provider
from beleg.evals.cases import files
from beleg.evals.cases.dataset import Dataset
from beleg.evals.gate import gate
from beleg.evals.gate.judge import Fallback
from beleg.evals.results import Result
from beleg.evals.scoring.contenders import with_fallback
from beleg.evals.scoring.order import Order, Report
from beleg.evals.scoring.run import run
from tests.contract.client.released import FEATURE
from tests.contract.run.double import Act, answers, fails
from tests.evals.scoring.house import CRITERIA, DATASET, House, case
from tests.evals.scoring.model import Model, right
from tests.evals.scoring.test_cli import beleg
from tests.evals.scoring.test_killed import process

SPARE = "gpt-5-nano-2025-08-07"
OTHER = "gpt-4.1-mini-2025-04-14"
KEYLESS = Provider("anthropic", "claude-sonnet-4-6", "messages", api_key_env="NOT_SET_KEY")


def spare(house: House, model: str = SPARE) -> Provider:
    return Provider("openai", model, "chat", base_url=house.model.base_url, region="eu", timeout_s=20.0)


def go(house: House, **values: Any) -> Report:
    return run(house.settings, house.registry, Order(FEATURE, **{"fallbacks": True, **values}))


def ready(house: House, *fallbacks: Provider, cases: int = 3, **draft: Any) -> tuple[Dataset, Contract]:
    """Cases and a draft that may fall back."""
    dataset = house.freeze(case(n) for n in range(cases))
    return dataset, house.draft(providers={"fallbacks": fallbacks}, **draft)


def asked(model: Model) -> Counter[str]:
    """Model → questions that it got."""
    return Counter(body["model"] for body in model.bodies)


def sent_for(house: House, contract: Contract) -> list[Result]:
    return [each for each in house.sent() if each.digest == contract.digest]


def test_each_fallback_answers_the_same_cases_after_both_versions(house: House, model: Model) -> None:
    house.suite(workers=1)
    house.publish()
    dataset, drafted = ready(house, spare(house), spare(house, OTHER))
    report = go(house)
    assert (report.state, report.planned, report.answered, report.left) == ("complete", 12, 12, 0)
    assert {body["model"] for body in model.bodies[:6]} == {drafted.providers.primary.model}
    assert asked(model) == {drafted.providers.primary.model: 6, SPARE: 3, OTHER: 3}
    for fallback, told in zip(drafted.providers.fallbacks, report.fallbacks, strict=True):
        contract = with_fallback(drafted, fallback)
        assert (told.provider, told.contender.digest) == (fallback, contract.digest)
        assert (told.planned, told.before, told.answered, told.left_out) == (3, 0, 3, None)
        found = sent_for(house, contract)
        assert {(each.side, each.dataset_digest, each.status) for each in found} == {
            ("candidate", dataset.digest, "scored")
        }
        assert {(each.case_id, each.scorer) for each in found} == {
            (each.case_id, each.scorer) for each in sent_for(house, drafted)
        }
        runs = [each for each in house.events("run_started") if each["contract_digest"] == contract.digest]
        stamp = f"draft-{contract.digest[:12]}"
        assert {(each["purpose"], each["contract_version"]) for each in runs} == {("eval", stamp)}


def test_no_fallback_is_asked_unless_that_was_ordered(house: House, model: Model) -> None:
    _, drafted = ready(house, spare(house))
    report = go(house, fallbacks=False)
    assert (report.planned, report.fallbacks) == (3, ())
    assert asked(model) == {drafted.providers.primary.model: 3}


def test_what_a_fallback_answered_is_not_asked_again(house: House, model: Model) -> None:
    ready(house, spare(house))
    go(house)
    written = house.sent()
    house.ingest()
    (house.settings.home / "evals").rename(house.root / "lost journal")
    report = go(house)
    assert (report.before, report.answered) == (6, 0)
    assert [(each.before, each.answered) for each in report.fallbacks] == [(3, 0)]
    assert len(model.asked) == 6
    assert house.sent() == written


def test_grown_dataset_asks_a_fallback_only_what_is_new(house: House, model: Model) -> None:
    first, _ = ready(house, spare(house))
    go(house)
    files.write_case(house.project, case(7))
    first.next({**first.members, case(7).case_id: case(7).digest}, {}).write()
    report = go(house)
    assert [(each.before, each.answered) for each in report.fallbacks] == [(3, 1)]
    assert asked(model)[SPARE] == 4


def test_budget_that_ends_among_fallbacks_is_gone_on_from(house: House, model: Model) -> None:
    ready(house, spare(house), cases=4)
    cost = go(house, fallbacks=False).cost_pico_usd // 4
    report = go(house, max_cost_pico_usd=3 * cost, workers=4)
    assert (report.state, report.answered, report.left) == ("budget", 3, 1)
    assert [(each.planned, each.answered) for each in report.fallbacks] == [(4, 3)]
    assert go(house).state == "complete"
    assert asked(model)[SPARE] == 4


def test_run_killed_among_fallbacks_goes_on(house: House, model: Model) -> None:
    _, drafted = ready(house, spare(house))
    died = process(("beleg.lake.publication:append_fact", "after", 5), "--workers", "1", "--fallbacks")
    assert died.returncode == -signal.SIGKILL, died.stderr.decode()
    report = go(house)
    assert (report.state, report.before, report.answered) == ("complete", 5, 1)
    assert asked(model) == {drafted.providers.primary.model: 3, SPARE: 3}
    assert Counter(each.case_id for each in sent_for(house, with_fallback(drafted, spare(house)))) == {
        case(n).case_id: 6 for n in range(3)
    }


def test_fallback_without_its_key_is_left_out_and_nothing_of_it_is_recorded(house: House, model: Model) -> None:
    _, drafted = ready(house, KEYLESS, spare(house))
    report = go(house)
    assert (report.state, report.answered, report.left) == ("complete", 6, 3)
    first, second = report.fallbacks
    assert (first.provider, first.answered) == (KEYLESS, 0)
    assert "NOT_SET_KEY" in str(first.left_out)
    assert (second.answered, second.left_out) == (3, None)
    keyless = with_fallback(drafted, KEYLESS).digest
    assert keyless not in {each.digest for each in house.sent()}
    assert keyless not in {each["contract_digest"] for each in house.events("run_started")}


def test_input_of_a_fallback_that_is_left_out_is_not_even_looked_at(house: House) -> None:
    _, drafted = ready(house, KEYLESS)
    house.suite(resolver="receipts:changed")
    go(house)
    assert {each.digest for each in house.sent()} == {drafted.digest}


@pytest.mark.parametrize("status", [401, 403])
def test_fallback_whose_key_is_refused_is_left_out_and_asked_by_the_next_run(
    house: House, model: Model, status: int
) -> None:
    _, drafted = ready(house, spare(house), spare(house, OTHER))
    model.choose = lambda body, number: fails(status) if body["model"] == SPARE else right(body, number)
    report = go(house, workers=1)
    assert (report.state, report.answered, report.left) == ("complete", 6, 3)
    assert [each.answered for each in report.fallbacks] == [0, 3]
    assert "refuses the key" in str(report.fallbacks[0].left_out)
    assert asked(model)[SPARE] == 1
    assert sent_for(house, with_fallback(drafted, spare(house))) == []
    model.choose = right
    assert [(each.before, each.answered) for each in go(house).fallbacks] == [(0, 3), (3, 0)]


def test_refused_key_teaches_the_budget_no_price(house: House, model: Model) -> None:
    ready(house, spare(house), spare(house, OTHER), cases=8)
    cost = go(house, fallbacks=False).cost_pico_usd // 8
    model.choose = lambda body, number: fails(401) if body["model"] == SPARE else right(body, number)
    report = go(house, max_cost_pico_usd=cost, workers=4)
    assert (report.state, report.answered, report.cost_pico_usd) == ("budget", 1, cost)


def test_fallback_named_twice_is_asked_once(house: House, model: Model) -> None:
    ready(house, spare(house), spare(house))
    assert len(go(house).fallbacks) == 1
    assert asked(model)[SPARE] == 3


def test_fallback_that_is_the_baseline_answers_as_that(house: House, model: Model) -> None:
    _, drafted = ready(house, spare(house))
    house.shop.publish("1.0.0", with_fallback(drafted, spare(house)))
    report = go(house)
    assert (report.planned, report.answered, report.fallbacks) == (6, 6, ())
    assert asked(model)[SPARE] == 3


def test_fallbacks_of_a_released_version_answer_too(house: House, model: Model) -> None:
    house.freeze(case(n) for n in range(2))
    house.publish(providers={"fallbacks": (spare(house),)})
    report = go(house, candidate="1.0.0")
    assert [each.name for each in report.fallbacks] == [f"1.0.0 with openai/{SPARE}"]
    assert asked(model)[SPARE] == 2


@pytest.mark.parametrize("name", ["arn:aws:" + "x" * 200, "two words", "../up", "[bold]\x1b[31m"])
def test_model_may_be_called_anything(house: House, name: str) -> None:
    _, drafted = ready(house, spare(house, name), cases=1)
    assert go(house).answered == 2
    contract = with_fallback(drafted, drafted.providers.fallbacks[0])
    runs = [each for each in house.events("run_started") if each["contract_digest"] == contract.digest]
    assert [each["prompt_version"] for each in runs] == [f"draft-{contract.digest[:12]}"]
    words = beleg("run", FEATURE, "--fallbacks").stdout
    assert f"with openai/{printable(name)}: 0 answers of 1 (1 were there before)" in words


# -- what it is for -----------------------------------------------------------------------------------


def verdicts(house: House) -> list[Fallback]:
    house.ingest()
    return list(gate(house.settings, house.registry, FEATURE).report.fallbacks)


def unmeasured(house: House, drafted: Contract) -> list[str]:
    """What L46 says with the evidence that lies there."""
    path = house.project / "contracts" / "features" / FEATURE / "evidence" / f"{drafted.digest}.json"
    found = lint(drafted, Facts(evidence=evidence.read(path)))
    return [each.sentence for each in found if each.rule == "L46"]


def test_gate_judges_the_fallback_and_lint_of_tier_two_is_content(house: House) -> None:
    _, drafted = ready(house, spare(house), cases=60, evals=Evals(DATASET, CRITERIA[:2]))
    assert drafted.risk_tier == 2
    go(house, fallbacks=False)
    assert verdicts(house) == []
    assert len(unmeasured(house, drafted)) == 1
    go(house)
    assert verdicts(house) == [Fallback(spare(house), "pass", 60, 0)]
    assert unmeasured(house, drafted) == []


def test_fallback_that_answers_wrong_fails_at_the_gate(house: House, model: Model) -> None:
    _, drafted = ready(house, spare(house), cases=60, evals=Evals(DATASET, CRITERIA[:2]))

    def worse(body: dict[str, Any], number: int) -> Act:
        return answers({"total": 1, "currency": "EUR"}) if body["model"] == SPARE else right(body, number)

    model.choose = worse
    go(house)
    assert [each.verdict for each in verdicts(house)] == ["fail"]
    assert len(unmeasured(house, drafted)) == 1


# -- the command --------------------------------------------------------------------------------------


def test_command_tells_of_each_fallback(house: House) -> None:
    _, drafted = ready(house, spare(house), KEYLESS)
    done = beleg("run", FEATURE, "--fallbacks", "--json")
    assert done.exit_code == 0
    first, second = json.loads(done.stdout)["fallbacks"]
    assert first == {
        "provider": "openai",
        "model": SPARE,
        "name": f"draft-{drafted.digest[:12]} with openai/{SPARE}",
        "digest": with_fallback(drafted, spare(house)).digest,
        "planned": 3,
        "before": 0,
        "answered": 3,
        "left_out": None,
    }
    assert (second["provider"], second["answered"]) == ("anthropic", 0)
    assert "NOT_SET_KEY" in second["left_out"]
    words = beleg("run", FEATURE, "--fallbacks").stdout
    assert f"with openai/{SPARE}: 0 answers of 3 (3 were there before)\n" in words
    assert "with anthropic/claude-sonnet-4-6: 0 answers of 3 (0 were there before); left out: " in words


def test_command_says_that_there_is_no_fallback(house: House) -> None:
    ready(house, cases=1)
    assert "No fallback was asked" in beleg("run", FEATURE, "--fallbacks").stdout
    assert "No fallback" not in beleg("run", FEATURE).stdout
