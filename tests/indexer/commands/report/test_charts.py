"""Charts and flame graphs as outlines and boxes, and short location names."""

from __future__ import annotations

import re

import pytest

from framedex.commands.report.charts import (
    CHART_HEIGHT,
    CHART_WIDTH,
    TimeSpan,
    compute_step_height,
    draw_memory_outline,
    draw_step_layers,
    lay_out_flame_boxes,
    sort_functions_by_time,
)
from framedex.commands.report.places import EDITORS, ReportLocations
from framedex.model import FlameGraph, FlameKind, FlameNode, Location, LocationEvidence, Loop, LoopStep


def heights(outline: str) -> list[tuple[float, float]]:
    """The start of each height (of 1) of an area."""
    assert re.fullmatch(rf"M0 {CHART_HEIGHT}(H[\d.]+V[\d.e-]+)*Z", outline)
    return [
        (float(place), round(1 - float(top) / CHART_HEIGHT, 3))
        for place, top in re.findall(r"H([\d.]+)V([\d.e-]+)", outline)
    ]


def node(parent: int, name: str, calls: int, duration: int, kind: FlameKind = FlameKind.PYTHON) -> FlameNode:
    return FlameNode(parent, kind, name, calls, duration, None, None, 0 if name else 7)


def test_memory_is_constant_between_changes() -> None:
    span = TimeSpan(0, 600)
    assert heights(draw_memory_outline([(0, 50), (300, 100), (450, 0)], 100, span)) == [
        (0, 0.5),
        (300, 1),
        (451, 0),
        (CHART_WIDTH, 0),
    ]


def test_a_peak_between_two_columns_is_shown() -> None:
    points = [(time, 100 if time == 5_001 else 1) for time in range(10_000)]
    assert max(high for _, high in heights(draw_memory_outline(points, 100, TimeSpan(0, 10_000)))) == 1


def test_a_single_moment_is_drawn() -> None:
    assert heights(draw_memory_outline([(5, 10)], 10, TimeSpan(5, 5)))[0] == (0, 1)
    assert TimeSpan(5, 5).ticks() == [5] * 5


def test_functions_without_time_are_sorted_by_calls() -> None:
    nodes = (node(-1, "few", 2, 0), node(-1, "many", 9, 0), node(-1, "timed", 1, 5))
    found = sort_functions_by_time(FlameGraph(12, 5, 0, 0, nodes))
    assert [each.name for each in found] == ["timed", "many", "few"]


def rounds(*durations: int) -> Loop:
    steps = tuple(
        LoopStep(number, 0, duration, duration // 2, 0, 0, duration // 4, 1)
        for number, duration in enumerate(durations, 1)
    )
    return Loop(
        1, "main", None, len(steps), 0, sum(durations), sorted(durations)[len(durations) // 2], 0, 0, 0, 0, steps
    )


def test_iterations_are_as_high_as_their_duration() -> None:
    layers = {layer.name: heights(layer.outline) for layer in draw_step_layers(rounds(100, 200))}
    assert list(layers) == ["own", "wait", "compile"]  # the front comes last
    assert layers["own"] == [(0, 0.5), (300, 1), (CHART_WIDTH, 0)]
    assert layers["wait"] == [(0, 0.375), (300, 0.75), (CHART_WIDTH, 0)]
    assert layers["compile"] == [(0, 0.25), (300, 0.5), (CHART_WIDTH, 0)]


def test_the_longest_of_thousands_of_iterations_are_shown() -> None:
    loop = rounds(*(200 if number == 4_321 else 100 for number in range(10_000)))
    (own,) = [heights(layer.outline) for layer in draw_step_layers(loop) if layer.name == "own"]
    assert own == [(0, 0.5), (259, 1), (260, 0.5), (CHART_WIDTH, 0)]


def test_one_very_long_iteration_does_not_hide_the_others() -> None:
    loop = rounds(1_000_000, 100, 100, 100)
    assert compute_step_height(loop) == 800
    own = {layer.name: heights(layer.outline) for layer in draw_step_layers(loop)}["own"]
    assert own == [(0, 1), (150, 0.125), (CHART_WIDTH, 0)]


def test_boxes_are_below_their_callers_side_by_side() -> None:
    nodes = (
        node(-1, "main", 3, 100),
        node(0, "put", 2, 60),
        node(1, "PJRT", 2, 60, FlameKind.BOUNDARY),
        node(0, "", 1, 20, FlameKind.OTHERS),
        node(-1, "other", 1, 100),
    )
    found = {box.name: (box.left, box.width, box.top) for box in lay_out_flame_boxes(FlameGraph(4, 200, 0, 7, nodes))}
    assert found == {
        "main": (0, 50, 0),
        "put": (0, 30, 18),
        "PJRT": (0, 30, 36),
        "7 smaller functions": (30, 10, 18),
        "other": (50, 50, 0),
    }


def test_boxes_are_as_wide_as_calls_if_no_time_was_measured() -> None:
    nodes = (node(-1, "one", 1, 0), node(-1, "two", 3, 0))
    assert [box.width for box in lay_out_flame_boxes(FlameGraph(4, 0, 0, 0, nodes))] == [25, 75]


def test_a_recursive_function_counts_once() -> None:
    nodes = (
        node(-1, "f", 3, 100),
        node(0, "g", 3, 90),
        node(1, "f", 3, 80),
        node(2, "PJRT", 3, 80, FlameKind.BOUNDARY),
    )
    found = [(each.name, each.calls, each.duration) for each in sort_functions_by_time(FlameGraph(3, 100, 0, 0, nodes))]
    assert found == [("f", 3, 100), ("g", 3, 90)]


def test_files_have_the_shortest_unique_name() -> None:
    paths = ["/a/model/train.py", "/b/model/train.py", "/b/other.py", "/train.py", "jax:jax/_src/api.py"]
    places = ReportLocations(paths, "none")
    names = {path: places.format(Location(path, 3, LocationEvidence.EXACT)).text for path in paths}
    assert names == {
        "/a/model/train.py": "a/model/train.py:3",
        "/b/model/train.py": "b/model/train.py:3",
        "/b/other.py": "other.py:3",
        "/train.py": "/train.py:3",
        "jax:jax/_src/api.py": "api.py:3",
    }
    assert ("/train.py", "/train.py") not in places.files()


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd"])
def test_an_address_that_is_not_a_page_is_not_a_link(url: str) -> None:
    assert ReportLocations(["/x.cc"], "vscode").format(Location("/x.cc", 1, LocationEvidence.EXACT, url=url)).link == ""


def test_a_page_becomes_a_link_but_a_missing_file_does_not() -> None:
    places = ReportLocations(["/x.cc"], "vscode")
    assert places.format(Location("/x.cc", 1, LocationEvidence.EXACT, url="https://a.example/x.cc#L1")).link.startswith(
        "https://"
    )
    gone = places.format(Location("/nowhere/x.cc", 1, LocationEvidence.RANKED))
    assert (gone.link, gone.labels) == ("", "ranked, not here")


@pytest.mark.parametrize("editor", EDITORS)
def test_links_of_every_editor_have_file_and_line(editor: str) -> None:
    place = ReportLocations([__file__], editor).format(Location(__file__, 12, LocationEvidence.EXACT))
    assert (place.link == "") is (editor == "none")
    assert editor == "none" or (__file__ in place.link and place.link.endswith("12"))
