"""`framedex transfers` on programs of known behaviour, compared with the log of JAX's own transfer guard."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.index import Index, Store
from framedex.index.file.database import DamagedIndexError
from framedex.model import TransferDirection, Transfers
from tests.indexer.unplaced import index_without_sources
from tests.once import made_once
from tests.run.costs.cases import changed_copy
from tests.running import PROGRAMS, run

PROGRAM = PROGRAMS / "costs" / "transfers.py"
TEXT = PROGRAM.read_text().splitlines()
GUARDED = re.compile(r"(host|device)-to-(host|device) transfer")
IN, OUT, ACROSS = TransferDirection
OPERAND = "operand of a call"
CALLBACK = "callback"
# Differences of the guard: it counts arrays, not their parts on each device, and ignores a copy to the same device.
COUNTED_OTHERWISE = {("numpy_sharded", OUT): (4, 1), ("operand_elsewhere", ACROSS): (3, 4)}

Moves = Counter[tuple[str, TransferDirection]]


@dataclass(frozen=True)
class Recorded:
    """The program, recorded and indexed, and the guard's log: by case and direction."""

    index: Path
    implicit: Moves
    all: Moves

    def rows(self, *, all_lines: bool = False) -> list[Transfers]:
        """The transfers of the cases, without their preparation."""
        with Index.open(self.index) as index, index.restrict_to_captures([1]) as narrow:
            rows = narrow.transfers(all_lines=all_lines)
        return [row for row in rows if row.line is not None and row.line.function != "<module>" and row.how != CALLBACK]

    def invoke(self, *arguments: str) -> Result:
        """Run the verb."""
        return CliRunner().invoke(cli, ["--index", str(self.index), "transfers", *arguments])


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    """All cases, once with the guard logging implicit transfers, and once logging all."""
    return made_once("costs-transfers", _record)


def _record(folder: Path) -> Recorded:
    logged = []
    captures = []
    for level in ("log", "log_explicit"):
        (folder / level).mkdir()
        ran = run("costs/transfers.py", level, folder=folder / level, FRAMEDEX_DEVICES="4")
        assert ran.status == 0, ran.stderr
        logged.append(_logged(ran.stderr))
        captures.append(ran.capture)
    index_without_sources(folder / "index.db", *captures)
    return Recorded(folder / "index.db", *logged)


def _logged(told: str) -> Moves:
    """Transfers to and from the devices; callbacks have their arguments on JAX's own CPU device."""
    found: Moves = Counter()
    case = ""
    for line in told.splitlines():
        if line.startswith("## "):
            case = line.removeprefix("## ")
        elif "guard_lib" in line and "CpuDevice" not in line and (match := GUARDED.search(line)):
            found[case, TransferDirection(f"{match[1]} to {match[2]}")] += 1
    return found


def _case(row: Transfers) -> str:
    """The case of a row: the function around the line."""
    assert row.line is not None
    name = row.line.function.partition(".<locals>")[0]
    return name if name != "helper" else row.outward[0].function


@pytest.mark.parametrize("only_implicit", [True, False])
def test_the_number_of_transfers_equals_the_log_of_the_transfer_guard(recorded: Recorded, only_implicit: bool) -> None:
    logged = recorded.implicit if only_implicit else recorded.all
    counted: Moves = Counter()
    for row in recorded.rows(all_lines=True):
        if row.is_implicit or not only_implicit:
            counted[_case(row), row.direction] += row.count
    assert len(counted) > 20
    for move in counted.keys() | logged.keys():
        assert (counted[move], logged[move]) == COUNTED_OTHERWISE.get(move, (counted[move], counted[move])), move


