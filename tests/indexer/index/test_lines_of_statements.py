"""Answers for a line whose statement has its frames on other lines."""

from __future__ import annotations

from pathlib import Path

from framedex.index import Index
from tests.indexer.forgotten import forget_texts
from tests.server.spread import CPP, STACKS, WITH_Y, record_spread


def test_a_stack_that_passes_two_lines_of_a_statement_counts_once(tmp_path: Path) -> None:
    recursive = [("main", 3), ("serve", 8), ("serve", 10), ("WithY", WITH_Y)]
    spread = record_spread(tmp_path, [*STACKS, recursive])
    with Index.open(spread.index) as index:
        alone = [index.line(str(spread.cpp), line).summary() for line in (8, 10)]
        both = index.line(str(spread.cpp), 9).summary()
        (end,) = index.line(str(spread.cpp), 9).ends()
    assert [each.calls for each in alone if each] == [2, 2]
    assert both is not None and both.frame_lines == (8, 10)
    assert (both.calls, end.calls) == (3, 3)


def test_a_selected_capture_restricts_statement_lines(tmp_path: Path) -> None:
    spread = record_spread(tmp_path)
    with Index.open(spread.index) as index:
        (capture,) = index.captures()
        summary = index.line(str(spread.cpp), 9, capture.id).summary()
        assert summary is not None and (summary.calls, summary.frame_lines) == (2, (8, 10))
        assert len(index.line(str(spread.cpp), 9).stacks()) == 2


def test_lines_of_a_file_with_unknown_changes_are_not_guessed(tmp_path: Path) -> None:
    spread = record_spread(tmp_path)
    forget_texts(spread.index)
    spread.cpp.write_text("// one\n" + CPP)
    with Index.open(spread.index) as index:
        assert index.line(str(spread.cpp), 5).lines == (5,)


def test_a_file_without_recorded_frames_is_not_parsed(tmp_path: Path) -> None:
    spread = record_spread(tmp_path)
    other = tmp_path / "other.cc"
    other.write_text(CPP)
    with Index.open(spread.index) as index:
        assert index.line(str(other), 4).lines == (4,)
