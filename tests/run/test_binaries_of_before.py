"""Libraries upgraded, rebuilt or removed between a run and its indexing: names are as if they were unchanged."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from framedex.binaries import Binary, BinaryStore, DigestCache
from tests.run.passing_through import Passing, new_project

REBUILT = """\
extern "C" int before(int x) { int y = x * 7; for (int i = 0; i < x; i++) y += i * y; return y * 3 + x; }
extern "C" int through(int (*callback)(int), int value) { return callback(value) + before(value); }
extern "C" const char* content() { return "another"; }
"""
NOT_KEPT = {"FRAMEDEX_KEEP_BINARIES": "0"}


@pytest.fixture
def project(tmp_path: Path) -> Passing:
    return new_project(tmp_path / "project")


def functions(project: Passing) -> list[str]:
    return [name for name, _, _ in project.frames()]


def everything(project: Passing) -> list[tuple[object, ...]]:
    """The index's frames and their neighbours, regardless of row ids."""
    with closing(sqlite3.connect(project.folder / ".framedex" / "index.db")) as index:
        return [
            row
            for query in (
                "SELECT function, path, line, how, module, offset, inlined FROM frames_readable",
                "SELECT name, path, line, how, module, calls FROM functions_readable",
                "SELECT caller, callee, calls FROM edges_readable",
                "SELECT path, line, function, calls FROM lines_readable",
                "SELECT name, is_recorded FROM names",
                "SELECT path, content, named_from FROM modules",
            )
            for row in sorted(index.execute(query).fetchall(), key=repr)
        ]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("sources", "expected"), [("1", "program.py:10 [moved from line 9]"), ("0", "program.py:9 [file changed since]")]
)
def test_python_files_of_another_version_are_marked_despite_their_time(
    project: Passing, tmp_path: Path, sources: str, expected: str
) -> None:
    """An installer links a file of another version there, written before the recording began."""
    project.framedex("run", "program.py", FRAMEDEX_SOURCES=sources)
    other = tmp_path / "other.py"
    other.write_text("# of another version\n" + project.program.read_text())
    os.utime(other, (1_500_000_000, 1_500_000_000))
    project.program.unlink()
    project.program.hardlink_to(other)
    project.framedex("index")

    assert expected in project.framedex("trace", "PJRT_Client_BufferFromHostBuffer").stdout


@pytest.mark.exhaustive(keep=["rebuilt"])
@pytest.mark.parametrize("change", ["rebuilt", "removed", "stripped"])
def test_names_and_lines_belong_to_the_executed_library(project: Passing, change: str) -> None:
    source = (project.folder / "through.cc").read_text()
    project.framedex("run", "program.py")
    if change == "rebuilt":
        project.build("-O2")
    elif change == "removed":
        project.library.unlink()
    else:
        subprocess.run(["strip", project.library], check=True)
    (project.folder / "through.cc").write_text(source)

    told = project.framedex("index").stdout

    assert functions(project) == ["<module>", "through", "inner", "inlined", "put"]
    assert "libthrough.so" not in told


def test_offsets_in_a_text_are_resolved_in_the_matching_recorded_build(project: Passing) -> None:
    """The library was rebuilt after the crash: a name and its address identify the recorded build."""
    symbols = Binary.open(project.library).symbols
    assert symbols is not None
    starts = {name: symbols.functions_named(name)[0].start for name in ("through", "content")}
    project.framedex("run", "program.py")
    project.framedex("index")
    crash = project.folder / "crash.txt"
    crash.write_text(
        f"{project.library}(content+0x1)[{0x7F1E1A000001 + starts['content']:#x}]\n"
        f"{project.library}(+{starts['through'] + 1:#x})[{0x7F1E1A000001 + starts['through']:#x}]\n"
    )
    subprocess.run(
        ["g++", "-g", "-O0", "-shared", "-fPIC", "-x", "c++", "-", "-o", project.library],
        input=REBUILT,
        text=True,
        check=True,
    )

    (stack,) = project.answer("explain", str(crash))["stacks"]
    assert [(frame["function"], frame["is_doubtful"]) for frame in stack["frames"]] == [
        ("content", False),
        ("through", False),
    ]
    told = project.framedex("explain", str(crash)).stderr
    assert f"Names in {project.library} come from a recorded build" in told
    assert "another build" not in told

    alone = project.folder / "alone.txt"
    alone.write_text(crash.read_text().splitlines()[1] + "\n")
    os.utime(alone, (project.library.stat().st_mtime - 60,) * 2)
    (stack,) = project.answer("explain", str(alone))["stacks"]
    assert [(frame["function"], frame["is_doubtful"]) for frame in stack["frames"]] == [("through", True)]


def test_a_restored_binary_names_unnamed_frames(project: Passing, tmp_path: Path) -> None:
    """No stored copy: frames are unnamed, the message has a remedy, and the remedy works."""
    project.framedex("run", "program.py", **NOT_KEPT)
    aside = project.library.rename(tmp_path / "aside.so")
    shutil.copy("/bin/true", project.library)

    told = project.framedex("index", **NOT_KEPT).stdout
    assert f"{project.library} has changed since it was recorded. Restore the recorded file" in told
    assert "run `framedex index`; until then its frames stay as module and offset." in told
    assert not {"through", "inner", "inlined"} & set(functions(project))

    shutil.copyfile(aside, project.library)  # the same content with another time
    told = project.framedex("index", **NOT_KEPT).stdout
    assert (
        "(read again: more of its binaries are identified now)" in told
        and "libthrough" not in told.replace("\n", " ")[200:]
    )
    assert functions(project) == ["<module>", "through", "inner", "inlined", "put"]


