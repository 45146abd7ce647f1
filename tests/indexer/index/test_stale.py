"""Lines whose files have changed since they were recorded or indexed."""

from __future__ import annotations

import os
from base64 import urlsafe_b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from framedex.index import Index
from framedex.model import FunctionRow, Location, LocationEvidence, Staleness
from tests.gitrepository import commit_all
from tests.indexer.forgotten import forget_texts
from tests.indexer.recorded import PROGRAM, STRIPPED_SOURCE, Project, build_library, build_project


def places(index: Index, name: str) -> list[Location | None]:
    trace = index.calls.trace(1)
    assert trace is not None
    return [frame.location for frame in trace.frames if frame.function.name == name]


def function(index: Index, name: str) -> FunctionRow:
    return index.functions.find(name)[0]


def edit(path: Path, text: str) -> None:
    """Give a file another text, and a time that surely differs."""
    before = path.stat().st_mtime_ns
    path.write_text(text)
    os.utime(path, ns=(before + 10**9, before + 10**9))


@pytest.fixture
def tracked(project: Project) -> Project:
    """The program is committed to git, and recorded in that version."""
    before = project.program.stat()
    commit_all(project.folder)
    os.utime(project.program, ns=(before.st_mtime_ns, before.st_mtime_ns))
    return project


def test_an_unchanged_file_has_nothing_stale(project: Project) -> None:
    with project.ingest() as index:
        assert places(index, "transfer") == [Location(str(project.program), 2, LocationEvidence.EXACT)]


def test_lines_move_with_the_text_if_git_has_the_old_version(tracked: Project) -> None:
    with tracked.ingest() as index:
        edit(tracked.program, "import os\n\n" + PROGRAM)

        assert places(index, "transfer") == [
            Location(str(tracked.program), 4, LocationEvidence.EXACT, None, Staleness.MOVED, 2)
        ]
        (put,) = (found for found in index.line(str(tracked.program), 8).functions() if found.name == "put")
        assert put.location == Location(str(tracked.program), 7, LocationEvidence.EXACT, None, Staleness.MOVED, 5)


def test_a_changed_line_has_no_answer(tracked: Project) -> None:
    with tracked.ingest() as index:
        edit(tracked.program, PROGRAM.replace("return put(value)", "return put(value + 1)"))

        (transfer,) = places(index, "transfer")
        assert transfer == Location(str(tracked.program), 2, LocationEvidence.EXACT, None, Staleness.GONE, 2)
        assert transfer.recorded_text == "return put(value)"
        assert places(index, "put") == [Location(str(tracked.program), 6, LocationEvidence.EXACT)]


def test_lines_move_with_the_stored_text(project: Project) -> None:
    with project.ingest() as index:
        edit(project.program, "import os\n\n" + PROGRAM)

        assert places(index, "transfer") == [
            Location(str(project.program), 4, LocationEvidence.EXACT, None, Staleness.MOVED, 2)
        ]


def test_no_line_answers_without_the_recorded_text(project: Project) -> None:
    with project.ingest() as index:
        forget_texts(project.index)
        edit(project.program, "import os\n\n" + PROGRAM)

        assert places(index, "transfer") == [
            Location(str(project.program), 2, LocationEvidence.EXACT, None, Staleness.UNKNOWN)
        ]
        file = index.file(str(project.program))
        assert (file.marks(1, 100), file.recorded_lines(), file.functions()) == ([], {}, [])
        assert all(not index.line(str(project.program), line).stacks() for line in range(1, 12))


def test_a_file_edited_before_indexing_is_unknown(tracked: Project) -> None:
    """After an edit between the recording and `framedex index`, the executed text is unknown."""
    edit(tracked.program, "import os\n\n" + PROGRAM)
    os.utime(tracked.program)

    with tracked.ingest() as index:
        (place,) = places(index, "transfer")
        assert place is not None and (place.line, place.stale) == (2, Staleness.UNKNOWN)


def test_a_touched_file_is_not_stale(tracked: Project) -> None:
    with tracked.ingest() as index:
        edit(tracked.program, PROGRAM)

        assert places(index, "transfer") == [Location(str(tracked.program), 2, LocationEvidence.EXACT)]


