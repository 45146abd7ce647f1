"""Jobs of many ranks with deliberate faults: each rank has the calls of one real capture, slightly changed.

The capture is of `training_rank.py`, added to a store normally. The ranks' files are made from it. Each has its own
addresses and time noise; some calls destroy objects later or not at all. In each step, ranks wait for one another like
programs with collectives: nobody leaves before the last has entered.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from framedex.fleet.ranks.model import Kind
from tests.indexer.fleet.fleets import add_to_store, run_query
from tests.running import run

Floats = npt.NDArray[np.float64]

JOB = "generated"
BEGAN = 1_795_000_000_000_000_000  # ns since 1970
EXECUTE, TRANSFER, READ = (
    "PJRT_LoadedExecutable_Execute",
    "PJRT_Client_BufferFromHostBuffer",
    "PJRT_Buffer_ToHostBuffer",
)
COMPILE, IS_DELETED = "PJRT_Client_Compile", "PJRT_Buffer_IsDeleted"
STEP = 1e9  # ns: the duration of a step
LATE = 100e3  # ns: delay to the first rank when leaving a program
OWN, NOISE = 0.7, 0.03  # the fraction of a step that a rank computes alone, and its variation


@dataclass(frozen=True)
class Fault:
    """A fault of a rank, in a step or from it on, and the line of `training_rank.py` to be reported."""

    kind: Kind
    rank: int
    step: int | None
    line: int | None


@dataclass
class Rank:
    """The calls of a rank under construction.

    They are a table, the usual ns between two programs, and the extra ns for loading data in that time.
    """

    calls: pa.Table
    usual: Floats
    longer: Floats
    packages: dict[str, str] = field(default_factory=dict)
    ahead: float = 0.0
    gains: float = 0.0


class Job:
    """The ranks' common data: the calls of the real capture, and the positions of its steps."""

    def __init__(self, folder: Path, steps: int) -> None:
        """Record the program, and add it to a store in `folder`."""
        recorded = run("training_rank.py", str(steps), folder=folder, FRAMEDEX_JOB=JOB, FRAMEDEX_RANK="0").capture
        self.store = folder / "store"
        add_to_store(self.store, recorded)
        (calls,) = self.store.glob("calls/*/*/*.parquet")
        self.calls = parquet.read_table(calls, partitioning=None)
        self.kinds = parquet.read_table(next(self.store.glob("call_kinds/*/*/*.parquet")), partitioning=None)
        self.row = parquet.read_table(next(self.store.glob("captures/*/*.parquet")), partitioning=None)
        told = dict(run_query(self.store, "SELECT stack, line FROM user_lines_readable"))
        lines = np.array([told.get(stack, -1) for stack in self.calls["stack"].to_pylist()], np.int64)
        self.calls = self.calls.append_column("line", pa.array(lines))
        functions = np.array(self.calls["function"].to_pylist())
        loop = lines[np.flatnonzero(functions == EXECUTE)[-1]]
        self.runs = np.flatnonzero((functions == EXECUTE) & (lines == loop))
        self.steps = len(self.runs)
        self.line_of_loop = int(loop)
        in_loop = np.arange(len(lines)) > self.runs[0]
        self.transfers = np.flatnonzero((functions == TRANSFER) & in_loop)[: 2 * (self.steps - 1)].reshape(-1, 2)
        self.reads = np.flatnonzero((functions == READ) & in_loop)
        self.compiles = np.flatnonzero((functions == COMPILE) & (lines == loop))
        self.report_line = max(lines[self.reads].tolist())


