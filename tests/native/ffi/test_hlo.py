"""The custom calls of a compiled module, in the order of their instantiation; bad input never raises."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest

from framedex_native.ffi.hlo import read_program
from tests.ffi_running import CPU, UNTRACED
from tests.running import plain_environment

PROGRAM = """
import json, sys, jax, jax.numpy as jnp
def program(x):
    q = jnp.linalg.qr(x)[0]
    def go_on(s): return jnp.linalg.cholesky(s)[0, 0] < 9
    def step(s): return s + jnp.linalg.qr(s)[0] + 9 * jnp.eye(4)
    y = jax.lax.while_loop(go_on, step, q)
    return jax.lax.cond(y[0, 0] > 0, lambda z: jnp.linalg.eigh(z)[0], lambda z: z[0], y)
module = jax.jit(program).lower(jnp.ones((4, 4))).compile().runtime_executable().hlo_modules()[0]
open(sys.argv[1], "wb").write(module.as_serialized_hlo_module_proto())
print(json.dumps(module.to_string()))
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, str]:
    """A compiled module: serialized, and as XLA's text."""
    path = tmp_path_factory.mktemp("module") / "module.pb"
    completed = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)],
        env=plain_environment() | UNTRACED | CPU,
        check=True,
        capture_output=True,
        text=True,
    )
    return path.read_bytes(), json.loads(completed.stdout)


def test_parsed_hlo_equals_the_text_of_xla(module: tuple[bytes, str]) -> None:
    serialised, text = module
    program = read_program(serialised)
    assert program.name == "jit_program"
    assert len(program.custom_calls) == text.count(" custom-call(") > 4
    for call in program.custom_calls:
        (line,) = [line for line in text.splitlines() if line.split("=")[0].split()[-1:] == [f"%{call.instruction}"]]
        assert f'custom_call_target="{call.target}"' in line
        assert f'op_name="{call.op_name}"' in line
        assert all(shape in line for shape in call.results.split(", "))


def test_the_condition_of_a_loop_precedes_its_body(module: tuple[bytes, str]) -> None:
    targets = [call.target for call in read_program(module[0]).custom_calls]
    assert targets.index("lapack_spotrf_ffi") < len(targets) - targets[::-1].index("lapack_sgeqrf_ffi") - 1
    assert targets[-1] == "lapack_ssyevd_ffi"


def test_frames_are_program_frames(module: tuple[bytes, str]) -> None:
    for call in read_program(module[0]).custom_calls:
        assert [frame[0] for frame in call.frames] == ["<string>"] * len(call.frames)
        assert call.frames[-1][2] == "<module>"


def test_bad_input_is_parsed_as_far_as_possible(module: tuple[bytes, str]) -> None:
    serialised = module[0]
    generator = random.Random(5)
    for _ in range(60):
        damaged = bytearray(serialised[: generator.randrange(len(serialised))])
        for _ in range(generator.randrange(8)):
            damaged[generator.randrange(len(damaged))] = generator.randrange(256)
        read_program(bytes(damaged))
    assert read_program(b"").custom_calls == ()
