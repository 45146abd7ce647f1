"""Cost of a fleet store: adding captures, queries, and faults that `framedex fleet ranks` finds."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchmarks.figures import Figure
from benchmarks.processes import FRAMEDEX, Cost, print_header, print_row, run_framedex, run_measured
from framedex.fleet.prepared_queries import PREPARED_QUERIES
from framedex.fleet.store_queries import StoreConnection
from framedex.fleet.store_root import StoreRoot

if TYPE_CHECKING:
    from tests.indexer.fleet.generated import Fault

# --- a store of captures ----------------------------------------------------------------------------------------------


@click.command()
@click.argument("capture", type=click.Path(exists=True, path_type=Path))
@click.option("--captures", "counts", type=int, multiple=True, default=[10, 50, 200], help="Captures; repeatable.")
@click.option("--store-only", is_flag=True, help="Do not measure an index of the same captures.")
@click.option("--workers", type=int, multiple=True, help="Also add the captures with this many workers; repeatable.")
def fleet_store(capture: Path, counts: tuple[int, ...], store_only: bool, workers: tuple[int, ...]) -> list[Figure]:
    """Measure adding captures to a store, against one index, then pull, compact and every prepared query.

    The captures are copies of one. The start of each process and the naming of frames are included. --workers adds
    the captures to another store; it prints wall-clock seconds and the memory of the largest worker.
    """
    columns = ("captures", "calls", "calls a second, store", "index", "MiB, store", "index", "bytes a call, store")
    print_header(*columns, "index")
    figures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for count in counts:
            figures += _measure_store(folder / str(count), capture, count, store_only)
        store = folder / str(counts[-1]) / "store"
        figures += _measure_maintenance(folder, store)
        figures += _measure_queries(store)
        if workers:
            print()
            print_header(
                "captures", "workers", "s", "calls a second", "of processor time", "MiB, a worker", "the command"
            )
            for count in counts:
                for number in workers:
                    print_row(count, number, *_add_with_workers(folder / str(count), number))
    return figures


def _measure_store(folder: Path, capture: Path, count: int, store_only: bool) -> list[Figure]:
    """Add copies of a capture to a store, and to an index; print the row."""
    _copy_captures(capture, folder / "captures", count)
    store, index = folder / "store", folder / "index.db"
    added = run_framedex(folder, "fleet", "add", folder / "captures", "--store", store, "--workers", "0")
    (calls,) = _query_row(store, "SELECT sum(calls) FROM captures")
    title = f"{count} captures, {calls:,} calls"
    cells, ratio = [_store_cells(calls, added, store)], None
    if not store_only:
        indexed = run_framedex(folder, "--index", index, "index", folder / "captures")
        cells.append(_store_cells(calls, indexed, index))
        ratio = indexed.processor_s / added.processor_s
    print_row(count, f"{calls:,}", *(cell for pair in zip(*cells, strict=True) for cell in pair))
    index.unlink(missing_ok=True)
    speed = calls / added.processor_s
    return [
        Figure(f"adding {title}", speed, "calls a second of a processor", "one index" if ratio else "", ratio),
        Figure(f"store of {title}", _size(store) / calls, "bytes a call"),
    ]


def _measure_maintenance(folder: Path, store: Path) -> list[Figure]:
    """Pull one capture from the store, then compact the store."""
    pulled = folder / "pulled"  # a folder of its own: pull writes captures beside the index
    pulled.mkdir()
    cost = run_framedex(folder, "fleet", "pull", "--store", store, "--rank", "0", "-o", pulled / "index.db")
    one, calls = _query_row(store, "SELECT max(calls), sum(calls) FROM captures")
    pull = one / cost.processor_s
    print(f"\npull of {one:,} calls: {pull:,.0f} calls a second, {cost.memory_mib:.0f} MiB", flush=True)
    cost = run_framedex(folder, "fleet", "compact", "--store", store)
    compact = calls / cost.processor_s
    print(f"compact: {compact:,.0f} calls a second, {cost.memory_mib:.0f} MiB", flush=True)
    unit = "calls a second of a processor"
    return [Figure("fleet pull of one capture", pull, unit), Figure("fleet compact", compact, unit)]


def _measure_queries(store: Path) -> list[Figure]:
    print()
    print_header("query", "s cold, with opening the store", "s warm")
    counting = "SELECT function, count(*), sum(duration) FROM calls GROUP BY function"
    (calls,) = _query_row(store, "SELECT sum(calls) FROM captures")
    figures = []
    for name, sql in {
        **{name: each.sql for name, each in PREPARED_QUERIES.items()},
        "all calls, by function": counting,
    }.items():
        cold, warm = _time_query(store, sql)
        print_row(name, f"{cold:.2f}", f"{warm:.2f}")
        figures.append(Figure(f"query {name}, {calls:,} calls, cold", cold, "s"))
    return figures


def _add_with_workers(folder: Path, workers: int) -> tuple[str, ...]:
    """Add the captures of a folder with worker processes; the cells after the number of workers."""
    store = folder / f"store-{workers}"
    command = ("fleet", "add", str(folder / "captures"), "--store", str(store), "--workers", str(workers))
    process = subprocess.Popen([*FRAMEDEX, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    began = time.perf_counter()
    largest = own = 0
    while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
        largest = max(largest, 0, *map(_peak_kib, _child_processes(process.pid)))
        own = max(own, _peak_kib(process.pid))
        time.sleep(0.1)
    wall_s = time.perf_counter() - began
    _, status, usage = ended
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    (calls,) = _query_row(store, "SELECT sum(calls) FROM captures")
    processor_s = usage.ru_utime + usage.ru_stime  # with that of the workers
    cells = (f"{wall_s:.1f}", f"{calls / wall_s:,.0f}", f"{calls / processor_s:,.0f}", largest >> 10, own >> 10)
    return tuple(map(str, cells))


def _child_processes(process: int) -> list[int]:
    """The running child processes of a process."""
    with suppress(OSError):
        tasks = Path(f"/proc/{process}/task").iterdir()
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    return []


def _peak_kib(process: int) -> int:
    """Peak memory of a process in KiB; 0 if it has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return 0


