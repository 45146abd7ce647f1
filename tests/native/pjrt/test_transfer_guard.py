"""JAX's transfer guard on the mock TPU: the mock's internal CPU arrays are not transfers to it."""

from __future__ import annotations

from pathlib import Path

from tests.running import run


def test_a_program_that_disallows_implicit_transfers_runs(tmp_path: Path) -> None:
    program_run = run("transfer_guard.py", folder=tmp_path, FRAMEDEX_DEVICES="4")
    assert program_run.status == 0, program_run.stderr
    squares, doubles = [float(n * n) for n in range(8)], [float(n + n) for n in range(8)]
    assert program_run.result == {
        "jit": squares,
        "donated": doubles,
        "sharded": doubles,
        "callback": squares,
        "operand": "INVALID_ARGUMENT",
        "called": 1,
    }