def generate(job: Job, store: Path, ranks: int, seed: int, faults: int | None = None) -> list[Fault]:
    """Write a store with the job's ranks; return the faults. Never one of rank 0, which reports."""
    chance = random.Random(seed)
    noise = np.random.default_rng(seed)
    shutil.copytree(job.store / "stacks", store / "stacks")
    shutil.copytree(job.store / "frames", store / "frames")
    shutil.copy(job.store / "framedex-fleet.json", store)
    kinds = list(FAULTS)
    chance.shuffle(kinds)
    chosen = [kinds[number % len(kinds)] for number in range(min(len(kinds), ranks // 3) if faults is None else faults)]
    faulty = dict(zip(chance.sample(range(1, ranks), len(chosen)), chosen, strict=True))
    made: list[tuple[int, Rank]] = []
    told = []
    for number in range(ranks):
        rank = Rank(job.calls, OWN * STEP * noise.lognormal(0, NOISE, job.steps), np.zeros(job.steps))
        if number in faulty:
            told.append(FAULTS[faulty[number]](job, rank, number, chance))
        made.append((number, rank))
    waited_for = np.array([rank.usual + rank.longer for _, rank in made]).max(axis=0)
    for number, rank in made:
        fault = next((each for each in told if each.rank == number), None)
        if fault is not None and fault.kind is Kind.MISSING:
            continue
        _write(job, store, number, rank, waited_for, noise, ranks)
        if fault is not None and fault.kind is Kind.CLAIMED:
            _write(job, store, number, _cut(rank, job, 3), waited_for, noise, ranks)
    return told


def _write(
    job: Job,
    store: Path,
    number: int,
    rank: Rank,
    waited_for: Floats,
    noise: np.random.Generator,
    ranks: int,
) -> None:
    calls = rank.calls
    if number:
        calls = calls.filter(pc.not_equal(calls["line"], job.report_line))
    is_optional = pc.equal(calls["function"], IS_DELETED)
    calls = calls.filter(pc.or_(pc.invert(is_optional), pa.array(noise.random(len(calls)) > 0.02)))
    start = calls["start"].to_numpy()
    duration = calls["duration"].to_numpy(zero_copy_only=False)
    late = noise.exponential(LATE, job.steps)
    begin, end = _moved(job, rank, start, duration, waited_for, late)
    name = hashlib.sha256(f"{store}{number}{noise.random()}".encode()).hexdigest()[:32]
    place = f"{job.row['part'][0].as_py().rpartition('/')[0]}/{name}-00000000.parquet"
    address = f'"0x{number % 4096:03x}'
    columns = {
        "capture": pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(calls), np.int32)), pa.array([name])),
        "call": pa.array(np.arange(len(calls))),
        "parent": pa.nulls(len(calls), pa.int64()),
        "start": pa.array(BEGAN + begin.astype(np.int64)),
        "duration": pa.array(np.where(np.isnan(end), 0, end - begin).astype(np.int64), mask=np.isnan(end)),
        "arguments": pc.replace_substring(calls["arguments"], '"0x', address),
    }
    for column, values in columns.items():
        calls = calls.set_column(calls.column_names.index(column), column, values)
    calls = calls.drop_columns("line")
    _table(store / "calls" / place, calls)
    _table(store / "call_kinds" / place, _kinds(calls, job, name))
    row = job.row.to_pylist()[0]
    metadata = json.loads(row["metadata"])
    metadata["job"] = {"FRAMEDEX_JOB": JOB, "FRAMEDEX_RANK": str(number), "SLURM_NTASKS": str(ranks)}
    row |= {
        "capture": name,
        "rank": number,
        "host": f"host-{number}",
        "part": place,
        "calls": len(calls),
        "signature": name,
    }
    row |= {"started": BEGAN + int(begin[0]) - 1000, "path": f"/captures/{number}", "metadata": json.dumps(metadata)}
    row["packages"] = json.dumps({"jax": "0.10.2", "numpy": "2.3.0"} | rank.packages)
    _table(
        store / "captures" / f"day={row['day']}" / f"{name}-00000000.parquet",
        pa.Table.from_pylist([row], job.row.schema),
    )


def _moved(
    job: Job, rank: Rank, start: npt.NDArray[np.int64], duration: Floats, waited_for: Floats, late: Floats
) -> tuple[Floats, Floats]:
    """Start and end times of calls: steps last as long as the table says, and end when all ranks have arrived."""
    first = int(job.calls["start"][0].as_py())
    runs = (job.calls["start"].to_numpy()[job.runs] - first).astype(np.float64)
    ran = runs + np.maximum(job.calls["duration"].to_numpy(zero_copy_only=False)[job.runs], 1)
    released = 2e9 + np.cumsum(waited_for + (1 - OWN) * STEP)  # the end of each program, on all ranks
    before = np.concatenate([[2e9], released[:-1] + late[:-1]])
    came = np.concatenate([[2e9], released[:-1]]) + rank.usual + rank.longer
    loads = (job.calls["start"].to_numpy()[job.transfers[:, 0]] - first).astype(np.float64)
    loaded = before[1:] + (loads - ran[:-1]) / (runs[1:] - ran[:-1]) * rank.usual[1:]
    knots = np.array(
        [
            [runs[1:], came[1:]],
            [ran[1:], released[1:] + late[1:]],
            [loads - 2, loaded],
            [loads - 1, loaded + rank.longer[1:]],
        ]
    )
    old, new = np.sort(knots.transpose(1, 0, 2).reshape(2, -1), axis=1)
    old = np.concatenate([[0.0, runs[0], ran[0]], old, [old[-1] + 1e9]])
    new = np.concatenate([[0.0, came[0], released[0] + late[0]], new, [new[-1] + 1e9]])

    def moved(times: Floats) -> Floats:
        at = np.interp(times, old, new)
        return np.asarray(at + rank.ahead + rank.gains * at)

    begun = (start - first).astype(np.float64)
    return moved(begun), moved(begun + duration)


