"""What `framedex resolve` costs as a filter, against the filters that users know, in the same run.

    python benchmarks/resolve.py [--index INDEX] [--rounds N] [--megabytes N] [--gigabytes N]

INDEX is one of XLA's sources, for example (`framedex index --source ~/xla`): the places in JAX's log lines then get
their files. Speed is of whole processes, from a pipe to a file. The delay of a line is the time from its writing
into a pipe to its reading from a pseudo terminal.
"""

from __future__ import annotations

import argparse
import os
import pty
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.table import Table

_SAMPLES = Path(__file__).parents[1] / "tests" / "fixtures" / "stacks"
_PLACE = r"[[:alnum:]/_.-]+\.(py|cc|h|c):[0-9]+"
_LINES = 2000  # of which each delay is measured
_PAUSE = 0.002  # seconds between them, as long as a program may well take
_FRAMEDEX = [sys.executable, "-c", "from framedex.commands.main import cli; cli()"]


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--index", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megabytes", type=int, default=128)
    parser.add_argument("--gigabytes", type=float, default=1)
    arguments = parser.parse_args()
    chosen = ["--index", str(arguments.index.resolve())] if arguments.index else []
    resolve = [*_FRAMEDEX, *chosen, "resolve"]
    filters = {
        "cat": ["cat"],
        "sed -E 's/PLACE/LINK/'": ["sed", "-E", rf"s#{_PLACE}#\x1b]8;;file:///&\x1b\\&\x1b]8;;\x1b\\#g"],
        "c++filt": ["c++filt"],
        "framedex resolve": resolve,
    }
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for title, make in _LOGS.items():
            _measure_speed(Path(folder) / "log", title, make, arguments.megabytes, filters, arguments.rounds)
        _measure_memory(resolve, round(arguments.gigabytes * 1000))
        _measure_delay({"cat": ["cat"], "grep --line-buffered": ["grep", "--line-buffered", ""], "framedex": resolve})


def _ordinary(chance: random.Random) -> Iterator[str]:
    for step in iter(int, 1):
        second = f"{chance.randrange(60):02d},{chance.randrange(1000):03d}"
        yield (
            f"2026-11-20 16:02:{second} INFO     trainer.loop: step {step} loss={chance.random():.6f}"
            f" grad_norm={chance.random():.4f} lr=1.000e-04 tokens/s={chance.randrange(99999)} (TPU_3(process=0))\n"
        )


def _of_jax(chance: random.Random) -> Iterator[str]:
    files = ("pjrt_client", "cpu_client", "service", "hlo_pass_pipeline", "buffer_assignment")
    for module in iter(int, 1):
        file = f"{chance.choice(files)}.cc:{chance.randrange(10, 90)}"
        yield (
            f"I1120 16:02:31.{chance.randrange(10**6):06d}  {chance.randrange(9999)} {file}] Compiled module jit_step_"
            f"{module} in {chance.random() * 100:.2f} ms (fingerprint {chance.getrandbits(64):x})\n"
        )


def _frames(_: random.Random) -> Iterator[str]:
    samples = [path.read_text() for path in sorted(_SAMPLES.glob("*.txt"))]
    while True:
        yield from samples


def _moved_frames(chance: random.Random) -> Iterator[str]:
    """The same stacks, of processes that each lay somewhere else."""
    for text in _frames(chance):
        yield _ADDRESS.sub(
            lambda found: f"{chance.getrandbits(40) | 1 << 40:0{len(found[0])}x}"[-len(found[0]) :], text
        )


def _of_xla(chance: random.Random) -> Iterator[str]:
    """Frames of XLA that its release maps know, of processes that each lay somewhere else."""
    names = (
        "PjRtCApiClient::InitAttributes",
        "cpu::ThunkExecutor::TracedExecute",
        "Service::Compile",
        "Shape::ToString",
    )
    while True:
        yield f"    @     0x{chance.getrandbits(46) | 1 << 46:012x}        960  xla::{chance.choice(names)}()\n"


def _unknown(form: str) -> Callable[[random.Random], Iterator[str]]:
    def lines(chance: random.Random) -> Iterator[str]:
        for number in range(_SYMBOLS):
            name = f"ns{number % 97}::Class{number % 1013}::method_{number:06d}(int, char const*)"
            yield form.format(address=f"{chance.getrandbits(46) | 1 << 46:012x}", number=number % 40, name=name)

    return lines


