"""Following recorded stacks from a line to the next frames, with the nodes that continue the same walk."""

from __future__ import annotations

from pathlib import Path

import pytest

from framedex.index import Index
from framedex.index.ask.line import stack_paths as line_roads
from framedex.model import FrameRow, StackPath
from tests.server.roads import Roads, record_roads


@pytest.fixture
def recorded(tmp_path: Path) -> Roads:
    return record_roads(tmp_path)


def everything(frame: FrameRow) -> bool:
    return True


def names(roads: list[StackPath]) -> list[tuple[str, int]]:
    return [(road.target.function.name, road.target.location.line if road.target.location else 0) for road in roads]


def test_stack_paths_are_sorted_by_duration_with_their_totals(recorded: Roads) -> None:
    with Index.open(recorded.index) as index:
        roads = index.line(str(recorded.library), 2).paths_inward(everything)

    assert names(roads) == [("initialise", 11), ("get", 8), ("put", 5)]
    assert [road.longest for road in roads] == [9000, 100, 50]
    assert [road.calls for road in roads] == [21, 2, 4]
    assert [road.makes_client for road in roads] == [True, False, False]


def test_a_stack_path_continues_within_its_own_stacks(recorded: Roads) -> None:
    with Index.open(recorded.index) as index:
        (road,) = index.line(str(recorded.demo), 2).paths_inward(everything)
        further = index.line(str(recorded.library), 2).paths_inward(everything, within=road.nodes)

    assert names(further) == [("get", 8)]
    assert [road.calls for road in further] == [1]


def test_unwanted_frames_are_skipped(recorded: Roads) -> None:
    with Index.open(recorded.index) as index:
        roads = index.line(str(recorded.demo), 2).paths_inward(
            lambda frame: frame.function.name not in ("wrapper", "get")
        )

    assert names(roads) == [("runtime::ToHostBuffer", 40)]
    assert not roads[0].has_more_frames


def test_a_line_without_recorded_calls_has_no_stack_paths(recorded: Roads) -> None:
    with Index.open(recorded.index) as index:
        assert index.line(str(recorded.library), 1).paths_inward(everything) == []


def test_a_file_is_recorded_if_calls_passed_through_it(recorded: Roads) -> None:
    with Index.open(recorded.index) as index:
        assert index.file(str(recorded.library)).is_recorded()
        assert not index.file(str(recorded.project / "other.py")).is_recorded()


def test_callees_beyond_the_limit_come_last(recorded: Roads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_roads, "MAX_FOLLOWED_NODES", 1)
    with Index.open(recorded.index) as index:
        roads = index.line(str(recorded.library), 2).paths_inward(everything)

    # The first line of the program created the client and put; `get` came from others.
    assert names(roads) == [("initialise", 11), ("put", 5), ("get", 8)]
    assert [bool(road.nodes) for road in roads] == [True, True, False]
