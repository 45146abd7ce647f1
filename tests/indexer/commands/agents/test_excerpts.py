"""Source lines for agents: only from indexed files in folders that agents may read."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from framedex.base.errors import FramedexError
from framedex.commands.agents.excerpts import read_excerpt
from tests.indexer.recorded import Project


@pytest.fixture
def secret(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file outside of the project."""
    file = tmp_path_factory.mktemp("home") / "id_rsa"
    file.write_text("secret\n")
    return file


@pytest.fixture
def read(project: Project, secret: Path) -> Callable[..., tuple[str, ...]]:
    """Read lines around a location by a stranger's index, which names the secret folder as a source folder."""
    project.ingest().close()
    with closing(sqlite3.connect(project.index)) as index, index:
        index.execute("INSERT INTO source_roots (path) VALUES (?), (?)", (str(secret.parent), str(project.folder)))
    index.close()
    return lambda place, *named: read_excerpt(project.index, named, str(place), 1).lines


def test_an_excerpt_has_the_lines_around_a_recorded_line(
    project: Project, read: Callable[..., tuple[str, ...]]
) -> None:
    assert read(f"{project.program}:2") == (
        "     1  def transfer(value):",
        ">    2      return put(value)",
        "     3  ",
    )
    assert read("demo.py:1")[0] == ">    1  def transfer(value):", "by the end of its path"
    with pytest.raises(FramedexError, match="has only 15 lines"):
        read("demo.py:99")


def test_no_file_outside_the_project_is_read(
    project: Project, secret: Path, read: Callable[..., tuple[str, ...]]
) -> None:
    (project.folder / "link.py").symlink_to(secret)
    for place in (secret, project.folder / "link.py", f"{project.folder}/../{secret.parent.name}/{secret.name}"):
        with pytest.raises(FramedexError, match=r"outside the project|has no file"):
            read(f"{place}:1")
    with pytest.raises(FramedexError, match="has no file /etc/passwd"):
        read("/etc/passwd:1")


def test_a_folder_named_by_the_user_is_read(secret: Path, read: Callable[..., tuple[str, ...]]) -> None:
    assert read(f"{secret}:1", secret.parent)[0] == ">    1  secret"


def test_binary_files_are_not_read(project: Project, read: Callable[..., tuple[str, ...]]) -> None:
    os.mkfifo(project.folder / "pipe.py")
    (project.folder / "binary.py").write_bytes(b"\x7fELF\0\0")
    (project.folder / "odd.py").write_bytes(b"\xff = '\x1b[31m'\n")

    with pytest.raises(FramedexError, match="it is not a regular file"):
        read(project.folder / "pipe.py")
    with pytest.raises(FramedexError, match="is not a text file"):
        read(project.folder / "binary.py")
    with pytest.raises(FramedexError, match="cannot be read"):
        read(project.folder / "gone.py")
    assert read(project.folder / "odd.py")[0] == ">    1  � = '\\x1b[31m'"
