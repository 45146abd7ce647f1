"""An imported file as a capture: listed, re-imported and removed; refused files leave no data."""

from __future__ import annotations

import fcntl
import gzip
import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from framedex.captures import foreign_file
from framedex.imports import jsonstream
from framedex.index import Index
from framedex.model import CallFilter
from tests.indexer.imports.profiles import framedex, pprof
from tests.timing import seconds_of

FRAME = ("f", "/app/a.py", 3)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tests import into an index in their own folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _counts(here: Path) -> dict[str, int]:
    """The samples of each capture in the index, by imported file."""
    with Index.open(here / ".framedex" / "index.db") as index:
        return {
            row.command: sum(each.calls for each in index.calls.totals(CallFilter(capture=row.id)))
            for row in index.captures()
        }


def test_an_unchanged_import_is_reused_and_a_changed_one_replaced(here: Path) -> None:
    file = here / "a.txt"
    file.write_text("main;f 3\n")
    assert "1 sample, 1 stack" in framedex("import", file).stdout
    assert "already imported" in framedex("import", "a.txt").stdout
    file.write_text("main;f 3\nmain;g 4\n")
    assert "read again: it has changed" in framedex("import", file).stdout
    assert _counts(here) == {"imported collapsed a.txt": 7}
    assert len(list((here / ".framedex" / "captures").iterdir())) == 1


def test_the_list_counts_samples_regardless_of_weight(here: Path) -> None:
    (here / "a.txt").write_text("main;f 3\nmain;g 4\n")
    framedex("import", "a.txt")
    assert "other call" not in framedex("calls").stderr
    assert "The latest 1 of 2 calls" in framedex("calls", "--limit", "1", "--function", "samples").stderr
    assert json.loads(framedex("calls", "--json", "--function", "samples").stdout)["total"] == 2


def test_relative_build_paths_stay_if_their_folder_is_unknown(here: Path) -> None:
    (here / "a.txt").write_text("main (a.py:1);eval (Python/ceval.c:24);eval (Python/ceval.c:31);f (node:fs:3) 1\n")
    framedex("import", "a.txt")
    with Index.open(here / ".framedex" / "index.db") as index:
        trace = index.calls.trace(1)
    assert trace is not None
    places = [frame.location and (frame.location.path, frame.location.line) for frame in trace.frames]
    assert places[1:] == [("/proc/self/cwd/Python/ceval.c", 24), ("/proc/self/cwd/Python/ceval.c", 31), None]


def test_an_import_is_listed_marked_and_removed_without_its_file(here: Path) -> None:
    file = here / "a.txt"
    file.write_text("main;f 3\n")
    framedex("import", file)
    listed = framedex("captures")
    assert "1 sample, 1 stack" in listed.stdout and "imported collapsed a.txt" in listed.stdout
    summed = framedex("summary")
    assert summed.stdout.startswith("Capture 1 of imported collapsed a.txt")
    assert "(1) was imported: calls are samples here" in summed.stderr
    assert framedex("captures", "rm", "1").exit_code == 0
    assert _counts(here) == {}
    assert list((here / ".framedex" / "captures").iterdir()) == []
    assert file.read_text() == "main;f 3\n"


def test_a_rebuilt_index_has_the_import_without_its_file(here: Path) -> None:
    """Imported data is stored: neither a rebuild nor `framedex index` needs the file."""
    file = here / "a.txt"
    file.write_text("main;f 3\n")
    framedex("import", file)
    file.unlink()
    assert framedex("index", "--rebuild").exit_code == 0
    assert _counts(here) == {"imported collapsed a.txt": 3}
    shutil.rmtree(here / ".framedex" / "captures")
    assert _counts(here) == {"imported collapsed a.txt": 3}


def test_one_of_several_files_is_refused(here: Path) -> None:
    (here / "a.txt").write_text("main;f 3\n")
    (here / "b.json").write_text('{"neither": "this"}')
    result = framedex("import", "a.txt", "b.json", "missing.txt", "--json")
    assert result.exit_code == 1
    assert [each["origin"] for each in json.loads(result.stdout)["imported"]] == [str(here / "a.txt")]
    assert "b.json is not in a supported format." in result.stderr
    assert "missing.txt cannot be read: No such file or directory." in result.stderr


