"""Google's own libtpu under framedex, compiling ahead of time without a TPU.

FRAMEDEX_TEST_LIBTPU=1 enables this: it installs the wheel (about 200 MB) from the package registry.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reading import Call, calls_of
from tests.run.costs.cases import line_marked
from tests.run.invoking import FRAMEDEX, framedex_run, program
from tests.running import TIMEOUT, plain_environment

pytestmark = pytest.mark.skipif(
    os.environ.get("FRAMEDEX_TEST_LIBTPU") != "1", reason="installs libtpu: FRAMEDEX_TEST_LIBTPU=1 runs it"
)


TOO_LARGE = """\
import jax
import jax.numpy as jnp

@jax.jit
def step(x):
    return jnp.sort(x @ x.T, axis=1)[:, :8]  # 32 GiB

print(step(jnp.ones((65536, 512))).shape)
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with libtpu."""
    folder = tmp_path_factory.mktemp("libtpu")
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder)]
    subprocess.run([*install, wanted_libtpu()], check=True)
    return folder


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, packages: Path) -> list[Call]:
    """The calls of a compilation for four chips of a v5e."""
    folder = tmp_path_factory.mktemp("recorded")
    ended = framedex_run(
        "--plugin",
        "libtpu",
        program("ahead_of_time.py"),
        folder=folder,
        PYTHONPATH=str(packages),
        JAX_PLATFORMS="cpu",
        TPU_SKIP_MDS_QUERY="1",
    )
    assert (ended.status, ended.stdout) == (0, b"TPU v5 lite 4 8437760\n"), ended.stderr
    return calls_of(Path(folder / ended.capture))


def wanted_libtpu() -> str:
    """The libtpu requirement of the installed JAX."""
    requirements = importlib.metadata.requires("jax") or []
    return next(match[0] for text in requirements if (match := re.match(r"libtpu[=<>~!.*,\d]+", text)))


def test_the_compilation_is_recorded(recorded: list[Call]) -> None:
    compilation = next(call for call in recorded if call.function == "PJRT_Compile")
    assert compilation.error == 0
    assert compilation.arguments["program.format"] == "mlir"
    assert any("ahead_of_time.py" in frame.file for frame in compilation.frames)


def test_every_extension_of_libtpu_is_known(recorded: list[Call]) -> None:
    arguments = recorded[0].arguments
    assert {"Layouts", "MemoryDescriptions", "TpuTopology", "Profiler"} <= set(arguments["extensions"].split(", "))
    assert arguments["untraced_extensions"] == ""
    assert arguments["untraced_functions"] == 0


def test_libtpu_extension_calls_are_recorded(recorded: list[Call]) -> None:
    layouts = [call for call in recorded if call.function == "PJRT_Layouts_MemoryLayout_Serialize"]
    assert "{1,0:T(8,128)}" in {call.arguments["serialized_bytes"] for call in layouts}
    outputs = next(call for call in recorded if call.function == "PJRT_Layouts_PJRT_Executable_GetOutputLayouts")
    assert len(outputs.arguments["layouts"]) == 1


def test_a_plan_has_the_temporaries_of_the_tpu_compiler(tmp_path: Path, packages: Path) -> None:
    (tmp_path / "train.py").write_text(TOO_LARGE)
    plan = [FRAMEDEX, "memory", "--json", "--plan", "train.py", "--device", "v5e:1x1", "--plugin", "libtpu"]
    environment = plain_environment() | {"PYTHONPATH": str(packages)}
    done = subprocess.run(
        plan, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    assert "(65536, 8)" in done.stderr  # the program ended
    document = json.loads(done.stdout)
    assert (document["plan"]["fits"], document["plan"]["compiler"]) == (False, "libtpu")
    program = document["devices"][0]["program"]
    said = re.search(r"HLO temporaries \(([\d.]+)G\)", done.stderr)
    assert said is not None
    assert document["devices"][0]["temporaries"] == round(float(said[1]) * 2**30)
    assert program["buffers"][0]["line"]["location"]["line"] == line_marked(tmp_path / "train.py", "32 GiB")