_ADDRESS = re.compile(r"(?<=0x)[0-9a-f]{10,}")
_SYMBOLS = 200_000
_UNKNOWN = f"{_SYMBOLS:,} unknown symbols"
_LOGS: Mapping[str, Callable[[random.Random], Iterator[str]]] = {
    "ordinary log text": _ordinary,
    "log of JAX, a place on every line": _of_jax,
    "nothing but stacks": _frames,
    "nothing but stacks, no address twice": _moved_frames,
    "frames of XLA, no address twice": _of_xla,
    f"{_UNKNOWN}, glog": _unknown("    @     0x{address} {name}\n"),
    f"{_UNKNOWN} in XLA's namespace": _unknown("    @     0x{address} xla::{name}\n"),
    f"{_UNKNOWN}, gdb": _unknown("#{number}  0x0000{address} in {name} () from /usr/lib/libfoo.so\n"),
    f"{_UNKNOWN} and places, sanitizer": _unknown("    #{number} 0x{address} in {name} /build/a.cc:{number}1\n"),
}


def _measure_speed(
    log: Path,
    title: str,
    make: Callable[[random.Random], Iterator[str]],
    megabytes: int,
    filters: Mapping[str, Sequence[str]],
    rounds: int,
) -> None:
    texts = 20_000
    if make in (_frames, _moved_frames, _of_xla):
        megabytes //= 16
    elif title.startswith(_UNKNOWN):
        texts, megabytes = _SYMBOLS, 0
    block = "".join(islice(make(random.Random(1)), texts)).encode()
    log.write_bytes(block * max(megabytes * 1_000_000 // len(block), 1))
    size = log.stat().st_size / 1e6
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in filters}
    for _ in range(rounds):
        for name, command in filters.items():
            taken[name].append(_filtered(log, command))
    headings = ("filter", "median s", "min s", "MB/s", "processor s", "MB per processor s")
    table = Table(*headings, title=f"{title}, {size:.0f} MB")
    for name, pairs in taken.items():
        elapsed, processor = (statistics.median(column) for column in zip(*pairs, strict=True))
        least = min(seconds for seconds, _ in pairs)
        table.add_row(
            name,
            f"{elapsed:.2f}",
            f"{least:.2f}",
            f"{size / elapsed:.0f}",
            f"{processor:.2f}",
            f"{size / processor:.0f}",
        )
    Console().print(table)


def _filtered(log: Path, command: Sequence[str]) -> tuple[float, float]:
    """The seconds that a filter took for a log, and those of the processor."""
    with log.with_suffix(".out").open("wb") as sink, subprocess.Popen(["cat", log], stdout=subprocess.PIPE) as source:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdin=source.stdout, stdout=sink, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return time.perf_counter() - began, used.ru_utime + used.ru_stime


def _measure_memory(resolve: Sequence[str], megabytes: int) -> None:
    """A log of ordinary text and places, none of which comes twice."""
    rest = "".join(islice(_ordinary(random.Random(2)), 7000)).encode()
    process = subprocess.Popen(resolve, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert process.stdin is not None
    began, written = time.perf_counter(), 0
    while written < megabytes * 1_000_000:
        places = "".join(f"/build/{written + i}.cc:{i}: warning\n" for i in range(100)).encode()
        process.stdin.write(places + rest)
        written += len(places) + len(rest)
    process.stdin.close()
    _, _, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    print(f"{written / 1e9:.2f} GB: {seconds:.1f} s, {used.ru_maxrss >> 10} MB at most")


def _measure_delay(filters: Mapping[str, Sequence[str]]) -> None:
    table = Table("filter", "p50 us", "p99 us", title=f"from a line's writing to its reading, {_LINES} lines")
    for name, command in filters.items():
        ours, theirs = pty.openpty()
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=theirs, bufsize=0)
        os.close(theirs)
        assert process.stdin is not None
        delays = []
        for line in islice(_ordinary(random.Random(3)), _LINES):
            began = time.perf_counter()
            process.stdin.write(line.encode())
            shown = b""
            while not shown.endswith(b"\n"):
                shown += os.read(ours, 1 << 16)
            delays.append(time.perf_counter() - began)
            time.sleep(_PAUSE)
        process.stdin.close()
        process.wait()
        os.close(ours)
        delays = sorted(delays[10:])  # the first ones wait for the process to start
        table.add_row(name, *(f"{1e6 * delays[int(part * len(delays))]:.0f}" for part in (0.5, 0.99)))
    Console().print(table)


if __name__ == "__main__":
    main()