def _with_location(number: int) -> bytes:
    """A profile with a sample that refers to a location by this id."""
    content = pprof([([FRAME], [1, 1], {})], packed=False)
    assert content.count(b"\x0a\x01\x01") == 1
    return content.replace(b"\x0a\x01\x01", b"\x0a\x01" + bytes([number]))


DEEP = b'{"shared": {"frames": [{"name": "f"}]}, "profiles": ' + b"[" * 100_000
SPEEDSCOPE = b'{"shared": {"frames": [{"name": "f"}]}, "profiles": [%s]}'
EVENTED = b'{"type": "evented", "unit": "none", "events": [{"type": "O", "at": 2, "frame": 0}, %s]}'
REFUSED = {
    "cut_off.pb": (pprof([([FRAME], [1, 1], {})], packed=False)[:-3], "it is truncated"),
    "cut_off.pb.gz": (pprof([([FRAME], [1, 1], {})])[:-12], "its gzip data is damaged or truncated"),
    "location.pb": (_with_location(9), "a sample refers to location 9, which is missing"),
    "values.pb": (pprof([([FRAME], [1], {})]), "a sample has 1 values instead of 2"),
    "huge.pb": (b"\x0a\x04\x08\x01\x10\x01" + b"\x12\xff\xff\xff\xff\x7f", "declares 34,359,738,367 bytes"),
    "weights.pb": (pprof([([FRAME], [1 << 62, 1], {})], [("a", "count"), ("b", "bytes")]), None),
    "sum.pb": (pprof([([FRAME], [1, 1 << 62], {})]), "its values add up to more than"),
    "nothing.pb": (pprof([([FRAME], [0, 0], {})]), "no sample in it has a stack and a weight"),
    "bomb.txt.gz": (
        gzip.compress(b"a;b 1\n" + (b"#" * (1 << 20) + b"\n") * 50),
        "it decompresses to far more data than stacks do",
    ),
    "deep.json": (DEEP, "it is nested too deeply"),
    "cut_off.json": (SPEEDSCOPE[:60], "its JSON is malformed or truncated"),
    "frame.json": (
        SPEEDSCOPE % b'{"type": "sampled", "unit": "none", "samples": [[7]], "weights": [1]}',
        "it refers to frame 7 of 1",
    ),
    "back.json": (SPEEDSCOPE % (EVENTED % b'{"type": "C", "at": 1, "frame": 0}'), "not ordered by time"),
    "unbalanced.json": (SPEEDSCOPE % (EVENTED % b'{"type": "C", "at": 3, "frame": 1}'), "not the innermost frame"),
    "nan.json": (SPEEDSCOPE % (EVENTED % b'{"type": "C", "at": NaN, "frame": 0}'), "instead of a number"),
    "time.json": (b'{"traceEvents": [{"ph": "X", "name": "f", "ts": "soon"}]}', "an event has no valid time"),
    "event.json": (
        b'{"version": 0, "costs": [{"description": "Memory", "unit": "bytes"}], "events": [3]}',
        "an event has no list of integers in 'callchain'",
    ),
    "columns.csv": (b"allocator,num_allocations,size,tid,thread_name,stack_trace\na,b\n", "has 2 columns instead of 6"),
}


@pytest.mark.exhaustive(keep=["cut_off.pb.gz", "values.pb", "huge.pb", "weights.pb", "deep.json", "back.json"])
@pytest.mark.parametrize("name", REFUSED)
def test_an_unreadable_file_is_refused_without_leftovers(here: Path, name: str) -> None:
    content, why = REFUSED[name]
    (here / name).write_bytes(content)
    result = framedex("import", name)
    if why is None:
        assert result.exit_code == 0, result.output
        return
    assert result.exit_code == 1
    assert why in result.stderr, result.stderr
    assert f"{name} cannot be read" in result.stderr and "Nothing was imported." in result.stderr
    captures = here / ".framedex" / "captures"
    assert not captures.exists() or list(captures.iterdir()) == []
    if (here / ".framedex" / "index.db").exists():
        assert _counts(here) == {}


