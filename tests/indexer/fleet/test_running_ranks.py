"""`framedex ranks` names the rank that never arrived, while the job runs and after all ranks were killed."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from framedex.captures.stored_files import (
    list_stored_programs,
    read_stored_program,
    stored_program_path,
    write_stored_program,
)
from framedex.commands.main import cli
from framedex.fleet.running.reports import JobReport
from framedex.fleet.running.states import RunningJob, find_job_of_target, read_job
from framedex.fleet.running.verdicts import JobDiagnosis, RankVerdict, diagnose_job
from framedex.live.targets import find_target_of_capture
from framedex.programs.bytecode import read_bytecode
from tests.indexer.fleet.running_jobs import ABSENT, PROGRAM, RANKS, change_metadata, generate_job, started_job

OTHERS = [rank for rank in range(RANKS) if rank != ABSENT]


@dataclass(frozen=True)
class Answers:
    """What was said of one job: while it hung, and after all its ranks were killed."""

    captures: Path
    early: str
    text: str
    document: dict[str, object]
    live: str
    hang: str
    hang_document: dict[str, Any]
    after: str
    hang_after: str


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    """A job of four processes in which one never arrives at a step; it was killed at the end."""
    folder = tmp_path_factory.mktemp("job")
    with started_job(folder) as job:
        job.wait_until_it_hangs()
        captures = str(job.captures)
        early = _ask(captures, "--patience", "100000")
        text = _ask(captures, "--patience", "0")
        document = json.loads(_ask(captures, "--patience", "0", "--json"))
        live = _ask(captures, verb="live")
        hang = _ask(captures, "--patience", "0", verb="hang")
        hang_document = json.loads(_ask(captures, "--patience", "0", "--json", verb="hang"))
        job.kill()
        after = _ask(captures, "--patience", "0")
        hang_after = _ask(captures, "--patience", "0", verb="hang")
        yield Answers(job.captures, early, text, document, live, hang, hang_document, after, hang_after)


def _ask(*arguments: str, verb: str = "ranks") -> str:
    answer = CliRunner().invoke(cli, [verb, *arguments], catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def _line(comment: str) -> str:
    lines = PROGRAM.read_text().splitlines()
    (number,) = (number for number, line in enumerate(lines, 1) if line.endswith(f"# {comment}"))
    return f"{PROGRAM}:{number}"


def _copy(answers: Answers, folder: Path) -> tuple[Path, RunningJob]:
    """A copy of the killed job."""
    shutil.copytree(answers.captures, folder / "captures")
    return folder / "captures", read_job([folder / "captures"])


def test_the_absent_rank_of_a_running_job_is_named_with_the_line_where_it_is(answers: Answers) -> None:
    first, place, *_ = answers.text.splitlines()

    assert first == f"Absent: rank {ABSENT} has not arrived, and 3 ranks wait."
    assert place == f"  rank {ABSENT} is at {_line('loader blocks')} in load, in Queue.get"
    assert "train: 4 ranks on 1 host" in answers.text
    (waiting,) = (line for line in answers.text.splitlines() if line.startswith("0-1, 3  "))
    assert waiting.endswith(_line("blocks"))
    assert f"waits for a result of line {_line('trains').rpartition(':')[2]}" in waiting


def test_the_absent_rank_has_made_fewer_calls_so_it_is_first(answers: Answers) -> None:
    header = next(n for n, line in enumerate(answers.text.splitlines()) if line.startswith("ranks "))

    assert answers.text.splitlines()[header + 1].split()[0] == str(ABSENT)


def test_the_json_document_has_the_verdict_and_the_state_of_each_rank(answers: Answers) -> None:
    document = answers.document

    assert (document["verdict"], document["ranks"][ABSENT]["rank"]) == ("absent", ABSENT)  # type: ignore[index]
    assert document["blamed"] == [ABSENT]
    assert document["waiting"] == OTHERS


def test_hang_of_a_job_names_the_absent_rank_and_why_it_does_not_continue(answers: Answers) -> None:
    first, *_, rank, cause, line = answers.hang.partition("\nThe main")[0].partition("\n    batches")[0].splitlines()

    assert first == f"Absent: rank {ABSENT} has not arrived, and 3 ranks wait."
    assert rank == f"rank {ABSENT}"
    assert cause.startswith("Hang: The main thread waits in Queue.get, and no other thread runs Python.")
    assert line == f"  {_line('loader blocks')} in load"
    assert answers.hang_document["blamed"] == [ABSENT]
    (diagnosed,) = answers.hang_document["diagnoses"]
    assert (diagnosed["rank"], diagnosed["diagnosis"]["verdict"]) == (ABSENT, "hang")


def test_hang_of_a_killed_job_still_names_the_absent_rank(answers: Answers) -> None:
    assert answers.hang_after.startswith(f"Absent: rank {ABSENT} has not arrived, and 3 ranks wait.\n")
    assert "The process was killed by SIGKILL." in answers.hang_after.partition(f"\nrank {ABSENT}\n")[2]


def test_hang_of_one_ranks_capture_is_about_that_process(answers: Answers) -> None:
    capture = next(path for path in answers.captures.iterdir())

    assert _ask(str(capture), verb="hang").startswith("Ended: ")


def test_live_shows_the_main_thread_of_each_rank(answers: Answers) -> None:
    parts = re.split(r"^rank (\d+)\n", answers.live, flags=re.MULTILINE)[1:]
    ranks = dict(zip(map(int, parts[::2]), parts[1::2], strict=True))

    assert set(ranks) == set(range(RANKS))
    for rank, text in ranks.items():
        assert _line("loader blocks" if rank == ABSENT else "blocks") in text
        assert text.count("\nmain  ") == 1


def test_a_short_wait_is_no_finding(answers: Answers) -> None:
    assert answers.early.startswith("Running: no rank has waited in the runtime for long.\n")


def test_after_all_ranks_were_killed_the_absent_one_is_to_blame_with_the_line_of_its_last_call(
    answers: Answers,
) -> None:
    first, place, *_ = answers.after.splitlines()

    assert first == f"Absent: rank {ABSENT} has not arrived, and 3 ranks wait."
    assert place.startswith(f"  rank {ABSENT} made its last call at {PROGRAM}:")
    assert "was killed by SIGKILL" in answers.after


def test_a_rank_without_a_capture_is_missing(answers: Answers, tmp_path: Path) -> None:
    captures, job = _copy(answers, tmp_path)
    for state in job.ranks:
        change_metadata(state.capture, {}, {"JAX_NUM_PROCESSES": "6"})
    shutil.rmtree(job.ranks[1].capture)

    found = diagnose_job(read_job([captures]), 0)

    assert (found.verdict, found.blamed) == (RankVerdict.MISSING, (1, 4, 5))


def test_a_rank_that_waits_in_another_program_than_most_is_to_blame(answers: Answers, tmp_path: Path) -> None:
    captures, job = _copy(answers, tmp_path)
    capture = job.ranks[1].capture
    programs = {name: read_stored_program(capture, name) or b"" for name in list_stored_programs(capture)}
    (step,) = (name for name, content in programs.items() if read_bytecode(content).name == "jit_step")
    stored_program_path(capture, step).unlink()
    write_stored_program(capture, programs[step].replace(b"jit_step", b"jit_loss"))

    answer = _ask(str(captures), "--patience", "0")

    assert answer.startswith("Differs: rank 1 compiled a different program from most, jit_loss, and waits.\n")


def test_an_absent_rank_that_compiled_another_program_is_absent(answers: Answers, tmp_path: Path) -> None:
    captures, job = _copy(answers, tmp_path)
    capture = job.ranks[ABSENT].capture
    programs = {name: read_stored_program(capture, name) or b"" for name in list_stored_programs(capture)}
    for name, content in programs.items():
        stored_program_path(capture, name).unlink()
        write_stored_program(capture, content.replace(b"jit_", b"own_"))

    found = diagnose_job(read_job([captures]), 0)

    assert (found.verdict, found.blamed) == (RankVerdict.ABSENT, (ABSENT,))


def test_a_rank_that_ended_before_the_others_is_to_blame(answers: Answers, tmp_path: Path) -> None:
    captures, job = _copy(answers, tmp_path)
    end = job.ranks[3].capture / "end.json"
    told = json.loads(end.read_text())
    end.write_text(json.dumps(told | {"ended_unix_ns": told["ended_unix_ns"] - 3600 * 10**9}))

    found = diagnose_job(read_job([captures]), 60 * 10**9)
    also_waits = diagnose_job(read_job([captures]), 0)

    assert found.verdict is RankVerdict.RUNNING  # it had not waited for a minute when it was killed
    assert (also_waits.verdict, also_waits.blamed) == (RankVerdict.ENDED, (3,))


def test_the_latest_run_of_a_rank_counts(answers: Answers, tmp_path: Path) -> None:
    captures, job = _copy(answers, tmp_path)
    older = tmp_path / "older"
    older.mkdir()
    generate_job(job, older, RANKS)
    for number, capture in enumerate(sorted(older.iterdir())):
        change_metadata(capture, {"started_unix_ns": number + 1, "launcher": ""}, {})

    assert [each.capture for each in read_job([older, captures]).ranks] == [each.capture for each in job.ranks]


def test_without_a_name_an_earlier_run_is_not_the_job_of_a_process(answers: Answers, tmp_path: Path) -> None:
    captures, job = _copy(answers, tmp_path)
    found = find_job_of_target(find_target_of_capture(job.ranks[0].capture), captures)
    assert found is not None and len(found.ranks) == RANKS
    for state in job.ranks:
        change_metadata(state.capture, {}, {"FRAMEDEX_JOB": ""})
    end = job.ranks[3].capture / "end.json"
    end.write_text(json.dumps(json.loads(end.read_text()) | {"ended_unix_ns": 10**9}))

    assert find_job_of_target(find_target_of_capture(job.ranks[0].capture), captures) is None


def test_ranks_that_wait_outside_the_runtime_are_looked_at(answers: Answers) -> None:
    job = read_job([answers.captures])
    report = JobReport(job, JobDiagnosis(RankVerdict.RUNNING, (), ()), {}, {})

    assert [each.rank for each in report.suspects] == [0, 1, 2]


def test_hundreds_of_ranks_on_as_many_hosts(answers: Answers, tmp_path: Path) -> None:
    generate_job(read_job([answers.captures]), tmp_path, 64)

    answer = _ask(str(tmp_path), "--patience", "0")

    assert answer.startswith(f"Absent: rank {ABSENT} has not arrived, and 63 ranks wait.\n")
    assert "train: 64 ranks on 64 hosts" in answer
    assert any(line.startswith("0-1, 3-63  ") for line in answer.splitlines())


def test_captures_without_ranks_are_an_error_with_a_remedy(answers: Answers, tmp_path: Path) -> None:
    captures, job = _copy(answers, tmp_path)
    for state in job.ranks:
        change_metadata(state.capture, {}, {"FRAMEDEX_RANK": "x"})

    answer = CliRunner().invoke(cli, ["ranks", str(captures)])

    assert answer.exit_code == 1
    assert "No rank is known for 4 captures." in answer.stderr
    assert "FRAMEDEX_RANK" in answer.stderr


def test_an_unknown_job_is_an_error_that_lists_the_jobs(answers: Answers) -> None:
    answer = CliRunner().invoke(cli, ["ranks", str(answers.captures), "--job", "tain"])

    assert answer.exit_code == 1
    assert "There is no job 'tain'." in answer.stderr
    assert "train" in answer.stderr
