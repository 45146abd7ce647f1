"""What imports take: seconds and memory of `framedex import`, and what is read a second, by format.

    python benchmarks/importing.py [--share 0.1] [--only collapsed pprof perfetto xplane]

Files are made up, but for the XPlane: that is of a loop of JAX under `jax.profiler.trace`.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from framedex.nativepart import protobuf

FRAMEDEX = [sys.executable, "-c", "from framedex.commands.main import cli; cli(prog_name='framedex')"]
MIB = 1 << 20
STACKS, FUNCTIONS, DEPTH = 20_000, 5_000, 40

PROGRAM = """\
import sys, jax, jax.numpy as jnp

step = jax.jit(lambda x: jnp.sin(x) @ x.T)
x = step(jnp.ones((64, 64))).block_until_ready()
options = jax.profiler.ProfileOptions()
options.python_tracer_level = 1
with jax.profiler.trace(sys.argv[1], profiler_options=options):
    for _ in range(int(sys.argv[2])):
        x = step(x)
    x.block_until_ready()
"""


def main() -> None:
    """Print a row for each format."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--share", type=float, default=1.0, help="Of the sizes: 0.1 for a tenth.")
    arguments.add_argument("--only", nargs="+", choices=MADE, default=list(MADE))
    given = arguments.parse_args()
    print("| format | MiB | samples | s of a processor | samples a second | MiB of memory |\n|---|---|---|---|---|---|")
    for name in given.only:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "profile"
            MADE[name](path, given.share)
            seconds, memory, samples = measured(path)
            size = path.stat().st_size / MIB
            rate = samples / seconds
            print(f"| {name} | {size:.0f} | {samples:,} | {seconds:.0f} | {rate:,.0f} | {memory:.0f} |", flush=True)


def measured(path: Path) -> tuple[float, float, int]:
    """Processor time in s, memory at most in MiB, and how many samples came in."""
    process = subprocess.Popen([*FRAMEDEX, "import", path], cwd=path.parent, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, said
    samples = int(said.partition(" sample")[0].rpartition(" ")[2].replace(",", ""))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, samples


def stacks() -> Iterator[list[int]]:
    """Stacks of functions by number, outermost first; neighbours have half of their frames in common."""
    chance = random.Random(1)
    stack = [chance.randrange(FUNCTIONS) for _ in range(DEPTH)]
    for _ in range(STACKS):
        at = chance.randrange(DEPTH // 2, DEPTH)
        stack[at:] = [chance.randrange(FUNCTIONS) for _ in range(DEPTH - at)]
        yield list(stack)


def collapsed(path: Path, share: float) -> None:
    """1 GiB of collapsed stacks, each of some of its lines."""
    lines = [";".join(f"module_{each % 97}.function_{each}" for each in stack) for stack in stacks()]
    left = int(1024 * MIB * share)
    with path.open("w") as file:
        for number in range(1 << 60):
            left -= file.write(f"{lines[number % len(lines)]} {number % 7 + 1}\n")
            if left <= 0:
                return


def pprof(path: Path, share: float) -> None:
    """A profile that is 300 MiB unpacked."""
    whole, integer, several = protobuf.message_field, protobuf.integer_field, protobuf.packed_field
    locations = [several(1, [each + 1 for each in reversed(stack)]) for stack in stacks()]
    left = int(300 * MIB * share)
    with gzip.open(path, "wb", 1) as file:
        file.write(whole(1, integer(1, 1) + integer(2, 2)))
        for number in range(1 << 60):
            left -= file.write(whole(2, locations[number % STACKS] + several(2, [number % 1_000_000])))
            if left <= 0:
                break
        for each in range(FUNCTIONS):
            file.write(whole(4, integer(1, each + 1) + whole(4, integer(1, each + 1) + integer(2, 7))))
            file.write(whole(5, integer(1, each + 1) + integer(2, each + 3)))
        texts = ("", "cpu", "nanoseconds", *(f"function_{each}" for each in range(FUNCTIONS)))
        file.writelines(whole(6, text.encode()) for text in texts)


def perfetto(path: Path, share: float) -> None:
    """A trace of 100 MiB: slices, each with one of the stacks."""
    whole, integer = protobuf.message_field, protobuf.integer_field
    told = [whole(5, integer(1, each + 1) + whole(2, b"function_%d" % each)) for each in range(FUNCTIONS)]
    told += [whole(6, integer(1, each + 1) + integer(2, each + 1)) for each in range(FUNCTIONS)]
    for number, stack in enumerate(stacks(), 1):
        told.append(whole(7, integer(1, number) + b"".join(integer(2, each + 1) for each in stack)))
    sequence = integer(10, 1)
    left = int(100 * MIB * share)
    with path.open("wb") as file:
        file.write(whole(1, sequence + whole(12, b"".join(told)) + integer(13, 1)))
        for number in range(1 << 60):
            begins = integer(9, 1) + whole(23, b"step") + integer(56, number % STACKS + 1)
            left -= file.write(whole(1, integer(8, 1000 * number) + sequence + whole(11, begins)))
            left -= file.write(whole(1, integer(8, 1000 * number + 800) + sequence + whole(11, integer(9, 2))))
            if left <= 0:
                return


def xplane(path: Path, share: float) -> None:
    """What JAX's profiler writes of 2,000 steps, with the functions of Python."""
    folder = path.with_suffix(".profiled")
    command = [sys.executable, "-c", PROGRAM, str(folder), str(max(int(2_000 * share), 1))]
    subprocess.run(command, check=True, env=os.environ | {"JAX_PLATFORMS": "cpu"}, capture_output=True)
    (written,) = folder.rglob("*.xplane.pb")
    written.rename(path)


MADE: dict[str, Callable[[Path, float], None]] = {
    "collapsed": collapsed,
    "pprof": pprof,
    "perfetto": perfetto,
    "xplane": xplane,
}


if __name__ == "__main__":
    main()
