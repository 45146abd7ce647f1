"""`calls`, `summary` and `check` on real captures: of a JAX program, and of one with deliberate misuse."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.index import Index, Store
from framedex.ingest import SilentProgress, ingest_captures
from framedex.programs.objects import ViolationKind
from tests.indexer.commands.small_captures import write_put
from tests.running import PROGRAMS, TIMEOUT, Run, mock_environment
from tests.running import run as run_recorded

PUT = "PJRT_Client_BufferFromHostBuffer"
MIB = 1 << 20


@dataclass(frozen=True)
class Recorded:
    """A recorded and indexed program."""

    program: Run
    index: Path

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(cli, ["--index", str(self.index), *arguments])

    def read(self, *arguments: str) -> Any:
        result = self.run(*arguments, "--json")
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """`conversation.py` on a device of 1 MiB."""
    return _recorded("conversation.py", tmp_path_factory.mktemp("talk"), FRAMEDEX_HBM=str(MIB))


@pytest.fixture(scope="module")
def misuse(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """`misuse.py`, which makes every detected mistake."""
    return _recorded("misuse.py", tmp_path_factory.mktemp("misuse"))


def _recorded(program: str, folder: Path, **environment: str) -> Recorded:
    return _index(run_recorded(program, folder=folder, **environment), folder)


def _index(ran: Run, folder: Path) -> Recorded:
    assert ran.status == 0, ran.stderr
    with Store(folder / "index.db") as store:
        ingest_captures(store, [ran.capture], [], SilentProgress())
    return Recorded(ran, folder / "index.db")


# --- the log ----------------------------------------------------------------------------------------------------------


def test_a_call_is_displayed_as_code_with_object_names(talk: Recorded) -> None:
    lines = talk.run("calls", "--all", "--limit", "0").stdout.splitlines()
    texts = [line.partition("  main  ")[2].strip() for line in lines]

    assert "PJRT_Client_Create() -> client#1" in texts
    assert any(
        text.startswith(f"{PUT}(client#1, F32[2,3] 24 B, memory#") and text.endswith("-> event#1, buffer#1")
        for text in texts
    )
    assert "PJRT_Buffer_Device(buffer#1) -> device#0" in texts
    assert "PJRT_Buffer_Dimensions(buffer#1) -> [2, 3]" in texts
    assert not any("0x" in text for text in texts)
    assert any(
        text.startswith(f"{PUT}(client#1, S8[2097152] 2 MiB") and "-> RESOURCE_EXHAUSTED: " in text for text in texts
    )


def test_a_nested_call_is_indented(talk: Recorded) -> None:
    calls = talk.read("calls", "--limit", "0")["calls"]
    lines = talk.run("calls", "--all", "--limit", "0").stdout.splitlines()[2:]

    inside = next(call for call in calls if call["function"] == "DeviceMemory::Allocate")
    outside = next(call for call in calls if call["id"] == inside["parent"])
    assert outside["function"] == PUT
    place = lines[outside["id"] - 1].index(PUT)
    assert lines[inside["id"] - 1].index("DeviceMemory::Allocate") == place + 2


def test_the_history_of_an_object_has_only_its_calls(talk: Recorded) -> None:
    """With reused addresses, an object's calls are those of one lifetime."""
    calls = talk.read("calls", "--object", "buffer#7", "--limit", "0")["calls"]

    assert (calls[0]["function"], calls[0]["objects"]["buffer"]) == (PUT, "buffer#7")
    assert calls[-1]["function"] == "PJRT_Buffer_Destroy"
    assert all("buffer#7" in call["objects"].values() for call in calls)
    addresses = {call["arguments"]["buffer"] for call in talk.read("calls", "--function", PUT)["calls"][:50]}
    assert len(addresses) < 50


@pytest.mark.exhaustive(keep=["buffer", "buffer#999999"])
@pytest.mark.parametrize("name", ["buffer", "buffer#999999", "nothing#1", "0x1234"])
def test_an_unknown_object_is_an_error_with_a_remedy(talk: Recorded, name: str) -> None:
    result = talk.run("calls", "--object", name)

    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) >= 2


def test_functions_are_selected_by_substring_or_pattern(talk: Recorded) -> None:
    def functions(value: str) -> set[str]:
        return {call["function"] for call in talk.read("calls", "--function", value, "--limit", "0")["calls"]}

    assert functions("Buffer_Delete,Client_Create") == {"PJRT_Buffer_Delete", "PJRT_Client_Create"}
    assert functions("PJRT_Buffer_De[ls]*") == {"PJRT_Buffer_Delete", "PJRT_Buffer_Destroy"}
    assert functions("*Free") == {"DeviceMemory::Free"}