def _table(path: Path, table: pa.Table) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(table, path, compression="zstd", store_schema=False)


def _kinds(calls: pa.Table, job: Job, name: str) -> pa.Table:
    """The totals of the calls."""
    known = calls.set_column(calls.column_names.index("capture"), "capture", pa.array([name] * len(calls)))
    known = known.set_column(known.column_names.index("duration"), "duration", pc.fill_null(known["duration"], 0))
    keys = ["capture", "boundary", "function", "thread", "stack", "error"]
    sums = known.group_by(keys).aggregate(
        [("call", "count"), ("duration", "sum"), ("duration", "max"), ("call", "min"), ("call", "max")]
    )
    told = {key: sums[key] for key in keys} | {
        **{"calls": sums["call_count"], "duration": sums["duration_sum"], "own_duration": sums["duration_sum"]},
        **{"longest": sums["duration_max"], "longest_call": sums["call_min"], "first_call": sums["call_min"]},
        "latest_call": sums["call_max"],
    }
    return pa.table({key: told[key] for key in job.kinds.column_names}).cast(job.kinds.schema)


def _step(job: Job, chance: random.Random) -> int:
    return chance.randrange(5, job.steps - 5)


def _changed(rank: Rank, row: int, **values: object) -> None:
    """Change a row of the calls."""
    one = rank.calls.slice(row, 1)
    for column, value in values.items():
        place = one.column_names.index(column)
        one = one.set_column(place, column, pa.array([value], one.schema.field(place).type))
    rank.calls = pa.concat_tables([rank.calls.slice(0, row), one, rank.calls.slice(row + 1)])


def _argument(rank: Rank, row: int, **values: object) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(rank.calls["arguments"][row].as_py())
    return told | {name.replace("_dot_", "."): value for name, value in values.items()}


def _line(rank: Rank, row: int) -> int:
    return int(rank.calls["line"][row].as_py())


def _cut(rank: Rank, job: Job, step: int) -> Rank:
    return replace(rank, calls=rank.calls.slice(0, int(job.runs[step]) + 1))


def _slow(job: Job, rank: Rank, number: int, chance: random.Random) -> Fault:
    rank.longer += STEP * chance.uniform(0.2, 0.6)
    return Fault(Kind.SLOW, number, None, _line(rank, int(job.transfers[0, 0])))


def _slow_step(job: Job, rank: Rank, number: int, chance: random.Random) -> Fault:
    step = _step(job, chance)
    rank.longer[step] += STEP * chance.uniform(5, 10)
    return Fault(Kind.SLOW_STEP, number, step, _line(rank, int(job.transfers[0, 0])))


def _shape(job: Job, rank: Rank, number: int, chance: random.Random) -> Fault:
    step = _step(job, chance)
    row = int(job.transfers[step - 1, chance.randrange(2)])
    told = _argument(rank, row)
    dims = [told["dims"][0] - 1, *told["dims"][1:]]
    _changed(rank, row, arguments=json.dumps(told | {"dims": dims}))
    return Fault(Kind.SHAPE, number, step, _line(rank, row))


def _program(job: Job, rank: Rank, number: int, chance: random.Random) -> Fault:
    row = int(job.compiles[0])
    _changed(
        rank, row, arguments=json.dumps(_argument(rank, row, program_dot_kept=f"{chance.getrandbits(64):016x}-a4b"))
    )
    return Fault(Kind.PROGRAM, number, 0, _line(rank, row))


def _missing_call(job: Job, rank: Rank, number: int, chance: random.Random) -> Fault:
    step = _step(job, chance)
    row = int(job.transfers[step - 1, chance.randrange(2)])
    line = _line(rank, row)
    rank.calls = pa.concat_tables([rank.calls.slice(0, row), rank.calls.slice(row + 1)])
    return Fault(Kind.MISSING_CALL, number, step, line)


