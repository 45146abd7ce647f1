"""Build the fuzzers and run them: `make fuzz SECONDS=60 [TARGETS="captures settings"]`

SECONDS is the total for all fuzzers, which run two at a time; the build takes less than a minute. One target for an
hour: `make fuzz SECONDS=3600 TARGETS=captures`. A line reports the result of each. An input that fails a check is
stored in build/fuzz/found. The command that repeats it is printed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from tests.fuzz import native
from tests.fuzz.corpus_archive import ROOT, CorpusError, unpack_inputs, write_inputs
from tests.fuzz.targets import NAMES, PROGRAM_VARIABLE

CRASHES = ROOT / "tests" / "fuzz" / "crashes"
BUILD = ROOT / "build" / "fuzz"
LARGEST_CORPUS = 64 << 10  # bytes of all inputs in a target's archive
MAX_INPUTS = 100

_LIMITS = ("-timeout=10", "-rss_limit_mb=4096")


@dataclass(frozen=True)
class Run:
    """The result of a fuzzer: `output` has its last lines, and `input` is the failed input."""

    name: str
    executions: int
    covered: int
    added: int
    slowest: int
    output: str
    input: Path | None
    has_failed: bool

    def line(self) -> str:
        """The result as one line."""
        crashes = "1 crash" if self.has_failed else "0 crashes"
        work = f"{self.executions:>10,} executions, {self.covered:>6,} edges and features, {self.added:>5,} new inputs"
        slow = f", slowest {self.slowest} s" if self.slowest else ""
        return f"fuzz: {self.name:<18} {work}, {crashes}{slow}"


LSP_MESSAGES = "lsp_messages"  # has its own driver because a server is a process with state


def command(name: str) -> list[str]:
    """The command for a target; inputs and libFuzzer options follow it."""
    if name == LSP_MESSAGES:
        return [sys.executable, "-m", f"tests.fuzz.{LSP_MESSAGES}", "60"]
    if name in NAMES:
        return [sys.executable, "-m", "tests.fuzz.libfuzzer", name]
    return [str(native.program(name)), "-max_len=16384"]


def fuzz(name: str, seconds: int) -> Run:
    """Fuzz one target, starting from its archive. New inputs stay in build/fuzz/corpus."""
    found = BUILD / "found" / name
    found.mkdir(parents=True, exist_ok=True)
    inputs = [str(folder) for folder in (_unpack(name), CRASHES / name) if folder.is_dir()]
    options = [f"-max_total_time={seconds}", *_LIMITS, "-print_final_stats=1", f"-artifact_prefix={found}/"]
    log = BUILD / f"{name}.log"
    if name == LSP_MESSAGES:
        return _lsp_messages(seconds, log)
    with log.open("wb") as output:
        done = subprocess.run(
            [*command(name), *options, *inputs], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    return _read(name, log.read_text(encoding="utf-8", errors="replace"), done.returncode != 0)


def _lsp_messages(seconds: int, log: Path) -> Run:
    arguments = [sys.executable, "-m", f"tests.fuzz.{LSP_MESSAGES}", str(seconds)]
    with log.open("wb") as output:
        done = subprocess.run(arguments, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    text = log.read_text(encoding="utf-8", errors="replace")
    sent = int((re.findall(r"(\d[\d,]*) messages", text) or ["0"])[-1].replace(",", ""))
    return Run(LSP_MESSAGES, sent, 0, 0, 0, "\n".join(text.splitlines()[-40:]), None, done.returncode != 0)


def minimise(name: str) -> None:
    """Rewrite a target's archive: the smallest inputs that cover the same code as it and build/fuzz/corpus.

    All inputs stay in build/fuzz/corpus, so that minimising again selects the same ones.

    Raises CorpusError if there are no inputs, or the archive is damaged.
    """
    inputs = _unpack(name)
    if not any(inputs.iterdir()):
        raise CorpusError(f"{name} has no inputs to minimise. Add its seeds: python -m tests.fuzz.make_seeds {name}")
    merged = BUILD / "merged" / name
    shutil.rmtree(merged, ignore_errors=True)
    merged.mkdir(parents=True)
    # libFuzzer restarts itself for this, by its first argument alone.
    again = BUILD / f"{name}.sh"
    again.write_text(f'#!/bin/sh\nexec {shlex.join(command(name))} "$@"\n', encoding="utf-8")
    again.chmod(0o755)
    merging = [*command(name), "-merge=1", *_LIMITS, str(merged), str(inputs)]
    environment = {**os.environ, PROGRAM_VARIABLE: str(again)}
    subprocess.run(merging, cwd=ROOT, check=True, capture_output=True, env=environment)
    kept = sorted(merged.iterdir(), key=lambda path: (path.stat().st_size, path.name))
    kept = kept[:: len(kept) // MAX_INPUTS + 1]  # some of every size
    sizes = accumulate(path.stat().st_size for path in kept)
    write_inputs(name, [path.read_bytes() for path, size in zip(kept, sizes, strict=True) if size <= LARGEST_CORPUS])


def _unpack(name: str) -> Path:
    """Unpack a target's archive into the folder of build/fuzz/corpus that has its new inputs. Return the folder."""
    folder = BUILD / "corpus" / name
    unpack_inputs(name, folder)
    return folder


def _read(name: str, log: str, has_failed: bool) -> Run:
    def last(pattern: str) -> int:
        return int((re.findall(pattern, log) or ["0"])[-1])

    written = re.findall(r"Test unit written to (\S+)", log)
    return Run(
        name,
        last(r"stat::number_of_executed_units: +(\d+)"),
        last(r" ft: (\d+)"),
        last(r"stat::new_units_added: +(\d+)"),
        last(r"stat::slowest_unit_time_sec: +(\d+)"),
        "\n".join(log.splitlines()[-40:]),
        Path(written[-1]) if written else None,
        has_failed,
    )


def _print_summary(runs: Iterable[Run]) -> bool:
    is_clean = True
    for run in runs:
        print(run.line(), flush=True)
        if run.has_failed:
            is_clean = False
            again = [*command(run.name), *([str(run.input.relative_to(ROOT))] if run.input else [])]
            print(run.output)
            print(f"fuzz: again: {shlex.join(again)}")
    return is_clean


def main(arguments: Sequence[str]) -> int:
    """Run the fuzzers of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="of all fuzzers together (60)")
    parser.add_argument("--jobs", type=int, default=2, help="how many run at once (2)")
    parser.add_argument("--minimise", action="store_true", help="rewrite the archives in tests/fuzz/corpus instead")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="all of them, if none is named")
    asked = parser.parse_args(arguments)
    known = [*native.NAMES, *NAMES, *([LSP_MESSAGES] if (ROOT / "tests/fuzz/lsp_messages.py").is_file() else [])]
    if unknown := [name for name in asked.targets if name not in known]:
        parser.error(f"there is no target {unknown[0]}; there are {', '.join(known)}")
    targets = asked.targets or known
    try:
        native.build([name for name in targets if name in native.NAMES], BUILD)
    except native.BuildError as error:
        print(f"fuzz: {error}", file=sys.stderr)
        return 1
    try:
        with ThreadPoolExecutor(asked.jobs) as pool:
            if asked.minimise:
                list(pool.map(minimise, [name for name in targets if name != LSP_MESSAGES]))
                return 0
            seconds = max(asked.seconds * min(asked.jobs, len(targets)) // len(targets), 1)
            return 0 if _print_summary(pool.map(lambda name: fuzz(name, seconds), targets)) else 1
    except CorpusError as error:
        print(f"fuzz: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