@pytest.mark.exhaustive
def test_a_rebuild_gives_the_same_names_as_a_restored_binary(project: Passing, tmp_path: Path) -> None:
    project.framedex("run", "program.py", **NOT_KEPT)
    aside = project.library.rename(tmp_path / "aside.so")
    shutil.copy("/bin/true", project.library)
    project.framedex("index", **NOT_KEPT)
    assert "No new captures." in project.framedex("index", **NOT_KEPT).stdout
    shutil.copyfile(aside, project.library)
    project.framedex("index", **NOT_KEPT)
    again = everything(project)

    project.framedex("index", "--rebuild", **NOT_KEPT)
    assert again == everything(project)
    assert "No new captures." in project.framedex("index", **NOT_KEPT).stdout


@pytest.mark.exhaustive
def test_a_later_debug_file_adds_names_and_lines(project: Passing, tmp_path: Path) -> None:
    debug = tmp_path / "libthrough.debug"
    subprocess.run(["objcopy", "--only-keep-debug", project.library, debug], check=True)
    subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", project.library], check=True)
    project.framedex("run", "program.py", **NOT_KEPT)
    project.framedex("index", **NOT_KEPT)
    assert "inlined" not in functions(project)

    shutil.copy(debug, project.folder)
    project.framedex("index", **NOT_KEPT)

    assert functions(project) == ["<module>", "through", "inner", "inlined", "put"]
    project.library.unlink()
    debug.unlink()
    again = everything(project)
    (project.folder / "libthrough.debug").unlink()
    project.framedex("index", **NOT_KEPT)
    assert everything(project) == again  # known names are not removed again


@pytest.mark.exhaustive
def test_indexing_a_restored_binary_again_updates_earlier_captures(project: Passing, tmp_path: Path) -> None:
    project.framedex("run", "program.py", **NOT_KEPT)
    aside = project.library.rename(tmp_path / "aside.so")
    project.framedex("index", **NOT_KEPT)
    shutil.copyfile(aside, project.library)
    project.framedex("run", "program.py", **NOT_KEPT)

    project.framedex("index", **NOT_KEPT)

    found = project.answer("calls", "--function", "FromHostBuffer", "--capture", "all")["calls"]
    calls = {call["capture"]: call["id"] for call in found}
    assert set(calls) == {1, 2}
    for call in calls.values():
        names = [frame["function"]["name"] for frame in project.answer("trace", str(call))["frames"]]
        assert {"through", "inner", "inlined"} <= set(names)


def test_copies_are_shared_and_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache"
    library = Path(shutil.copy("/bin/true", tmp_path / "lib.so"))
    digest = DigestCache(tmp_path / "contents.json").compute_digest(library)

    kept = BinaryStore(cache)
    kept.keep(library, digest)
    copy = kept.find(digest)
    assert (
        copy is not None and copy.read_bytes() == library.read_bytes() and copy.stat().st_ino != library.stat().st_ino
    )
    before = copy.stat()
    kept.keep(library, digest)
    assert copy.stat() == before and kept.size() == library.stat().st_size

    assert BinaryStore(cache).find("../" * 21 + "x") is None
    os.mkfifo(tmp_path / "pipe")
    for odd in (tmp_path / "pipe", tmp_path, Path("/dev/null"), Path("/proc/self/exe"), tmp_path / "none"):
        kept.keep(odd, "0" * 64)
    assert [entry.name for entry in cache.iterdir()] == [digest]

    monkeypatch.setenv("FRAMEDEX_KEEP_BINARIES", "0")
    BinaryStore(cache).keep(library, "1" * 64)
    monkeypatch.delenv("FRAMEDEX_KEEP_BINARIES")
    monkeypatch.setattr("framedex.binaries.recorded_files._MAX_TOTAL_BYTES", library.stat().st_size)
    os.utime(cache / digest, (1, 1))
    abandoned = cache / ".unfinished-1"
    abandoned.mkdir()
    os.utime(abandoned, (1, 1))
    other = Path(shutil.copy("/bin/false", tmp_path / "other.so"))
    kept.keep(other, "2" * 64)
    assert [entry.name for entry in cache.iterdir()] == ["2" * 64]


@pytest.mark.exhaustive
def test_a_changed_copy_is_not_used(project: Passing, tmp_path: Path) -> None:
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    project.framedex("run", "program.py", **NOT_KEPT, **cache)
    kept = BinaryStore(tmp_path / "cache" / "framedex" / "binaries")
    kept.keep(Path("/bin/true"), DigestCache(tmp_path / "contents.json").compute_digest(project.library))
    project.library.unlink()

    told = project.framedex("index", **NOT_KEPT, **cache).stdout

    assert f"{project.library} is not on this machine" in told
    assert kept.size() == 0


def test_a_debug_file_counts_towards_the_copy_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = Path(shutil.copy("/bin/true", tmp_path / "lib.so"))
    debug = tmp_path / "lib.debug"
    subprocess.run(["objcopy", "--only-keep-debug", library, debug], check=True)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", library], check=True)
    subprocess.run(["objcopy", "--remove-section", ".note.gnu.build-id", library], check=True)
    subprocess.run(
        ["objcopy", "--remove-section", ".gnu_debuglink", f"--add-gnu-debuglink={debug}", library], check=True
    )
    digest = DigestCache(tmp_path / "contents.json").compute_digest(library)
    both = library.stat().st_size + debug.stat().st_size
    for most, size in ((both, both), (both - 1, library.stat().st_size)):
        monkeypatch.setattr("framedex.binaries.recorded_files._MAX_BINARY_BYTES", most)
        kept = BinaryStore(tmp_path / f"cache{most}")
        kept.keep(library, digest)
        assert kept.size() == size
