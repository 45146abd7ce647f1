"""What the links of a first trace cost: `framedex index` of a program's capture with the release maps and without.

    python benchmarks/first_trace.py [--program indexer/framedex/demo/device_put.py] [--rounds 15] [--source FOLDER ...]
        [--checkouts XLA JAX]

Records the program on the mock TPU, then indexes the capture anew, with the maps that framedex comes with and without,
in turns. Tells, as medians, the processor time of both, and of the pairs' differences the median and the quartiles;
how many native frames have a link with the maps; and what the index is larger for it. Without `--source`, the folders
of `make demo` are indexed too. With checkouts of XLA and JAX at the commits of the installed jaxlib, how many of these
frames are in the same file, and on the same line, as with those.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import jax

_ROOT = Path(__file__).parents[1]
_CODE = """
import sys
from pathlib import Path
from framedex.ingest import released
if sys.argv.pop(1) == "without":
    released.SHIPPED = Path("/proc/self/no-maps")
from framedex.commands.main import cli
cli(prog_name="framedex")
"""


def main() -> None:
    """Measure and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=_ROOT / "indexer" / "framedex" / "demo" / "device_put.py")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--source", type=Path, nargs="+", default=[Path(jax.__file__).parent, _ROOT / "native"])
    parser.add_argument("--checkouts", type=Path, nargs=2, default=[], metavar=("XLA", "JAX"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _framedex("with", "run", "-o", folder / "captures", arguments.program.absolute(), folder=folder)
        sources = [option for source in arguments.source for option in ("--source", source.absolute())]
        sides = ("with", "without")
        seconds: dict[str, list[float]] = {side: [] for side in sides}
        totals, sizes = {}, {}
        for number in range(-1, arguments.rounds):  # the first one warms the disk's cache
            for side in sides[:: 1 if number % 2 else -1]:
                index = folder / f"{side}.db"
                index.unlink(missing_ok=True)
                index.with_name(f"{index.name}.seal").unlink(missing_ok=True)
                command = ("--index", index, "index", folder / "captures", *sources, "--json")
                said, taken = _framedex(side, *command, folder=folder)
                totals[side], sizes[side] = json.loads(said)["totals"], index.stat().st_size
                if number >= 0:
                    seconds[side].append(taken)
        agreement = _agreement(folder, [checkout.absolute() for checkout in arguments.checkouts])
    differences = [one - other for one, other in zip(seconds["with"], seconds["without"], strict=True)]
    figures = {
        "rounds": arguments.rounds,
        "with_s": round(statistics.median(seconds["with"]), 3),
        "without_s": round(statistics.median(seconds["without"]), 3),
        "difference_s": round(statistics.median(differences), 3),
        "quartiles_s": [round(each, 3) for each in statistics.quantiles(differences, n=4)[::2]],
        "frames_in_release_maps": totals["with"]["native_released"],
        "index_bytes": sizes["with"],
        "index_bytes_more": sizes["with"] - sizes["without"],
        **agreement,
    }
    print(json.dumps(figures, indent=2))


def _agreement(folder: Path, checkouts: list[Path]) -> dict[str, int]:
    """How many frames of `with.db` are where they are in an index with these checkouts."""
    if not checkouts:
        return {}
    sources = [option for checkout in checkouts for option in ("--source", checkout)]
    _framedex("without", "--index", folder / "tree.db", "index", folder / "captures", *sources, folder=folder)
    released, read = (_places(folder / name, checkouts) for name in ("with.db", "tree.db"))
    pairs = [(place, read.get(frame)) for frame, place in released.items()]
    return {
        "compared": len(pairs),
        "same_file": sum(other is not None and place[0] == other[0] for place, other in pairs),
        "same_line": sum(place == other for place, other in pairs),
    }


def _places(index: Path, checkouts: list[Path]) -> dict[tuple[str, int, int], tuple[str, int]]:
    """The places of native frames in release maps or checkouts, by module, offset and depth: path inside and line."""
    connection = sqlite3.connect(index)
    rows = connection.execute(
        "SELECT m.path, fr.offset, fr.depth, f.path, fr.line FROM frames fr JOIN modules m ON m.id = fr.module"
        " JOIN files f ON f.id = fr.file"
    ).fetchall()
    connection.close()
    prefixes = [f"{checkout}/" for checkout in checkouts]
    found = {}
    for *frame, path, line in rows:
        top = next((prefix for prefix in prefixes if path.startswith(prefix)), None)
        inside = path[len(top) :] if top else path.partition(":")[2]
        if inside:
            found[frame[0], frame[1], frame[2]] = (inside, line)
    return found


def _framedex(side: str, *arguments: str | Path, folder: Path) -> tuple[str, float]:
    """What framedex prints, and the seconds of processor time that it takes."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", _CODE, side, *map(str, arguments)]
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} failed: {process.returncode}")
    return said, usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
