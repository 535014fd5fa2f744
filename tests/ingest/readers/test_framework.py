"""What all readers stand on: files in any wrapping, items kept or refused whole, counts that add up."""

import json
import secrets
import tempfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beleg.ingest import foreign, quarantine
from beleg.ingest.foreign import judged, stage_foreign, told_apart
from beleg.ingest.judge import Judge
from beleg.ingest.limits import Limits
from beleg.ingest.readers import files, parsing
from beleg.ingest.readers import formats as registry
from beleg.ingest.readers.events import Maker, instant, key, milliseconds, time_of
from beleg.ingest.readers.files import File
from beleg.ingest.readers.formats import Format, Reading, recognise
from beleg.ingest.readers.head import Head
from beleg.ingest.readers.item import Item, Origin, each, item
from beleg.ingest.readers.naming import Named, Naming
from beleg.ingest.readers.parsing import UNREADABLE, loads, parsed
from beleg.ingest.reasons import Refusal, Refused, refuse
from beleg.ingest.retry import retry
from beleg.ingest.schemas import shape_folders
from beleg.ingest.sources import find_sources
from beleg.lake.exclusive import exclusive
from beleg.retention.forget import forget
from tests.deep import examples
from tests.flow.support import AS_OF
from tests.ingest.readers.support import Home, assert_adds_up, events, json_lines, refusals, stage, write
from tests.ingest.support import gz, zst

AT = "2030-01-01T12:00:00Z"
WRAPPINGS = {"plain": lambda data: data, "gzip": gz, "zstd": zst}


# -- a format of the tests' own ----------------------------------------------------------------------


def _events(make: Maker, naming: Naming, row: Any) -> Iterator[dict[str, Any]]:
    if row["toy"] == "silent":
        return
    if row["toy"] == "refuse":
        raise Refused(refuse("no_id"))
    run_id = key(row["run"])
    assert run_id is not None
    named = naming.name({"format": "toy", "service": row.get("service")})
    yield make.run_started(run_id, instant(row["at"]), named)
    yield make.step(run_id, f"{run_id}-1", instant(row["at"]), row.get("kind", "tool"), tool_name=row.get("tool"))
    yield make.run_finished(run_id, instant(row["at"]), "succeeded")


def _read(reading: Reading) -> Iterator[Item]:
    yield from each(
        reading.file.values("", "rows.item", large=("rows.item",)),
        lambda row: _events(reading.make, reading.naming, row) if "rows" not in row else (),
    )


TOY = Format(
    "toy",
    "Toy",
    "rows",
    "runs",
    "nothing",
    lambda head: head.has("toy") or head.has("rows.item.toy"),
    _read,
    (".toy",),
)


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "formats", lambda: {"toy": TOY})


def row(run: str = "r1", **more: Any) -> dict[str, Any]:
    return {"toy": "row", "run": run, "at": AT, **more}


def file_of(folder: Path, content: Any, name: str = "f.json") -> File:
    (source,) = find_sources([write(folder, name, content)])
    return File(source)


# -- files -------------------------------------------------------------------------------------------


def contents(file: File, *prefixes: str, large: tuple[str, ...] = ()) -> list[Any]:
    return [value.content for value in file.values(*prefixes, large=large)]


@pytest.mark.parametrize("whole_bytes", [1 << 20, 8], ids=["whole", "taken apart"])
@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("indent", [None, 0, 2])
def test_values_of_a_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrapping: str, whole_bytes: int, indent: int | None
) -> None:
    monkeypatch.setattr(files, "WHOLE_BYTES", whole_bytes)
    document: dict[str, Any] = {
        "rows": [{"a": 1, "b": [{}]}, {"a": "two", "b": 2.5}, None, [], "x"],
        "more": {"rows": [7]},
    }
    file = file_of(tmp_path, WRAPPINGS[wrapping](json.dumps(document, indent=indent).encode()))
    assert contents(file, "rows.item") == document["rows"]
    assert contents(file, "more.rows.item", "rows.item.a")[-1:] == ["two"] if whole_bytes > 8 else [7]
    assert contents(file, "nothing.item", "rows.nothing") == []
    assert file.faults == []


