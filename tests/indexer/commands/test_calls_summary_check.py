"""`calls`, `summary` and `check` on real captures: of a JAX program, and of one that misuses the runtime on purpose."""

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
from framedex.objects import ViolationKind
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
    """`misuse.py`, which does everything that is wrong."""
    return _recorded("misuse.py", tmp_path_factory.mktemp("misuse"))


def _recorded(program: str, folder: Path, **environment: str) -> Recorded:
    return _index(run_recorded(program, folder=folder, **environment), folder)


def _index(ran: Run, folder: Path) -> Recorded:
    assert ran.status == 0, ran.stderr
    with Store(folder / "index.db") as store:
        ingest_captures(store, [ran.capture], [], SilentProgress())
    return Recorded(ran, folder / "index.db")


# --- the log ----------------------------------------------------------------------------------------------------------


def test_a_call_reads_like_code_with_names_for_objects(talk: Recorded) -> None:
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


def test_a_call_made_inside_another_is_indented_below_it(talk: Recorded) -> None:
    calls = talk.read("calls", "--limit", "0")["calls"]
    lines = talk.run("calls", "--all", "--limit", "0").stdout.splitlines()[2:]

    inside = next(call for call in calls if call["function"] == "DeviceMemory::Allocate")
    outside = next(call for call in calls if call["id"] == inside["parent"])
    assert outside["function"] == PUT
    place = lines[outside["id"] - 1].index(PUT)
    assert lines[inside["id"] - 1].index("DeviceMemory::Allocate") == place + 2


def test_the_life_of_an_object_is_its_calls_and_no_others(talk: Recorded) -> None:
    """Given addresses that were used again and again, then an object's calls are those of one life."""
    calls = talk.read("calls", "--object", "buffer#7", "--limit", "0")["calls"]

    assert (calls[0]["function"], calls[0]["objects"]["buffer"]) == (PUT, "buffer#7")
    assert calls[-1]["function"] == "PJRT_Buffer_Destroy"
    assert all("buffer#7" in call["objects"].values() for call in calls)
    addresses = {call["arguments"]["buffer"] for call in talk.read("calls", "--function", PUT)["calls"][:50]}
    assert len(addresses) < 50


@pytest.mark.exhaustive(keep=["buffer", "buffer#999999"])
@pytest.mark.parametrize("name", ["buffer", "buffer#999999", "nothing#1", "0x1234"])
def test_an_object_that_is_none_is_an_error_with_a_remedy(talk: Recorded, name: str) -> None:
    result = talk.run("calls", "--object", name)

    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) >= 2


def test_functions_are_chosen_by_parts_of_names_and_patterns(talk: Recorded) -> None:
    def functions(value: str) -> set[str]:
        return {call["function"] for call in talk.read("calls", "--function", value, "--limit", "0")["calls"]}

    assert functions("Buffer_Delete,Client_Create") == {"PJRT_Buffer_Delete", "PJRT_Client_Create"}
    assert functions("PJRT_Buffer_De[ls]*") == {"PJRT_Buffer_Delete", "PJRT_Buffer_Destroy"}
    assert functions("*Free") == {"DeviceMemory::Free"}


def test_slow_calls_are_those_that_took_longer(talk: Recorded) -> None:
    durations = [call["duration"] for call in talk.read("calls", "--limit", "0")["calls"]]
    limit = sorted(durations)[-3]

    assert talk.read("calls", "--slower", f"{limit}ns")["total"] == sum(duration > limit for duration in durations)


def test_a_loop_is_shown_once(talk: Recorded) -> None:
    """Given a loop of fifty transfers, each the same sequence of calls, then that sequence is shown once."""
    whole = talk.run("calls", "--all", "--limit", "0").stdout.splitlines()
    grouped = talk.run("calls", "--all", "--limit", "0", "--group").stdout.splitlines()

    assert len(grouped) < len(whole) / 3
    put = next(row for row, line in enumerate(grouped) if PUT in line and ("┐" in line or "│" in line))
    first = next(line for line in reversed(grouped[: put + 1]) if "┐" in line)
    assert int(first.split("x ")[1].split()[0]) >= 48
    assert grouped[put + 1].split("  ")[-1] == "DeviceMemory::Allocate(device=0, bytes=4 B)"


def test_what_is_shown_first_are_programs_transfers_and_errors(talk: Recorded) -> None:
    """Given a program that asks, waits and cleans up as well, then that is left out, and said to be."""
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
def test_who_chooses_calls_gets_every_one_that_passes(talk: Recorded, chosen: tuple[str, ...]) -> None:
    result = talk.run("calls", *chosen, "--limit", "0")

    assert "PJRT_Buffer_Device" in result.stdout
    assert "not shown" not in result.stderr


def test_a_group_is_not_for_programs(talk: Recorded) -> None:
    assert talk.run("calls", "--group", "--json").exit_code == 2


def test_below_a_call_is_the_line_that_led_to_it_or_its_whole_stack(talk: Recorded) -> None:
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


