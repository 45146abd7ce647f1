"""Record the programs of the guidebook: python -m guidebook.record [--only NAME...] [--jobs N]

Captures go to `build/guidebook/captures/ENVIRONMENT/PROGRAM/`. A program is recorded again only if the program, its
environment or framedex's native part has changed. A recording is written to a temporary folder, and moved when it is
complete.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from framedex.captures import capture_folders
from guidebook import environments
from guidebook.launch import CreatedEnvironment, build_command, compute_key, prepare
from guidebook.plan import Environment, Plan, PlanError, Recording

FOLDER = environments.ROOT / "build" / "guidebook"
CAPTURES = FOLDER / "captures"
KEY_FILE = "made-of.json"
TIMEOUT_S = 120  # seconds: each takes a few


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a recording; `problem` is empty if it succeeded."""

    recording: Recording
    seconds: float
    problem: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit status: 1 if a program failed. An unavailable environment is reported, but is not a failure."""
    parser = argparse.ArgumentParser(prog="python -m guidebook.record", description="Record the guidebook's programs.")
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="record only this program or environment"
    )
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="number of parallel recordings; default 2")
    parser.add_argument(
        "--out",
        type=Path,
        default=CAPTURES,
        metavar="FOLDER",
        help="folder of the captures; default build/guidebook/captures",
    )
    chosen = parser.parse_args(arguments)
    try:
        plan = Plan.read()
    except PlanError as error:
        print(f"guidebook: {error}", file=sys.stderr)
        return 2
    recordings = [recording for recording in plan.recordings if _is_chosen(recording, chosen.only)]
    if not recordings:
        names = ", ".join(chosen.only)
        print(f"guidebook: no program or environment is named {names}; see guidebook/programs.toml.", file=sys.stderr)
        return 2
    began = time.monotonic()
    with _lock_folder(chosen.out):
        outcomes = record(recordings, chosen.out, max(chosen.jobs, 1))
        if not chosen.only:
            _remove_unlisted(chosen.out, {recording.name for recording in plan.recordings})
    failed = [outcome for outcome in outcomes if outcome.problem]
    for outcome in failed:
        _log(f"{outcome.recording.name} failed: {outcome.problem}")
    _log(f"{len(outcomes) - len(failed)} programs recorded in {time.monotonic() - began:.0f} s; in {chosen.out}")
    return 1 if failed else 0


def record(recordings: Sequence[Recording], captures: Path, jobs: int) -> list[Outcome]:
    """Record the programs that are not up to date, `jobs` in parallel; return the results."""
    ready = {recording.environment: _try_prepare(recording.environment) for recording in recordings}
    possible = [
        (recording, environment)
        for recording in recordings
        if (environment := ready[recording.environment]) is not None
    ]
    todo = [
        (recording, environment)
        for recording, environment in possible
        if not _is_recorded(recording, environment, captures)
    ]
    _log(f"{len(todo)} programs to record, {len(possible) - len(todo)} up to date")
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(lambda pair: _record_one(pair[0], pair[1], captures), todo))


@cache
def _try_prepare(environment: Environment) -> CreatedEnvironment | None:
    try:
        return prepare(environment)
    except environments.SkippedEnvironmentError as error:
        _log(f"left out: {error}")
        return None


def _record_one(recording: Recording, ready: CreatedEnvironment, captures: Path) -> Outcome:
    """Record into a temporary folder, which replaces the previous captures if the program succeeds."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=captures, prefix=".recording-") as folder:
        recorded = Path(folder) / "made"
        recorded.mkdir()
        problem = _run(recording, ready, recorded, Path(folder))
        seconds = time.monotonic() - began
        if not problem:
            key_file = {"key": compute_key(recording, ready), "seconds": round(seconds, 2)}
            (recorded / KEY_FILE).write_text(json.dumps(key_file), encoding="utf-8")
            target = captures / recording.name
            shutil.rmtree(target, ignore_errors=True)
            target.parent.mkdir(exist_ok=True)
            recorded.rename(target)
    return Outcome(recording, seconds, problem)


def _run(recording: Recording, ready: CreatedEnvironment, recorded: Path, work: Path) -> str:
    """Run a recording; return the problem, empty if it succeeded."""
    try:
        command, variables = build_command(recording, ready, recorded)
        done = subprocess.run(
            command, env=variables, cwd=work, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S
        )
    except environments.SkippedEnvironmentError as error:
        return str(error)
    except subprocess.TimeoutExpired:
        return f"timed out after {TIMEOUT_S} s"
    if done.returncode:
        return f"status {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-3000:]}"
    return (
        "" if any(True for _ in capture_folders(recorded)) else f"the program created no capture\n{done.stderr[-3000:]}"
    )


def _is_recorded(recording: Recording, ready: CreatedEnvironment, captures: Path) -> bool:
    try:
        key_file = json.loads((captures / recording.name / KEY_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(key_file.get("key") == compute_key(recording, ready))


def _is_chosen(recording: Recording, names: Sequence[str]) -> bool:
    known = {recording.program.stem, recording.environment.name, recording.name}
    return not names or bool(known & set(names))


def _remove_unlisted(captures: Path, names: set[str]) -> None:
    """Remove captures that are no longer in the plan. Folders without our key file are kept."""
    for path in captures.glob("*/*"):
        if path.relative_to(captures).as_posix() not in names and (path / KEY_FILE).is_file():
            shutil.rmtree(path)


@contextlib.contextmanager
def _lock_folder(captures: Path) -> Iterator[None]:
    """Lock the folder against other recordings, and remove unfinished recordings: a context manager."""
    captures.mkdir(parents=True, exist_ok=True)
    with (captures / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _log("waiting for another recording into this folder")
            fcntl.flock(lock, fcntl.LOCK_EX)
        for left in captures.glob(".recording-*"):
            shutil.rmtree(left)
        yield


def _log(text: str) -> None:
    print(f"guidebook: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
