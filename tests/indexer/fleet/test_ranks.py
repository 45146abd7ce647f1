"""Deviations of a job's ranks are reported, and nothing else."""

from __future__ import annotations

import json
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from click.testing import CliRunner, Result
from pyarrow import parquet

from framedex.base.errors import FramedexError
from framedex.captures import capture_folders
from framedex.commands.main import cli
from framedex.fleet.ranks.comparing import compare
from framedex.fleet.ranks.model import Comparison, Finding, Kind
from framedex.fleet.store_queries import StoreConnection
from framedex.fleet.store_root import StoreRoot
from framedex.model import Severity
from tests.indexer.fleet.changing import (
    add_earlier_copy,
    capture_file,
    change_calls,
    change_row,
    insert_pause,
    load_from_cache,
    move_to_first_line,
    remove_transfer,
    replace_arguments,
    replace_column,
    scale_times,
    shift_clock,
    slow_down_reads,
)
from tests.indexer.fleet.fleets import add_to_store, copy_capture, prepare_equal_stacks, run_query
from tests.indexer.fleet.generated import FAULTS, JOB, Job, generate
from tests.once import made_once
from tests.running import PROGRAMS, TIMEOUT, mock_environment

FLOOR = 100_000_000  # ns
COUNT = 4


def compared(store: Path, job: str = JOB, floor: int = FLOOR) -> Comparison:
    """The report of the verb on a job."""
    with StoreConnection(StoreRoot(str(store))) as connection:
        return compare(connection, job, floor)


def alarms(comparison: Comparison) -> list[Finding]:
    """The findings except notes."""
    return [each for each in comparison.findings if each.severity is not Severity.NOTE]


