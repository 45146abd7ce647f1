"""JAX's transfer guard on the mock TPU: the mock's own arrays on the CPU are no transfers to it."""

from __future__ import annotations

from pathlib import Path

from tests.running import run


def test_programs_run_whose_guard_disallows_what_they_do_not_ask_for(tmp_path: Path) -> None:
    ran = run("transfer_guard.py", folder=tmp_path, FRAMEDEX_DEVICES="4")
    assert ran.status == 0, ran.stderr
    squares, doubles = [float(n * n) for n in range(8)], [float(n + n) for n in range(8)]
    assert ran.result == {
        "jit": squares,
        "donated": doubles,
        "sharded": doubles,
        "callback": squares,
        "operand": "INVALID_ARGUMENT",
        "called": 1,
    }
