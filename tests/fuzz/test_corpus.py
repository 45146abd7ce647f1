"""The installed framedex handles every fuzz input in the archives, and every input that once failed.

`make fuzz` runs the native ones again under sanitizers, also those without a binding.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from framedex.captures.reader import object_table
from framedex.sources import parse_file
from framedex_native import _native
from framedex_native._call_stream import CallStream
from framedex_native._scanner import LineScanner
from tests.fuzz import corpus_archive, make_seeds, native, targets
from tests.fuzz.__main__ import LARGEST_CORPUS
from tests.fuzz.capture_folder import unpack
from tests.fuzz.corpus_archive import CORPUS, CorpusError, archive_path, read_inputs, write_inputs

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


def _corpus(name: str) -> dict[str, bytes]:
    """The inputs of a target's archive by name; a damaged archive fails the test with the remedy as its message."""
    try:
        return read_inputs(name)
    except CorpusError as error:
        message = str(error)
    pytest.fail(message, pytrace=False)  # outside the handler, so that pytest prints no chained exceptions


def _inputs(name: str) -> dict[str, bytes]:
    """The inputs of a target's archive, and those that once failed, by their location."""
    kept = {f"{input_name} in tests/fuzz/corpus/{name}.zip": data for input_name, data in _corpus(name).items()}
    crashes = sorted((HERE / "crashes" / name).glob("*"))
    return kept | {f"tests/fuzz/crashes/{name}/{path.name}": path.read_bytes() for path in crashes}


def _replay(name: str, read: Callable[[bytes], object]) -> None:
    """Run every input of a target; a failure names its input."""
    for location, data in _inputs(name).items():
        try:
            read(data)
        except Exception as error:
            error.add_note(f"The input is {location}")
            raise


@pytest.mark.parametrize("name", sorted(NATIVE))
def test_stored_inputs_of_native_parsers_are_parsed(name: str, tmp_path: Path) -> None:
    _replay(name, lambda data: [read(data, tmp_path) for read in NATIVE[name]])


def test_capture_seeds_have_valid_headers_so_that_records_are_fuzzed(tmp_path: Path) -> None:
    for seed in make_seeds.captures():
        unpack(seed, tmp_path)
        problems = _stream(tmp_path).definitions()["problems"]
        assert not any("header" in problem for problem in problems), problems


@pytest.mark.parametrize("name", targets.NAMES)
def test_stored_inputs_of_python_parsers_are_parsed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _replay(name, targets.load(name).run)


def test_a_failing_replay_names_its_input() -> None:
    def fail(data: bytes) -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken") as raised:
        _replay("paths", fail)
    assert raised.value.__notes__ == [f"The input is {min(_corpus('paths'))} in tests/fuzz/corpus/paths.zip"]


def test_every_fuzzer_has_a_small_corpus() -> None:
    sizes = {name: sum(map(len, _corpus(name).values())) for name in FUZZERS}
    assert {name: size for name, size in sizes.items() if not 0 < size <= LARGEST_CORPUS} == {}


def test_the_corpus_folder_has_one_archive_per_fuzzer_only() -> None:
    assert sorted(path.name for path in CORPUS.iterdir()) == sorted(f"{name}.zip" for name in FUZZERS)


@pytest.mark.exhaustive(keep=["paths"])
@pytest.mark.parametrize("name", FUZZERS)
def test_rewriting_a_corpus_does_not_change_its_archive(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs, before = _corpus(name), archive_path(name).read_bytes()
    monkeypatch.setattr(corpus_archive, "CORPUS", tmp_path)
    write_inputs(name, inputs.values())
    assert archive_path(name).read_bytes() == before


def test_every_native_fuzzer_is_built() -> None:
    listed = (native.SOURCES / "CMakeLists.txt").read_text(encoding="utf-8")
    assert [name for name in native.NAMES if f"add_fuzzer({name}" not in listed] == ["cpp_sources", "python_sources"]
    assert "foreach(name cpp_sources python_sources)" in listed
