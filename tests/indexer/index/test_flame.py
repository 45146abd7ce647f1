"""The flame graph of a capture: every call once, however functions are merged, hidden or distinguished."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np

from framedex.index.ask.capture.flame import build_flame_graph
from framedex.model import FlameGraph, FlameKind
from tests.indexer.recorded import Project

PUT = "PJRT_Client_BufferFromHostBuffer"
UNMERGED = "native stacks that could not be merged"


def below(graph: FlameGraph, *path: str) -> dict[str, tuple[int, int]]:
    """Calls and time of the callees of the node at the end of a path of names."""
    at = -1
    for name in path:
        at = next(number for number, node in enumerate(graph.nodes) if (node.parent, node.name) == (at, name))
    return {node.name: (node.calls, node.duration) for node in graph.nodes if node.parent == at}


def test_functions_are_below_their_callers_with_calls_and_time(project: Project) -> None:
    graph = project.ingest().capture(1).flame_graph()

    assert (graph.calls, graph.duration) == (4, 2_100)
    assert below(graph) == {"<module>": (3, 2_100), UNMERGED: (1, 0)}
    # Two lines of `main`: one function, one node.
    assert below(graph, "<module>") == {"main": (3, 2_100)}
    path = ("<module>", "main", "transfer", "put", "glue::convert", PUT, "runtime::allocate", "padded")
    assert below(graph, *path) == {PUT: (3, 2_100)}
    assert [node.kind for node in graph.nodes if node.name == "main"] == [FlameKind.PYTHON]


def test_a_node_leads_to_the_frame_with_most_time(project: Project) -> None:
    graph = project.ingest().capture(1).flame_graph()

    (main,) = (node for node in graph.nodes if node.name == "main")
    assert main.location is not None
    assert main.location.line == project.line("transfer(1)")


def test_unmerged_stacks_are_separate(project: Project) -> None:
    graph = project.ingest().capture(1).flame_graph()

    assert below(graph, UNMERGED, "glue::convert", PUT) == {"PJRT_Error_Destroy": (1, 0)}
    assert [node.kind for node in graph.nodes if node.parent == -1] == [FlameKind.PYTHON, FlameKind.UNMERGED]


def test_a_graph_of_one_boundary_function(project: Project) -> None:
    index = project.ingest()
    (destroy,) = (each.id for each in index.capture(1).boundaries() if each.function == "PJRT_Error_Destroy")
    graph = index.capture(1).flame_graph(destroy)

    assert (graph.calls, graph.duration) == (1, 0)
    assert below(graph) == {UNMERGED: (1, 0)}


def test_small_functions_are_merged_and_nothing_is_lost(project: Project) -> None:
    capture = project.ingest().capture(1)
    for most in (0, 1, 4, 100):
        _check_merged(build_flame_graph(capture, max_nodes=most), len(capture.flame_graph().nodes), most)


def _check_merged(graph: FlameGraph, nodes: int, most: int) -> None:
    told_apart = [node for node in graph.nodes if node.kind is not FlameKind.OTHERS]
    assert len(told_apart) + graph.merged == nodes
    assert len(told_apart) <= most
    calls: dict[int, int] = defaultdict(int)
    for number, node in enumerate(graph.nodes):
        assert node.parent < number
        calls[node.parent] += node.calls
    assert calls[-1] == graph.calls


def test_time_inside_another_call_counts_once(project: Project) -> None:
    calls = replace(
        project.capture.calls,
        thread=np.zeros(4, np.uint32),
        start=np.array([1_000, 2_000, 3_000, 9_000], np.int64),
        duration=np.array([5_000, 700, 900, 100], np.int64),  # the second and third inside the first
    )
    index = project.ingest(capture=project.again("nested", calls=calls))
    assert index.capture(1).flame_graph().duration == 5_100
    (put,) = (each for each in index.capture(1).boundaries() if each.function == PUT)
    assert index.capture(1).flame_graph(put.id).duration == put.duration == 6_600


def test_an_unknown_capture_has_an_empty_graph(project: Project) -> None:
    assert project.ingest().capture(9).flame_graph() == FlameGraph(0, 0, 0, 0, ())