@pytest.mark.parametrize("whole_bytes", [1 << 20, 40], ids=["whole", "lines"])
@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n  \n"])
def test_lines_with_any_line_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrapping: str, whole_bytes: int, end: bytes
) -> None:
    monkeypatch.setattr(files, "WHOLE_BYTES", whole_bytes)
    lines = [b'{"rows": [1, 2]}', b'{"rows": [3]}', b'{"other": 1}', b"[]"]
    data = end + end.join(lines) + end
    file = file_of(tmp_path, WRAPPINGS[wrapping](data))
    values = list(file.values("rows.item"))
    assert [value.content for value in values] == [1, 2, 3]
    plain = data.splitlines(keepends=True)
    for value in values:  # the offset is that of the line in the decompressed file
        line = data[value.origin.byte_offset :].partition(b"\n")[0]
        assert line.strip() in lines
        assert plain[value.origin.number - 1].strip() == line.strip()
    assert [value.content for value in file_of(tmp_path, data).lines()] == [loads(line) for line in lines]
    assert (file.faults, file.pending) == ([], 0)


def test_bad_lines_are_faults_and_an_unterminated_one_is_pending(tmp_path: Path) -> None:
    data = b'oops\n{"a": 1}\n{"a": \n\xff\xfe\n{"a": 2}\n{"a": '
    for wrapped in (data, gz(data), zst(data)):
        file = file_of(tmp_path, wrapped)
        assert contents(file, "") == [{"a": 1}, {"a": 2}]
        assert [(place.line_number, refusal.reason) for place, refusal in file.faults] == [
            (1, "not_json"),
            (3, "not_json"),
            (4, "not_json"),
        ]
        assert file.pending == 1


def test_a_last_line_without_an_end_is_taken_where_it_is_whole(tmp_path: Path) -> None:
    file = file_of(tmp_path, b'{"a": 1}\n{"a": 2}')
    assert contents(file, "a") == [1, 2]
    assert file.pending == 0


def test_a_line_too_long_is_hashed_and_the_others_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LINE_BYTES", 300_000)
    long = json.dumps({"a": "x" * 1_000_000}).encode()
    file = file_of(tmp_path, b'{"a": 1}\n' + long + b'\n{"a": 2}\n')
    assert [value.content["a"] for value in file.lines()] == [1, 2]
    ((place, refusal),) = file.faults
    assert (place.line_number, place.length, refusal.reason) == (2, len(long), "line_too_long")


@pytest.mark.parametrize("whole_bytes", [1 << 20, 8])
@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_a_document_cut_short_gives_what_is_before_the_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrapping: str, whole_bytes: int
) -> None:
    monkeypatch.setattr(files, "WHOLE_BYTES", whole_bytes)
    data = json.dumps({"rows": [{"a": number} for number in range(10)]}, indent=1).encode()
    for cut in range(1, len(data) - 1, 7):
        file = file_of(tmp_path, WRAPPINGS[wrapping](data[:cut]))
        found = contents(file, "rows.item")
        assert found == [{"a": number} for number in range(len(found))]
        assert [refusal.reason for _, refusal in file.faults] == ["torn_document"]
        assert all(refusal.detail for _, refusal in file.faults)


def test_a_document_broken_in_the_middle_is_no_torn_one(tmp_path: Path) -> None:
    file = file_of(tmp_path, b'{"rows": [{"a": 1}, {"a": oops}, {"a": 3}]}')
    assert contents(file, "rows.item") == [{"a": 1}]
    assert [refusal.reason for _, refusal in file.faults] == ["not_json"]


def test_two_torn_files_are_two_rows_of_the_quarantine(tmp_path: Path) -> None:
    home = Home(tmp_path)
    paths = [write(tmp_path, f"{n}.json", f'{{"rows": [{{"toy": "silent", "n": {n}'.encode()) for n in range(2)]
    staged = stage(tmp_path / "s", *paths, form="toy")
    quarantine.keep(home.settings, staged, "1")
    assert [(r["file"], r["reason"]) for r in quarantine.load(home.settings)] == [
        (str(p), "torn_document") for p in paths
    ]