def _store_cells(calls: int, cost: Cost, path: Path) -> tuple[str, str, str]:
    """Calls a second of processor time, memory in MiB, and bytes a call."""
    return f"{calls / cost.processor_s:,.0f}", f"{cost.memory_mib:.0f}", f"{_size(path) / calls:.1f}"


def _copy_captures(capture: Path, folder: Path, count: int) -> None:
    """Copy a capture as ranks of a job; the copies share the files of their streams."""
    metadata = json.loads((capture / "capture.json").read_text())
    for number in range(count):
        copy = folder / f"{capture.name}-{number}"
        copy.mkdir(parents=True)
        for file in capture.iterdir():
            if file.is_file() and file.name != "capture.json":
                (copy / file.name).hardlink_to(file)
        job = {"FRAMEDEX_JOB": "benchmark", "FRAMEDEX_RANK": str(number)}
        (copy / "capture.json").write_text(json.dumps(metadata | {"pid": 10**8 + number, "job": job}))


def _query_row(store: Path, sql: str) -> tuple[int, ...]:
    """The only row of a query's result."""
    with StoreConnection(StoreRoot(str(store))) as asking:
        row: tuple[int, ...] = tuple(map(int, asking.query(sql).rows[0]))
        return row


def _time_query(store: Path, sql: str) -> tuple[float, float]:
    """Seconds of a query, first with opening the store, then repeated."""
    began = time.perf_counter()
    with StoreConnection(StoreRoot(str(store))) as asking:
        asking.query(sql)
        cold = time.perf_counter() - began
        began = time.perf_counter()
        asking.query(sql)
        return cold, time.perf_counter() - began


