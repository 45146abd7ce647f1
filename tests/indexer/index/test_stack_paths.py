"""Following recorded stacks from a line to the next frames, with the nodes that continue the same walk."""

from __future__ import annotations

from pathlib import Path

import pytest

from framedex.index import Index
from framedex.index.ask.line import stack_paths
from framedex.model import FrameRow, StackPath
from tests.server.roads import Roads, record_roads


@pytest.fixture
def recorded(tmp_path: Path) -> Roads:
    return record_roads(tmp_path)


def everything(frame: FrameRow) -> bool:
    return True


def names(paths: list[StackPath]) -> list[tuple[str, int]]:
    return [(path.target.function.name, path.target.location.line if path.target.location else 0) for path in paths]


def test_stack_paths_are_sorted_by_duration_with_their_totals(recorded: Roads) -> None:
    with Index.open(recorded.index) as index:
        paths = index.line(str(recorded.library), 2).paths_inward(everything)

    assert names(paths) == [("initialise", 11), ("get", 8), ("put", 5)]
    assert [path.longest for path in paths] == [9000, 100, 50]
    assert [path.calls for path in paths] == [21, 2, 4]
    assert [path.makes_client for path in paths] == [True, False, False]


def test_a_stack_path_continues_within_its_own_stacks(recorded: Roads) -> None:
    with Index.open(recorded.index) as index:
        (path,) = index.line(str(recorded.demo), 2).paths_inward(everything)
        further = index.line(str(recorded.library), 2).paths_inward(everything, within=path.nodes)

    assert names(further) == [("get", 8)]
    assert [path.calls for path in further] == [1]


def test_unwanted_frames_are_skipped(recorded: Roads) -> None:
    with Index.open(recorded.index) as index:
        paths = index.line(str(recorded.demo), 2).paths_inward(
            lambda frame: frame.function.name not in ("wrapper", "get")
        )

    assert names(paths) == [("runtime::ToHostBuffer", 40)]
    assert not paths[0].has_more_frames


def test_a_line_without_recorded_calls_has_no_stack_paths(recorded: Roads) -> None:
    with Index.open(recorded.index) as index:
        assert index.line(str(recorded.library), 1).paths_inward(everything) == []


def test_a_file_is_recorded_if_calls_passed_through_it(recorded: Roads) -> None:
    with Index.open(recorded.index) as index:
        assert index.file(str(recorded.library)).is_recorded()
        assert not index.file(str(recorded.project / "other.py")).is_recorded()


def test_callees_beyond_the_limit_come_last(recorded: Roads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack_paths, "MAX_FOLLOWED_NODES", 1)
    with Index.open(recorded.index) as index:
        paths = index.line(str(recorded.library), 2).paths_inward(everything)

    # The first line of the program created the client and put; `get` came from others.
    assert names(paths) == [("initialise", 11), ("put", 5), ("get", 8)]
    assert [bool(path.nodes) for path in paths] == [True, True, False]
