"""User-like programs with one check for each JAX feature: the mock computes the same as NumPy.

Each program of tests/programs/features runs in one process for each way of running it.
"""

from __future__ import annotations

import functools
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import pythons
from tests.reading import calls_of
from tests.running import PROGRAMS, Run, mock_environment, run

FEATURES = PROGRAMS / "features"
SETTINGS = {"out_of_memory": {"FRAMEDEX_HBM": str(1 << 20)}}
WHOLE = 1200  # timeout in seconds for a program, whose checks have limits of their own: in parallel, each takes minutes
UNRECORDED, RECORDED = "unrecorded", "recorded"
# Tests of the mock's own objects, threads and memory. All other results come from the compiled code, recorded or not.
ALSO_UNRECORDED = ("asynchrony", "callbacks", "memory", "out_of_memory", "sharding")
# Also recorded, with every installed release of jaxlib.
JAXLIBS = ("0.8", "0.9", "0.10", "0.11", "0.12")


@dataclass(frozen=True)
class Checked:
    """The results of a program run: the outcome and reason of each executed check, and the exit."""

    outcomes: dict[str, tuple[str, str]]
    ending: str
    captures: tuple[Path, ...]


@functools.cache
def checked(program: str, way: str, names: tuple[str, ...], folder: Path) -> Checked:
    """Run these checks of a program, once for each way."""
    python = own_python() if way in (UNRECORDED, RECORDED) else pythons.with_jaxlib(way)
    assert python is not None
    # Every program has eight devices, except the one that fills a single device.
    settings = SETTINGS.get(program, {"FRAMEDEX_DEVICES": "8"}) | {"JAX_PLATFORMS": "tpu,cpu"}
    settings |= {"FRAMEDEX_RECORD": "0"} if way == UNRECORDED else {}
    command = [python.path, str(FEATURES / f"{program}.py"), *names]
    program_run = Run.of(command, folder, mock_environment(folder) | settings, WHOLE)
    lines = [json.loads(line) for line in program_run.stdout.splitlines() if line.startswith("[")]
    ending = f"exit status {program_run.status}\n{program_run.stderr[-4000:]}"
    return Checked({name: (outcome, reason) for name, reason, outcome in lines}, ending, program_run.captures)


def own_python() -> pythons.Python:
    """The tests' own interpreter."""
    return pythons.found("{}.{}".format(*sys.version_info))[0]


def checks_of(program: str) -> tuple[str, ...]:
    """The names of a program's checks, without running it."""
    text = (FEATURES / f"{program}.py").read_text()
    return tuple(re.findall(r"^@(?:check|in_types\(\w+\))\ndef (\w+)", text, re.MULTILINE))


def quick_checks_of(program: str) -> tuple[str, ...]:
    """The names of the checks that `make test` runs."""
    return tuple(name for name in checks_of(program) if name not in COSTLY.get(program, ()))


