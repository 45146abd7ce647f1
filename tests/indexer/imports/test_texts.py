"""Collapsed stacks and speedscope's profiles as recorders write them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from framedex.imports.building import Builder
from framedex.imports.reading import format_of, read_profile
from framedex.model import Foreign, ToldFrame


def read(folder: Path, content: str) -> Builder:
    file = folder / "profile"
    file.write_text(content, newline="")
    return read_profile(file, Foreign(format_of(file).name, str(file), "", None, ()))


def names(builder: Builder) -> set[str]:
    return {frame.function for frame in builder.frames if isinstance(frame, ToldFrame)}


@pytest.mark.parametrize(
    "text", ["\ufeffmain;f 2\r\nmain;g 1\r\n", " 1\nmain (a.py);f (a.py) 2\nmain (a.py);g (a.py) 1\n"]
)
def test_marks_breaks_and_samples_without_a_stack_are_no_frames(tmp_path: Path, text: str) -> None:
    builder = read(tmp_path, text)
    assert names(builder) == {"main", "f", "g"}
    assert builder.table()[:, 3].tolist() == [2, 1]


def test_a_first_stack_that_is_longer_than_what_formats_are_told_by(tmp_path: Path) -> None:
    builder = read(tmp_path, ";".join(f"f{number}" for number in range(12_000)) + " 3\nmain 1\n")
    assert builder.table()[:, 3].tolist() == [3, 1]
    assert len(builder.stacks[0].frames) == 10_000 and builder.stacks[0].is_truncated


def test_threads_of_py_spy_are_no_frames_of_speedscope(tmp_path: Path) -> None:
    frames = [
        {"name": 'process 1:"python a.py"'},
        {"name": "thread (7): worker"},
        {"name": "f", "file": "a.py", "line": 3},
    ]
    profile = {
        "type": "sampled",
        "name": 'Thread 7 "worker"',
        "unit": "seconds",
        "samples": [[0, 1, 2]],
        "weights": [1],
    }
    builder = read(tmp_path, json.dumps({"shared": {"frames": frames}, "profiles": [profile]}))
    assert names(builder) == {"f"}
    assert [(thread.tid, thread.name) for thread in builder.threads] == [(7, "worker")]


def test_a_folder_with_brackets_is_part_of_the_file(tmp_path: Path) -> None:
    stack = "f (/tmp/copy (2)/a.py:3);(anonymous namespace)::g(int) (/opt/x (y)/libg.so);operator() (b (1) c.cc:7)"
    builder = read(tmp_path, f"main (a.py:1);{stack} 1\n")
    told = [frame for frame in builder.frames if isinstance(frame, ToldFrame)]
    assert [(frame.function, frame.file or frame.module, frame.line) for frame in told] == [
        ("main", "a.py", 1),
        ("f", "/tmp/copy (2)/a.py", 3),
        ("(anonymous namespace)::g(int)", "/opt/x (y)/libg.so", 0),
        ("operator()", "b (1) c.cc", 7),
    ]