@pytest.mark.parametrize(
    ("case", "direction", "how", "is_implicit", "count", "size"),
    [
        ("put", IN, "device_put", False, 1, 64),
        ("put_tree", IN, "device_put", False, 2, 72),
        ("put_sharded", IN, "device_put", False, 4, 64),
        ("put_from_device", ACROSS, "device_put", False, 1, 64),
        ("put_own", IN, "asarray", True, 1, 64),
        ("asarray", IN, "asarray", True, 1, 64),
        ("array", IN, "array", True, 1, 8),
        ("zeros", IN, "zeros", True, 1, 4),
        ("operand", IN, OPERAND, True, 3, 192),
        ("operand_scalar", IN, OPERAND, True, 4, 16),
        ("op_with_scalar", IN, OPERAND, True, 1, 4),
        ("op_with_numpy", IN, OPERAND, True, 1, 64),
        ("operand_elsewhere", ACROSS, OPERAND, True, 3, 48),
        ("operand_sharded", IN, OPERAND, True, 4, 64),
        ("index", IN, "indexing", True, 2, 8),
        ("to_float", OUT, "float", True, 1, 4),
        ("to_item", OUT, "item", True, 1, 4),
        ("condition", OUT, "bool", True, 1, 1),
        ("text", OUT, "str", True, 1, 64),
        ("as_list", OUT, "tolist", True, 1, 64),
        ("numpy_array", OUT, "NumPy", True, 1, 64),
        ("numpy_function", OUT, "NumPy", True, 1, 64),
        ("numpy_sharded", OUT, "NumPy", True, 4, 64),
        ("saved", OUT, "NumPy", True, 1, 64),
        ("pickled", OUT, "pickle", True, 1, 64),
        ("ahead", OUT, "copy_to_host_async", True, 1, 64),
        ("get", OUT, "device_get", False, 1, 64),
        ("step_of_loop", OUT, "float", True, 400, 1600),
        ("by_helper", IN, "asarray", True, 1, 64),
        ("by_helper_again", IN, "asarray", True, 2, 128),
        ("on_a_thread", OUT, "NumPy", True, 1, 64),
    ],
)
def test_a_line_has_the_size_and_kind_of_its_transfers(
    recorded: Recorded, case: str, direction: TransferDirection, how: str, is_implicit: bool, count: int, size: int
) -> None:
    (row,) = [row for row in recorded.rows(all_lines=True) if _case(row) == case]
    assert row.line is not None and row.line.location.path == str(PROGRAM)
    assert TEXT[row.line.location.line - 1].endswith("# moves")
    assert (row.direction, row.how, row.is_implicit, row.count, row.size) == (direction, how, is_implicit, count, size)
    assert row.unsized == 0
    assert row.total_duration > 0
    assert row.first_call <= row.latest_call


def test_lines_without_transfers_have_no_row(recorded: Recorded) -> None:
    assert not {"nothing", "copied"} & {_case(row) for row in recorded.rows(all_lines=True)}


def test_unrecorded_callbacks_have_an_unknown_size(recorded: Recorded) -> None:
    """As without `framedex run`, and on other plug-ins."""
    with Index.open(recorded.index) as index, index.restrict_to_captures([1]) as narrow:
        rows = {row.direction: row for row in narrow.transfers() if row.how == CALLBACK}

    assert (rows[OUT].count, rows[OUT].unsized, _case(rows[OUT])) == (1, 1, "callback")
    assert (rows[IN].count, rows[IN].size, rows[IN].line) == (1, 64, None)


def test_a_helper_is_one_row_unless_callers_are_requested(recorded: Recorded) -> None:
    (row,) = [row for row in recorded.rows() if row.line and row.line.function == "helper"]
    assert (row.count, row.size, row.outward) == (3, 192, ())


def test_most_bytes_come_first_and_implicit_transfers_can_be_selected(recorded: Recorded) -> None:
    rows = json.loads(recorded.invoke("--implicit", "--limit", "0", "--json", "--capture", "1").stdout)["transfers"]
    assert rows[0]["line"]["function"] == "step_of_loop"
    assert [row["size"] for row in rows] == sorted((row["size"] for row in rows), reverse=True)
    assert all(row["is_implicit"] for row in rows)


def test_the_view_equals_the_rows(recorded: Recorded) -> None:
    with closing(sqlite3.connect(recorded.index)) as connection:
        viewed = connection.execute(
            "SELECT function, line, direction, moved_by, is_implicit, sum(transfers), sum(bytes), sum(unsized)"
            " FROM transfers_readable WHERE capture = 1 AND function <> '<module>' AND moved_by <> ?"
            " GROUP BY 1, 2, 3, 4, 5",
            (CALLBACK,),
        ).fetchall()
    assert sorted(viewed) == sorted(
        (
            row.line.function,
            row.line.location.line,
            row.direction.value,
            row.how,
            row.is_implicit,
            row.count,
            row.size,
            0,
        )
        for row in recorded.rows()
        if row.line is not None
    )


