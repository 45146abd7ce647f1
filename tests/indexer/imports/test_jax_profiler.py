"""Files of `jax.profiler.trace`: Python functions, and ops on the lines where they were traced."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.indexer.imports.profiles import framedex
from tests.once import made_once

PROGRAM = """\
import jax, jax.numpy as jnp

@jax.jit
def step(x):
    return fused(jnp.sin(x) @ x.T)

def fused(x):
    x = jnp.tanh(x + 1)
    return x * 2 - jnp.cos(x)

def train():
    x = jnp.ones((64, 64))
    for _ in range(3):
        x = step(x)
    return x.block_until_ready()

train()  # so that nothing is compiled while the profile is taken
options = jax.profiler.ProfileOptions()
options.python_tracer_level = 1
with jax.profiler.trace("profile", profiler_options=options):
    train()
"""


def _traced(folder: Path) -> Path:
    (folder / "train.py").write_text(PROGRAM)
    subprocess.run([sys.executable, "train.py"], cwd=folder, check=True, env={"JAX_PLATFORMS": "cpu"})
    return folder


@pytest.mark.exhaustive(keep=["*.xplane.pb"])
@pytest.mark.parametrize("kind", ["*.xplane.pb", "*.trace.json.gz"])
def test_functions_of_the_program_and_their_callers_are_found(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    traced = made_once("profiled_by_jax", _traced)
    (profile,) = (traced / "profile").rglob(kind)
    monkeypatch.chdir(tmp_path)
    result = framedex("import", profile, "--folder", traced)
    assert result.exit_code == 0, result.output
    callers = json.loads(framedex("callers", "train", "--json").stdout)
    (train,) = callers["functions"]
    assert train["function"]["location"]["path"] == str(traced / "train.py")
    assert train["function"]["location"]["line"] == 11


def test_ops_have_the_lines_at_which_they_were_traced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three runs of a program of two ops: both are below its line, with all nested slices."""
    traced = made_once("profiled_by_jax", _traced)
    (profile,) = (traced / "profile").rglob("*.xplane.pb")
    monkeypatch.chdir(tmp_path)
    assert framedex("import", profile).exit_code == 0
    lines = json.loads(framedex("where", traced / "train.py", "--json").stdout)["lines"]
    at = {row["line"]: row["calls"] for row in lines}
    assert at[5] == at[14] >= 6
    assert at[17] >= 6


def test_a_fusion_names_all_its_lines_with_their_shares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    traced = made_once("profiled_by_jax", _traced)
    (profile,) = (traced / "profile").rglob("*.xplane.pb")
    monkeypatch.chdir(tmp_path)
    assert framedex("import", profile).exit_code == 0
    found = framedex("find", "fusion").stdout
    (shares,) = re.findall(r"fusion \((\d+)% train\.py:9, (\d+)% train\.py:8\)", found)
    assert sum(map(int, shares)) == 100