def test_an_oversized_value_is_refused_before_it_is_allocated(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small gzip of JSON whose values are many times larger in memory."""
    monkeypatch.setattr(jsonstream, "MAX_MEMORY_BYTES", 16 << 20)
    samples = b"[0]," * 300_000 + b"[0]"
    weights = b"1," * 300_000 + b"1"
    profile = b'{"type": "sampled", "unit": "none", "samples": [%s], "weights": [%s]}' % (samples, weights)
    (here / "bomb.json.gz").write_bytes(gzip.compress(SPEEDSCOPE % profile))
    result = framedex("import", "bomb.json.gz")
    assert result.exit_code == 1
    assert "a value in it needs more than 16 MiB of memory" in result.stderr

    monkeypatch.setattr(jsonstream, "MAX_MEMORY_BYTES", 256 << 20)
    assert framedex("import", "bomb.json.gz").exit_code == 0


def test_a_refused_file_keeps_the_earlier_import(here: Path) -> None:
    file = here / "a.pb.gz"
    file.write_bytes(pprof([([FRAME], [3, 5], {})]))
    framedex("import", file)
    (kept,) = (here / ".framedex" / "captures").iterdir()
    before = foreign_file(kept).read_bytes()
    file.write_bytes(_with_location(9))
    assert framedex("import", file).exit_code == 1
    assert foreign_file(kept).read_bytes() == before
    assert framedex("index", "--rebuild").exit_code == 0
    assert _counts(here) == {"imported pprof a.pb.gz": 3}


def test_a_full_disk_is_reported_without_leftovers(here: Path) -> None:
    """If the disk has no room for the samples, the remedy is shown."""
    stacks = "".join(f"main;f 1{number:05}\n" for number in range(30_000))  # 1.2 MB as rows
    (here / "stacks.txt").write_text(stacks)
    (here / "a.txt").write_text("main;f 3\n")
    framedex("import", "a.txt")  # creates the index
    before = _counts(here)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, limits[1]))
    try:
        done = framedex("import", "stacks.txt")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert isinstance(done.exception, SystemExit) and done.exit_code == 1
    assert "could not be written" in done.stderr and "Set TMPDIR" in done.stderr
    assert _counts(here) == before and len(list((here / ".framedex" / "captures").iterdir())) == 1


def test_hostile_names_are_escaped(here: Path) -> None:
    """A name may have any characters: control characters are not displayed, and it never becomes a path."""
    names = ["\x1b[31mred", "../../etc/passwd", "a\0b", "ünïcödé", "' OR 1=1 --", "PJRT_LoadedExecutable_Execute"]
    file = here / "\x1b[2Jname\n.pb"
    file.write_bytes(
        pprof([([(name, name, 3), FRAME], [1, 1], {"key": name}) for name in names], [(n, "count") for n in names[-2:]])
    )
    result = framedex("import", file)
    assert result.exit_code == 0, result.output
    for verb in (["captures"], ["calls", "--all"], ["summary"], ["find", "red"], ["trace", "1"], ["check"]):
        done = framedex(*verb)
        assert "\x1b[31m" not in done.output and "\x1b[2J" not in done.output, verb
        assert done.exit_code == 0, (verb, done.output)
    assert _counts(here).popitem()[1] == len(names)


def test_an_open_index_sees_a_concurrent_import(here: Path) -> None:
    """After an import or a removal, an editor's open index answers with the change."""
    for name in ("a.txt", "b.txt"):
        (here / name).write_text(f"main;{name[0]} 3\n")
    framedex("import", "a.txt")
    with Index.open(here / ".framedex" / "index.db") as index:
        assert [row.id for row in index.captures()] == [1]
        framedex("import", "b.txt")
        assert {row.id for row in index.captures()} == {1, 2}  # the files may have one time
        assert sum(each.calls for each in index.calls.totals(CallFilter(capture=2))) == 3
        framedex("captures", "rm", "1", "--yes")
        assert [row.id for row in index.captures()] == [2]


@pytest.mark.exhaustive
def test_concurrent_imports_all_succeed(here: Path) -> None:
    """As many processes as files, plus one for the same file: each file becomes one capture."""
    files = [here / f"{number}.txt" for number in range(2)]
    for file in files:
        file.write_text(f"main;{file.stem} 3\n")
    commands = [[sys.executable, "-m", "framedex", "import", str(file)] for file in (*files, files[0])]
    started = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for command in commands]
    for process in started:
        assert process.wait(60) == 0, process.communicate()[1]
    with Index.open(here / ".framedex" / "index.db") as index:
        assert len(index.captures()) == len(files)
    assert len(list((here / ".framedex" / "captures").iterdir())) == len(files)


