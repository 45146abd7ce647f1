"""The verbs that read the index, as used by people and programs."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.index import Store
from framedex.ingest import CaptureFrameNamer
from tests.indexer.forgotten import forget_states
from tests.indexer.index.busy import busy_capture, record_of
from tests.indexer.recorded import Project
from tests.oracle.whole_captures import add_capture, add_whole

BOUNDARY = "PJRT_Client_BufferFromHostBuffer"


@pytest.fixture
def indexed(indexed_once: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The project that all tests read, as the current folder."""
    monkeypatch.chdir(indexed_once.folder)
    return indexed_once


@pytest.fixture
def own(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A test's own indexed project, as the current folder."""
    project.ingest(project.library.parent).close()
    monkeypatch.chdir(project.folder)
    return project


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def read(*arguments: str) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_calls_are_listed_with_arguments_and_thread(indexed: Project) -> None:
    lines = run("calls").stdout.splitlines()

    assert lines[0].startswith("Capture 1 of demo.py, ")
    assert [cell.strip() for cell in lines[2].split("  ") if cell] == [
        *("1", "0.000001", "500 ns", "MainThread (100)"),
        f"{BOUNDARY}(F32[2,3] 24 B)",
    ]
    assert "never returned" in lines[5]


def test_filters_combine(indexed: Project) -> None:
    shown = read("calls", "--through", "runtime.cc", "--since", "2us", "--until", "1s", "--function", "buffer")

    assert [call["id"] for call in shown["calls"]] == [2, 3]
    assert read("calls", "--errors")["total"] == 1
    none = run("calls", "--capture", "1", "--since", "1m", "--json")
    shown = json.loads(none.stdout)
    assert (none.exit_code, shown["total"], shown["calls"], shown["counted"]) == (1, 0, [], "chosen")


@pytest.mark.parametrize(
    "verb",
    [
        *(("where", "demo.py"), ("where", "demo.py:6"), ("callers", "put"), ("callees", "main"), ("find", "put")),
        *(("trace", BOUNDARY), ("summary",), ("calls", "--all"), ("check",)),
    ],
    ids=" ".join,
)
def test_a_capture_chosen_by_its_id_is_answered_as_if_it_were_alone(own: Project, verb: tuple[str, ...]) -> None:
    alone = read(*verb, "--capture", "1")
    with Store(own.index) as store:
        add_capture(store, busy_capture(own, "busy", 50), CaptureFrameNamer())

    assert read(*verb, "--capture", "1") == alone


def test_a_limit_of_thousands_shows_the_latest_calls(project: Project, tmp_path: Path) -> None:
    """More calls than are held in memory are shown incrementally, and are the latest."""
    with Store(tmp_path / "index.db") as store:
        add_whole(store, record_of(busy_capture(project, calls=6_000)), 700)

    shown = CliRunner().invoke(cli, ["--index", str(tmp_path / "index.db"), "calls", "--all", "--limit", "5500"])

    assert [int(line.split()[0]) for line in shown.stdout.splitlines()[2:]] == list(range(501, 6_001))


def test_a_limit_reports_the_number_of_omitted_calls(indexed: Project) -> None:
    result = run("calls", "--limit", "1")

    assert "latest 1 of 4" in result.stderr
    assert " 4  " in result.stdout.splitlines()[-1]


def test_a_malformed_time_is_a_usage_error(indexed: Project) -> None:
    for value in ("1x", "-1", "soon", "", "1e3"):
        result = run("calls", "--since", value)

        assert result.exit_code == 2, value
        assert "250us" in result.stderr


def test_a_trace_ends_with_the_most_recent_frame_and_can_be_reversed(indexed: Project) -> None:
    frames = _frames(run("trace", "1").stdout)

    assert [line.split()[1] for line in frames[:5]] == ["<module>", "main", "transfer", "put", "glue::convert"]
    assert f"{indexed.program}:{indexed.line('transfer(1)')}" in frames[1]
    assert frames[4].endswith("glue.cc:2 [definition]")
    assert frames[-1].endswith("[inlined]")
    assert _frames(run("trace", "1", "--first").stdout) == frames[::-1]


def test_a_source_edited_since_the_recording_is_marked(own: Project) -> None:
    os.utime(own.program)  # changes nothing in it
    assert str(own.program) not in run("trace", "1").stderr

    own.program.write_text(f"# new\n{own.program.read_text()}")
    told = run("trace", "1")
    assert (
        f"{own.program} has changed since the recording: its lines are shown at their current position." in told.stderr
    )
    assert f"[moved from line {own.line('transfer(1)')}]" in told.stdout

    forget_states(own.index)
    told = run("trace", "1")
    assert f"{own.program} has changed since the recording: its lines may have moved." in told.stderr
    assert "[file changed since]" in told.stdout


def test_the_trace_of_a_function_is_that_of_its_latest_call(indexed: Project) -> None:
    assert run("trace", "FromHost").stdout.startswith("call 3 ")
    assert read("trace", BOUNDARY)["call"]["id"] == 3


def test_an_unmerged_trace_shows_two_stacks_and_the_reason(indexed: Project) -> None:
    shown = run("trace", "4").stdout

    assert "Some Python frames have no interpreter frame on the native stack." in shown
    assert shown.index("\nnative frames\n") < shown.index("\nPython frames\n")
    document = read("trace", "4")
    assert (len(document["frames"]), len(document["python"])) == (2, 4)


def test_a_trace_document_is_written_completely(own: Project) -> None:
    result = run("trace", "1", "-o", "call.fdtrace")

    assert result.exit_code == 0
    assert (own.folder / "call.fdtrace").read_text().startswith("framedex trace, format 1\n")
    assert [path.name for path in own.folder.iterdir() if "fdtrace" in path.name] == ["call.fdtrace"]


def test_an_unwritable_trace_document_is_an_error_with_a_remedy(indexed: Project) -> None:
    result = run("trace", "1", "-o", "no/such/folder/call.fdtrace")

    assert result.exit_code == 1
    assert "-o" in result.stderr


def test_where_lists_the_lines_of_a_file_or_the_calls_of_a_line(indexed: Project) -> None:
    whole = run("where", "demo.py").stdout
    line = run("where", f"demo.py:{indexed.line('transfer(2)')}").stdout

    assert f"{indexed.program}:{indexed.line('# start')}  4 calls" in whole
    assert "framedex trace 3" in line and "from <module>" in line
    assert read("where", "demo.py:11")["summary"]["calls"] == 2
    heading, place, *_ = run("where", "glue.cc").stdout.splitlines()
    assert heading.startswith("Capture 1 of demo.py, ")
    assert place.startswith(str(indexed.library.with_name("glue.cc")))
    assert "No recorded call" in run("where", "demo.py:3").stderr


def test_where_accepts_locations_as_tools_print_them(own: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules, the home folder and path suffixes count, but not the folder of the querying process."""
    (own.folder / "framedex.toml").write_text('path-map = [{ from = "/their/app", to = "." }]\n')
    monkeypatch.setenv("HOME", str(own.folder))
    line = run("where", "demo.py:11").stdout
    ends = f"/other/{own.folder.name}/demo.py:11"
    for place in ("/their/app/demo.py:11", "//their/app/demo.py:11", "~/demo.py:11", ends):
        assert run("where", place).stdout == line
    assert run("where", f"/proc/self/root{own.program.parent.parent}/nothing.py:11").exit_code == 1
    assert run("where", "/proc/self/cwd/demo.py:11").exit_code == 1


def test_where_reports_that_a_file_has_changed(own: Project) -> None:
    """If a file's recorded state is unknown, every answer about it is marked, also empty ones."""
    forget_states(own.index)
    before = own.program.read_text()
    try:
        own.program.write_text(f"# new\n{before}")
        passed, unpassed, whole = (run("where", place) for place in ("demo.py:11", "demo.py:3", "demo.py"))
    finally:
        own.program.write_text(before)

    assert f"{own.program}:11 [file changed since]  2 calls" in passed.stdout
    assert "[file changed since]  4 calls" in whole.stdout
    for result in (passed, unpassed, whole):
        assert "has changed since the recording: its lines may have moved" in result.stderr


def test_an_empty_name_is_refused(indexed: Project) -> None:
    result = run("find", " ")
    assert result.exit_code == 1 and "name is empty" in result.stderr


def test_callers_are_shown_by_the_line_of_their_call(indexed: Project) -> None:
    """`transfer` is called on two lines of `main`, and neither is the first line of `main`."""
    sites = [indexed.line("transfer(1)"), indexed.line("transfer(2)")]

    _, *callers = run("callers", "transfer").stdout.splitlines()
    where = run("where", f"demo.py:{indexed.line('return put')}").stdout.splitlines()

    assert [line.split()[-1] for line in callers[1:]] == [f"{indexed.program}:{line}" for line in sites]
    assert sorted(line.split()[-1] for line in where if " from main " in line) == sorted(
        f"{indexed.program}:{line}" for line in sites
    )
    assert not any("(frame " in line for line in where)
    document = read("where", f"demo.py:{indexed.line('return put')}")
    assert sorted(caller["site"]["line"] for caller in document["summary"]["callers"]) == sorted(sites)


@pytest.mark.parametrize(
    ("place", "message"), [("nofile.py", "no file nofile.py"), ("demo.py:abc", "'abc' is not a line number")]
)
def test_a_malformed_location_is_an_error(indexed: Project, place: str, message: str) -> None:
    for options in ([], ["--json"]):
        result = run("where", place, *options)

        assert result.exit_code == 1 and result.stdout == ""
        assert message in result.stderr and len(result.stderr.splitlines()) >= 2


def test_a_recorded_file_is_found_by_its_displayed_name(project: Project) -> None:
    """A program whose name has a line break and an escape is found by its printed location."""
    odd = str(project.folder / "odd\n\x1b[31m name.py")
    codes = tuple(replace(code, filename=odd) for code in project.capture.codes)
    project.ingest(capture=replace(project.capture, codes=codes)).close()

    heading, *listed = _at(project, "where", odd).stdout.splitlines()
    place = listed[0].split("  ")[0].removesuffix(" [not here]")

    assert "\\x0a\\x1b" in place
    assert _at(project, "where", place).stdout.startswith(f"{heading}\n{place}")
    assert _at(project, "where", place.rpartition("/")[2]).stdout.startswith(f"{heading}\n{place}")


def test_json_output_of_frames_and_calls_equals_the_text(own: Project) -> None:
    before = own.library_source.stat()
    own.library_source.touch()
    try:
        frames = read("trace", "3")["frames"]
        call = read("trace", "3")["call"]
    finally:  # it is also the source of other projects
        os.utime(own.library_source, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert all(frame["source_is_here"] for frame in frames)
    assert (call["error_name"], call["thread"], call["tid"]) == ("RESOURCE_EXHAUSTED", "MainThread (100)", 100)
    own.program.unlink()
    assert not read("trace", "3")["frames"][0]["source_is_here"]
    assert "[not here]" in run("trace", "3").stdout


def test_calls_are_filtered_by_the_displayed_thread(indexed: Project) -> None:
    for thread in ("MainThread (100)", "mainthread", "100"):
        assert read("calls", "--thread", thread)["total"] == 3


def test_a_hint_names_the_missing_part(own: Project) -> None:
    """Without an indexed source folder, frames that sources could resolve are shown by their binary."""
    bare = own.folder / "bare.db"
    with Store(bare) as store:
        add_capture(store, own.capture, CaptureFrameNamer())

    told = CliRunner().invoke(cli, ["--index", str(bare), "trace", "1"]).stderr

    assert "1 named frame of libglue.so without source here. `framedex --index " in told
    assert " index --source DIR` links them" in told
    assert "xla" not in told
    assert "without source" not in run("trace", "1").stderr


def test_callers_and_callees_cross_between_python_and_native_code(indexed: Project) -> None:
    callers, callees = run("callers", "convert").stdout, run("callees", "put").stdout

    assert callers.splitlines()[2].split()[:2] == ["3", "put"]
    assert f"{indexed.program}:{indexed.line('return value')}" in callers
    assert "glue::convert" in callees
    document = read("callers", "convert")["functions"][0]
    assert document["function"]["name"] == "glue::convert"
    assert document["callers"][0]["function"]["name"] == "put"


def test_captures_are_listed(indexed: Project) -> None:
    assert "4 calls, 3 stacks, gone  python demo.py" in run("captures", "--all").stdout
    assert read("captures", "--all")["captures"][0]["calls"] == 4


@pytest.mark.parametrize(
    "arguments",
    [
        ("trace", "99"),
        ("trace", "nothing"),
        ("callers", "nothing"),
        ("trace", "9" * 30),
        ("trace", "PJRT"),
        ("calls", "--capture", "99"),
    ],
)
def test_an_unknown_id_is_an_error_with_a_remedy(indexed: Project, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)

    assert result.exit_code == 1
    assert result.stdout == ""
    message, remedy = result.stderr.splitlines()[:2]
    assert message.startswith("framedex: ")
    assert remedy.strip()


def test_without_an_index_the_error_says_how_to_create_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    result = run("calls")

    assert result.exit_code == 1
    assert "framedex run" in result.stderr


def test_an_external_index_can_be_named(indexed: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")

    result = CliRunner().invoke(cli, ["--index", str(indexed.index), "where", str(indexed.program)])

    assert result.exit_code == 0, result.stderr
    assert list(elsewhere.iterdir()) == []


def _at(project: Project, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["--index", str(project.index), *arguments])


def _frames(shown: str) -> list[str]:
    return shown.split("\n\n", 1)[1].splitlines()


def test_symbols_are_found_by_substring(indexed: Project) -> None:
    found = read("find", "FromHostBuffer")["symbols"]

    assert {symbol["kind"] for symbol in found} >= {"boundary", "function"}
    assert "boundary" in run("find", "fromhost").stdout
    assert "More symbols match" in run("find", "p", "--limit", "1").stderr
    assert "No name in the index" in run("find", "no such name").stderr
