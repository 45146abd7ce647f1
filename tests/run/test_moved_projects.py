"""A project that was moved or copied with its recordings: what was recorded in it is where it is now."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.run.passing_through import Passing, new_project


@pytest.fixture
def recorded(tmp_path: Path) -> Passing:
    """A project with a recording, not indexed."""
    project = new_project(tmp_path / "work" / "project")
    project.framedex("run", "program.py")
    return project


def moved(project: Passing, to: Path) -> Passing:
    to.parent.mkdir(parents=True, exist_ok=True)
    return Passing(project.folder.rename(to))


def other_checkout(at: Path) -> None:
    """Another checkout of the project: the same files with other lines."""
    other = new_project(at)
    for file in (other.program, other.folder / "through.cc"):
        file.write_text("\n\n\n" + file.read_text())


def check_places(project: Passing) -> None:
    """All that was recorded in the project is in its folder, and can be asked for there."""
    program, library = str(project.program), str(project.folder / "through.cc")
    assert project.frames() == [
        ("<module>", program, 14),
        ("through", library, 8),
        ("inner", library, 6),
        ("inlined", library, 3),
        ("put", program, 9),
    ]
    trace = project.framedex("trace", "PJRT_Client_BufferFromHostBuffer").stdout
    assert "program.py:9\n" in trace and "not here" not in trace.split("program.py:14")[1].splitlines()[0]
    assert "PJRT_Client_BufferFromHostBuffer" in project.framedex("where", "program.py:9").stdout
    assert "PJRT_Client_BufferFromHostBuffer" in project.framedex("where", "through.cc:6").stdout
    assert project.answer("captures")["captures"][0]["path"].startswith(f"{project.folder}/.framedex/captures/")


@pytest.mark.exhaustive(keep=["False-False"])
@pytest.mark.parametrize("is_taken", [False, True])
@pytest.mark.parametrize("is_indexed", [False, True])
def test_places_follow_a_project(recorded: Passing, tmp_path: Path, is_indexed: bool, is_taken: bool) -> None:
    """Given a project that was moved, indexed or not, also where another checkout is at its old place by now."""
    if is_indexed:
        recorded.framedex("index")
    project = moved(recorded, tmp_path / "elsewhere" / "renamed")
    if is_taken:
        other_checkout(recorded.folder)
    if not is_indexed:
        project.framedex("index")
    elif not is_taken:  # a path of a log from before the move
        assert "PJRT_Client_BufferFromHostBuffer" in project.framedex("where", f"{recorded.program}:9").stdout

    check_places(project)


@pytest.mark.exhaustive
@pytest.mark.parametrize("is_taken", [False, True])
def test_places_stay_where_a_moved_project_is_indexed_again(recorded: Passing, tmp_path: Path, is_taken: bool) -> None:
    project = moved(recorded, tmp_path / "elsewhere" / "renamed")
    if is_taken:
        other_checkout(recorded.folder)
    project.framedex("index")

    assert "No new captures." in project.framedex("index").stdout
    check_places(project)
    project.framedex("index", "--rebuild")
    check_places(project)


@pytest.mark.exhaustive
def test_places_follow_there_and_back_again(recorded: Passing, tmp_path: Path) -> None:
    recorded.framedex("index")
    project = moved(recorded, tmp_path / "first")
    check_places(project)
    project.framedex("run", "program.py")
    project = moved(project, tmp_path / "second")
    project.framedex("index")
    check_places(project)
    check_places(moved(project, recorded.folder))


@pytest.mark.exhaustive
def test_sources_of_a_kernel_that_was_built_before_the_move(recorded: Passing, tmp_path: Path) -> None:
    """Given a library that is recorded for the first time after its project was moved, with the old paths in it."""
    recorded.framedex("index")
    recorded.build()
    project = moved(recorded, tmp_path / "renamed")
    other_checkout(recorded.folder)
    project.framedex("run", "program.py")
    project.framedex("index")

    check_places(project)


@pytest.mark.exhaustive
def test_a_copy_is_a_project_of_its_own(recorded: Passing, tmp_path: Path) -> None:
    recorded.framedex("index")
    copy = Passing(Path(shutil.copytree(recorded.folder, tmp_path / "copy")))

    check_places(copy)
    check_places(recorded)


@pytest.mark.exhaustive
def test_recordings_alone_still_lead_to_where_the_program_is(recorded: Passing, tmp_path: Path) -> None:
    shutil.copytree(recorded.folder / ".framedex", tmp_path / "inbox" / ".framedex")
    inbox = Passing(tmp_path / "inbox")
    inbox.framedex("index")

    trace = inbox.answer("trace", "PJRT_Client_BufferFromHostBuffer")
    places = {frame["location"]["path"] for frame in trace["frames"] if frame["location"]}
    assert {str(recorded.program), str(recorded.folder / "through.cc")} <= places
    assert not any(place.startswith(str(inbox.folder)) for place in places)


@pytest.mark.exhaustive
def test_captures_of_a_folder_of_the_users_own(recorded: Passing, tmp_path: Path) -> None:
    """Given captures elsewhere in a moved project, what is gone from the old place is found as far as paths agree."""
    recorded.framedex("run", "-o", "caps", "program.py")
    project = moved(recorded, tmp_path / "renamed")
    shutil.rmtree(project.folder / ".framedex")
    project.framedex("index", "caps")

    assert project.frames()[0][1] == str(project.program)
