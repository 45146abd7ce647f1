"""Chrome's trace events as written by recorders: member order, missing ends, and file and line fields."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from framedex.imports.building import ProfileBuilder
from framedex.imports.reading import detect_format, read_profile
from framedex.model import ImportedFrame, ImportOrigin


def read(folder: Path, content: str) -> ProfileBuilder:
    file = folder / "trace.json"
    file.write_text(content)
    assert detect_format(file).name == "Chrome trace events"
    return read_profile(file, ImportOrigin("Chrome trace events", str(file), "", None, ()))


def stacks(builder: ProfileBuilder) -> list[list[tuple[str, str, int, int]]]:
    """Function, file, line and first line of the frames of each sample, innermost first."""
    frames = [frame for frame in builder.frames if isinstance(frame, ImportedFrame)]
    told = [(frame.function, frame.file, frame.line, frame.first_line) for frame in frames]
    rows = builder.table()[:, 0].tolist()
    return [[told[frame] for frame in builder.stacks[builder.kinds[row][0]].frames] for row in rows]


def _py_spy(phase: str, name: str, line: int, at: int) -> dict[str, object]:
    file = "/srv/a.py" if line else ""
    told = {"args": {"filename": file, "line": line}, "cat": "py-spy"}
    return {**told, "name": name, "ph": phase, "pid": 1, "tid": 7, "ts": at}


def test_py_spy_frames_have_file_and_line_and_threads_are_slices(tmp_path: Path) -> None:
    slices = [("thread (7): worker", 0), ("main", 3), ("f", 9)]
    begins = [_py_spy("B", name, line, 10) for name, line in slices]
    ends = [_py_spy("E", name, line, 30) for name, line in reversed(slices)]
    builder = read(tmp_path, json.dumps([*begins, *ends]))
    assert [("f", "/srv/a.py", 9, 0), ("main", "/srv/a.py", 3, 0)] in stacks(builder)
    assert [(thread.tid, thread.name) for thread in builder.threads] == [(7, "worker")]
    assert builder.table()[:, 2].sum() == 20_000


def test_pytorch_identifies_a_function_by_file_and_first_line(tmp_path: Path) -> None:
    event = {"ph": "X", "cat": "python_function", "name": "torch/nn/module.py(15): call", "ts": 1, "dur": 2}
    assert stacks(read(tmp_path, json.dumps({"traceEvents": [event]}))) == [[("call", "torch/nn/module.py", 0, 15)]]


def test_jax_identifies_a_function_by_file_and_first_line(tmp_path: Path) -> None:
    event = {"ph": "X", "name": "$train.py:15 step", "ts": 1, "dur": 2}
    assert stacks(read(tmp_path, json.dumps({"traceEvents": [event]}))) == [[("step", "train.py", 0, 15)]]


@pytest.mark.parametrize("category", ["fee", "FEE"])
def test_viztracer_identifies_a_function_by_its_first_line(tmp_path: Path, category: str) -> None:
    event = {"ph": "X", "cat": category, "name": "f (/srv/a (1)/a.py:15)", "ts": 1, "dur": 2}
    assert stacks(read(tmp_path, json.dumps({"traceEvents": [event]}))) == [[("f", "/srv/a (1)/a.py", 0, 15)]]


@pytest.mark.parametrize("end", ["", ",", ",\n\n", "]"])
def test_a_truncated_event_list_is_read(tmp_path: Path, end: str) -> None:
    builder = read(tmp_path, '[{"ph": "X", "name": "f", "ts": 1, "dur": 2}, {"ph": "X", "ts": 5, "dur": 1}' + end)
    assert [stack[0][0] for stack in stacks(builder)] == ["f", "slice without a name"]


def test_begin_and_end_events_come_in_any_order(tmp_path: Path) -> None:
    marks = [("E", "a", 10), ("B", "b", 5), ("B", "a", 1), ("E", "b", 7)]
    builder = read(tmp_path, json.dumps([{"ph": phase, "name": name, "ts": at, "tid": 7} for phase, name, at in marks]))
    assert [[frame[0] for frame in stack] for stack in stacks(builder)] == [["a"], ["b", "a"]]
    assert builder.table()[:, 2].tolist() == [7_000, 2_000]
    assert builder.problems == ()


def test_an_unmatched_end_is_ignored_and_an_unmatched_begin_ends_last(tmp_path: Path) -> None:
    marks = [("E", "a", 1), ("B", "b", 2), ("B", "c", 3), ("E", "c", 9)]
    builder = read(tmp_path, json.dumps([{"ph": phase, "name": name, "ts": at, "tid": 7} for phase, name, at in marks]))
    assert builder.table()[:, 2].tolist() == [1_000, 6_000]
    assert builder.problems == ("Left out: 1 end of slices without a begin.",)