def test_the_verb_prints_sums_and_the_remainder(recorded: Recorded) -> None:
    shown = recorded.invoke("--limit", "2", "--capture", "1").stdout
    assert re.search(r"^host to device  37 copies, 1.11 KiB, \S+ .?s; implicit 23 copies, 744 B$", shown, re.MULTILINE)
    assert re.search(r"^device to device  4 copies, 112 B, ", shown, re.MULTILINE)
    assert re.search(
        r"^1.56 KiB +400 .* device to host +float +implicit +\S+transfers.py:\d+ in step_of_loop", shown, re.M
    )
    assert shown.splitlines()[-1] == "and 33 more rows: --limit 0 shows all."


def test_rows_of_all_captures_are_summed_and_removed_with_each(recorded: Recorded, tmp_path: Path) -> None:
    copy = tmp_path / "index.db"
    copy.write_bytes(recorded.index.read_bytes())
    with Index.open(copy) as index:
        once, twice = (sum(row.count for row in each) for each in (recorded.rows(), index.transfers()))
        assert twice > once
    with Store(copy) as store:
        store.remove_captures([1])
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT DISTINCT capture FROM transfers").fetchall() == [(2,)]


@pytest.mark.exhaustive
def test_partial_transfers_count_by_the_requested_bytes(tmp_path: Path) -> None:
    """For a program that calls the table itself, size queries and failed calls are not transfers."""
    ran = run("unusual_buffers.py", folder=tmp_path)
    index_without_sources(tmp_path / "index.db", ran.capture)
    moved = dict[str, tuple[int, int, int]]()
    with closing(sqlite3.connect(tmp_path / "index.db")) as connection:
        for name, *sums in connection.execute(
            "SELECT b.name, sum(t.calls), sum(t.bytes), sum(t.calls - t.sized) FROM transfers t"
            " JOIN call_kinds k ON k.id = t.kind JOIN boundaries b ON b.id = k.boundary GROUP BY 1"
        ):
            moved[name.removeprefix("PJRT_")] = tuple(sums)
        reads, copies = (
            connection.execute(
                "SELECT count(*) FROM call_rows c JOIN arguments a ON a.id = c.arguments"
                " JOIN call_kinds k ON k.id = c.kind JOIN boundaries b ON b.id = k.boundary"
                f" WHERE b.name = 'PJRT_Buffer_ToHostBuffer' AND a.json {condition} LIKE '%\"dst\": null%'"
            ).fetchone()[0]
            for condition in ("", "NOT")
        )
    assert moved["AsyncHostToDeviceTransferManager_TransferData"] == (2, 16, 0)
    assert moved["AsyncHostToDeviceTransferManager_TransferLiteral"] == (1, 0, 1)
    assert moved["Buffer_CopyRawToHostFuture"][:2] == (2, 20)
    assert reads > 0 < copies == moved["Buffer_ToHostBuffer"][0]


@pytest.mark.exhaustive
def test_copies_of_results_have_their_sizes_despite_other_threads(tmp_path: Path) -> None:
    ran = run("costs/copies_on_threads.py", folder=tmp_path, FRAMEDEX_DEVICES="2")
    index_without_sources(tmp_path / "index.db", *ran.captures)
    with Index.open(tmp_path / "index.db") as index:
        (row,) = [row for row in index.transfers() if row.direction is ACROSS]

    assert (row.count, row.unsized, row.size) == (15_000, 0, 15_000 * 400)


def test_an_unknown_enumeration_value_is_reported_as_damage(recorded: Recorded, tmp_path: Path) -> None:
    copy = changed_copy(recorded.index, tmp_path, "UPDATE transfers SET direction = 'sideways'")

    with Index.open(copy) as index, pytest.raises(DamagedIndexError), index.reading():
        index.transfers()