def test_a_damaged_archive_and_a_bomb_keep_what_was_read(tmp_path: Path) -> None:
    lines = json_lines(*(row(f"r{number}", tool=secrets.token_hex(100)) for number in range(2000)))
    bomb = json_lines(row("r1")) + b" " * 3_000_000 + b"\n" + json_lines(row("r2"))
    for data, limits, reason in (
        (gz(lines)[:-3000], None, "damaged_archive"),
        (gz(lines)[:-9] + b"x" * 9, None, "damaged_archive"),
        (zst(lines)[:-3000], None, "damaged_archive"),
        (gz(bomb), Limits(inflated_bytes=1_000_000, inflated_ratio=1), "decompression_bomb"),
        (zst(bomb), Limits(inflated_bytes=1_000_000, inflated_ratio=1), "decompression_bomb"),
    ):
        staged = stage(tmp_path / reason, write(tmp_path, "f.jsonl.gz", data), form="toy", limits=limits)
        assert_adds_up(staged)
        assert reason in {found for _, found in refusals(staged)}
        assert staged.accepted >= 3


def test_a_bomb_takes_little_memory_to_recognise_and_to_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "WHOLE_BYTES", 1 << 20)
    monkeypatch.setattr(parsing, "PART_BYTES", 4 << 20)
    bomb = b'{"toy": "' + b"x" * (64 << 20) + b'"}'
    for wrap in (gz, zst):
        path = write(tmp_path, "f.json.gz", wrap(bomb))
        (source,) = find_sources([path])
        tracemalloc.start()
        recognise(source)
        staged = stage(tmp_path / "s", path, form="toy")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert staged.quarantined == 1
        assert peak < 40 << 20


def test_a_value_too_large_is_passed_over_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "WHOLE_BYTES", 1000)
    monkeypatch.setattr(parsing, "PART_BYTES", 400_000)
    large = {"parts": ["x" * 1000] * 1000}
    file = file_of(tmp_path, {"rows": [{"a": 1}, large, {"a": 2}]})
    assert contents(file, "rows.item") == [{"a": 1}, {"a": 2}]
    assert [(p.line_number, r.reason) for p, r in file.faults] == [(2, "document_too_large")]
    endless = file_of(tmp_path, {"rows": [{"a": 1}, {"a": "x" * 3_000_000}, {"a": 2}]})
    assert contents(endless, "rows.item") == [{"a": 1}]
    assert len(endless.faults) == 1


def test_a_large_document_without_parts_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "WHOLE_BYTES", 10)
    file = file_of(tmp_path, json.dumps({"a": "x" * 100}, indent=1))
    assert contents(file, "") == []
    assert [refusal.reason for _, refusal in file.faults] == ["document_too_large"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"a": NaN, "b": -Infinity}', {"a": None, "b": None}),
        (b'"\\ud800"', "\ud800"),
        (b"\xef\xbb\xbf{}", {}),
        (b"18446744073709551616", 18446744073709551616),
        (b"1e999", None),
        (b"[" * 100_000, UNREADABLE),
        (b"[" * 3_000 + b"]" * 3_000, UNREADABLE),
        (b"9" * 10_000, UNREADABLE),
        (b"\xff", UNREADABLE),
        (b"", UNREADABLE),
        (b"{'a': 1}", UNREADABLE),
        (b'{"a": 1} x', UNREADABLE),
    ],
)
def test_json_is_read_leniently(text: bytes, value: Any) -> None:
    found = loads(text)
    assert found is UNREADABLE if value is UNREADABLE else found == value or text == b"1e999"


