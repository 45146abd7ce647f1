"""Every input that fuzzing has kept, and every one that once broke a promise, is handled by what is installed.

`make fuzz` runs the native ones again under sanitizers, those included that have no binding.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from framedex.captures.object_table import object_table
from framedex.sources import parse_file
from framedex_native import _native
from framedex_native._call_stream import CallStream
from framedex_native._scanner import LineScanner
from tests.fuzz import make_seeds, native, targets
from tests.fuzz.capture_folder import unpack

HERE = Path(__file__).parent
FUZZERS = [*native.NAMES, *targets.NAMES]


def _capture(data: bytes, folder: Path) -> None:
    unpack(data, folder)
    stream = _stream(folder)
    calls = 0
    while len((batch := stream.next(100))["kind"]):
        calls += len(batch["kind"])
        assert all(isinstance(json.loads(text), dict) for text in batch["arguments"])
    assert calls == stream.calls
    assert _native.count_records(os.fsencode(folder))["threads"] >= len(stream.definitions()["threads"])


def _stream(folder: Path) -> CallStream:
    return CallStream(os.fsencode(folder), 0, object_table(), lacks_calls=False)


def _source(name: str) -> Callable[[bytes, Path], None]:
    def read(data: bytes, folder: Path) -> None:
        (folder / name).write_bytes(data)
        lines = data.count(b"\n") + 1
        for definition in parse_file(folder / name).definitions:
            assert 1 <= definition.line <= definition.end_line <= lines

    return read


def _log(data: bytes, folder: Path) -> None:
    LineScanner([b'File "', b"#0"], [b".cc:", b".py:"]).scan(data)


NATIVE: dict[str, list[Callable[[bytes, Path], object]]] = {
    "captures": [_capture],
    "cpp_sources": [_source("fuzzed.cc")],
    "python_sources": [_source("fuzzed.py")],
    "interface_files": [_source("fuzzed.proto"), _source("fuzzed.td")],
    "log_lines": [_log],
}


def _inputs(name: str) -> list[Path]:
    return [path for folder in ("corpus", "crashes") for path in sorted((HERE / folder / name).glob("*"))]


@pytest.mark.parametrize("name", sorted(NATIVE))
def test_kept_inputs_of_native_parsers_are_read(name: str, tmp_path: Path) -> None:
    for path in _inputs(name):
        for read in NATIVE[name]:
            read(path.read_bytes(), tmp_path)


def test_the_seeds_of_captures_have_whole_headers_so_that_records_are_fuzzed(tmp_path: Path) -> None:
    for seed in make_seeds.captures():
        unpack(seed, tmp_path)
        problems = _stream(tmp_path).definitions()["problems"]
        assert not any("header" in problem for problem in problems), problems


@pytest.mark.parametrize("name", targets.NAMES)
def test_kept_inputs_of_python_parsers_are_read(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    target = targets.load(name)
    for path in _inputs(name):
        target.run(path.read_bytes())


@pytest.mark.parametrize("name", FUZZERS)
def test_every_fuzzer_has_a_small_corpus(name: str) -> None:
    sizes = [path.stat().st_size for path in _inputs(name)]
    assert 0 < sum(sizes) <= 100 << 10


def test_every_native_fuzzer_is_built() -> None:
    listed = (native.SOURCES / "CMakeLists.txt").read_text(encoding="utf-8")
    assert [name for name in native.NAMES if f"add_fuzzer({name}" not in listed] == ["cpp_sources", "python_sources"]
    assert "foreach(name cpp_sources python_sources)" in listed