PROGRAM_NAMES = sorted(path.stem for path in FEATURES.glob("*.py") if checks_of(path.stem))
# Only `make test-all` runs these checks: XLA takes half a second to five seconds for each, or they are stress tests.
COSTLY = {
    "ahead_of_time": ("exported_for_several_platforms", "exported_with_symbolic_sizes_and_gradients"),
    "asynchrony": ("blocking_on_many_arrays_at_once", "threads_that_compile_and_run"),
    "callbacks": ("many_callbacks_of_many_threads",),
    "dtypes": (
        "integer_arithmetic_wraps",
        "integers_pass_through",
        "no_elements",
        "small_floats_pass_through",
        "small_types_convert",
    ),
    "linear_algebra": (
        "batched_and_differentiated",
        "least_squares_and_rank",
        "matrix_functions",
        "norms",
        "real_fourier",
        "solve_inv_det",
    ),
    "out_of_memory": ("repeated_failures",),
    "transformations": (
        "associative_scan_and_map",
        "eager_operations",
        "hessian_and_jacobian",
        "interpolation_polynomials_and_ode",
        "random_numbers",
        "sort_and_top_k",
        "special_functions",
        "two_thousand_inputs",
    ),
    "workflows": (
        "a_network_is_trained",
        "a_pallas_kernel_in_interpret_mode",
        "gradients_are_clipped_and_accumulated",
        "optimisation_with_bfgs",
        "training_equals_the_cpu",
        "training_in_a_scan",
    ),
}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all these runs."""
    return tmp_path_factory.mktemp("features")


@pytest.mark.parametrize("program", PROGRAM_NAMES)
def test_jax_features_compute_correct_results(program: str, folder: Path) -> None:
    assert_checks_pass(program, RECORDED, quick_checks_of(program), folder)


@pytest.mark.exhaustive
@pytest.mark.parametrize("program", COSTLY)
def test_slow_features_compute_correct_results(program: str, folder: Path) -> None:
    assert_checks_pass(program, RECORDED, COSTLY[program], below(folder, "costly"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("program", ALSO_UNRECORDED)
def test_features_compute_correct_results_without_a_recording(program: str, folder: Path) -> None:
    assert_checks_pass(program, UNRECORDED, checks_of(program), folder)


def test_slow_checks_exist() -> None:
    assert all(set(names) < set(checks_of(program)) for program, names in COSTLY.items())


def assert_checks_pass(program: str, way: str, names: tuple[str, ...], folder: Path) -> None:
    """Run these checks of a program; each passes or says why it does not apply."""
    found = checked(program, way, names, below(folder, program, way))
    failed = {name: reason for name, (outcome, reason) in found.outcomes.items() if outcome == "failed"}
    assert not failed, "\n".join(f"{name}: {reason}" for name, reason in failed.items())
    assert found.outcomes.keys() == set(names), found.ending


@pytest.mark.exhaustive
@pytest.mark.parametrize("jaxlib", JAXLIBS)
@pytest.mark.parametrize("program", PROGRAM_NAMES)
def test_features_work_with_other_jaxlib_releases(program: str, jaxlib: str, folder: Path) -> None:
    if own_python().jaxlib.startswith(f"{jaxlib}.") or pythons.with_jaxlib(jaxlib) is None:
        pytest.skip(f"no other Python with jaxlib {jaxlib} here: FRAMEDEX_TEST_PYTHONS names some")
    assert_checks_pass(program, jaxlib, checks_of(program), folder)


@pytest.mark.exhaustive(keep=["out_of_memory", "sharding"])
@pytest.mark.parametrize("program", PROGRAM_NAMES)
def test_every_execution_is_recorded(program: str, folder: Path) -> None:
    (capture,) = checked(program, RECORDED, quick_checks_of(program), below(folder, program, RECORDED)).captures
    executed = calls_of(capture, "PJRT_LoadedExecutable_Execute")
    assert len(executed) >= 5
    # Every call returned; failed calls have their errors.
    assert all(call.duration >= 0 for call in executed)


def test_a_second_process_loads_programs_from_the_persistent_cache(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    settings = {"FRAMEDEX_DEVICES": "8", "JAX_PLATFORMS": "tpu,cpu"}
    first = run("compilation_cache.py", str(cache), folder=below(tmp_path, "first"), **settings)
    second = run("compilation_cache.py", str(cache), folder=below(tmp_path, "second"), **settings)
    assert first.result == {"right": [True] * 3, "hits": 0}
    assert second.result["right"] == [True] * 3
    assert second.result["hits"] >= 3
    compiled = [len(calls_of(program_run.capture, "PJRT_Client_Compile")) for program_run in (first, second)]
    assert compiled[1] < compiled[0]


def below(folder: Path, *names: str) -> Path:
    """A folder of its own for a run."""
    path = folder.joinpath(*names)
    path.mkdir(parents=True, exist_ok=True)
    return path
