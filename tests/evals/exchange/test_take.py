"""Answers that were given elsewhere: read, matched, scored, kept once."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from beleg.core.errors import DamagedError, UsageError
from beleg.evals import results
from beleg.evals.exchange import csvfile, deepeval, inspectlog, promptfoo, rows
from beleg.evals.exchange.give import give
from beleg.evals.exchange.take import Delivery, Taken, take
from beleg.evals.results import Result
from beleg.trace.fingerprint import fingerprint
from tests.contract.client.released import FEATURE
from tests.evals.scoring.house import DATASET, House, case

RIGHT = {"total": 100, "currency": "EUR"}
WRONG = {"total": 1, "currency": "EUR"}


def taken(house: House, path: Path, form: str = "csv", **more: Any) -> Taken:
    given = {"version": "draft", **more}
    return take(house.settings, house.registry, Delivery(path, form, FEATURE, **given))


def written(house: House, content: Any, name: str = "answers") -> Path:
    path = house.root / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def table(*rows: tuple[str, ...]) -> str:
    quoted = (['"' + cell.replace('"', '""') + '"' for cell in row] for row in rows)
    return "".join(",".join(row) + "\r\n" for row in quoted)


def of(house: House, scorer: str = "number:total") -> list[tuple[str, int, str, float | None]]:
    return [(each.case_id, each.repetition, each.status, each.score) for each in house.sent() if each.scorer == scorer]


@pytest.fixture(autouse=True)
def frozen(house: House) -> None:
    house.freeze(case(n) for n in range(3))
    house.draft()


# -- CSV ----------------------------------------------------------------------------------------------


def test_csv_is_scored_and_empty_cells_are_missing_not_wrong(house: House) -> None:
    cells = [
        ("case_id", "input_ref", "answer", "latency_ms", "cost_usd", "input_tokens"),
        ("", "r-0", json.dumps(RIGHT), "812", "0.0025", "11"),
        (case(1).case_id, "", json.dumps(WRONG), "", "", ""),
        ("", "r-2", "n/a", "", "", ""),
    ]
    report = taken(house, written(house, table(*cells)))
    assert (report.answers, report.failed, report.missing, report.unknown) == (3, 0, 1, ())
    assert of(house) == [
        (case(0).case_id, 1, "scored", 1.0),
        (case(1).case_id, 1, "scored", 0.0),
        (case(2).case_id, 1, "missing", None),
    ]
    assert of(house, "cost_usd")[0][3] == 0.0025
    assert of(house, "latency_ms")[:2] == [(case(0).case_id, 1, "scored", 812.0), (case(1).case_id, 1, "missing", None)]


def test_answers_under_a_known_contract_must_meet_it(house: House) -> None:
    cells = [("input_ref", "answer"), ("r-0", "words only"), ("r-1", json.dumps({"total": 101})), ("r-2", "{1}")]
    assert taken(house, written(house, table(*cells))).failed == 3
    assert {status for _, _, status, _ in of(house)} == {"failed"}


def test_words_around_an_answer_are_refused_as_the_sdk_does_unless_told_otherwise(house: House) -> None:
    cells = [("input_ref", "answer"), ("r-0", f"See [428]: {json.dumps(RIGHT)} and {json.dumps(WRONG)}")]
    path = written(house, table(*cells))
    assert taken(house, path).failed == 1
    assert taken(house, path, first_object=True, again=True).failed == 0
    assert of(house)[-1][3] == 1.0
    assert {each.attempt for each in house.sent() if each.status == "scored"} == {2}


def test_same_file_again_changes_nothing_and_another_answer_is_refused(house: House) -> None:
    path = written(house, table(("input_ref", "answer"), ("r-0", json.dumps(WRONG))))
    taken(house, path)
    again = taken(house, path)
    assert (again.answers, again.unchanged) == (0, 1)
    better = written(house, table(("input_ref", "answer"), ("r-0", json.dumps(RIGHT))), "better")
    with pytest.raises(UsageError, match="there already with other results"):
        taken(house, better)
    nothing = written(house, table(("input_ref", "answer"), ("r-0", "")), "nothing")
    assert taken(house, nothing, again=True).unchanged == 1
    house.ingest()
    (house.settings.home / "evals").rename(house.root / "lost journal")
    assert taken(house, path).unchanged == 1
    with pytest.raises(UsageError, match="there already with other results"):
        taken(house, better)


def test_answer_to_another_input_is_stale(house: House) -> None:
    cells = [("input_ref", "input_hash", "answer"), ("r-0", case(0).input_hash, json.dumps(RIGHT)),
            ("r-1", case(0).input_hash, json.dumps(RIGHT))]  # fmt: skip
    assert taken(house, written(house, table(*cells))).stale == 1
    assert of(house)[1] == (case(1).case_id, 1, "stale", None)


def test_repetitions_are_numbered_and_none_may_stand_twice(house: House) -> None:
    answer = json.dumps(RIGHT)
    taken(house, written(house, table(("input_ref", "answer"), ("r-0", answer), ("r-1", answer), ("r-0", answer))))
    assert [(case_id, repetition) for case_id, repetition, _, _ in of(house)] == [
        (case(0).case_id, 1), (case(1).case_id, 1), (case(0).case_id, 2),
    ]  # fmt: skip
    head = ("input_ref", "repetition", "answer")
    double = table(head, ("r-0", "3", answer), ("r-0", "3", answer))
    with pytest.raises(DamagedError, match=r"line 3: repetition 3 .* stands at line 2 already"):
        taken(house, written(house, double))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xff\xfe", "byte 0: no UTF-8"),
        ("input_ref,answer\nr-0\n", "line 2: it has more or fewer cells"),
        ("input_ref,answer\nr-0,1,2\n", "line 2: it has more or fewer cells"),
        ('input_ref,answer\nr-0,"{}" x\n', "line 2: "),
        ("input_ref,answer,repetition\nr-0,{},one\n", "line 2: repetition is no whole number"),
        ("input_ref,answer,repetition\nr-0,{},0\n", "line 2: repetition 0"),
        ("input_ref,answer,cost_usd\nr-0,{},-1\n", "line 2: cost_usd"),
        ("input_ref,answer,answered_at\nr-0,{},yesterday\n", "line 2: answered_at"),
        ("input_ref,answer\n,{}\n", "line 2: case_id and input_ref are both empty"),
        ("input_ref,answer,answer\nr-0,{},{}\n", "line 1: a column stands there twice"),
    ],
)
def test_bad_csv_names_its_place_and_nothing_is_taken_in(house: House, content: bytes | str, words: str) -> None:
    with pytest.raises(DamagedError, match=words):
        taken(house, written(house, content))
    assert house.sent() == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "no column"),
        ("answer\n{}\n", "neither case_id nor input_ref"),
        ("input_ref,said\nr-0,{}\n", "choose one with --variant|Choose one with --variant"),
        ("input_ref,answer\nnobody,{}\n", "holds no answer to a case"),
        ("input_ref,answer\n", "holds no answer to a case"),
    ],
)
def test_wrong_csv_says_what_would_be_right(house: House, content: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        taken(house, written(house, content))


def test_case_whose_key_is_not_at_hand_stops_the_import(house: House) -> None:
    dataset = house.freeze([case(0, key="gone")], "keyed")
    path = written(house, table(("input_ref", "answer"), ("r-0", json.dumps(RIGHT))))
    with pytest.raises(UsageError, match="no key 'gone' in BELEG_HASH_KEYS"):
        taken(house, path, dataset=dataset.name)
    assert house.sent() == []


def test_whose_answers_they_are_must_be_said(house: House) -> None:
    path = written(house, table(("input_ref", "answer"), ("r-0", json.dumps(RIGHT))))
    for wrong in ({"version": None}, {"digest": "a" * 64}, {"version": None, "digest": "abc"}, {"form": "xml"}):
        with pytest.raises(UsageError):
            taken(house, path, **wrong)
    unknown = taken(house, path, version=None, digest="a" * 64)
    assert unknown.digest == "a" * 64
    house.publish()
    released = taken(house, path, version="1.0.0")
    assert {each.side for each in house.sent() if each.digest == released.digest} == {"baseline"}


# -- other tools --------------------------------------------------------------------------------------


def sample(known_as: Any, epoch: int = 1, **more: Any) -> dict[str, Any]:
    message = {"message": {"role": "assistant", "content": json.dumps(RIGHT)}}
    usage = {"openai/gpt": {"input_tokens": 64, "output_tokens": 2, "total_tokens": 66}}
    given = {"output": {"choices": [message]}, "model_usage": usage, "working_time": 0.5, "metadata": {}}
    return {"id": known_as, "epoch": epoch, "input": "PLANTED", **given, **more}


def log(*samples: dict[str, Any]) -> dict[str, Any]:
    return {"version": 2, "status": "success", "eval": {"model": "openai/gpt"}, "samples": list(samples)}


def archive(*samples: dict[str, Any], **members: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", json.dumps({"eval": {"model": "openai/gpt"}}))
        for each in samples:
            file.writestr(f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each))
        for name, data in members.items():
            file.writestr(name.replace("__", "/"), data)
    return made.getvalue()


def test_inspect_log_as_json_and_as_archive_give_the_same(house: House) -> None:
    samples = [
        sample(case(0).case_id),
        sample("other", 2, metadata={"case_id": case(0).case_id}),
        sample("r-1", error={"message": "PLANTED"}),
    ]
    assert taken(house, written(house, log(*samples)), "inspect").failed == 1
    assert of(house) == [
        (case(0).case_id, 1, "scored", 1.0),
        (case(0).case_id, 2, "scored", 1.0),
        (case(1).case_id, 1, "failed", None),
    ]
    assert of(house, "input_tokens")[0][3] == 64.0
    assert of(house, "latency_ms")[0][3] == 500.0
    assert taken(house, written(house, archive(*samples)), "inspect").unchanged == 3
    assert b"PLANTED" not in house.written()


def test_real_inspect_logs_are_read(test_data: Path) -> None:
    logs = {path.name: inspectlog.read(path, None) for path in sorted((test_data / "inspect").iterdir())}
    popularity = logs["2025-05-12T20-28-13-04-00_popularity.json"]
    assert [(each.keys, each.answer, each.repetition) for each in popularity] == [
        (("1",), "Yes", 1),
        (("2",), "No", 1),
        (("3",), "No", 1),
    ]
    assert (popularity[0].took.input_tokens, popularity[0].took.output_tokens, popularity[0].took.latency_ms) == (
        64,
        2,
        546,
    )
    (archived,) = logs["log_formats.eval"]
    assert (archived.keys, archived.answer, archived.took.input_tokens) == (("1",), "No", 66)
    assert [(each.answer, each.repetition) for each in logs["log_tool_call_error.json"]] == [(None, 4)]


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"input_tokens": 100, "output_tokens": 7, "total_tokens": 107, "input_tokens_cache_read": 80}, 100.0),
        ({"input_tokens": 20, "output_tokens": 7, "total_tokens": 107, "input_tokens_cache_read": 80}, 100.0),
        ({"input_tokens": 20, "output_tokens": 7, "total_tokens": 99, "input_tokens_cache_read": 80}, None),
    ],
)
def test_cached_tokens_of_inspect_are_placed_by_the_total(house: House, usage: dict[str, int], tokens: float) -> None:
    taken(house, written(house, log(sample("r-0", model_usage={"m": usage}))), "inspect")
    assert of(house, "input_tokens")[0][3] == tokens


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "line 1"),
        ("[" * 100_000, "no JSON: RecursionError"),
        ("[]", "the log: eval is missing"),
        ({"eval": {"model": "m"}}, "it holds no samples"),
        (log({"id": 1}), "sample 1: epoch is missing"),
        (log(sample("r-0"), sample(None)), "sample 2: it has no id"),
        (log(sample("r-0"), sample("r-0")), "sample 2: repetition 1"),
        (b"PK\x03\x04 no archive", "the archive: BadZipFile"),
        (archive()[:40], "the archive"),
        (archive(samples__x=b""), "no answer|holds no answer"),
        (archive(**{"samples__x.json": b"{"}), "samples/x.json, line 1"),
    ],
    ids=range(11),
)
def test_bad_log_names_its_place_and_nothing_is_taken_in(house: House, content: Any, words: str) -> None:
    with pytest.raises((DamagedError, UsageError), match=words):
        taken(house, written(house, content), "inspect")
    assert house.sent() == []


def test_bomb_is_not_inflated(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = archive(**{"samples__x.json": b" " * (4 << 20)})
    monkeypatch.setattr(rows, "MOST_BYTES", 1 << 20)
    with pytest.raises(DamagedError, match="the archive: it inflates to more than 1 MiB"):
        inspectlog.read(written(house, bomb), None)
    with pytest.raises(DamagedError, match="the file: it holds more than 1 MiB"):
        inspectlog.read(written(house, b" " * (2 << 20)), None)


def result(
    ref: str, output: Any = RIGHT, *, cached: bool = False, provider: str = "openai:gpt", prompt: int = 0
) -> Any:
    response = {"output": output, "cached": cached, "tokenUsage": {"prompt": 11, "completion": 7, "total": 18}}
    return {
        "promptIdx": prompt, "testIdx": 0, "provider": {"id": provider}, "latencyMs": 40, "cost": 0.001,
        "testCase": {"vars": {"input_ref": ref}, "metadata": {}}, "vars": {"input_ref": ref}, "response": response,
    }  # fmt: skip


def output(*found: Any) -> dict[str, Any]:
    return {"evalId": "e", "results": {"version": 3, "timestamp": "2026-11-01T10:00:00.000Z", "results": list(found)}}


def test_promptfoo_output_is_scored_here(house: House) -> None:
    failing = result("r-2")
    failing["response"] = {"error": "PLANTED API error"}
    report = taken(house, written(house, output(result("r-0"), result("r-1", json.dumps(WRONG)), failing)), "promptfoo")
    assert (report.answers, report.failed) == (3, 1)
    assert [(status, score) for _, _, status, score in of(house)] == [
        ("scored", 1.0),
        ("scored", 0.0),
        ("failed", None),
    ]
    assert of(house, "cost_usd")[0][3] == 0.001
    assert {each.event_time.isoformat() for each in house.sent()} == {"2026-11-01T10:00:00+00:00"}
    assert b"PLANTED" not in house.written()


def test_promptfoo_s_cached_repeats_are_no_repetitions(house: House) -> None:
    with pytest.raises(UsageError, match="--no-cache"):
        taken(house, written(house, output(result("r-0"), result("r-0", cached=True))), "promptfoo")
    assert house.sent() == []
    taken(house, written(house, output(result("r-0", cached=True))), "promptfoo")
    assert of(house)[0][3] == 1.0
    assert of(house, "latency_ms")[0][2:] == ("missing", None)  # a copy takes no time


def test_one_variant_of_several_is_chosen(house: House) -> None:
    path = written(house, output(result("r-0"), result("r-0", WRONG, prompt=1), result("r-0", WRONG, provider="x")))
    with pytest.raises(UsageError, match="openai:gpt#0, openai:gpt#1, x#0"):
        taken(house, path, "promptfoo")
    taken(house, path, "promptfoo", variant="openai:gpt#0")
    assert of(house) == [(case(0).case_id, 1, "scored", 1.0)]


@pytest.mark.parametrize("style", ["camel", "snake"])
def test_deepeval_run_is_scored_here(house: House, style: str) -> None:
    known = {"metadata": {"case_id": case(0).case_id}, "name": "test_1", "success": False}
    if style == "camel":
        content: dict[str, Any] = {"testCases": [{**known, "actualOutput": json.dumps(RIGHT), "completionTime": 1.5}]}
    else:
        content = {"test_results": [{**known, "actual_output": json.dumps(RIGHT)}]}
    taken(house, written(house, content), "deepeval")
    assert of(house) == [(case(0).case_id, 1, "scored", 1.0)]
    assert of(house, "latency_ms")[0][3] == (1500.0 if style == "camel" else None)


@pytest.mark.parametrize(
    ("form", "content", "words"),
    [
        ("promptfoo", {"results": []}, "results is missing"),
        ("promptfoo", output({"testCase": {}}), "result 1: neither"),
        ("promptfoo", output(result("r-0"), 7), "result 2: testCase is missing"),
        ("deepeval", {"results": []}, "neither testCases nor test_results"),
        ("deepeval", {"testCases": [{"actualOutput": "{}"}]}, "test case 1: it has neither"),
        ("deepeval", {"testCases": ["x"]}, "test case 1: it is no object"),
    ],
)
def test_bad_output_names_its_place(house: House, form: str, content: Any, words: str) -> None:
    with pytest.raises(DamagedError, match=words):
        taken(house, written(house, content), form)
    assert house.sent() == []


def test_file_that_is_not_there_is_said(house: House) -> None:
    for read in (csvfile.read, inspectlog.read, promptfoo.read, deepeval.read):
        with pytest.raises(UsageError, match="cannot be read"):
            read(house.root / "nowhere", None)


# -- out and in again ---------------------------------------------------------------------------------


def test_what_is_handed_out_comes_back_to_its_cases(house: House) -> None:
    lines = give(house.settings, house.project, DATASET, "inspect").splitlines()
    samples = [json.loads(line) for line in lines]
    assert all(each["metadata"]["input_hash"] for each in samples)
    answered = [sample(each["id"], metadata=each["metadata"], target=each["target"]) for each in samples]
    assert taken(house, written(house, log(*answered)), "inspect").answers == 3
    assert {case_id for case_id, *_ in of(house)} == {case(n).case_id for n in range(3)}


def test_values_leave_only_where_policy_stores_them(house: House) -> None:
    hidden = {form: give(house.settings, house.project, DATASET, form) for form in ("inspect", "promptfoo", "langfuse")}
    policies = house.project / "contracts" / "policies"
    policies.mkdir()
    stored = "workflows: {ocr: {unit: document, result: {run_unit: documents}, values: stored}}"
    (policies / "workflows.yaml").write_text(stored)
    for form, text in hidden.items():
        shown = give(house.settings, house.project, DATASET, form)
        for each, holds in ((text, False), (shown, True)):
            bare = "".join(each.split()).replace("\\", "")
            assert ('{"value":101}' in bare) is holds
            assert (fingerprint(101) in bare) is not holds
            assert "PLANTED" not in each
            assert case(1).input_ref in each


def test_langfuse_item_has_the_members_of_its_api(house: House) -> None:
    item = json.loads(give(house.settings, house.project, DATASET, "langfuse").splitlines()[0])
    assert set(item) == {"datasetName", "id", "input", "expectedOutput", "metadata", "status"}


def test_unknown_format_or_dataset_is_said(house: House) -> None:
    with pytest.raises(UsageError, match="inspect, promptfoo, langfuse"):
        give(house.settings, house.project, DATASET, "xml")
    with pytest.raises(UsageError, match="no dataset"):
        give(house.settings, house.project, "nothing", "inspect")


def read_back(house: House, report: Taken) -> list[Result]:
    house.ingest()
    return results.read(house.settings, FEATURE, [report.digest], report.dataset_digest)


def test_results_taken_in_are_read_from_the_lake(house: House) -> None:
    report = taken(house, written(house, table(("input_ref", "answer"), ("r-0", json.dumps(RIGHT)))))
    assert {each.scorer: each.score for each in read_back(house, report) if each.status == "scored"} == {
        "number:total": 1.0,
        "schema_valid": 1.0,
    }