def test_totals_are_those_of_the_calls(talk: Recorded) -> None:
    calls = talk.read("calls", "--function", PUT, "--limit", "0")["calls"]
    durations = sorted(call["duration"] for call in calls)

    (totals,) = (each for each in talk.read("summary")["functions"] if each["function"] == PUT)

    assert (totals["calls"], totals["errors"], totals["never_returned"]) == (len(calls), 1, 0)
    assert totals["total"] == sum(durations)
    assert totals["median"] == durations[(len(durations) + 1) // 2 - 1]
    assert totals["p99"] == totals["longest"] == durations[-1]
    assert totals["longest_call"] == max(calls, key=lambda call: call["duration"])["id"]


def test_time_in_calls_made_inside_is_not_a_functions_own(talk: Recorded) -> None:
    calls = talk.read("calls", "--limit", "0")["calls"]
    inside = sum(call["duration"] for call in calls if call["function"] == "DeviceMemory::Allocate")

    (totals,) = talk.read("summary", "--function", PUT)["functions"]

    assert totals["self_time"] == totals["total"] - inside
    shares = [float(line.split()[0]) for line in talk.run("summary").stdout.splitlines()[2:-1]]
    assert sum(shares) == pytest.approx(100, abs=2)


def test_a_functions_totals_are_the_same_whichever_others_are_asked_for(talk: Recorded) -> None:
    all_totals = talk.read("summary")["functions"]

    shown = talk.read("summary", "--function", "PJRT_*")["functions"]

    assert shown == [each for each in all_totals if each["function"].startswith("PJRT_")]


def test_totals_are_ordered_and_told_by_thread_on_demand(talk: Recorded) -> None:
    counts = [each["calls"] for each in talk.read("summary", "--sort", "calls")["functions"]]
    names = [each["function"] for each in talk.read("summary", "--sort", "name")["functions"]]

    assert counts == sorted(counts, reverse=True)
    assert names == sorted(names)
    assert {each["thread"] for each in talk.read("summary", "--by-thread")["functions"]} >= {"main"}
    _, head, *rows = talk.run("summary", "--by-thread").stdout.splitlines()
    assert head.endswith("  function") and "  thread  " in head
    assert all(row[head.index("function") - 2 :].startswith("  ") for row in rows[:-1])


def test_totals_of_nothing_say_so(talk: Recorded) -> None:
    result = talk.run("summary", "--function", "no_such_function")

    assert result.exit_code == 1 and "No called function has no_such_function" in result.stderr


# --- the check --------------------------------------------------------------------------------------------------------


def test_a_program_that_does_nothing_wrong_has_its_errors_only(talk: Recorded) -> None:
    findings = talk.read("check")["findings"]

    errors = {finding["function"]: finding for finding in findings if finding["kind"] == "error"}
    assert not [finding for finding in findings if finding["severity"] != "note" and finding["kind"] != "error"]
    assert errors.keys() == {PUT, "DeviceMemory::Allocate"}
    error = errors[PUT]
    assert error["count"] == 1
    assert "RESOURCE_EXHAUSTED" in error["message"]
    assert error["line"]["location"]["path"] == str(PROGRAMS / "conversation.py")
    assert f" trace {error['call']}\n" in talk.run("check").stdout


def test_every_misuse_is_told_with_the_call_that_made_it_one(misuse: Recorded) -> None:
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


def test_what_its_client_left_behind_is_told_from_what_was_there_at_the_end(misuse: Recorded) -> None:
    findings = misuse.read("check", "--only", "leak", "--only", "alive")["findings"]

    (leak,) = [finding for finding in findings if finding["kind"] == "leak"]
    assert (leak["function"], leak["count"], leak["size"]) == (PUT, 3, 72)
    assert leak["message"].endswith("(3 of 3)") and len(leak["objects"]) == 3
    alive = {finding["function"]: finding["objects"] for finding in findings if finding["kind"] == "alive"}
    assert alive["PJRT_Client_Create"] == ["client#2"]
    assert len(alive[PUT]) == 1


def test_a_call_that_never_returned_and_a_function_that_is_missing_are_told(misuse: Recorded) -> None:
    findings = {finding["kind"]: finding for finding in misuse.read("check")["findings"]}

    assert findings["never-returned"]["function"] == "PJRT_Event_Await"
    assert findings["unimplemented"]["function"] == "PJRT_Device_PoisonExecution"
    assert findings["unimplemented"]["severity"] == "note"


def test_the_exit_status_is_for_ci(misuse: Recorded, talk: Recorded) -> None:
    assert misuse.run("check").exit_code == 0
    assert misuse.run("check", "--exit-code").exit_code == 1
    assert misuse.run("check", "--exit-code", "--only", "alive").exit_code == 0
    assert talk.run("check", "--exit-code", "--ignore", "error").exit_code == 0
    assert misuse.run("check", "--exit-code", "--json").exit_code == 1


def test_a_recording_that_left_out_calls_is_not_judged_by_its_objects(tmp_path: Path) -> None:
    program = write_put(tmp_path / "put.py", 'table.call("PJRT_Client_Destroy", client=client)')
    environment = mock_environment(tmp_path) | {"FRAMEDEX_EXCLUDE": "PJRT_Buffer_Destroy"}
    partly = _index(Run.of([sys.executable, str(program)], tmp_path, environment, TIMEOUT), tmp_path)

    found = partly.read("check")

    assert not any(finding["kind"] in {"leak", *ViolationKind} for finding in found["findings"])
    assert "FRAMEDEX_EXCLUDE" in found["unjudged"][0]
    assert "FRAMEDEX_EXCLUDE" in partly.run("check").stderr
