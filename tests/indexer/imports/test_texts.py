"""Collapsed stacks and speedscope profiles as written by recorders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from framedex.imports.building import ProfileBuilder
from framedex.imports.reading import detect_format, read_profile
from framedex.model import ImportedFrame, ImportOrigin, Language


def read(folder: Path, content: str) -> ProfileBuilder:
    file = folder / "profile"
    file.write_text(content, newline="")
    return read_profile(file, ImportOrigin(detect_format(file).name, str(file), "", None, ()))


def names(builder: ProfileBuilder) -> set[str]:
    return {frame.function for frame in builder.frames if isinstance(frame, ImportedFrame)}


@pytest.mark.parametrize(
    "text", ["\ufeffmain;f 2\r\nmain;g 1\r\n", " 1\nmain (a.py);f (a.py) 2\nmain (a.py);g (a.py) 1\n"]
)
def test_markers_line_breaks_and_empty_samples_are_not_frames(tmp_path: Path, text: str) -> None:
    builder = read(tmp_path, text)
    assert names(builder) == {"main", "f", "g"}
    assert builder.table()[:, 3].tolist() == [2, 1]


def test_a_first_stack_longer_than_the_detection_window_is_recognised(tmp_path: Path) -> None:
    builder = read(tmp_path, ";".join(f"f{number}" for number in range(12_000)) + " 3\nmain 1\n")
    assert builder.table()[:, 3].tolist() == [3, 1]
    assert len(builder.stacks[0].frames) == 10_000 and builder.stacks[0].is_truncated


def test_py_spy_threads_are_not_speedscope_frames(tmp_path: Path) -> None:
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


def test_a_folder_with_brackets_is_part_of_the_file_name(tmp_path: Path) -> None:
    stack = "f (/tmp/copy (2)/a.py:3);(anonymous namespace)::g(int) (/opt/x (y)/libg.so);operator() (b (1) c.cc:7)"
    builder = read(tmp_path, f"main (a.py:1);{stack} 1\n")
    told = [frame for frame in builder.frames if isinstance(frame, ImportedFrame)]
    assert [(frame.function, frame.file or frame.module, frame.line) for frame in told] == [
        ("main", "a.py", 1),
        ("f", "/tmp/copy (2)/a.py", 3),
        ("(anonymous namespace)::g(int)", "/opt/x (y)/libg.so", 0),
        ("operator()", "b (1) c.cc", 7),
    ]


def test_austin_files_with_scripts_and_unreadable_names_are_imported(tmp_path: Path) -> None:
    heading = "# austin: 3.7.0\n# interval: 5000\n# mode: wall\n\n"
    builder = read(tmp_path, f"{heading}P7;T0:8;/opt/bin/serve:<module>:9;/opt/bin/serve:f:3;:g:12;:GC: 40\n")
    told = [frame for frame in builder.frames if isinstance(frame, ImportedFrame)]
    assert [(frame.function, frame.file, frame.line) for frame in told] == [
        ("GC", "", 0),
        ("g", "", 12),
        ("f", "/opt/bin/serve", 3),
        ("<module>", "/opt/bin/serve", 9),
    ][::-1]
    assert [thread.tid for thread in builder.threads] == [8]


def test_all_metrics_of_mojo2austin_are_times(tmp_path: Path) -> None:
    builder = read(tmp_path, "# austin: 3.7.0\n# mode: full\n# memory: 24684084\nP7;T0:8;a.py:f:9 597\n")
    assert builder.weighing is not None and str(builder.weighing.value) == "wall (microseconds)"
    assert builder.table()[:, 2].tolist() == [597_000]


def test_a_script_with_any_name_is_python(tmp_path: Path) -> None:
    builder = read(tmp_path, "<module> (/opt/bin/serve:9);f (/opt/bin/serve:3);g (/src/g.c:4) 1\n")
    told = {frame.function: frame.language for frame in builder.frames if isinstance(frame, ImportedFrame)}
    assert told == {"<module>": Language.PYTHON, "f": Language.PYTHON, "g": Language.NATIVE}


def test_unicode_line_separators_are_part_of_a_name(tmp_path: Path) -> None:
    builder = read(tmp_path, "main;a\u2028b\x85c 3\nmain;d 1\n")
    assert names(builder) == {"main", "a\u2028b\x85c", "d"}


def test_a_function_may_have_the_name_of_an_austin_thread(tmp_path: Path) -> None:
    assert names(read(tmp_path, "T1;f 3\nP2;g 1\n")) == {"T1", "f", "P2", "g"}


def test_process_and_thread_names_may_contain_frame_separators(tmp_path: Path) -> None:
    """py-spy's names of `multiprocessing` processes and unusual threads are not frames."""
    parent, child = 'process 7:"python a.py"', 'process 8:"python -c import m; m.main(3); (4) --fork"'
    builder = read(tmp_path, f"{parent};{child};thread (9): a; b;c (libc.so);<module> (a.py:3);f (a.py:7) 2\n")
    assert names(builder) == {"c", "<module>", "f"}
    assert [(thread.tid, thread.name) for thread in builder.threads] == [(9, "a; b")]
    assert names(read(tmp_path, "thread (9);main;f 2\n")) == {"main", "f"}
    assert names(read(tmp_path, 'process 7:"python a.py";thread (9);f (a.py:7) 2\n')) == {"f"}


FRAMES = [{"name": "main", "file": "a.py", "line": 3}, {"name": "f", "file": "a.py", "line": 7}]


def _speedscope(folder: Path, *profiles: dict[str, object]) -> ProfileBuilder:
    return read(folder, json.dumps({"shared": {"frames": FRAMES}, "profiles": profiles}))


def _sampled(unit: str, weights: list[float], begin: float = 0) -> dict[str, object]:
    samples = [[0]] * len(weights)
    return {"type": "sampled", "name": "p", "unit": unit, "startValue": begin, "samples": samples, "weights": weights}


def test_profiles_of_one_file_keep_their_start_and_time_units(tmp_path: Path) -> None:
    builder = _speedscope(tmp_path, _sampled("milliseconds", [2], 1000), _sampled("seconds", [0.5], 1.25))
    assert builder.table()[:, 1:3].tolist() == [[0, 2_000_000], [250_000_000, 500_000_000]]
    assert builder.problems == ()


def test_weights_too_small_to_count_are_reported(tmp_path: Path) -> None:
    builder = _speedscope(tmp_path, _sampled("none", [0.25, 3, 0.5]))
    assert builder.table()[:, 3].tolist() == [3]
    assert builder.problems == ("Left out: 2 samples whose weight rounds to zero.",)


def test_an_unclosed_frame_lasts_until_the_end_of_its_profile(tmp_path: Path) -> None:
    events = [
        {"type": "O", "at": 1, "frame": 0},
        {"type": "O", "at": 2, "frame": 1},
        {"type": "C", "at": 4, "frame": 1},
    ]
    profile = {"type": "evented", "name": "p", "unit": "bytes", "startValue": 0, "endValue": 10, "events": events}
    assert sorted(_speedscope(tmp_path, profile).table()[:, 3].tolist()) == [1, 2, 6]
