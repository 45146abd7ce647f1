"""Times of XLA's passes, read from its log."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from framedex.programs.pass_log import read_pass_log
from tests.running import TIMEOUT, plain_environment

PROGRAM = """\
import jax
import jax.numpy as jnp

@jax.jit
def step(x):
    for _ in range(20):
        x = jnp.tanh(x @ x) + jnp.sort(x)
    return x

step.lower(jnp.ones((8, 8))).compile()
"""
LOG = """\
I1128 19:36:59.693053 16 hlo_pass_pipeline.cc:297] Running HLO pass pipeline on module jit_a: outer
I1128 19:36:59.693069 16 hlo_pass_pipeline.cc:207]   HLO pass simplification
I1128 19:36:59.693070 17 hlo_pass_pipeline.cc:297] Running HLO pass pipeline on module jit_b: outer
I1128 19:36:59.693071 16 hlo_pass_pipeline.cc:297] Running HLO pass pipeline on module jit_a: simplification
I1128 19:36:59.693072 17 hlo_pass_pipeline.cc:207]   HLO pass dce
I1128 19:36:59.693073 16 hlo_pass_pipeline.cc:207]   HLO pass algsimp
I1128 19:36:59.693074 16 hlo_pass_pipeline.cc:202] HLO pass: algsimp time: 30 us (30 us) (cumulative: 30 us, max: 30 us)
I1128 19:36:59.693075 17 hlo_pass_pipeline.cc:202] HLO pass: dce time: 1.1 ms (1100 us) (cumulative: 1.1 ms)
I1128 19:36:59.693076 16 hlo_pass_pipeline.cc:202] HLO pass: simplification time: 50 us (50 us) (cumulative: 50 us)
I1128 19:36:59.693077 16 hlo_pass_pipeline.cc:207]   HLO pass algsimp
I1128 19:36:59.693078 16 hlo_pass_pipeline.cc:202] HLO pass: algsimp time: 5 us (5 us) (cumulative: 35 us, max: 30 us)
"""


def test_a_nested_pass_counts_once_and_threads_are_separate() -> None:
    found = {
        module.module: [(each.name, each.count, each.duration) for each in module.passes]
        for module in read_pass_log(LOG.splitlines())
    }
    assert found == {
        "jit_b": [("dce", 1, 1_100_000)],
        "jit_a": [("algsimp", 2, 35_000), ("simplification", 1, 20_000)],
    }


def test_a_long_line_of_letters_is_read_in_linear_time() -> None:
    assert read_pass_log(["a" * 50_000, *LOG.splitlines()]) == read_pass_log(LOG.splitlines())


def test_every_pass_of_a_real_log_counts(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    settings = {"TF_CPP_MIN_LOG_LEVEL": "0", "TF_CPP_VMODULE": "hlo_pass_pipeline=1"}
    log = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=plain_environment() | settings | {"JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=True,
    ).stderr
    found = read_pass_log(log.splitlines())
    (step,) = (module for module in found if module.module == "jit_step")
    logged = [1000 * int(microseconds) for microseconds in re.findall(r"HLO pass: \S+ time: [^(]*\((\d+) us\)", log)]
    assert sum(each.count for module in found for each in module.passes) == len(logged) > 100
    assert 0 < step.duration <= sum(module.duration for module in found) <= sum(logged)
    assert {"layout-assignment", "copy-insertion"} <= {each.name for each in step.passes}


def test_other_texts_have_no_passes() -> None:
    assert read_pass_log(["HLO pass: dce time: 5 us (5 us)", "x hlo_pass_pipeline.cc:1] HLO pass: "]) == []
