"""Records the programs of the guidebook: python -m guidebook.record [--only NAME...] [--jobs N]

Captures go to `build/guidebook/captures/ENVIRONMENT/PROGRAM/`. One that is there is kept as long as its program, the
environment and framedex's native part are what it was made of. A recording counts once it is whole: it is written
beside, and moved.
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
from guidebook.keys import key_of
from guidebook.launching import Ready, command_of, prepared
from guidebook.plan import Environment, Plan, PlanError, Recording

FOLDER = environments.ROOT / "build" / "guidebook"
CAPTURES = FOLDER / "captures"
MADE_OF = "made-of.json"
TIMEOUT = 120  # seconds: each takes a few


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a recording ended; `problem` is empty where it is there."""

    recording: Recording
    seconds: float
    problem: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """The status: 1 where a program failed; an environment that cannot be had here is told, and is no failure."""
    parser = argparse.ArgumentParser(prog="python -m guidebook.record", description="Record the guidebook's programs.")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="a program or an environment")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="how many at once (2)")
    parser.add_argument("--out", type=Path, default=CAPTURES, metavar="FOLDER", help="where captures go")
    chosen = parser.parse_args(arguments)
    try:
        plan = Plan.read()
    except PlanError as error:
        print(f"guidebook: {error}", file=sys.stderr)
        return 2
    wanted = [one for one in plan.recordings if _is_chosen(one, chosen.only)]
    if not wanted:
        print(f"guidebook: nothing is called {', '.join(chosen.only)}; see guidebook/programs.toml.", file=sys.stderr)
        return 2
    began = time.monotonic()
    with _alone(chosen.out):
        outcomes = record(wanted, chosen.out, max(chosen.jobs, 1))
        if not chosen.only:
            _forget(chosen.out, {one.name for one in plan.recordings})
    failed = [outcome for outcome in outcomes if outcome.problem]
    for outcome in failed:
        _say(f"{outcome.recording.name} failed: {outcome.problem}")
    _say(f"{len(outcomes) - len(failed)} programs recorded in {time.monotonic() - began:.0f} s; in {chosen.out}")
    return 1 if failed else 0


def record(wanted: Sequence[Recording], captures: Path, jobs: int) -> list[Outcome]:
    """Record what is not there yet, `jobs` at once; what came of each that was tried."""
    ready = {one.environment: _ready(one.environment) for one in wanted}
    possible = [(one, there) for one in wanted if (there := ready[one.environment]) is not None]
    todo = [(one, there) for one, there in possible if not _is_there(one, there, captures)]
    _say(f"{len(todo)} programs to record, {len(possible) - len(todo)} are there already")
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(lambda pair: _record_one(pair[0], pair[1], captures), todo))


@cache
def _ready(environment: Environment) -> Ready | None:
    try:
        return prepared(environment)
    except environments.LeftOutError as error:
        _say(f"left out: {error}")
        return None


def _record_one(recording: Recording, ready: Ready, captures: Path) -> Outcome:
    """Record into a folder beside, which takes its place once the program has ended well."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=captures, prefix=".recording-") as folder:
        made = Path(folder) / "made"
        made.mkdir()
        problem = _run(recording, ready, made, Path(folder))
        seconds = time.monotonic() - began
        if not problem:
            told = {"key": key_of(recording, ready), "seconds": round(seconds, 2)}
            (made / MADE_OF).write_text(json.dumps(told), encoding="utf-8")
            place = captures / recording.name
            shutil.rmtree(place, ignore_errors=True)
            place.parent.mkdir(exist_ok=True)
            made.rename(place)
    return Outcome(recording, seconds, problem)


def _run(recording: Recording, ready: Ready, made: Path, work: Path) -> str:
    """What went wrong, empty where nothing did."""
    try:
        command, variables = command_of(recording, ready, made)
        done = subprocess.run(
            command, env=variables, cwd=work, capture_output=True, text=True, errors="replace", timeout=TIMEOUT
        )
    except environments.LeftOutError as error:
        return str(error)
    except subprocess.TimeoutExpired:
        return f"it took longer than {TIMEOUT} s"
    if done.returncode:
        return f"status {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-3000:]}"
    return "" if any(True for _ in capture_folders(made)) else f"it made no capture\n{done.stderr[-3000:]}"


def _is_there(recording: Recording, ready: Ready, captures: Path) -> bool:
    try:
        told = json.loads((captures / recording.name / MADE_OF).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(told.get("key") == key_of(recording, ready))


def _is_chosen(recording: Recording, names: Sequence[str]) -> bool:
    known = {recording.program.stem, recording.environment.name, recording.name}
    return not names or bool(known & set(names))


def _forget(captures: Path, names: set[str]) -> None:
    """Remove captures that the table no longer asks for, and nothing that was not made here."""
    for path in captures.glob("*/*"):
        if path.relative_to(captures).as_posix() not in names and (path / MADE_OF).is_file():
            shutil.rmtree(path)


@contextlib.contextmanager
def _alone(captures: Path) -> Iterator[None]:
    """Wait for whoever records into this folder; what others left unfinished is removed."""
    captures.mkdir(parents=True, exist_ok=True)
    with (captures / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("waiting for another recording into this folder")
            fcntl.flock(lock, fcntl.LOCK_EX)
        for left in captures.glob(".recording-*"):
            shutil.rmtree(left)
        yield


def _say(text: str) -> None:
    print(f"guidebook: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