def job() -> Job:
    """The real capture behind all ranks, which must not be changed."""
    return made_once("job-of-ranks", lambda folder: Job(folder, 60))


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with twelve ranks without faults, which must not be changed."""
    return generated(tmp_path_factory.mktemp("healthy"), 12, 0)


def generated(folder: Path, ranks: int, faults: int, seed: int = 7) -> Path:
    """A store with a generated job."""
    (folder / "store").mkdir()
    generate(job(), folder / "store", ranks, seed, faults)
    return folder / "store"


@pytest.mark.exhaustive(keep=["0"])
@pytest.mark.parametrize("seed", range(3))
def test_each_fault_is_found_with_rank_step_and_line(seed: int, tmp_path: Path) -> None:
    """A rank for each kind of fault among three times as many."""
    faults = generate(job(), tmp_path, 3 * len(FAULTS), seed, len(FAULTS))

    comparison = compared(tmp_path)

    found = {(each.kind, rank): each for each in alarms(comparison) for rank in each.ranks}
    assert {*found} == {(fault.kind, fault.rank) for fault in faults}
    for fault in faults:
        told = found[fault.kind, fault.rank]
        assert fault.line in (None, told.line) and fault.step in (None, told.step), (fault, told)
    notes = [each for each in comparison.findings if each.severity is Severity.NOTE]
    assert [(each.kind, each.ranks, each.line) for each in notes] == [(Kind.EXTRA_CALL, (0,), job().report_line)]


def test_equal_ranks_have_only_the_findings_of_rank_0(healthy: Path) -> None:
    comparison = compared(healthy)

    assert not alarms(comparison) and not comparison.notes
    assert [each.ranks for each in comparison.findings] == [(0,)]
    assert comparison.loop is not None and comparison.loop.steps == 60


def test_a_secondary_thread_of_rank_0_is_a_note(healthy: Path, tmp_path: Path) -> None:
    """A thread that reports the progress, on a line that no other rank executes."""
    store = Path(shutil.copytree(healthy, tmp_path / "store"))
    stacks = run_query(store, f"SELECT stack FROM user_lines_readable WHERE line = {job().report_line}")

    def report_on_own_thread(calls: pa.Table) -> pa.Table:
        is_report = pc.is_in(calls["stack"], pa.array([stack for (stack,) in stacks]))
        return replace_column(calls, "thread", pc.if_else(is_report, "reporter", calls["thread"]))

    change_calls(store, 0, report_on_own_thread)

    (finding,) = compared(store).findings
    assert (finding.kind, finding.severity) == (Kind.OTHER_THREAD, Severity.NOTE)
    assert (finding.ranks, finding.line) == ((0,), job().report_line)


def test_a_clock_offset_is_reported_and_makes_no_straggler(healthy: Path, tmp_path: Path) -> None:
    """Two ranks of twelve, whose clocks are an hour ahead and half a minute behind."""
    store = Path(shutil.copytree(healthy, tmp_path / "store"))
    for rank, ahead in ((3, 3_600_000_000_000), (8, -30_000_000_000)):
        change_calls(store, rank, partial(shift_clock, by=ahead))

    comparison = compared(store)

    assert [(each.kind, each.ranks) for each in alarms(comparison)] == [(Kind.CLOCK, (3,)), (Kind.CLOCK, (8,))]
    clocks = {clock.rank: clock.offset for clock in comparison.clocks}
    assert abs(clocks[3] - clocks[4] - 3_600_000_000_000) < 1_000_000
    assert abs(clocks[8] - clocks[4] + 30_000_000_000) < 1_000_000


def test_ranks_of_one_machine_share_a_clock(healthy: Path, tmp_path: Path) -> None:
    """Two ranks of a machine whose clock is an hour ahead, and two of a machine with a correct clock."""
    store = Path(shutil.copytree(healthy, tmp_path / "store"))
    for rank, host in ((3, "node-1"), (4, "node-1"), (7, "node-2"), (8, "node-2")):
        change_row(store, rank, host=host)
    for rank in (3, 4):
        change_calls(store, rank, partial(shift_clock, by=3_600_000_000_000))

    comparison = compared(store)

    (clock,) = alarms(comparison)
    assert (clock.kind, clock.ranks) == (Kind.CLOCK, (3, 4))
    assert clock.tells == "Their machine's clock is 3600 s ahead of the others'."
    assert not comparison.notes


@pytest.mark.exhaustive(keep=["node-1"])
@pytest.mark.parametrize("host", ["node-1", "localhost"])
def test_ranks_that_ran_in_sequence_have_no_clock_offset(host: str, healthy: Path, tmp_path: Path) -> None:
    """Each rank ran alone, like a program tried with one configuration after the other."""
    store = Path(shutil.copytree(healthy, tmp_path / "store"))
    for rank in range(12):
        change_row(store, rank, host=host)
        change_calls(store, rank, partial(shift_clock, by=rank * 1_000_000_000_000))
        change_calls(store, rank, partial(scale_times, by=1 + rank / 100))

    comparison = compared(store)

    assert not alarms(comparison) and not comparison.clocks
    *before, unknown = comparison.notes
    assert unknown.startswith("Nothing shows that ranks wait for one another in the loop")
    if host == "localhost":  # without machine names
        assert not before and unknown.endswith("Clock offsets are unknown.")
    else:
        assert before == ["Ranks of node-1 did not run at the same time: 0, then 1, then 2 and so on."]


@pytest.mark.exhaustive
def test_a_slow_step_is_reported_beside_a_differently_late_rank(tmp_path: Path) -> None:
    """A rank of four is late in a step in which it deviates, and another is as late in another step."""
    store = generated(tmp_path, 4, 0)
    for rank in range(4):
        change_calls(store, rank, partial(insert_pause, step=20, by=8_000_000_000, is_own=rank == 1))
        change_calls(store, rank, partial(insert_pause, step=40, by=10_000_000_000, is_own=rank == 2))
    change_calls(store, 1, partial(remove_transfer, step=20))

    comparison = compared(store)

    found = {each.kind: (each.ranks, each.step, each.line) for each in alarms(comparison)}
    assert found[Kind.SLOW_STEP][:2] == ((2,), 40)
    assert found[Kind.MISSING_CALL][:2] == ((1,), 20) and len(found) == 2
    (late,) = (each for each in alarms(comparison) if each.kind is Kind.MISSING_CALL)
    assert late.delay > 7_000_000_000


def test_an_occasionally_late_rank_is_reported_once_with_its_steps(healthy: Path, tmp_path: Path) -> None:
    """Rank 0, which reports in each tenth step, takes five seconds for reads in four of these."""
    store = Path(shutil.copytree(healthy, tmp_path / "store"))
    for rank in range(12):
        change_calls(store, rank, partial(slow_down_reads, is_slow=rank == 0, by=5_000_000_000))

    comparison = compared(store)

    (late,) = alarms(comparison)
    assert (late.kind, late.ranks, late.steps) == (Kind.SLOW_STEP, (0,), (19, 29, 39, 49))
    assert 19_500_000_000 < late.delay < 20_500_000_000 and "in PJRT_Buffer_ToHostBuffer" in late.tells
    assert [each.ranks for each in comparison.findings if each.severity is Severity.NOTE] == [(0,)]


def test_the_majority_is_right_even_if_no_two_ranks_agree_completely(healthy: Path, tmp_path: Path) -> None:
    """Twelve ranks that each lack a different call; one has all calls that the others lack."""
    store = Path(shutil.copytree(healthy, tmp_path / "store"))
    for rank in range(1, 12):
        change_calls(store, rank, partial(remove_transfer, step=5 * rank))

    comparison = compared(store)

    found = [(each.kind, each.ranks, each.step) for each in alarms(comparison)]
    assert sorted(found) == [(Kind.MISSING_CALL, (rank,), 5 * rank) for rank in range(1, 12)]


def test_ranks_with_other_work_are_compared_with_each_other(healthy: Path, tmp_path: Path) -> None:
    """Three ranks of twelve run other lines, like pipeline stages, and one of them deviates."""
    store = Path(shutil.copytree(healthy, tmp_path / "store"))
    for rank in (9, 10, 11):
        change_calls(store, rank, move_to_first_line)
    change_calls(store, 11, partial(remove_transfer, step=4))

    comparison = compared(store)

    assert [(each.kind, each.ranks) for each in alarms(comparison)] == [(Kind.MISSING_CALL, (11,))]
    assert any("3 ranks do different work" in note for note in comparison.notes)


def test_a_rank_that_loads_cached_programs_does_not_diverge(healthy: Path, tmp_path: Path) -> None:
    store = Path(shutil.copytree(healthy, tmp_path / "store"))
    change_calls(store, 5, load_from_cache)

    comparison = compared(store)

    assert not alarms(comparison)
    assert any("loaded and not compiled" in note for note in comparison.notes)


def test_ranks_without_a_capture_are_reported(healthy: Path, tmp_path: Path) -> None:
    store = Path(shutil.copytree(healthy, tmp_path / "store"))
    change_row(store, 11, rank=(1 << 31) - 1)
    change_row(store, 10, rank=None)

    comparison = compared(store)

    (missing,) = (each for each in alarms(comparison) if each.kind is Kind.MISSING)
    assert missing.tells.startswith("2,147,483,637 ranks are not in the store: 10-2147483646")
    assert comparison.notes == ("1 capture of the job has no rank.",)


def test_a_restarted_job_is_compared_by_its_last_run(healthy: Path, tmp_path: Path) -> None:
    """Each rank twice, the first time only up to the third step."""
    store = Path(shutil.copytree(healthy, tmp_path / "store"))
    latest = capture_file(store, 5)
    for rank in range(12):
        add_earlier_copy(store, rank)

    comparison = compared(store)

    assert not alarms(comparison)
    assert comparison.notes == ("The job ran 2 times: only its latest run is compared.",)

    latest.unlink()
    comparison = compared(store)

    assert [(each.kind, each.ranks) for each in alarms(comparison)] == [(Kind.MISSING, (5,))]
    assert comparison.notes[1] == "An earlier run had 1 more rank: 5."


@pytest.mark.exhaustive
def test_a_rank_claimed_by_two_captures_of_one_run_is_reported(healthy: Path, tmp_path: Path) -> None:
    store = Path(shutil.copytree(healthy, tmp_path / "store"))
    add_earlier_copy(store, 5)

    assert [(each.kind, each.ranks) for each in alarms(compared(store))] == [(Kind.CLAIMED, (5,))]


def test_partially_recorded_ranks_are_not_compared(healthy: Path, tmp_path: Path) -> None:
    store = Path(shutil.copytree(healthy, tmp_path / "store"))
    change_row(store, 3, metadata=json.dumps({"selected_by": ["FRAMEDEX_RING"]}))
    change_calls(store, 3, lambda calls: calls.slice(500))

    comparison = compared(store)

    assert not alarms(comparison) and len(comparison.members) == 11
    assert comparison.notes == ("1 rank recorded only some of their calls (FRAMEDEX_RING) and is not compared.",)
    for rank in range(1, 12):
        change_row(store, rank, metadata=json.dumps({"selected_by": ["FRAMEDEX_SAMPLE"]}))
    with pytest.raises(FramedexError, match="nothing to compare"):
        compared(store)


@pytest.mark.exhaustive
@pytest.mark.parametrize("start", [-(1 << 63), (1 << 63) - 1, 0])
def test_impossible_times_affect_only_their_rank(healthy: Path, tmp_path: Path, start: int) -> None:
    """A rank whose calls all began at one moment, at an extreme time."""
    store = Path(shutil.copytree(healthy, tmp_path / "store"))
    change_calls(store, 3, lambda calls: replace_column(calls, "start", pa.array([start] * len(calls))))

    done = invoked(store, "--json")

    assert done.exit_code == 0, done.output
    findings = json.loads(done.stdout)["findings"]
    assert {tuple(each["ranks"]) for each in findings if each["severity"] != "note"} <= {(3,)}


@pytest.mark.exhaustive
@pytest.mark.parametrize("rank", range(3))
def test_a_rank_with_malformed_calls_is_missing_and_reported_with_a_remedy(
    rank: int, healthy: Path, tmp_path: Path
) -> None:
    store = Path(shutil.copytree(healthy, tmp_path / "store"))
    change_calls(store, rank, lambda calls: pa.table({"x": [1]}))

    done = invoked(store)

    assert done.exit_code == 0 and "and add the capture again" in done.stderr
    assert f"error: missing  rank {rank}" in done.stdout


def test_a_damaged_capture_is_reported_beside_its_divergence(healthy: Path, tmp_path: Path) -> None:
    store = Path(shutil.copytree(healthy, tmp_path / "store"))
    change_row(store, 3, problems=json.dumps(["3 damaged records were left out."]))

    (note,) = compared(store).notes

    assert note.startswith("The captures of 1 rank are incomplete (3)")


@pytest.mark.exhaustive
def test_foreign_files_are_skipped_and_reported(healthy: Path, tmp_path: Path) -> None:
    store = Path(shutil.copytree(healthy, tmp_path / "store"))
    parquet.write_table(pa.table({"x": [1]}), next(store.glob("captures/*")) / f"{'0' * 32}.parquet")

    done = invoked(store, "--exit-code")

    assert done.exit_code == 0 and "is left out" in done.stderr and "ranks do the same" not in done.stderr


@pytest.mark.exhaustive(keep=["no JSON"])
@pytest.mark.parametrize(
    "arguments", ["no JSON", "[1]", '{"dims": {"a": 1}, "type": 7}', "\x00\x1b[31m", '{"type": "\\ud800"}']
)
def test_malformed_arguments_count_as_another_call(healthy: Path, tmp_path: Path, arguments: str) -> None:
    store = Path(shutil.copytree(healthy, tmp_path / "store"))
    change_calls(store, 4, partial(replace_arguments, arguments=arguments))

    done = invoked(store, "--json")

    assert done.exit_code == 0, done.output
    findings = json.loads(done.stdout)["findings"]
    assert {tuple(each["ranks"]) for each in findings if each["severity"] != "note"} == {(4,)}


def test_the_verb_links_each_finding_to_the_calls_of_two_ranks(healthy: Path, tmp_path: Path) -> None:
    store = Path(shutil.copytree(healthy, tmp_path / "store"))
    change_calls(store, 6, partial(remove_transfer, step=9))

    text, document = invoked(store, "--exit-code"), invoked(store, "--json")

    assert text.exit_code == 1 and document.exit_code == 0
    assert "warning: missing-call  rank 6" in text.stdout and "in step 9" in text.stdout
    finding = next(each for each in json.loads(document.stdout)["findings"] if each["kind"] == "missing-call")
    assert finding["capture"] in text.stdout and finding["stack"] in text.stdout
    with StoreConnection(StoreRoot(str(store))) as connection:
        for rank, call in ((6, finding["call"]), (finding["other_rank"], finding["other_call"])):
            (row,) = connection.rows(
                "SELECT c.function FROM calls c JOIN captures p USING (capture) WHERE p.rank = ? AND c.call = ?",
                [rank, call],
            )
            assert row == ("PJRT_LoadedExecutable_Execute" if rank == 6 else "PJRT_Client_BufferFromHostBuffer",)


@pytest.mark.exhaustive
def test_the_worst_findings_are_shown_with_the_total(tmp_path: Path) -> None:
    store = generated(tmp_path, 2 * len(FAULTS), len(FAULTS))

    done = invoked(store, "--limit", "3")

    assert done.stdout.count("\n\n") == 4 and "more; --json lists all" in done.stdout
    assert done.stdout.index("error: ") < done.stdout.index("more; --json")


def test_incomparable_jobs_are_reported_with_a_remedy(healthy: Path, tmp_path: Path) -> None:
    assert "Did you mean generated?" in invoked(healthy, job="genrated").stderr
    assert "The store has generated" in invoked(healthy, job="'; DROP TABLE calls; --\n").stderr
    store = Path(shutil.copytree(healthy, tmp_path / "store"))
    for rank in range(1, 12):
        change_row(store, rank, job="other", rank=None)
    assert "has only one rank in the store" in invoked(store).stderr
    done = invoked(store, job="other")
    assert done.exit_code == 1 and "No rank is known" in done.stderr and "FRAMEDEX_RANK" in done.stderr
    with pytest.raises(FramedexError, match="no job"):
        compared(healthy, "")


def test_hostile_names_are_escaped(healthy: Path, tmp_path: Path) -> None:
    store = Path(shutil.copytree(healthy, tmp_path / "store"))
    name = 'it\'s \x1b[31m\n"all"'
    for rank in range(12):
        change_row(store, rank, job=name, host="\x1b]0;x\x07", path="/a\nb")
    change_calls(store, 2, partial(remove_transfer, step=3))

    done = invoked(store, job=name)

    assert done.exit_code == 0 and "rank 2" in done.stdout
    assert "\x1b" not in done.stdout and "it's \\x1b[31m\\x0a" in done.stdout


@pytest.mark.exhaustive
@pytest.mark.parametrize("redirected", [">/dev/full", ">&-"])
@pytest.mark.parametrize("options", ["", "--json"])
def test_unwritable_output_is_reported(healthy: Path, redirected: str, options: str) -> None:
    command = f"{shlex.quote(sys.executable)} -m framedex fleet ranks {JOB} {options} --store {healthy} {redirected}"

    done = subprocess.run(command, shell=True, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)

    assert done.returncode == 1 and "stdout cannot be written" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.exhaustive
def test_a_real_job_with_equal_ranks_has_no_finding(tmp_path: Path) -> None:
    """Delays are not checked here: on a shared machine, ranks really wait for one another."""
    store = tmp_path / "store"
    add_to_store(store, *real_job("healthy"))

    comparison = compared(store, "real-healthy", floor=5_000_000_000)

    assert [member.rank for member in comparison.members] == list(range(COUNT))
    assert not alarms(comparison), comparison.findings
    assert {each.ranks for each in comparison.findings} == {(0,)}


def test_the_faults_of_a_real_job_are_found(tmp_path: Path) -> None:
    """A job that reads a value of each step: all ranks wait for the late one between calls."""
    store = tmp_path / "store"
    add_to_store(store, *faulty_job())

    comparison = compared(store, "real-faulty", floor=1_000_000_000)

    lines = (PROGRAMS / "training_job.py").read_text().splitlines()
    found = {each.kind: each for each in alarms(comparison)}
    assert {kind: each.ranks for kind, each in found.items()} == {Kind.SHAPE: (2,), Kind.SLOW: (1,)}
    assert "F32[7,64]" in found[Kind.SHAPE].tells and "F32[8,64]" in found[Kind.SHAPE].tells
    assert found[Kind.SHAPE].step == 20
    assert "largest(np.full" in lines[(found[Kind.SHAPE].line or 0) - 1]
    assert "load(number)" in lines[(found[Kind.SLOW].line or 0) - 1]
    assert found[Kind.SLOW].delay >= 30 * 50_000_000


@pytest.mark.exhaustive
@pytest.mark.parametrize(("way", "faults"), [("reading", ("slow",)), ("blocking", ("slow",)), ("blocking", ())])
def test_a_late_rank_is_found_even_if_no_call_waits(way: str, faults: tuple[str, ...], tmp_path: Path) -> None:
    """A real job that waits for a value of each step, which JAX does between the calls."""
    store, name = tmp_path / "store", "-".join((way, *faults))
    add_to_store(store, *real_job(name, way, *faults))

    comparison = compared(store, f"real-{name}", floor=1_000_000_000)

    lines = (PROGRAMS / "training_job.py").read_text().splitlines()
    assert [(each.kind, each.ranks) for each in alarms(comparison)] == [(Kind.SLOW, (1,))] * len(faults)
    for late in alarms(comparison):
        assert "load(number)" in lines[(late.line or 0) - 1]
        assert late.delay >= 30 * 50_000_000


@pytest.mark.exhaustive
def test_copies_of_a_real_capture_have_no_finding(tmp_path: Path) -> None:
    first, *_ = faulty_job()
    for rank in range(3):
        copy = copy_capture(first, tmp_path / str(rank))
        told = json.loads((copy / "capture.json").read_text())
        told |= {"job": {"FRAMEDEX_JOB": "copies", "FRAMEDEX_RANK": str(rank)}, "pid": rank + 1}
        (copy / "capture.json").write_text(json.dumps(told))
    add_to_store(tmp_path / "store", *(next((tmp_path / str(rank)).iterdir()) for rank in range(3)))

    assert not compared(tmp_path / "store", "copies").findings


def faulty_job() -> Sequence[Path]:
    """The captures of a job that reads a value of each step. Two of its ranks have a fault."""
    return real_job("faulty", "shape", "slow", "reading")


def real_job(name: str, *faults: str) -> Sequence[Path]:
    """The captures of four processes that trained together."""

    def record(folder: Path) -> list[Path]:
        with socket.create_server(("localhost", 0)) as server:
            port = server.getsockname()[1]
        command = [sys.executable, str(PROGRAMS / "training_job.py"), "40", str(COUNT), str(port), *faults]
        prepare_equal_stacks(folder)
        machine = {"FRAMEDEX_DEVICES": str(COUNT), "FRAMEDEX_HOSTS": str(COUNT), "FRAMEDEX_JOB": f"real-{name}"}
        processes = [
            subprocess.Popen(
                command,
                cwd=folder,
                env=mock_environment(folder) | machine | {"FRAMEDEX_HOST_ID": str(rank), "FRAMEDEX_RANK": str(rank)},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank in range(COUNT)
        ]
        outputs = [process.communicate(timeout=TIMEOUT) for process in processes]
        assert [process.returncode for process in processes] == [0] * COUNT, outputs
        return list(capture_folders(folder / "captures"))

    return made_once(f"real-job-{name}", record)


def invoked(store: Path, *options: str, job: str = JOB) -> Result:
    """The verb."""
    return CliRunner().invoke(cli, ["fleet", "ranks", job, "--store", str(store), *options])
