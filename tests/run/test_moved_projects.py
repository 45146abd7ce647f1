"""A project moved or copied with its recordings: recorded files are found at their new place."""

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
    """All recorded files of the project are in its folder, and can be queried there."""
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
def test_locations_follow_a_moved_project(recorded: Passing, tmp_path: Path, is_indexed: bool, is_taken: bool) -> None:
    """A moved project, indexed or not, also with another checkout at its old place."""
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
def test_locations_stay_if_a_moved_project_is_indexed_again(recorded: Passing, tmp_path: Path, is_taken: bool) -> None:
    project = moved(recorded, tmp_path / "elsewhere" / "renamed")
    if is_taken:
        other_checkout(recorded.folder)
    project.framedex("index")

    assert "No new captures." in project.framedex("index").stdout
    check_places(project)
    project.framedex("index", "--rebuild")
    check_places(project)


@pytest.mark.exhaustive
def test_locations_follow_a_project_moved_back(recorded: Passing, tmp_path: Path) -> None:
    recorded.framedex("index")
    project = moved(recorded, tmp_path / "first")
    check_places(project)
    project.framedex("run", "program.py")
    project = moved(project, tmp_path / "second")
    project.framedex("index")
    check_places(project)
    check_places(moved(project, recorded.folder))


@pytest.mark.exhaustive
def test_sources_of_a_kernel_built_before_the_move_are_found(recorded: Passing, tmp_path: Path) -> None:
    """A library first recorded after its project was moved, with the old paths in it."""
    recorded.framedex("index")
    recorded.build()
    project = moved(recorded, tmp_path / "renamed")
    other_checkout(recorded.folder)
    project.framedex("run", "program.py")
    project.framedex("index")

    check_places(project)


@pytest.mark.exhaustive
def test_a_copy_is_a_separate_project(recorded: Passing, tmp_path: Path) -> None:
    recorded.framedex("index")
    copy = Passing(Path(shutil.copytree(recorded.folder, tmp_path / "copy")))

    check_places(copy)
    check_places(recorded)


@pytest.mark.exhaustive
def test_captures_alone_still_lead_to_the_program(recorded: Passing, tmp_path: Path) -> None:
    shutil.copytree(recorded.folder / ".framedex", tmp_path / "inbox" / ".framedex")
    inbox = Passing(tmp_path / "inbox")
    inbox.framedex("index")

    trace = inbox.answer("trace", "PJRT_Client_BufferFromHostBuffer")
    places = {frame["location"]["path"] for frame in trace["frames"] if frame["location"]}
    assert {str(recorded.program), str(recorded.folder / "through.cc")} <= places
    assert not any(place.startswith(str(inbox.folder)) for place in places)


@pytest.mark.exhaustive
def test_captures_in_a_user_folder_are_found(recorded: Passing, tmp_path: Path) -> None:
    """With captures elsewhere in a moved project, missing files are found as far as their paths match."""
    recorded.framedex("run", "-o", "caps", "program.py")
    project = moved(recorded, tmp_path / "renamed")
    shutil.rmtree(project.folder / ".framedex")
    project.framedex("index", "caps")

    assert project.frames()[0][1] == str(project.program)