def _size(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    return sum(file.stat().st_size for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file())


# --- ranks of a job ---------------------------------------------------------------------------------------------------


@click.command()
@click.option("--ranks", type=int, default=512, show_default=True, help="Number of ranks.")
@click.option("--steps", type=int, default=235, show_default=True, help="Steps of the recorded loop.")
@click.option("--faults", "fault_count", type=int, default=48, show_default=True, help="Ranks with a fault.")
@click.option("--seeds", type=int, default=1, show_default=True, help="Number of generated jobs.")
@click.option("--first-seed", type=int, default=0, show_default=True, help="Seed of the first job.")
def fleet_ranks(ranks: int, steps: int, fault_count: int, seeds: int, first_seed: int) -> list[Figure]:
    """Count the faults that `framedex fleet ranks` names in generated jobs.

    The calls of the ranks are variations of one real capture. A named fault has the right rank, step and line; every
    other finding except a note is false. Faults that are not named and false findings are printed on stderr.
    """
    import pyarrow.parquet

    from tests.indexer.fleet.generated import Job, generate

    columns = ("ranks", "calls", "faults", "named", "false", "s", "s of processor time", "MiB")
    print_header(*columns, "bytes a call in the store")
    totals, seconds = Counter[str](), []
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "job").mkdir()
        job = Job(Path(name) / "job", steps)
        for seed in range(first_seed, first_seed + seeds):
            store = Path(name) / str(seed)
            store.mkdir()
            faults = generate(job, store, ranks, seed, fault_count)
            found, cost = _find_faults(store)
            missed = [fault for fault in faults if not _is_named(fault, found)]
            false = _false_findings(faults, found)
            for kind, wrong in (("not named", missed), ("false", false)):
                for one in wrong:
                    print(f"seed {seed}: {kind}: {one}", file=sys.stderr, flush=True)
            parts = list((store / "calls").rglob("*.parquet"))
            calls = sum(pyarrow.parquet.read_metadata(part).num_rows for part in parts)
            size = sum(part.stat().st_size for part in parts) / calls
            cells = (
                len(faults),
                len(faults) - len(missed),
                len(false),
                f"{cost.wall_s:.2f}",
                f"{cost.processor_s:.2f}",
            )
            print_row(ranks, f"{calls:,}", *cells, f"{cost.memory_mib:.0f}", f"{size:.1f}")
            totals += Counter(faults=len(faults), named=len(faults) - len(missed), false=len(false))
            seconds.append(cost.processor_s)
    job_title = f"{ranks} ranks"
    return [
        Figure(f"faults named among {job_title}", totals["named"], f"of {totals['faults']}"),
        Figure(f"false findings among {job_title}", totals["false"], "findings"),
        Figure(f"fleet ranks of {job_title}", statistics.median(seconds), "s of a processor"),
    ]


def _false_findings(faults: Sequence[Fault], found: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
    faulty = {(fault.kind.value, fault.rank) for fault in faults}
    return [
        (each["kind"], rank, each["step"], each["line"], each["tells"])
        for each in found
        for rank in each["ranks"]
        if (each["kind"], rank) not in faulty
    ]


def _is_named(fault: Fault, found: Sequence[dict[str, Any]]) -> bool:
    """Whether a finding has the kind and rank of a fault, and its step and line if the fault has them."""
    return any(
        (each["kind"], each["step"] if fault.step is not None else None, each["line"] if fault.line else None)
        == (fault.kind.value, fault.step, fault.line)
        and fault.rank in each["ranks"]
        for each in found
    )


def _find_faults(store: Path) -> tuple[list[dict[str, Any]], Cost]:
    """The findings that are not notes, and the cost of the command."""
    from tests.indexer.fleet.generated import JOB

    cost = run_measured([*FRAMEDEX, "fleet", "ranks", JOB, "--store", store, "--json"])
    return [each for each in json.loads(cost.output)["findings"] if each["severity"] != "note"], cost


# --- a running job ----------------------------------------------------------------------------------------------------


@click.command()
@click.option("--ranks", "counts", type=int, multiple=True, default=[4, 64, 512], help="Ranks; repeatable.")
def running_ranks(counts: tuple[int, ...]) -> list[Figure]:
    """Measure `framedex ranks` on a job in which one rank never arrives.

    The captures of the ranks are copies of those of four real processes with `jax.distributed`. The start of the
    command is included. The answer must name the absent rank.
    """
    from framedex.fleet.running.states import read_job
    from tests.indexer.fleet.running_jobs import ABSENT, generate_job, started_job

    figures = []
    print_header("ranks", "s", "s of processor time", "MiB")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with started_job(folder) as job:
            job.wait_until_it_hangs()
            job.kill()
        for count in counts:
            generated = folder / str(count)
            generated.mkdir()
            generate_job(read_job([job.captures]), generated, count)
            cost = run_measured([*FRAMEDEX, "ranks", generated, "--patience", "0", "--json"])
            answer = json.loads(cost.output)
            assert (answer["verdict"], answer["blamed"]) == ("absent", [ABSENT]), answer
            print_row(count, f"{cost.wall_s:.2f}", f"{cost.processor_s:.2f}", f"{cost.memory_mib:.0f}")
            figures.append(Figure(f"ranks of a job of {count}", cost.wall_s, "s"))
    return figures