def test_slow_calls_exceed_the_threshold(talk: Recorded) -> None:
    durations = [call["duration"] for call in talk.read("calls", "--limit", "0")["calls"]]
    limit = sorted(durations)[-3]

    assert talk.read("calls", "--slower", f"{limit}ns")["total"] == sum(duration > limit for duration in durations)


def test_a_repeated_loop_is_shown_once(talk: Recorded) -> None:
    """A loop of fifty transfers with the same calls is shown as one sequence."""
    whole = talk.run("calls", "--all", "--limit", "0").stdout.splitlines()
    grouped = talk.run("calls", "--all", "--limit", "0", "--group").stdout.splitlines()

    assert len(grouped) < len(whole) / 3
    put = next(row for row, line in enumerate(grouped) if PUT in line and ("┐" in line or "│" in line))
    first = next(line for line in reversed(grouped[: put + 1]) if "┐" in line)
    assert int(first.split("x ")[1].split()[0]) >= 48
    assert grouped[put + 1].split("  ")[-1] == "DeviceMemory::Allocate(device=0, bytes=4 B)"


def test_programs_transfers_and_errors_come_first(talk: Recorded) -> None:
    """Queries, waits and destructors are hidden, and the output says so."""
    result = talk.run("calls", "--limit", "0")
    every = talk.read("calls", "--limit", "0")["calls"]

    shown = {int(line.split()[0]) for line in result.stdout.splitlines()[2:]}
    assert {call["id"] for call in every if call["error"]} <= shown
    named = {call["function"] for call in every if call["id"] in shown and not call["error"]}
    assert PUT in named
    assert not named & {"PJRT_Buffer_Destroy", "PJRT_Buffer_Device", "PJRT_Event_OnReady", "DeviceMemory::Allocate"}
    assert f"{len(every) - len(shown):,} other calls not shown" in result.stderr
    assert "--all" in result.stderr


@pytest.mark.parametrize("chosen", [("--function", "Buffer_Device"), ("--since", "0s"), ("--all",)])
def test_a_filter_lists_every_matching_call(talk: Recorded, chosen: tuple[str, ...]) -> None:
    result = talk.run("calls", *chosen, "--limit", "0")

    assert "PJRT_Buffer_Device" in result.stdout
    assert "not shown" not in result.stderr


def test_group_is_refused_with_json(talk: Recorded) -> None:
    assert talk.run("calls", "--group", "--json").exit_code == 2


def test_a_call_shows_its_program_line_or_its_whole_stack(talk: Recorded) -> None:
    program = PROGRAMS / "conversation.py"
    line = 1 + program.read_text().splitlines().index("deleted.delete()")

    short = talk.run("calls", "--function", "Buffer_Delete", "--stack", "line").stdout.splitlines()
    full = talk.run("calls", "--function", "Buffer_Delete", "--stack", "full").stdout

    assert short[-1].strip() == f"{program}:{line} in <module>"
    assert f"{program}:{line}" in full and "  N PJRT_Buffer_Delete " in full
    (call,) = talk.read("calls", "--function", "Buffer_Delete", "--stack", "line")["calls"]
    place = call["line"]["location"]
    assert (place["path"], place["line"], place["how"], place["stale"]) == (str(program), line, "exact", None)


# --- the totals -------------------------------------------------------------------------------------------------------


