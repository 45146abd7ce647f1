"""Jobs of real processes, one of which never arrives, and captures of jobs with as many ranks as wanted."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from framedex.captures.folders import capture_folders
from framedex.captures.metadata import read_metadata
from framedex.fleet.running.lines import find_current_line
from framedex.fleet.running.states import RankActivity, RunningJob, read_job
from tests.running import PROGRAMS, TIMEOUT, plain_environment

PROGRAM = PROGRAMS / "hangs" / "absent_rank.py"
RANKS = 4
ABSENT = 2
_FRAMEDEX = [sys.executable, "-c", "from framedex.commands.main import cli; cli(prog_name='framedex')"]
_POLL_S = 0.05


@dataclass(frozen=True)
class StartedJob:
    """A job whose rank ABSENT never arrives: its folder of captures, and the `framedex run` of each rank."""

    captures: Path
    runs: Sequence[subprocess.Popen[bytes]]

    def wait_until_it_hangs(self) -> None:
        """Wait until the absent rank waits in its data loader, and all others for a result."""
        end = time.monotonic() + TIMEOUT
        while not self._hangs():
            assert time.monotonic() < end, [run.poll() for run in self.runs]
            time.sleep(_POLL_S)

    def _hangs(self) -> bool:
        if len(capture_folders(self.captures)) < RANKS:
            return False
        ranks = read_job([self.captures]).ranks
        if find_current_line(ranks[ABSENT])[1] != "Queue.get":
            return False
        return all(each.activity is RankActivity.WAITS_FOR_RESULT for each in ranks if each.rank != ABSENT)

    def kill(self) -> None:
        """Kill all ranks, and wait until `framedex run` has written their ends. (JAX handles SIGTERM itself.)"""
        for capture in capture_folders(self.captures):
            os.kill(read_metadata(capture).pid or 0, signal.SIGKILL)
        for run in self.runs:
            run.wait(TIMEOUT)


@contextmanager
def started_job(folder: Path) -> Iterator[StartedJob]:
    """Start the ranks of a job under `framedex run`; kill them at the end."""
    with socket.create_server(("localhost", 0)) as server:
        port = server.getsockname()[1]
    captures = folder / "captures"
    captures.mkdir()
    runs = []
    for rank in range(RANKS):
        options = ("--devices", str(RANKS), "--hosts", str(RANKS), "--host-id", str(rank), "-o", str(captures))
        with (folder / f"output-{rank}.txt").open("wb") as output:
            runs.append(
                subprocess.Popen(
                    [*_FRAMEDEX, "run", *options, str(PROGRAM), str(rank), str(RANKS), str(port)],
                    cwd=folder,
                    env=plain_environment() | {"FRAMEDEX_JOB": "train", "FRAMEDEX_RANK": str(rank)},
                    stdout=output,
                    stderr=output,
                )
            )
    try:
        yield StartedJob(captures, runs)
    finally:
        for run in runs:
            run.kill()
            run.wait()


def generate_job(job: RunningJob, folder: Path, ranks: int) -> None:
    """Write the captures of a job of `ranks` ranks on as many hosts: copies of the captures of a real job.

    Rank ABSENT is the absent one, the others are copies of those that wait.
    """
    waiting = [each.capture for each in job.ranks if each.rank != ABSENT]
    for rank in range(ranks):
        capture = job.ranks[ABSENT].capture if rank == ABSENT else waiting[rank % len(waiting)]
        copy = folder / f"{capture.name}-{rank}"
        shutil.copytree(capture, copy)
        change_metadata(copy, {"host": f"host-{rank}"}, {"FRAMEDEX_RANK": str(rank), "FRAMEDEX_JOB": "train"})


def change_metadata(capture: Path, values: Mapping[str, object], job: Mapping[str, str]) -> None:
    """Change values of a capture's metadata, and variables of its job."""
    metadata = json.loads((capture / "capture.json").read_text())
    metadata |= {**values, "job": metadata["job"] | job}
    (capture / "capture.json").write_text(json.dumps(metadata))
