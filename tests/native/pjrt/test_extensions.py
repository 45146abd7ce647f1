"""The extensions of the mock's table: their list, their answers, and JAX's use of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.reading import calls_of
from tests.running import Run, run


@pytest.fixture(scope="module")
def program_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """`extensions.py` run once."""
    return run("extensions.py", folder=tmp_path_factory.mktemp("extensions"))


@pytest.fixture(scope="module")
def result(program_run: Run) -> dict[str, Any]:
    """The program's output."""
    found: dict[str, Any] = program_run.result
    return found


def test_every_extension_has_its_declared_size(result: dict[str, Any]) -> None:
    assert set(result["sizes"]) == {"Layouts", "MemoryDescriptions", "Profiler"}
    assert result["sizes"] == result["described"]


def test_the_default_layout_is_row_major_with_the_size_of_small_elements(result: dict[str, Any]) -> None:
    assert result["layouts"] == ["{2,1,0}", "{}", "{0:E(4)}", "{1,0}"]


def test_a_described_device_has_the_memories_of_a_real_one(result: dict[str, Any]) -> None:
    assert result["memories"] == {"all": ["device", "pinned_host", "unpinned_host"], "default": "device"}


def test_a_profile_has_the_programs_and_times_of_the_device(result: dict[str, Any]) -> None:
    assert list(result["profile"]) == ["/device:TPU:0"]
    assert ["XLA Modules", "jit__lambda", True] in result["profile"]["/device:TPU:0"]


def test_a_host_profile_has_no_device(result: dict[str, Any]) -> None:
    assert result["host_only"] == {}


def test_an_ffi_type_for_the_tpu_is_registered_on_the_cpu_that_runs_it(result: dict[str, Any]) -> None:
    before_jax_looks, afterwards = result["types"]
    assert 0 < before_jax_looks < afterwards


def test_extension_calls_are_recorded(program_run: Run) -> None:
    recorded = {call.function for call in calls_of(program_run.capture)}
    assert {"PJRT_Layouts_MemoryLayout_Serialize", "PJRT_MemoryDescription_Kind"} <= recorded
    assert any(name.startswith("PLUGIN_Profiler") for name in recorded)
