"""Whether `framedex fleet ranks` names what is wrong with ranks, and what it takes: jobs with faults on purpose.

    python benchmarks/fleet_ranks.py [--ranks 512] [--steps 235] [--faults 48] [--seeds 1] [--first-seed 0]

The ranks' calls are those of one real capture, each rank's a little otherwise (tests/indexer/fleet/generated.py). A row
for each seed: faults that were named with their rank, step and line, findings that are none of them, and what the verb
took, its start with it. On stderr: the faults that were not named, and the findings that are none.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.indexer.fleet.generated import FAULTS, JOB, Fault, Job, generate


def main() -> None:
    """Print a row for each seed."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--ranks", type=int, default=512)
    arguments.add_argument("--steps", type=int, default=235)
    arguments.add_argument("--faults", type=int, default=3 * len(FAULTS))
    arguments.add_argument("--seeds", type=int, default=1)
    arguments.add_argument("--first-seed", type=int, default=0)
    given = arguments.parse_args()
    print("| ranks | calls | faults | named | false | s | s of processor time | MiB | bytes a call in the store |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "job").mkdir()
        job = Job(Path(folder) / "job", given.steps)
        for seed in range(given.first_seed, given.first_seed + given.seeds):
            store = Path(folder) / str(seed)
            store.mkdir()
            faults = generate(job, store, given.ranks, seed, given.faults)
            found, took, processor, memory = asked(store)
            missed = [fault for fault in faults if not is_named(fault, found)]
            faulty = {(fault.kind.value, fault.rank) for fault in faults}
            false = [
                (each["kind"], rank, each["step"], each["line"], each["tells"])
                for each in found
                for rank in each["ranks"]
                if (each["kind"], rank) not in faulty
            ]
            for said, wrong in (("not named", missed), ("false", false)):
                for one in wrong:
                    print(f"seed {seed}: {said}: {one}", file=sys.stderr, flush=True)
            parts = list((store / "calls").rglob("*.parquet"))
            calls = sum(pyarrow.parquet.read_metadata(part).num_rows for part in parts)
            size = sum(part.stat().st_size for part in parts) / calls
            told = f"{len(faults)} | {len(faults) - len(missed)} | {len(false)}"
            cost = f"{took:.2f} | {processor:.2f} | {memory:.0f} | {size:.1f}"
            print(f"| {given.ranks} | {calls:,} | {told} | {cost} |", flush=True)


def is_named(fault: Fault, found: Sequence[dict[str, Any]]) -> bool:
    """Whether a finding tells of a fault, in its step and on its line as far as it has them."""
    return any(
        (each["kind"], each["step"] if fault.step is not None else None, each["line"] if fault.line else None)
        == (fault.kind.value, fault.step, fault.line)
        and fault.rank in each["ranks"]
        for each in found
    )


def asked(store: Path) -> tuple[list[dict[str, Any]], float, float, float]:
    """The findings that are no notes; how long that took, its processor time in s, and memory at most in MiB."""
    command = [sys.executable, "-m", "framedex", "fleet", "ranks", JOB, "--store", str(store), "--json"]
    began = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        took = time.perf_counter() - began
        assert process.returncode == 0
        output.seek(0)
        findings = json.load(output)["findings"]
    alarms = [each for each in findings if each["severity"] != "note"]
    return alarms, took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


if __name__ == "__main__":
    main()