def test_totals_equal_the_sums_of_the_calls(talk: Recorded) -> None:
    calls = talk.read("calls", "--function", PUT, "--limit", "0")["calls"]
    durations = sorted(call["duration"] for call in calls)

    (totals,) = (each for each in talk.read("summary")["functions"] if each["function"] == PUT)

    assert (totals["calls"], totals["errors"], totals["never_returned"]) == (len(calls), 1, 0)
    assert totals["total"] == sum(durations)
    assert totals["median"] == durations[(len(durations) + 1) // 2 - 1]
    assert totals["p99"] == totals["longest"] == durations[-1]
    assert totals["longest_call"] == max(calls, key=lambda call: call["duration"])["id"]


def test_own_time_excludes_nested_calls(talk: Recorded) -> None:
    calls = talk.read("calls", "--limit", "0")["calls"]
    inside = sum(call["duration"] for call in calls if call["function"] == "DeviceMemory::Allocate")

    (totals,) = talk.read("summary", "--function", PUT)["functions"]

    assert totals["self_time"] == totals["total"] - inside
    shares = [float(line.split()[0]) for line in talk.run("summary").stdout.splitlines()[2:-1]]
    assert sum(shares) == pytest.approx(100, abs=2)


def test_totals_of_a_function_do_not_depend_on_the_filter(talk: Recorded) -> None:
    all_totals = talk.read("summary")["functions"]

    shown = talk.read("summary", "--function", "PJRT_*")["functions"]

    assert shown == [each for each in all_totals if each["function"].startswith("PJRT_")]


def test_totals_are_sorted_and_split_by_thread_on_request(talk: Recorded) -> None:
    counts = [each["calls"] for each in talk.read("summary", "--sort", "calls")["functions"]]
    names = [each["function"] for each in talk.read("summary", "--sort", "name")["functions"]]

    assert counts == sorted(counts, reverse=True)
    assert names == sorted(names)
    assert {each["thread"] for each in talk.read("summary", "--by-thread")["functions"]} >= {"main"}
    _, head, *rows = talk.run("summary", "--by-thread").stdout.splitlines()
    assert head.endswith("  function") and "  thread  " in head
    assert all(row[head.index("function") - 2 :].startswith("  ") for row in rows[:-1])


def test_empty_totals_say_so(talk: Recorded) -> None:
    result = talk.run("summary", "--function", "no_such_function")

    assert result.exit_code == 1 and "No called function has no_such_function" in result.stderr


# --- the check --------------------------------------------------------------------------------------------------------


def test_a_correct_program_has_only_its_errors(talk: Recorded) -> None:
    findings = talk.read("check")["findings"]

    errors = {finding["function"]: finding for finding in findings if finding["kind"] == "error"}
    assert not [finding for finding in findings if finding["severity"] != "note" and finding["kind"] != "error"]
    assert errors.keys() == {PUT, "DeviceMemory::Allocate"}
    error = errors[PUT]
    assert error["count"] == 1
    assert "RESOURCE_EXHAUSTED" in error["message"]
    assert error["line"]["location"]["path"] == str(PROGRAMS / "conversation.py")
    assert f" trace {error['call']}\n" in talk.run("check").stdout


def test_every_misuse_is_reported_with_its_call(misuse: Recorded) -> None:
    lines: dict[str, int] = misuse.program.result
    findings = {finding["kind"]: finding for finding in misuse.read("check")["findings"]}

    assert set(lines) == set(ViolationKind)
    with Index.open(misuse.index) as index:
        for kind, line in lines.items():
            trace = index.calls.trace(findings[kind]["call"])
            assert trace is not None
            places = [frame.location for frame in trace.frames if frame.location is not None]
            assert (str(PROGRAMS / "misuse.py"), line) in {(place.path, place.line) for place in places}, kind
            assert (findings[kind]["earlier_call"] is None) is (kind == "unknown-destroy")


def test_objects_leaked_by_the_client_are_distinguished_from_live_ones(misuse: Recorded) -> None:
    findings = misuse.read("check", "--only", "leak", "--only", "alive")["findings"]

    (leak,) = [finding for finding in findings if finding["kind"] == "leak"]
    assert (leak["function"], leak["count"], leak["size"]) == (PUT, 3, 72)
    assert leak["message"].endswith("(3 of 3)") and len(leak["objects"]) == 3
    alive = {finding["function"]: finding["objects"] for finding in findings if finding["kind"] == "alive"}
    assert alive["PJRT_Client_Create"] == ["client#2"]
    assert len(alive[PUT]) == 1


def test_unfinished_calls_and_missing_functions_are_reported(misuse: Recorded) -> None:
    findings = {finding["kind"]: finding for finding in misuse.read("check")["findings"]}

    assert findings["never-returned"]["function"] == "PJRT_Event_Await"
    assert findings["unimplemented"]["function"] == "PJRT_Device_PoisonExecution"
    assert findings["unimplemented"]["severity"] == "note"


def test_the_exit_status_serves_ci(misuse: Recorded, talk: Recorded) -> None:
    assert misuse.run("check").exit_code == 0
    assert misuse.run("check", "--exit-code").exit_code == 1
    assert misuse.run("check", "--exit-code", "--only", "alive").exit_code == 0
    assert talk.run("check", "--exit-code", "--ignore", "error").exit_code == 0
    assert misuse.run("check", "--exit-code", "--json").exit_code == 1


def test_a_filtered_recording_has_no_object_findings(tmp_path: Path) -> None:
    program = write_put(tmp_path / "put.py", 'table.call("PJRT_Client_Destroy", client=client)')
    environment = mock_environment(tmp_path) | {"FRAMEDEX_EXCLUDE": "PJRT_Buffer_Destroy"}
    partly = _index(Run.of([sys.executable, str(program)], tmp_path, environment, TIMEOUT), tmp_path)

    found = partly.read("check")

    assert not any(finding["kind"] in {"leak", *ViolationKind} for finding in found["findings"])
    assert "FRAMEDEX_EXCLUDE" in found["unjudged"][0]
    assert "FRAMEDEX_EXCLUDE" in partly.run("check").stderr