def _with_row(rank: Rank, copied: int, before: int, **values: object) -> None:
    """Copy a row to a position before another one, and to an earlier start."""
    start = int(rank.calls["start"][before].as_py()) - 1
    rank.calls = pa.concat_tables([rank.calls.slice(0, before), rank.calls.slice(copied, 1), rank.calls.slice(before)])
    _changed(rank, before, start=start, duration=1, **values)


def _extra_call(job: Job, rank: Rank, number: int, chance: random.Random) -> Fault:
    step = _step(job, chance)
    row = int(job.transfers[step - 1, 1])
    _with_row(rank, row, row)
    return Fault(Kind.EXTRA_CALL, number, step, _line(rank, row))


def _recompiled(job: Job, rank: Rank, number: int, chance: random.Random) -> Fault:
    step, compiled = _step(job, chance), int(job.compiles[0])
    is_same = chance.random() < 0.5
    told = _argument(rank, compiled, executable="0x7fff00000000")
    if not is_same:
        told |= {"program.kept": f"{chance.getrandbits(64):016x}-a4b"}
    for row in job.runs[step:].tolist():
        _changed(rank, row, arguments=json.dumps(_argument(rank, row, executable="0x7fff00000000")))
    _with_row(rank, compiled, int(job.runs[step]), arguments=json.dumps(told))
    rank.longer[step] += STEP * 3
    return Fault(Kind.RECOMPILED, number, step, job.line_of_loop)


def _order(job: Job, rank: Rank, number: int, chance: random.Random) -> Fault:
    step = _step(job, chance)
    first, second = job.transfers[step - 1].tolist()
    rows = rank.calls.slice(first, 1).to_pylist()[0], rank.calls.slice(second, 1).to_pylist()[0]
    for row, other in ((first, rows[1]), (second, rows[0])):
        _changed(rank, row, **{name: other[name] for name in ("function", "stack", "arguments", "line")})
    return Fault(Kind.ORDER, number, step, _line(rank, first))


def _ended(job: Job, rank: Rank, number: int, chance: random.Random) -> Fault:
    step = _step(job, chance)
    cut = _cut(rank, job, step)
    rank.calls = cut.calls
    return Fault(Kind.ENDED, number, None, job.line_of_loop)


def _hang(job: Job, rank: Rank, number: int, chance: random.Random) -> Fault:
    _ended(job, rank, number, chance)
    _changed(rank, len(rank.calls) - 1, duration=None, error=-1)
    return Fault(Kind.HANG, number, None, job.line_of_loop)


def _error(job: Job, rank: Rank, number: int, chance: random.Random) -> Fault:
    step = _step(job, chance)
    row = int(job.transfers[step - 1, 0])
    _changed(rank, row, error=8)
    return Fault(Kind.FAILS, number, step, _line(rank, row))


def _ahead(job: Job, rank: Rank, number: int, chance: random.Random) -> Fault:
    rank.ahead = chance.choice((-1, 1)) * chance.uniform(0.5, 2) * 3600e9
    return Fault(Kind.CLOCK, number, None, None)


def _gains(job: Job, rank: Rank, number: int, chance: random.Random) -> Fault:
    rank.gains = chance.choice((-1, 1)) * 500e-6
    return Fault(Kind.CLOCK, number, None, None)


def _is_there(kind: Kind) -> Callable[[Job, Rank, int, random.Random], Fault]:
    return lambda job, rank, number, chance: Fault(kind, number, None, None)


def _versions(job: Job, rank: Rank, number: int, chance: random.Random) -> Fault:
    rank.packages = {"jax": "0.0.1"}
    return Fault(Kind.VERSIONS, number, None, None)


FAULTS: dict[str, Callable[[Job, Rank, int, random.Random], Fault]] = {
    **{"slow": _slow, "slow-step": _slow_step, "shape": _shape, "program": _program, "missing-call": _missing_call},
    **{"extra-call": _extra_call, "recompiled": _recompiled, "order": _order, "ended": _ended, "hang": _hang},
    **{"error": _error, "clock an hour off": _ahead, "clock that drifts": _gains},
    **{"missing rank": _is_there(Kind.MISSING), "claimed twice": _is_there(Kind.CLAIMED), "versions": _versions},
}
