"""Layouts, host memory and donation: the mock returns the requested forms, and computes the same values."""

from __future__ import annotations

from typing import Any

import pytest

from tests.running import run

ROWS, COLUMNS = [0, 1], [1, 0]  # dimensions from major to minor


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The output of `layouts.py`, run once with four devices."""
    folder = tmp_path_factory.mktemp("layouts")
    found: dict[str, Any] = run("layouts.py", folder=folder, FRAMEDEX_DEVICES="4").result
    return found


def test_values_are_correct_in_any_layout(result: dict[str, Any]) -> None:
    assert result["problems"] == []


def test_an_array_keeps_its_requested_layout(result: dict[str, Any]) -> None:
    assert (result["default"], result["put"], result["scalar"]) == (ROWS, COLUMNS, [])


def test_a_program_has_its_requested_layouts(result: dict[str, Any]) -> None:
    assert result["compiled"] == [COLUMNS] * 3
    assert result["text"] == "(f32[2,4]{0,1})->f32[2,4]{0,1}"


def test_an_automatic_layout_makes_a_transposition_free(result: dict[str, Any]) -> None:
    argument, transposed = result["automatic"]
    assert argument == transposed[::-1]


def test_tiles_and_sizes_of_small_elements_are_returned(result: dict[str, Any]) -> None:
    assert result["tiles"] == [[8, 128], [2, 1]]
    assert result["tiled_array"] == "((8, 128), (2, 1))"
    assert result["bits"] == "4"


def test_a_copy_keeps_its_layout_except_in_unpinned_host_memory(result: dict[str, Any]) -> None:
    assert (result["kept_order"], result["unpinned_order"]) == (COLUMNS, ROWS)


def test_host_memory_is_listed_and_donatable(result: dict[str, Any]) -> None:
    assert result["host_text"] == "(f32[2,4]{1,0:S(5)})->f32[2,4]{1,0:S(5)}"
    assert result["host"] == ["pinned_host", True]


def test_an_argument_is_donated_only_to_a_result_of_matching_memory(result: dict[str, Any]) -> None:
    assert result["donated"] == {
        "to a result like it": True,
        "to a result of another layout": False,
        "to a result of another shape": False,
    }


def test_an_argument_cannot_be_donated_and_passed_twice(result: dict[str, Any]) -> None:
    assert "Attempt to donate the same buffer twice in Execute() (argument 1 of " in result["donated_twice"]["donated"]
    assert result["donated_twice"]["kept"] is True
