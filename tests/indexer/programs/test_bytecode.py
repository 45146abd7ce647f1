"""The kind, name and lines of each op in MLIR bytecode, compared with MLIR itself."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from framedex.model import Program, ProgramFrame
from framedex.programs import read_program
from tests.running import plain_environment

LOWER = """\
import collections, json, pathlib
import jax, jax.numpy as jnp
from jaxlib.mlir.dialects import stablehlo

@jax.jit
def inner(x):
    return jnp.tanh(x)

def layer(x, w):
    return inner(x @ w)

def loss(w, x):
    x = layer(x, w)
    x, _ = jax.lax.scan(lambda c, t: (c * jnp.sin(t), t), x, jnp.arange(3.0))
    return jax.lax.cond(x.sum() > 0, jnp.sum, jnp.max, x)

def walk(operation):
    kinds[operation.name.split(".", 1)[1]] += 1
    for region in operation.regions:
        for block in region:
            for inner in block:
                walk(inner.operation)

def lower(name, version):
    jax.clear_caches()
    module = jax.jit(jax.grad(loss)).lower(jnp.ones((4, 4)), jnp.ones((2, 4))).compiler_ir()
    walk(module.operation)
    pathlib.Path(name).write_bytes(stablehlo.serialize_portable_artifact(module, version))

kinds = collections.Counter()
lower("now", stablehlo.get_current_version())
pathlib.Path("kinds.json").write_text(json.dumps(kinds))
lower("1.0.0", "1.0.0")
jax.config.update("jax_traceback_in_locations_limit", 1)
lower("limited", stablehlo.get_current_version())
jax.config.update("jax_include_full_tracebacks_in_locations", False)
lower("short", stablehlo.get_current_version())
"""
DOT = 1 + LOWER.splitlines().index("    return inner(x @ w)")
NO_OPS = ("module", "func", "return")


@dataclass(frozen=True)
class Lowered:
    """The output folder of LOWER."""

    folder: Path

    def data(self, name: str) -> bytes:
        """The bytes of a program."""
        return (self.folder / name).read_bytes()

    def program(self, name: str) -> Program:
        """A parsed program."""
        return read_program(self.data(name))

    def kinds(self) -> Counter[str]:
        """The number of ops of each kind according to MLIR."""
        return Counter(json.loads((self.folder / "kinds.json").read_text()))


@pytest.fixture(scope="module")
def lowered(tmp_path_factory: pytest.TempPathFactory) -> Lowered:
    """The programs that LOWER wrote."""
    folder = tmp_path_factory.mktemp("lowered").resolve()
    (folder / "lower.py").write_text(LOWER)
    environment = plain_environment() | {"JAX_PLATFORMS": "cpu"}
    subprocess.run([sys.executable, "lower.py"], cwd=folder, env=environment, check=True, timeout=120)
    return Lowered(folder)


@pytest.mark.parametrize("name", ["now", "1.0.0"])
def test_each_op_is_counted_as_mlir_counts_it(lowered: Lowered, name: str) -> None:
    program, kinds = lowered.program(name), lowered.kinds()
    assert (program.name, program.problem) == ("jit_loss", "")
    found: Counter[str] = Counter()
    for op, count in program.ops.items():
        found[op.kind] += count
    assert sum(found.values()) == sum(count for kind, count in kinds.items() if kind not in NO_OPS)
    # A few have other names in VHLO, StableHLO's storage form.
    same = ("sine", "tanh", "dot_general", "while", "case", "call", "reduce")
    assert {kind: found[kind] for kind in same} == {kind: kinds[kind] for kind in same}


def test_ops_have_the_names_and_lines_that_jax_gives_them(lowered: Lowered) -> None:
    program, path = lowered.program("now"), str(lowered.folder / "lower.py")
    frames = {(op.kind, op.name): op.frames for op in program.ops}
    dot = frames["dot_general", "jit(loss)/jvp()/dot_general"]
    assert dot[:2] == (ProgramFrame(path, DOT, "layer"), ProgramFrame(path, DOT + 3, "loss"))
    (tanh,) = (op.frames for op in program.ops if op.kind == "tanh")
    assert tanh == (ProgramFrame(path, DOT - 3, "inner"),)


def test_without_tracebacks_in_locations_each_op_has_one_line(lowered: Lowered) -> None:
    program, path = lowered.program("short"), str(lowered.folder / "lower.py")
    frames = {(op.kind, op.name): op.frames for op in program.ops}
    assert frames["dot_general", "jit(loss)/jvp()/dot_general"] == (ProgramFrame(path, DOT, ""),)
    assert not [frame for op in program.ops for frame in op.frames if "(" in frame.function]


def test_frames_of_a_function_are_limited_as_in_jax(lowered: Lowered) -> None:
    frames = {(op.kind, op.name): op.frames for op in lowered.program("limited").ops}
    assert len(frames["dot_general", "jit(loss)/jvp()/dot_general"]) == 1


@pytest.mark.parametrize("data", [b"", b"ML\xefR", b"ML\xefR\x0dx\x00", b"HloModule jit_f", b"\x00" * 100])
def test_other_bytes_are_not_a_program_and_are_reported(data: bytes) -> None:
    program = read_program(data)
    assert not program.ops
    assert program.problem


@pytest.mark.exhaustive
def test_a_truncated_or_changed_program_is_read_as_far_as_possible(lowered: Lowered) -> None:
    data = lowered.data("now")
    for size in range(0, len(data), 7):
        assert read_program(data[:size]).problem
    for place in range(0, len(data), 11):
        read_program(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
