"""Dry runs, and `framedex memory --plan`: the memory of programs that are compiled and not run."""

from __future__ import annotations

import json
import resource
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from framedex.commands.launching.memory_plan import find_simulated_memory
from framedex.commands.launching.options import MockMachine
from tests.run.costs.cases import line_marked
from tests.run.invoking import FRAMEDEX, framedex_run
from tests.running import TIMEOUT, plain_environment, run

PROGRAM = """\
import sys
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def make():
    return jnp.ones((4096, int(sys.argv[1]), 1024), jnp.float32)

weights = make()
update = jax.jit(lambda w: w * 2, donate_argnums=0)
for _ in range(3):
    weights = update(weights)  # takes over the large array
print("first", float(weights[0, 0, 0]), np.asarray(weights[:2, 0, 0]), flush=True)
"""
SHARDED = """\
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec

mesh = jax.make_mesh((4, 4), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
whole = jax.jit(
    lambda: jnp.ones((65536, 65536), jnp.float32), out_shardings=NamedSharding(mesh, PartitionSpec("x", "y"))
)()
jax.block_until_ready(jax.jit(lambda w: w + w)(whole))
"""

COPIED = """\
import resource
import jax
import jax.numpy as jnp

large = jax.jit(lambda: jnp.ones((1024, 1024, 1024), jnp.float32))()
copies = [jax.device_put(large, device) for device in jax.devices()[1:]]
copies.append(jax.device_put(large, large.sharding.with_memory_kind("pinned_host")))
update = jax.jit(lambda w: w * 2, donate_argnums=0)
updated = [jax.block_until_ready(update(copy)) for copy in copies[:-1]]
print(float(updated[0][0, 0, 0]), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def plan(folder: Path, *arguments: str, options: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    command = [FRAMEDEX, "memory", *options, "--plan", *arguments]
    return subprocess.run(
        command, cwd=folder, env=plain_environment(), capture_output=True, text=True, timeout=TIMEOUT, check=False
    )


def plan_document(folder: Path, *arguments: str) -> dict[str, Any]:
    done = plan(folder, *arguments, options=["--json"])
    assert done.stdout, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return path


def test_a_dry_run_counts_the_memory_of_a_real_run(tmp_path: Path) -> None:
    (tmp_path / "dry").mkdir()
    real = run("costs/program_memory.py", folder=tmp_path, FRAMEDEX_DEVICES="20")
    dry = run("costs/program_memory.py", folder=tmp_path / "dry", FRAMEDEX_DEVICES="20", FRAMEDEX_DRY_RUN="1")
    assert dry.result == real.result


def test_a_dry_run_gives_zeros_and_real_failures(program: Path) -> None:
    fits = framedex_run("--dry-run", program.name, "1", folder=program.parent)
    assert fits.stdout.split(b"\n")[0] == b"first 0.0 [0. 0.]"
    fails = framedex_run("--dry-run", "--hbm", "8MiB", program.name, "1", folder=program.parent)
    assert b"RESOURCE_EXHAUSTED" in fails.stderr


def test_a_program_far_larger_than_the_host_is_planned(program: Path) -> None:
    done = plan(program.parent, program.name, "--hbm", "16GiB", "--", "8192")  # 128 GiB
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert done.returncode == 1
    assert "does not fit: 128 GiB on one device, 112 GiB too much; most of it from " in done.stdout
    assert f"train.py:{line_marked(program, 'takes over the large array')}" in done.stdout.splitlines()[1]
    assert "first 0.0" in done.stderr
    assert largest < 4 << 20  # KiB: the host holds no array


def test_copies_between_devices_take_no_memory_of_the_host(tmp_path: Path) -> None:
    (tmp_path / "copied.py").write_text(COPIED)
    done = plan(tmp_path, "copied.py", "--device", "v5e:2x2")
    value, largest = done.stderr.split()
    assert (value, int(largest) < 2 << 20) == ("0.0", True)  # KiB: four arrays of 4 GiB
    assert "fits: 4 GiB on one device" in done.stdout


def test_a_program_that_fits_leaves_nothing_behind(program: Path) -> None:
    document = plan_document(program.parent, program.name, "--", "2")
    assert document["plan"]["fits"]
    assert document["plan"]["peak"] == document["devices"][0]["peak"] >= 32 << 20
    assert document["plan"]["line"]["location"]["line"] == line_marked(program, "takes over the large array")
    assert [path.name for path in program.parent.iterdir()] == [program.name]


def test_each_device_of_a_mesh_has_its_part(tmp_path: Path) -> None:
    (tmp_path / "sharded.py").write_text(SHARDED)
    document = plan_document(tmp_path, "sharded.py", "--device", "v5e:4x4", "--hbm", "1.5GiB")
    assert (document["plan"]["devices"], document["plan"]["memory"]) == (16, 3 << 29)
    assert not document["plan"]["fits"]
    assert {device["peak"] for device in document["devices"]} == {2 << 30}


def test_only_the_devices_of_one_host_share_its_address_space() -> None:
    machine = MockMachine(devices=256, memory=16 << 30)
    assert find_simulated_memory(machine, hosts=1) == 128 << 30
    assert find_simulated_memory(machine, hosts=64) == 64 * machine.memory


def test_a_failing_program_is_reported_with_its_plan(tmp_path: Path) -> None:
    (tmp_path / "fails.py").write_text("import jax\nx = jax.device_put(1.0)\nraise SystemExit(3)\n")
    done = plan(tmp_path, "fails.py")
    assert done.returncode == 1
    assert "fits: " in done.stdout
    assert "The program ended with status 3" in done.stderr


def test_the_verdict_includes_the_allocation_that_failed(tmp_path: Path) -> None:
    (tmp_path / "fails.py").write_text(
        "import jax, jax.numpy as jnp\n"
        "make = jax.jit(lambda: jnp.ones((3, 1 << 42), jnp.uint8))\n"
        "arrays = [make() for _ in range(2)]\n"  # more than the simulated device has
    )
    done = plan(tmp_path, "fails.py", "--hbm", "8TiB")
    assert done.returncode == 1
    assert "does not fit: 24,576 GiB on one device, 16,384 GiB too much" in done.stdout


def test_a_signal_of_the_program_is_named(tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text(
        "import jax, os, signal\nx = jax.device_put(1.0)\nos.kill(os.getpid(), signal.SIGTERM)\n"
    )
    done = plan(tmp_path, "ends.py")
    assert "The program was ended by SIGTERM" in done.stderr


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("print(1)", "ended with status 0 and used no device memory: the program never opened JAX's TPU"),
        ("import jax\njax.devices()", "ended with status 0 and used no device memory."),
    ],
)
def test_a_program_without_device_memory_has_a_reason(tmp_path: Path, program: str, message: str) -> None:
    (tmp_path / "program.py").write_text(program)
    done = plan(tmp_path, "program.py")
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr


def test_jax_does_not_continue_on_the_cpu_without_the_planned_machine(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import jax\nprint(jax.device_put(1.0))\n")
    done = plan(tmp_path, "program.py", "--device", "v5e:16x16", "--hbm", "16TiB")  # more than all addresses
    assert done.returncode == 1
    assert "the host refuses the address space" in done.stderr
    assert "ended with status 1 and used no device memory." in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["memory", "--hbm", "1GiB"], "need --plan SCRIPT"),
        (["memory", "--plan", "missing.py"], "There is no script 'missing.py'"),
        (["memory", "--plan", "train.py", "--capture", "1"], "leave out --capture"),
        (["memory", "--plugin", "libtpu"], "need --plan SCRIPT"),
        (["memory", "--plan", "train.py", "--plugin", "libtpu"], "--plugin needs the machine's shape"),
        (["memory", "--plan", "train.py", "--device", "v99"], "there is no TPU kind 'v99'"),
    ],
)
def test_unusable_options_have_a_message(program: Path, arguments: list[str], message: str) -> None:
    done = subprocess.run(
        [FRAMEDEX, *arguments], cwd=program.parent, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    assert done.returncode in (1, 2)
    assert message in done.stderr