@pytest.mark.parametrize(
    ("value", "want"),
    [
        ('{"a": 1}', {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ("[1]", [1]),
        ("12", "12"),
        ("{oops", "{oops"),
        ("text", "text"),
        ("", ""),
        (None, None),
        (3, 3),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_json_inside_a_string_is_parsed(value: Any, want: Any) -> None:
    assert parsed(value) == want


@given(st.binary(max_size=200), st.sampled_from(["plain", "gzip", "zstd"]))
@settings(max_examples=examples(200, soak=20_000))
def test_whatever_a_file_holds_it_is_read_to_its_end(data: bytes, wrapping: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = file_of(Path(folder), WRAPPINGS[wrapping](data))
        for prefixes in (("",), ("item",), ("a.item", "b")):
            list(file.values(*prefixes))
        list(file.lines())
        head = Head(file)
        assert isinstance(head.keys | head.columns | head.members, frozenset)


# -- recognition -------------------------------------------------------------------------------------


def test_keys_are_found_in_documents_lines_and_beginnings(tmp_path: Path) -> None:
    documents: list[dict[str, Any]] = [{"rows": [{"toy": "row", "deep": {"a": [{"b": 1}]}}]}, {"other": 1}]
    whole = Head(file_of(tmp_path, documents[0]))
    lines = Head(file_of(tmp_path, json_lines(*documents)))
    begun = Head(file_of(tmp_path, json.dumps({**documents[0], "z": "x" * 1000}, indent=1)), 200)
    for head in (whole, lines, begun):
        assert head.has("rows", "rows.item.toy", "rows.item.deep.a")
    assert lines.has("other")
    assert not whole.has("other")
    assert not begun.complete


def test_a_line_inside_an_indented_document_is_no_document(tmp_path: Path) -> None:
    text = '{\n "list": [\n  {},\n  {}\n ],\n "toy": 1,\n "z": "' + "x" * 1000 + '"\n}'
    assert Head(file_of(tmp_path, text), 300).has("list", "toy")


def test_keys_behind_a_large_payload_are_found(tmp_path: Path) -> None:
    path = write(tmp_path, "f.json", {"rows": [{"payload": "x" * 500_000, "toy": "silent"}]})
    (source,) = find_sources([path])
    assert recognise(source) is TOY


def test_events_in_normal_form_are_known_by_their_keys_not_by_words(tmp_path: Path) -> None:
    own = write(tmp_path, "own.jsonl", json_lines({"event": "step", "schema_version": 1, "toy": 1}))
    words = write(tmp_path, "words.jsonl", json_lines(row("r", tool='"event" "schema_version"')))
    sources = {source.path.name: source for source in find_sources([own, words])}
    assert recognise(sources["own.jsonl"]) is None
    assert recognise(sources["words.jsonl"]) is TOY


def test_a_folder_gives_known_files_and_leaves_out_those_looked_at_for_their_name(tmp_path: Path) -> None:
    write(tmp_path, "a.json", row("a"))
    write(tmp_path, "b.toy", row("b"))
    write(tmp_path, "c.toy", b"nothing of ours")
    write(tmp_path, "d.txt", row("d"))
    write(tmp_path, "e.jsonl", b"{}\n")
    named = write(tmp_path / "named", "f.txt", row("f"))
    own, found = told_apart(find_sources([tmp_path, named], foreign=(".toy",)), None)
    assert [source.path.name for source, _ in found] == ["a.json", "b.toy", "f.txt"]
    assert [source.path.name for source in own] == ["e.jsonl"]


def test_a_file_that_is_gone_is_passed_over(tmp_path: Path) -> None:
    paths = [write(tmp_path, f"{name}.json", row(name)) for name in "abc"]
    sources = find_sources(paths)
    paths[0].unlink()
    own, found = told_apart(sources, None)
    assert [source.path for source in own] == paths[:1]
    paths[1].unlink()
    staged = stage_foreign(found, tmp_path / "s", naming=Naming())
    assert_adds_up(staged)
    assert ([source.path for source in staged.skipped], staged.accepted) == (paths[1:2], 3)


# -- items -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [ValueError, TypeError, KeyError, AttributeError, ZeroDivisionError, RecursionError])
def test_an_item_of_another_shape_is_refused_without_a_value_of_it(fault: type[Exception]) -> None:
    def make(_: Any) -> Iterator[dict[str, Any]]:
        yield {"event": "step"}
        raise fault("a secret")

    found = item(Origin(0, 1), make, {})
    assert found.events == ()
    assert found.refusal == Refusal("unreadable_item", f"not shaped as its format is ({fault.__name__})")


def test_a_reader_that_trips_stops_no_other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def trips(reading: Reading) -> Iterator[Item]:
        for number, found in enumerate(_read(reading)):
            if number == 2:
                raise RuntimeError("a secret")
            yield found

    form = Format("trips", "", "", "", "", lambda _: True, trips)
    monkeypatch.setattr(registry, "formats", lambda: {"trips": form})
    paths = [write(tmp_path, f"{n}.jsonl", json_lines(*(row(f"r{n}{i}") for i in range(5)))) for n in range(2)]
    staged = stage(tmp_path / "s", *paths)
    assert_adds_up(staged)
    assert (staged.accepted, staged.quarantined) == (12, 2)
    details = {r["detail"] for r in staged.quarantine_rows()}
    assert details == {"and what follows it: not shaped as its format (RuntimeError)"}


def test_items_are_kept_whole_or_refused_whole_and_counted(tmp_path: Path) -> None:
    rows = [row("a"), row("b", kind="nonsense"), {"toy": "silent"}, {"toy": "refuse"}, {"toy": "row"}, [], row("c")]
    staged = stage(tmp_path / "s", write(tmp_path, "f.jsonl", json_lines(*rows) + b'{"to'), form="toy")
    assert_adds_up(staged)
    assert (staged.accepted, staged.quarantined, staged.pending, staged.ignored) == (6, 4, 1, 1)
    assert refusals(staged) == [(4, "no_id"), (5, "unreadable_item"), (6, "unreadable_item"), (2, "schema")]
    assert {event["run_id"] for event in events(staged)} == {"a", "c"}


@given(st.lists(st.lists(st.sampled_from(["good", "bad", "odd"]), max_size=4), max_size=6))
def test_events_proved_together_and_one_by_one_are_the_same(kinds: list[list[str]]) -> None:
    judge = Judge(Limits(), shape_folders(None))
    make = Maker("toy")

    def event(kind: str, number: int) -> dict[str, Any]:
        made = make.run_started(f"r{number}", AT, Named("w"))
        return {"good": made, "bad": made | {"purpose": "x"}, "odd": made | {"labels": {"a": 1 << 70}}}[kind]

    items = [
        Item(Origin(0, n), [event(kind, n * 10 + i) for i, kind in enumerate(of_item)])
        for n, of_item in enumerate(kinds)
    ]
    for found, verdict in judged(judge, items):
        of_item = kinds[found.origin.number]
        if isinstance(verdict, Refusal):
            assert not of_item or set(of_item) != {"good"}
        else:
            assert [json.loads(line)["run_id"] for _, line in verdict] == [e["run_id"] for e in found.events]
            assert set(of_item) == {"good"}


# -- times and keys ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "unit", "want"),
    [
        ("2030-01-01T12:00:00", None, "2030-01-01T12:00:00.000000Z"),
        ("2030-01-01 12:00:00.123456789", None, "2030-01-01T12:00:00.123456Z"),
        ("2030-01-01T12:00:00+02:00", None, "2030-01-01T10:00:00.000000Z"),
        ("2030-01-01 12:00:00 UTC", None, "2030-01-01T12:00:00.000000Z"),
        (1893499200, "s", "2030-01-01T12:00:00.000000Z"),
        ("1893499200000", "ms", "2030-01-01T12:00:00.000000Z"),
        (1893499200000000001, "ns", "2030-01-01T12:00:00.000000Z"),
        ("1893499200.5", "s", "2030-01-01T12:00:00.500000Z"),
        (1893499200.25, "s", "2030-01-01T12:00:00.250000Z"),
    ],
)
def test_times(value: Any, unit: Any, want: str) -> None:
    assert instant(value, unit) == want


@pytest.mark.parametrize(
    ("value", "unit"),
    [(None, None), ("", None), ("soon", None), (5, None), (True, "s"), (0, "s"), (10**40, "s"), (float("nan"), "s"),
     (float("inf"), "ms"), ("1999-12-31T23:59:59Z", None), ("2100-01-01T00:00:00Z", None), ([], "s"), ({}, None),
     ("9999-12-31T23:59:59-23:59", None), ("0001-01-01T00:00:00+23:59", None)],
)  # fmt: skip
def test_what_is_no_time_is_refused(value: Any, unit: Any) -> None:
    with pytest.raises(Refused) as raised:
        instant(value, unit)
    assert raised.value.refusal.reason == "no_time"


@given(
    st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.booleans()),
    st.sampled_from(["s", "ms", "us", "ns", None]),
)
def test_no_value_makes_a_time_fail(value: Any, unit: Any) -> None:
    found = time_of(value, unit)
    assert found is None or found.utcoffset() is not None
    assert milliseconds(value, value, unit) in {0, None}


def test_an_id_that_may_not_be_stored_is_its_digest() -> None:
    assert (key("abc"), key(12), key(""), key(None), key(True)) == ("abc", "12", None, None, None)
    sentence = key("Dear Mrs Miller")
    assert sentence is not None
    assert (len(sentence), key("Dear Mrs Miller"), key("Dear Mr Miller") == sentence) == (32, sentence, False)
    assert key("\ud800") is not None


def test_the_longest_id_leaves_room_for_the_ids_made_of_it(tmp_path: Path) -> None:
    rows = [row("x" * length) for length in range(180, 210)]
    staged = stage(tmp_path / "s", write(tmp_path, "f.jsonl", json_lines(*rows)))
    assert (staged.accepted, staged.quarantined) == (90, 0)


# -- through the whole flow --------------------------------------------------------------------------


def test_the_same_file_twice_split_or_in_another_order_gives_the_same_tables(tmp_path: Path) -> None:
    rows = [row(f"r{number}", service="shop") for number in range(6)]
    homes = [Home(tmp_path / name) for name in ("once", "twice", "split")]
    whole = write(tmp_path, "whole.jsonl", json_lines(*rows))
    homes[0].take(whole)
    homes[1].take(whole)
    again = homes[1].take(whole).ingest
    assert (again.accepted, again.duplicates) == (18, 18)
    for name, part in (("b", rows[3:]), ("a", rows[:4])):
        homes[2].take(write(tmp_path, f"{name}.json", {"rows": part}))
    tables = [home.rows("SELECT run_id, workflow, status, steps FROM runs ORDER BY run_id") for home in homes]
    assert tables[0] == tables[1] == tables[2]
    assert len(tables[0]) == 6


def test_a_growing_file_is_read_further_by_the_next_ingest(tmp_path: Path) -> None:
    home, data = Home(tmp_path), json_lines(row("a"), row("b"))
    path = write(tmp_path, "live.jsonl", data[:-20])
    first = home.take(path).ingest
    assert (first.accepted, first.pending, first.quarantined) == (3, 1, 0)
    write(tmp_path, "live.jsonl", data)
    second = home.take(path).ingest
    assert (second.accepted, second.duplicates, second.pending) == (6, 3, 0)


def test_refused_items_stay_open_until_their_file_is_mended(tmp_path: Path) -> None:
    home = Home(tmp_path)
    bad = [row("b", kind="nonsense"), {"toy": "refuse"}]
    path = write(tmp_path, "f.json", {"rows": [row("a"), *bad]})
    lines = write(tmp_path, "f.jsonl", json_lines(row("c"), *bad))

    def states() -> list[tuple[str, str | None]]:
        rows = quarantine.load(home.settings, status=None)
        return sorted((Path(r["file"]).name, r["resolution"]) for r in rows if r["status"] != "x")

    for _ in range(2):
        home.take(path, lines, form="toy")
        assert states() == [("f.json", None)] * 2 + [("f.jsonl", None)] * 2 or len(states()) == 4
        assert {row_["resolution"] for row_ in quarantine.load(home.settings, status=None)} == {None}
    write(tmp_path, "f.json", {"rows": [row("a"), row("b")]})
    write(tmp_path, "f.jsonl", json_lines(row("c"), row("d")))
    home.take(path, lines)
    assert {row_["resolution"] for row_ in quarantine.load(home.settings, status=None)} == {"mended"}


def test_a_mended_reader_takes_refused_items_by_retry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def strict(reading: Reading) -> Iterator[Item]:
        yield from each(reading.file.lines(), lambda content: [content["nothing"]])

    old = Format("toy", "", "", "", "", TOY.recognises, strict)
    monkeypatch.setattr(registry, "formats", lambda: {"toy": old})
    home = Home(tmp_path)
    path = write(tmp_path, "f.jsonl", json_lines(row("a"), row("b")))
    assert home.take(path).ingest.quarantined == 2
    found, line = quarantine.find(home.settings, quarantine.load(home.settings)[0]["line_sha256"])
    assert (found["mapping"], line) == ("format:toy", json_lines(row("a")).strip())
    with exclusive(home.settings):
        assert retry(home.settings).refused == 2
    monkeypatch.setattr(registry, "formats", lambda: {"toy": TOY})
    with exclusive(home.settings):
        assert retry(home.settings).accepted == 2
    assert home.take().ingest.read == 0
    assert home.one("SELECT count(*) FROM runs") == (2,)


def test_names_come_from_the_rules_and_the_others_are_counted(tmp_path: Path) -> None:
    home = Home(tmp_path, naming="naming: 1\nrules: [{when: {service: shop}, workflow: orders, tenant: acme}]")
    taken = home.take(write(tmp_path, "f.jsonl", json_lines(row("a", service="shop"), row("b")))).ingest
    assert taken.unmapped == {"toy": 1}
    found = home.rows("SELECT run_id, workflow, tenant FROM runs ORDER BY run_id")
    assert [tuple(r.values()) for r in found] == [("a", "orders", "acme"), ("b", "toy", None)]


def test_many_files_share_their_staged_files(tmp_path: Path) -> None:
    paths = [write(tmp_path, f"{number}.json", row(f"r{number}")) for number in range(50)]
    paths.append(write(tmp_path, "bad.json", {"toy": "refuse"}))
    reports: list[Any] = []
    _, found = told_apart(find_sources(paths), None)
    staged = foreign.stage_foreign(found, tmp_path / "s", naming=Naming(), on_progress=reports.append)
    assert_adds_up(staged)
    assert {event: len(files_) for event, files_ in staged.files.items()} == {
        "run_started": 1,
        "step": 1,
        "run_finished": 1,
    }
    assert [Path(r["file"]).name for r in staged.quarantine_rows()] == ["bad.json"]
    assert (reports[-1].bytes_done, reports[-1].read, reports[-1].quarantined) == (reports[-1].bytes_total, 151, 1)


def test_what_was_forgotten_does_not_come_back_with_its_file(tmp_path: Path) -> None:
    home = Home(tmp_path, naming="naming: 1\nrules: [{workflow: orders, tenant: {from: service}}]")
    path = write(tmp_path, "f.jsonl", json_lines(row("a", service="acme-gone"), row("b", service="other")))
    home.take(path)
    forget(home.settings, "tenant", "acme-gone", as_of=AS_OF)
    home.take(path)
    found = home.rows("SELECT tenant IS NULL OR tenant <> 'acme-gone' AS gone, workflow FROM runs ORDER BY run_id")
    assert [tuple(r.values()) for r in found] == [(True, "orders"), (True, "orders")]
    stored = [file.read_bytes() for file in home.settings.home.rglob("*") if file.is_file()]
    assert not any(b"acme-gone" in data for data in stored)