@pytest.mark.parametrize("name", ["pipe", "/dev/zero", "-"])
def test_a_path_that_is_not_a_file_is_refused_at_once(here: Path, name: str) -> None:
    os.mkfifo(here / "pipe")
    result = framedex("import", name)
    assert result.exit_code == 1
    assert "A pipe cannot be imported" in result.output
    assert not (here / ".framedex").exists()


def test_the_next_import_removes_copies_of_killed_ones(here: Path) -> None:
    captures = here / ".framedex" / "captures"
    killed, held, young = (captures / f".importing-{name}" for name in ("killed", "held", "young"))
    for folder in (killed, held, young):
        folder.mkdir(parents=True)
        (folder / "foreign").write_bytes(b"a;b 1\n")
    for folder in (killed, held):
        os.utime(folder, (0, 0))
    lock = os.open(held, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (here / "stacks.txt").write_text("a;b 1\n")
        assert framedex("import", "stacks.txt").exit_code == 0
    finally:
        os.close(lock)
    assert not killed.exists()
    assert held.is_dir() and young.is_dir()


def test_only_code_names_are_demangled(here: Path) -> None:
    """Of slice names, Go names and C++ names, only the last are shortened to their source form."""
    names = ["copy.6", "PjitFunction(step)", "Pool (3) waits", "pkg.(*T).run (/src/t.go:3)", "xla::Run (dot.2)"]
    shortened = {"_Z1fi": "f", "a::g<int>(char) const": "a::g<int>", "h.isra.0 (/usr/lib/libh.so)": "h"}
    (here / "a.txt").write_text(";".join(("main (/src/main.go:9)", *names, *shortened)) + " 1\n")
    assert framedex("import", "a.txt").exit_code == 0
    with Index.open(here / ".framedex" / "index.db") as index:
        trace = index.calls.trace(1)
    assert trace is not None
    whole = [name.removesuffix(" (/src/t.go:3)") for name in names]
    assert [frame.function.name for frame in trace.frames] == ["main", *whole, *shortened.values()]


def test_a_frame_with_only_a_name_has_no_address(here: Path) -> None:
    (here / "a.txt").write_text("main;f (/opt/libf.so) 1\n")
    framedex("import", "a.txt")
    told = framedex("trace", "1")
    assert [line.split() for line in told.stdout.splitlines()[-2:]] == [["N", "main"], ["N", "f", "/opt/libf.so"]]
    assert "1 named frame of libf.so without source" in told.stderr and "named frame of  " not in told.stderr


def test_names_of_brackets_only_are_parsed_at_once(here: Path) -> None:
    """A label and a hostile name close to the length limit."""
    label = f"thread (7): x;{' ()' * 10_000}z"
    nested = f"a::{'<' * 30_000}{'>' * 30_000}("
    (here / "a.txt").write_text(f"main (a.py:1) 1\n{label};main (a.py:1);{nested} 1\n")
    # Work that grows with the square of the length would take seconds.
    assert seconds_of(lambda: framedex("import", "a.txt")) < 1
    assert "already imported" in framedex("import", "a.txt").stdout
