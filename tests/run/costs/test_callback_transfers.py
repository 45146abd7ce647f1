"""`framedex transfers` and budgets of host callbacks: their operands go to the host, their results to the device."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

import framedex_native
from framedex.commands.main import cli
from framedex.index import Index
from framedex.index.write.costs.callback_transfers import write_callback_transfers
from framedex.index.write.costs.timeline import KindColumns
from framedex.model import TransferDirection
from framedex.programs.objects.moves import CALLBACK_RESULT, HOST_CALLBACKS
from tests.indexer.unplaced import index_without_sources
from tests.running import run

TO_DEVICE, TO_HOST, _ = TransferDirection


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Callbacks of every kind, recorded as by `framedex run`."""
    folder = tmp_path_factory.mktemp("callbacks")
    ran = run("host_callbacks.py", folder=folder, PYTHONPATH=str(framedex_native.ffi_startup_path()))
    index_without_sources(folder / "index.db", ran.capture)
    return folder / "index.db"


def test_callback_operands_and_results_are_transfers_of_the_requesting_lines(index: Path) -> None:
    with Index.open(index) as opened:
        rows = [row for row in opened.transfers() if row.how.startswith("jax.")]
    found = {(row.how, row.direction, row.line and row.line.function): (row.count, row.size) for row in rows}

    assert all(row.is_implicit and not row.unsized for row in rows)
    assert found["jax.pure_callback", TO_HOST, "several"] == (2, 2 * (2 + 3 + 4) * 4)
    assert found["jax.pure_callback", TO_DEVICE, "several"] == (4, 2 * (2 + 3) * 4)
    assert found["jax.debug.callback", TO_HOST, "loop.<locals>.body"] == (4, 4 * 4)
    assert found["jax.experimental.io_callback", TO_HOST, "ordered"] == (1, 4)  # JAX sends a number for none


def test_no_operand_of_a_recorded_callback_is_a_transfer_of_unknown_size(index: Path) -> None:
    with Index.open(index) as opened:
        assert "callback" not in {row.how for row in opened.transfers()}


def test_a_callback_in_a_branch_not_taken_moves_nothing(tmp_path: Path) -> None:
    ran = run("untaken_callback.py", folder=tmp_path, PYTHONPATH=str(framedex_native.ffi_startup_path()))
    index_without_sources(tmp_path / "index.db", ran.capture)

    with Index.open(tmp_path / "index.db") as opened:
        found = [(row.how, row.direction, row.count) for row in opened.transfers() if "callback" in row.how]

    shown = CliRunner().invoke(cli, ["--index", str(tmp_path / "index.db"), "transfers"]).stdout
    assert re.search(r"1 +\? +device to host +jax.debug.callback", shown)  # the time of operands is unknown
    assert found == [("jax.debug.callback", TO_HOST, 1), ("jax.debug.callback", TO_DEVICE, 1)]


def test_budgets_count_the_transfers_of_callbacks(index: Path) -> None:
    command = ["--index", str(index), "check", "--json", "--max-implicit-transfers", "several=2"]

    (budget,) = json.loads(CliRunner().invoke(cli, command).stdout)["budgets"]

    assert (budget["found"], budget["is_kept"]) == (6, False)


def test_without_recorded_callbacks_each_send_of_a_program_is_a_transfer(index: Path, tmp_path: Path) -> None:
    recorded = [*HOST_CALLBACKS, CALLBACK_RESULT]
    names = ", ".join("?" * len(recorded))
    query = f"SELECT k.id FROM call_kinds k JOIN boundaries b ON b.id = k.boundary WHERE b.name IN ({names})"
    copy = shutil.copy(index, tmp_path)
    with closing(sqlite3.connect(copy)) as connection:
        sent = sum(
            int(found)
            for (text,) in connection.execute("SELECT json FROM call_rows c JOIN arguments a ON a.id = c.arguments")
            for found in re.findall(r'"options.num_send_ops": (\d+)', text)
        )
        connection.execute(f"DELETE FROM call_rows WHERE kind IN ({query})", recorded)
        connection.execute("UPDATE compilations SET noted = NULL")  # as without `framedex run`

        write_callback_transfers(connection, 1, KindColumns.read(connection, 1))

        query = "SELECT sum(calls), sum(sized), min(direction), max(direction) FROM transfers WHERE how = 'callback'"
        assert connection.execute(query).fetchone() == (sent, 0, TO_HOST.value, TO_HOST.value)
    assert sent > 0
