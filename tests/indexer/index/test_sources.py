"""Source trees: which files are read, which are read again, and how functions get their locations."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from framedex.index import Index, Store
from framedex.ingest import CaptureFrameNamer, SilentProgress, TreeReport, find_sources
from framedex.model import Location, LocationEvidence
from tests.indexer.recorded import STRIPPED_SOURCE, Project
from tests.oracle.whole_captures import add_capture


@pytest.fixture
def tree(project: Project) -> Path:
    """A source folder with the source of the library without debug information."""
    folder = project.folder / "tree"
    folder.mkdir()
    (folder / "glue.cc").write_text(STRIPPED_SOURCE)
    return folder


def test_definitions_found_later_attach_to_frames_already_indexed(project: Project, tree: Path) -> None:
    with project.ingest() as index:
        assert _convert(index) is None

    _update(project, tree)

    with Index.open(project.index) as index:
        assert _convert(index) == Location(str(tree / "glue.cc"), 2, LocationEvidence.DEFINITION)
        assert index.file(str(tree / "glue.cc")).recorded_lines() == {2: 4}
        assert index.line(str(tree / "glue.cc"), 2).summary() is not None


def test_a_root_is_stored_and_a_changed_file_moves_its_frames(project: Project, tree: Path) -> None:
    project.ingest(tree).close()
    _rewrite(tree / "glue.cc", "\n\n" + STRIPPED_SOURCE)

    report = _update(project)

    assert report.parsed == 1
    with Index.open(project.index) as index:
        assert _convert(index) == Location(str(tree / "glue.cc"), 4, LocationEvidence.DEFINITION)
        assert index.file(str(tree / "glue.cc")).recorded_lines() == {4: 4}


def test_unchanged_files_are_not_read_again(project: Project, tree: Path) -> None:
    project.ingest(tree).close()

    assert _update(project).parsed == 0


def test_a_macro_of_one_tree_does_not_affect_another_tree(project: Project) -> None:
    """Two libraries have their own macro TEST; later files are parsed with the same one as before."""
    trees = []
    for name, made in (("one", "void a##b()"), ("two", "void a##_##b##_Test()")):
        folder = project.folder / name
        folder.mkdir()
        (folder / "test.h").write_text(f"#define TEST(a, b) {made}\n")
        (folder / f"{name}.cc").write_text("TEST(Suite, name) {}\n")
        trees.append(folder)
    project.ingest(*trees).close()
    for folder in trees:
        _rewrite(folder / f"{folder.name}.cc", "\nTEST(Suite, name) {}\n")

    _update(project)

    with closing(sqlite3.connect(project.index)) as connection:
        names = connection.execute("SELECT name FROM definitions WHERE kind = 'function' ORDER BY name").fetchall()
    assert [name for (name,) in names if name.startswith("Suite")] == ["Suite_name_Test", "Suitename"]


def test_a_removed_file_loses_its_locations(project: Project, tree: Path) -> None:
    project.ingest(tree).close()
    (tree / "glue.cc").unlink()

    report = _update(project)

    assert report.removed == 1
    with Index.open(project.index) as index:
        assert _convert(index) is None
        assert index.file(str(tree / "glue.cc")).recorded_lines() == {}


def test_a_missing_root_is_reported_and_keeps_its_definitions(project: Project, tree: Path) -> None:
    project.ingest(tree).close()
    shutil.rmtree(tree)

    report = _update(project)

    assert any(str(tree) in problem for problem in report.problems)
    with Index.open(project.index) as index:
        assert _convert(index) == Location(str(tree / "glue.cc"), 2, LocationEvidence.DEFINITION)


def test_two_matching_definitions_are_both_shown(project: Project, tree: Path) -> None:
    (tree / "other.cc").write_text(STRIPPED_SOURCE)
    # Neither has the translation unit's name, so both remain possible.
    (tree / "glue.cc").rename(tree / "some.cc")

    with project.ingest(tree) as index:
        trace = index.calls.trace(1)

    assert trace is not None
    frame = trace.frames[4]
    assert frame.location is not None and frame.location.how is LocationEvidence.CANDIDATES
    places = {frame.location.path, *(candidate.path for candidate in frame.candidates)}
    assert places == {str(tree / "some.cc"), str(tree / "other.cc")}


def test_files_named_by_frames_are_read_without_a_root(project: Project) -> None:
    """Without a source folder, functions of the program still have an end line."""
    with project.ingest() as index:
        (main,) = index.functions.find("main")
        (allocate,) = index.functions.find("allocate")

    assert main.end_line == project.line("transfer(2)")
    assert allocate.location is not None
    assert allocate.location.path == str(project.library_source)
    assert allocate.location.how is LocationEvidence.DEFINITION


def test_a_new_capture_uses_definitions_read_before(project: Project, tree: Path) -> None:
    with Store(project.index) as store:
        with store.transaction():
            store.sources.add_root(str(tree))
        find_sources(store, SilentProgress())
        add_capture(store, project.capture, CaptureFrameNamer())
        find_sources(store, SilentProgress())

    with Index.open(project.index) as index:
        assert _convert(index) == Location(str(tree / "glue.cc"), 2, LocationEvidence.DEFINITION)


def test_frames_of_a_changed_library_keep_module_and_offset_with_a_reason(project: Project, tmp_path: Path) -> None:
    library = tmp_path / "libglue.so"
    shutil.copy(project.library.with_name("libglue.so"), library)
    modules = tuple(
        type(module)(str(library), module.base, module.size, None, module.fingerprint)
        if module.build_id is None
        else module
        for module in project.capture.modules
    )
    library.write_bytes(library.read_bytes() + b"changed")

    with project.ingest(capture=project.again("changed", modules=modules)) as index:
        (capture,) = index.captures()
        trace = index.calls.trace(1)

    assert any(str(library) in problem and "changed" in problem for problem in capture.problems)
    assert trace is not None
    frame = trace.frames[4]
    assert (frame.module, frame.function.name) == (str(library), f"libglue.so+{frame.offset:#x}")
    assert frame.location is None


def test_a_missing_library_is_reported(project: Project) -> None:
    modules = tuple(
        type(module)("/gone/libgone.so", module.base, module.size, module.build_id, module.fingerprint)
        for module in project.capture.modules
    )

    with project.ingest(capture=project.again("gone", modules=modules)) as index:
        (capture,) = index.captures()

    assert any("/gone/libgone.so is not on this machine" in problem for problem in capture.problems)


def _convert(index: Index) -> Location | None:
    (function,) = index.functions.find("glue::convert")
    trace = index.calls.trace(1)
    assert trace is not None
    assert trace.frames[4].location == function.location, "a frame without debug lines is where its function is"
    return function.location


def _update(project: Project, *roots: Path) -> TreeReport:
    with Store(project.index) as store:
        with store.transaction():
            for root in roots:
                store.sources.add_root(str(root))
        return find_sources(store, SilentProgress())


def _rewrite(path: Path, text: str) -> None:
    """Write a file with a changed time even on a coarse clock."""
    before = path.stat().st_mtime_ns
    path.write_text(text)
    os.utime(path, ns=(before + 1_000_000, before + 1_000_000))


def test_a_source_file_with_an_undecodable_name_is_skipped_and_reported(project: Project, tree: Path) -> None:
    (tree / os.fsdecode(b"odd\xff.cc")).write_text(STRIPPED_SOURCE)
    project.ingest().close()

    report = _update(project, tree)

    assert any("odd" in problem and "not valid UTF-8" in problem for problem in report.problems)
    with Index.open(project.index) as index:
        assert _convert(index) == Location(str(tree / "glue.cc"), 2, LocationEvidence.DEFINITION)
