"""A slow compilation is reported on stderr with its likely cause and remedies."""

from __future__ import annotations

from pathlib import Path

from tests.running import run


def test_the_report_names_program_cause_and_remedy(tmp_path: Path) -> None:
    """With a limit far below XLA's time for the program."""
    report = run("slow_compilation.py", folder=tmp_path, FRAMEDEX_SLOW_COMPILATION="0.02").stderr

    assert "framedex: The mock TPU has compiled jit_unrolled with XLA's CPU compiler for 0.02 s." in report
    assert "function main unrolls a Python loop. Replace the loop by jax.lax.scan or fori_loop." in report
    assert "XLA folds 1 MiB of constants. Pass arrays to the function as arguments." in report
    assert "JAX_COMPILATION_CACHE_DIR" in report
