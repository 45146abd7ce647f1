"""Large trees: recorded functions first, the rest later, single files at once; and the messages."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from framedex.index import Index, Store
from framedex.ingest import SilentProgress, find_needed_sources, find_sources, refresh_files
from framedex.model import Location, LocationEvidence
from tests.indexer.recorded import STRIPPED_SOURCE, Project


@pytest.fixture
def tree(project: Project) -> Path:
    """A folder of 60 sources, one of which has the library's functions that lack debug information."""
    folder = project.folder / "tree"
    folder.mkdir()
    for number in range(60):
        (folder / f"other_{number}.cc").write_text(f"int other_{number}() {{ return g({number}); }}\n")
    (folder / "glue.cc").write_text(STRIPPED_SOURCE)
    project.ingest().close()
    with Store(project.index) as store, store.transaction():
        store.sources.add_root(str(folder))
    return folder


def test_the_lines_of_recorded_functions_come_from_a_few_files(project: Project, tree: Path) -> None:
    with Store(project.index) as store:
        report = find_needed_sources(store, SilentProgress())

    assert report.files > 60 and report.parsed < 5
    assert _convert(project) == Location(str(tree / "glue.cc"), 2, LocationEvidence.DEFINITION)


def test_functions_of_a_removed_folder_are_searched_in_the_other_folders(project: Project, tree: Path) -> None:
    moved = tree.with_name("moved")
    with Store(project.index) as store:
        find_sources(store, SilentProgress())
        tree.rename(moved)
        with store.transaction():
            store.sources.remove_root(str(tree))
            store.sources.add_root(str(moved))
        report = find_needed_sources(store, SilentProgress())

    assert 0 < report.parsed < 5
    assert _convert(project) == Location(str(moved / "glue.cc"), 2, LocationEvidence.DEFINITION)


def test_a_moved_checkout_is_found_at_its_new_path(project: Project, tree: Path) -> None:
    """If the earlier folder is not removed, its stored data ranks behind the current one."""
    moved = tree.with_name("moved")
    with Store(project.index) as store:
        find_sources(store, SilentProgress())
        tree.rename(moved)
        with store.transaction():
            store.sources.add_root(str(moved))
        find_sources(store, SilentProgress())

    assert _convert(project) == Location(str(moved / "glue.cc"), 2, LocationEvidence.DEFINITION)


def test_remaining_files_are_read_later_and_no_file_is_read_twice(project: Project, tree: Path) -> None:
    with Store(project.index) as store:
        needed = find_needed_sources(store, SilentProgress())
        report = find_sources(store, SilentProgress())
        assert needed.parsed + report.parsed == 61
        assert needed.parsed > 0
        assert store.sources.definitions("other_59", "cpp")
        assert find_sources(store, SilentProgress()).parsed == 0


def test_recorded_functions_are_located_before_remaining_files_are_read(project: Project, tree: Path) -> None:
    """After Ctrl-C right after the needed files, another process already sees the lines."""
    with Store(project.index) as store, pytest.raises(KeyboardInterrupt):
        find_sources(store, _InterruptBefore("Reading sources"))

    assert _convert(project) == Location(str(tree / "glue.cc"), 2, LocationEvidence.DEFINITION)


def test_a_saved_file_is_read_again_at_once(project: Project, tree: Path) -> None:
    with Store(project.index) as store:
        find_sources(store, SilentProgress())
        _rewrite(tree / "glue.cc", "\n" + STRIPPED_SOURCE)
        _rewrite(tree / "other_1.cc", "int changed() { return 1; }\n")

        report = refresh_files(store, [tree / "glue.cc", project.folder / "unrelated.cc"], SilentProgress())

        assert report.parsed == 1
        assert not store.sources.definitions("changed", "cpp")
        assert find_sources(store, SilentProgress()).parsed == 1
    assert _convert(project) == Location(str(tree / "glue.cc"), 3, LocationEvidence.DEFINITION)


def test_a_deleted_file_loses_its_locations(project: Project, tree: Path) -> None:
    with Store(project.index) as store:
        find_sources(store, SilentProgress())
        (tree / "glue.cc").unlink()
        assert refresh_files(store, [tree / "glue.cc"], SilentProgress()).removed == 1
    assert _convert(project) is None


def test_a_file_that_was_only_touched_keeps_its_rows(project: Project, tree: Path) -> None:
    with Store(project.index) as store:
        find_sources(store, SilentProgress())
        os.utime(tree / "glue.cc", ns=(1, 1))
        report = find_sources(store, SilentProgress())
        assert (report.parsed, report.definitions) == (1, 0)
        assert find_sources(store, SilentProgress()).parsed == 0


def test_calls_are_stored_as_json_with_their_definition(project: Project, tree: Path) -> None:
    with Store(project.index) as store:
        find_sources(store, SilentProgress())
        (definition,) = store.sources.find_definitions_with_calls(str(tree / "other_7.cc"))
        assert [site.callee for site in definition.calls] == ["g"]
        query = """SELECT caller, line, "column", kind FROM call_sites_readable WHERE callee = 'g' AND line = 1"""
        assert ("other_7", 1, 24, "call") in store.sources.connection.execute(query).fetchall()


def test_unreadable_files_are_counted(project: Project, tree: Path) -> None:
    (tree / "binary.cc").write_bytes(b"\0\1")
    (tree / "odd.cc").write_bytes(b"int f\xff() {}\n")
    (tree / "broken.cc").write_text("int f() { return (((; }\n")
    for name in ("large.cc", "larger.cc"):
        with (tree / name).open("wb") as file:
            file.truncate(5 << 20)
    with Store(project.index) as store:
        find_sources(store, SilentProgress())

    with Index.open(project.index) as index:
        health = index.sources.health()

    assert health.roots == (str(tree),)
    problems = {problem.message: problem for problem in health.problems}
    assert problems["It is larger than 4 MiB and was not parsed."].count == 2
    assert problems["It is a binary file and was not parsed."].examples == (str(tree / "binary.cc"),)
    assert any("not valid UTF-8" in message for message in problems)
    assert (
        str(tree / "broken.cc")
        in problems["Parts of the file could not be parsed: unusual macros or syntax errors."].examples
    )
    (cpp,) = (totals for totals in health.totals if totals.language == "cpp")
    assert cpp.files == 67 and cpp.broken >= 1 and cpp.calling >= 60
    assert json.dumps([problem.message for problem in health.problems])


class _InterruptBefore(SilentProgress):
    """A listener that simulates Ctrl-C when a task begins."""

    def __init__(self, description: str) -> None:
        self._description = description

    def task(self, description: str, total: int | None):  # type: ignore[no-untyped-def]
        if description == self._description:
            raise KeyboardInterrupt
        return super().task(description, total)


def _convert(project: Project) -> Location | None:
    with Index.open(project.index) as index:
        (function,) = index.functions.find("glue::convert")
        return function.location


def _rewrite(path: Path, text: str) -> None:
    """Write a file with a changed time even on a coarse clock."""
    before = path.stat().st_mtime_ns
    path.write_text(text)
    os.utime(path, ns=(before + 1_000_000, before + 1_000_000))
