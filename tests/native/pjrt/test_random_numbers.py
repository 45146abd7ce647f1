"""Programs with many random numbers compile as fast as on JAX's CPU backend, and draw the same bits."""

from __future__ import annotations

from pathlib import Path

from tests.running import run


def test_a_chain_of_splits_compiles_and_equals_the_cpu_bits(tmp_path: Path) -> None:
    """A chain that XLA's CPU compiler does not compile in 300 s as JAX lowers it for a TPU."""
    mock = run("random_chain.py", folder=tmp_path)
    cpu = run("random_chain.py", folder=tmp_path, JAX_PLATFORMS="cpu")

    assert mock.result == cpu.result
    assert len(mock.captures) == 1
