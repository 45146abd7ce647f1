"""Changes to a rank's data in a store, as if its process had behaved differently."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

TRANSFER, COMPILE = "PJRT_Client_BufferFromHostBuffer", "PJRT_Client_Compile"
READ, EXECUTE = "PJRT_Buffer_ToHostBuffer", "PJRT_LoadedExecutable_Execute"


def capture_file(store: Path, rank: int) -> Path:
    """The file of a rank's capture."""
    files = store.glob("captures/*/*.parquet")
    return next(file for file in files if read(file)["rank"].to_pylist() == [rank])


def read(path: Path) -> pa.Table:
    """A file of a store."""
    return parquet.read_table(path, partitioning=None)


def write(path: Path, table: pa.Table) -> None:
    """Write a file of a store."""
    parquet.write_table(table, path, compression="zstd", store_schema=False)


def change_row(store: Path, of: int, **values: object) -> None:
    """Change a rank's capture in the store."""
    path = capture_file(store, of)
    table = read(path)
    write(path, pa.Table.from_pylist([table.to_pylist()[0] | values], table.schema))


def change_calls(store: Path, rank: int, change: Callable[[pa.Table], pa.Table]) -> None:
    """Change the calls of a rank."""
    path = store / "calls" / read(capture_file(store, rank))["part"][0].as_py()
    write(path, change(read(path)))


def replace_column(calls: pa.Table, name: str, values: pa.Array) -> pa.Table:
    """The calls with other values in a column."""
    return calls.set_column(calls.column_names.index(name), name, values)


def shift_clock(calls: pa.Table, by: int) -> pa.Table:
    """The calls by a clock that is this many ns ahead."""
    return replace_column(calls, "start", pc.add(calls["start"], by))


def scale_times(calls: pa.Table, by: float) -> pa.Table:
    """The calls with times multiplied by a factor."""
    start = calls["start"].to_numpy()
    return replace_column(calls, "start", pa.array(start[0] + ((start - start[0]) * by).astype(np.int64)))


def remove_transfer(calls: pa.Table, step: int, steps: int = 60) -> pa.Table:
    """The calls of `training_rank.py` without the first transfer of a step and its consequences until the next step."""
    rows = transfers(calls)
    place = len(rows) - 2 * (steps - step)
    return pa.concat_tables([calls.slice(0, rows[place]), calls.slice(rows[place + 1])])


def replace_arguments(calls: pa.Table, arguments: str) -> pa.Table:
    """The calls with other arguments of one transfer."""
    row = transfers(calls)[-20]
    one = replace_column(calls.slice(row, 1), "arguments", pa.array([arguments]))
    return pa.concat_tables([calls.slice(0, row), one, calls.slice(row + 1)])


def slow_down_reads(calls: pa.Table, is_slow: bool, by: int) -> pa.Table:
    """One rank reads slowly, and the others wait for it.

    Each read like its last one takes this long; the others wait in the program that they run next.
    """
    functions, start, duration = (calls[name].to_pylist() for name in ("function", "start", "duration"))
    stacks = calls["stack"].to_pylist()
    reads = [row for row, function in enumerate(functions) if function == READ]
    slow = {row for row in reads if stacks[row] == stacks[reads[-1]]}
    shift, held = 0, False
    for row, function in enumerate(functions):
        start[row] += shift
        if row in slow and not is_slow:
            held = True
        elif row in slow:
            duration[row] += by
            shift += by
        elif held and function == EXECUTE:
            duration[row] += by
            shift += by
            held = False
    return replace_column(replace_column(calls, "start", pa.array(start)), "duration", pa.array(duration))


def insert_pause(calls: pa.Table, step: int, by: int, is_own: bool, steps: int = 60) -> pa.Table:
    """One rank of `training_rank.py` pauses before it loads the data of a step.

    The others wait for it in the program that they run then.
    """
    functions, start, duration = (calls[name].to_pylist() for name in ("function", "start", "duration"))
    rows = transfers(calls)
    first = rows[len(rows) - 2 * (steps - step)]
    if not is_own:
        first = next(row for row in range(first, len(functions)) if functions[row] == EXECUTE)
        duration[first] += by
        first += 1
    moved = [moment + by * (row >= first) for row, moment in enumerate(start)]
    return replace_column(replace_column(calls, "start", pa.array(moved)), "duration", pa.array(duration))


def load_from_cache(calls: pa.Table) -> pa.Table:
    """The calls with compiled programs loaded instead."""
    told = calls["function"].to_pylist()
    names = ["PJRT_Executable_DeserializeAndLoad" if each == COMPILE else each for each in told]
    arguments = [
        json.dumps({"loaded_executable": json.loads(text)["executable"]}) if name == COMPILE else text
        for name, text in zip(told, calls["arguments"].to_pylist(), strict=True)
    ]
    return replace_column(replace_column(calls, "function", pa.array(names)), "arguments", pa.array(arguments))


def move_to_first_line(calls: pa.Table) -> pa.Table:
    """The calls with all calls on the line of the first transfer."""
    stack = calls["stack"][transfers(calls)[0]]
    return replace_column(calls, "stack", pa.array([stack.as_py()] * len(calls)))


def add_earlier_copy(store: Path, rank: int) -> None:
    """Add a rank a second time, an hour earlier, with some of its calls."""
    path = capture_file(store, rank)
    table = read(path)
    row = table.to_pylist()[0]
    name = f"{rank:032x}"
    part = f"{row['part'].rpartition('/')[0]}/{name}-00000000.parquet"
    for folder in ("calls", "call_kinds"):
        rows = read(store / folder / row["part"]).slice(0, 300)
        write(store / folder / part, replace_column(rows, "capture", pa.array([name] * len(rows))))
    row |= {"capture": name, "part": part, "started": row["started"] - 3_600_000_000_000, "calls": 300}
    write(path.with_name(f"{name}-00000000.parquet"), pa.Table.from_pylist([row], table.schema))


def transfers(calls: pa.Table) -> list[int]:
    """The rows of transfers to the device."""
    found: list[int] = pc.indices_nonzero(pc.equal(calls["function"], TRANSFER)).to_pylist()
    return found
