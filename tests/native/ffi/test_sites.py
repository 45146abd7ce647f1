"""Each run is joined to its Python line, through all transformations between them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.ffi_running import CPU, FfiRun, mock_tpu, run_ffi
from tests.reading import Call
from tests.tiers import exhaustive_unless

TWO_DEVICES = CPU | {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}


@pytest.fixture(scope="module", params=exhaustive_unless(["jitted", "all"], "jitted"))
def matrix(request: pytest.FixtureRequest, python: str, tmp_path_factory: pytest.TempPathFactory) -> FfiRun:
    """The programs of the matrix on the CPU, for each Python with its JAX."""
    dispatches = [] if request.param == "all" else [request.param]
    folder = tmp_path_factory.mktemp("matrix")
    completed = run_ffi("ffi_matrix.py", *dispatches, folder=folder, python=python, **TWO_DEVICES)
    assert completed.result["programs"] >= (20 if dispatches else 60)
    return completed


def test_every_join_of_the_matrix_is_correct(matrix: FfiRun) -> None:
    assert_every_join_is_right(matrix)


@pytest.mark.parametrize("dispatches", exhaustive_unless([("eager",), ()], ("eager",)), ids=["eager", "all"])
def test_every_join_on_the_mock_tpu_is_correct(tmp_path: Path, dispatches: tuple[str, ...]) -> None:
    """The mock compiles programs of several threads concurrently, so only attributes distinguish their calls."""
    assert_every_join_is_right(run_ffi("ffi_matrix.py", *dispatches, folder=tmp_path, **mock_tpu(devices=2)))


def assert_every_join_is_right(completed: FfiRun) -> None:
    """The line in a run's own attribute is on the stack of the site that it is joined to.

    If several programs are compiled concurrently, a join may stay open if one of its candidates is right.
    """
    runs = completed.calls("rms_norm")
    joined = [(run, site) for run in runs if (site := completed.site_of(run))]
    assert [run.arguments for run, site in joined if line_of(run) not in lines(site)] == []
    open_runs = [run for run in runs if not completed.site_of(run)]
    for run in open_runs:
        candidates = [completed.sites[entry["site"]] for entry in completed.instances[run.arguments["instance"]]]
        assert len(candidates) > 1
        assert any(line_of(run) in lines(site) for site in candidates)
    assert len(open_runs) < len(runs) / 20
    assert len(runs) > (400 if completed.result["programs"] >= 60 else 50)


def line_of(run: Call) -> int:
    """The line in the run's own attribute."""
    match = re.search(r"eps=f32\((\d+)\)", run.arguments["attributes"])
    assert match, run.arguments
    return int(match[1])


def lines(site: dict[str, object]) -> list[int]:
    """The program lines on a site's stack."""
    frames = site["frames"]
    assert isinstance(frames, list)
    return [line for file, line, _ in frames if file.endswith("ffi_matrix.py")]


def test_a_joined_custom_call_has_the_shapes_of_its_runs(matrix: FfiRun) -> None:
    for run in matrix.calls():
        entries = matrix.instances[run.arguments["instance"]]
        shapes = [(entry["operands"], entry["results"]) for entry in entries]
        assert (run.arguments["arguments"], run.arguments["results"]) in shapes


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> FfiRun:
    """Calls on the mock TPU that differ only in their line."""
    return run_ffi("ffi_twins.py", folder=tmp_path_factory.mktemp("twins"), **mock_tpu())


@pytest.mark.parametrize("how", ["in one program", "eagerly", "in a scan"])
def test_calls_that_differ_only_in_line_are_distinguished(twins: FfiRun, how: str) -> None:
    expected, shape = twins.result[how]
    runs = [run for run in twins.calls("rms_norm") if run.arguments["arguments"] == shape]
    sites = [twins.site_of(run) for run in runs]
    assert [site["frames"][site["user_frame"]][1] for site in sites if site] == expected


def test_equal_calls_run_once_and_belong_to_the_first_line(twins: FfiRun) -> None:
    expected, shape = twins.result["merged"]
    (run,) = [run for run in twins.calls("rms_norm") if run.arguments["arguments"] == shape]
    site = twins.site_of(run)
    assert site is not None
    assert site["frames"][site["user_frame"]][1] in expected


def test_the_stack_of_a_site_is_complete(twins: FfiRun) -> None:
    for site in twins.described("ffi_site"):
        assert site["frames"][0][2].endswith("wrapped")
        assert site["frames"][-1][2] == "<module>"


@pytest.mark.own_start
def test_a_program_from_the_compilation_cache_has_the_same_sites(tmp_path: Path) -> None:
    cache = {"JAX_COMPILATION_CACHE_DIR": str(tmp_path / "cache"), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    runs = [run_ffi("ffi_cached.py", folder=folder(tmp_path, n), **CPU, **cache) for n in ("first", "second")]
    assert [run.result["hits"] > 0 for run in runs] == [False, True]
    sites = [[run.site_of(call) for call in run.calls("rms_norm")] for run in runs]
    assert sites[0] == sites[1]
    assert sites[0] != [None]


def folder(parent: Path, name: str) -> Path:
    """A new folder."""
    path = parent / name
    path.mkdir()
    return path