@pytest.mark.parametrize("is_installed", [False, True])
def test_a_source_newer_than_its_binary_counts_if_one_installer_wrote_both(tmp_path: Path, is_installed: bool) -> None:
    site = tmp_path / "site"
    site.mkdir()
    project = build_project(tmp_path, build_library(site))
    os.utime(project.library, (1_600_000_001, 1_600_000_001))
    os.utime(project.library_source, (1_600_000_002, 1_600_000_002))
    if is_installed:
        digest = urlsafe_b64encode(sha256(project.library_source.read_bytes()).digest()).decode().rstrip("=")
        record = site / "runtime-1.0.dist-info" / "RECORD"
        record.parent.mkdir()
        record.write_text(f"libruntime.so,,\nruntime.cc,sha256={digest},1\n")

    with project.ingest() as index:
        trace = index.calls.trace(1)
        assert trace is not None
        found = [each.location for each in trace.frames if each.location and each.location.path.endswith("runtime.cc")]
        assert {place.stale for place in found} == {None if is_installed else Staleness.UNKNOWN}


def test_lines_refer_to_the_latest_recorded_version(tracked: Project) -> None:
    with tracked.ingest():
        edit(tracked.program, PROGRAM + "\n# the end\n")
    commit_all(tracked.folder)
    with tracked.ingest(capture=tracked.again("second")) as index:
        assert places(index, "transfer") == [Location(str(tracked.program), 2, LocationEvidence.EXACT)]
        edit(tracked.program, PROGRAM)  # as in the first recording

        edit(tracked.program, "\n" + PROGRAM)
        assert places(index, "transfer") == [
            Location(str(tracked.program), 3, LocationEvidence.EXACT, None, Staleness.MOVED, 2)
        ]


def test_queries_about_a_line_refer_to_the_current_line(tracked: Project) -> None:
    path = str(tracked.program)
    with tracked.ingest() as index:
        before = index.line(path, 2).summary()
        edit(tracked.program, "import os\n\n" + PROGRAM)

        after = index.line(path, 4).summary()
        assert before is not None and after is not None
        assert (after.line, after.calls, after.boundaries) == (4, before.calls, before.boundaries)
        assert index.line(path, 1).summary() is None and index.line(path, 2).summary() is None
        assert index.file(path).recorded_lines().keys() == {4, 8, 12, 13, 16}
        assert [hit.frame.location and hit.frame.location.line for hit in index.line(path, 4).stacks()] == [4, 4, 4]
        assert {step.target.function.name for step in index.line(path, 4).steps_inward()} == {"put"}


def test_definitions_move_from_their_indexed_lines(project: Project) -> None:
    tree = project.folder / "tree"
    tree.mkdir()
    (tree / "glue.cc").write_text(STRIPPED_SOURCE)
    commit_all(tree)
    with project.ingest(tree) as index:
        assert function(index, "glue::convert").location == Location(
            str(tree / "glue.cc"), 2, LocationEvidence.DEFINITION
        )
        edit(tree / "glue.cc", "// new\n" + STRIPPED_SOURCE)

        found = function(index, "glue::convert")
        assert found.location == Location(
            str(tree / "glue.cc"), 3, LocationEvidence.DEFINITION, None, Staleness.MOVED, 2
        )
        assert found.end_line == 3


def test_the_doctor_counts_stale_files_with_a_remedy(tracked: Project) -> None:
    with tracked.ingest() as index:
        here = (str(tracked.program),)
        assert all(problem.examples != here for problem in index.sources.health().problems)
        edit(tracked.program, "import os\n\n" + PROGRAM)

        read, recorded = (each.message for each in index.sources.health().problems if each.examples == here)
        assert "`framedex index` parses it again" in read
        assert "recorded lines are mapped to the current text" in recorded


def test_marks_move_with_lines_and_functions(tracked: Project) -> None:
    """With added lines and one changed line, marks move with the text and the changed line has none."""
    path = str(tracked.program)
    with tracked.ingest() as index:
        lines = [mark.line for mark in index.file(path).marks(1, 99)]
        functions = dict(index.file(path).functions())
        edit(tracked.program, "import os\n\n" + PROGRAM.replace("return put(value)", "return put(value + 1)"))

        assert 2 in lines
        assert [mark.line for mark in index.file(path).marks(1, 99)] == [line + 2 for line in lines if line != 2]
        assert [mark.line for mark in index.file(path).marks(5, 99)] == [line + 2 for line in lines if line > 2]
        assert dict(index.file(path).functions()) == {line + 2: each for line, each in functions.items()}


def test_static_calls_move_with_the_source(tracked: Project) -> None:
    path = str(tracked.program)
    with tracked.ingest(tracked.folder) as index:
        (before,) = index.line(path, 1).static_callees()
        edit(tracked.program, "import os\n\n" + PROGRAM)

        (after,) = index.line(path, 3).static_callees()
        assert after.line == before.line + 2
        ((_, then, _),), ((_, now, last),) = before.targets, after.targets
        assert (now.line, last) == (then.line + 2, now.line + 1)
