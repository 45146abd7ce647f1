"""What a folder, a capture or a text names may be a pipe that nobody writes: nobody waits for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from framedex.binaries import Contents
from framedex.captures.contents import CONTENTS_FILE, read_contents
from framedex.commands.reading.files import Place, noted_if_short
from framedex.errors import FramedexError
from framedex.guidebook.keeping import read_kept
from framedex.index.file.database import connect_reading
from framedex.projects import cmakelists, compile_commands
from framedex.releases.stated import FileReleases
from framedex.settings import Settings
from framedex.shared.keeping import EXCERPTS, kept_excerpts
from framedex.sourcemap import SourceMapError, read_map
from framedex.sources.outline import outline_of


@pytest.mark.parametrize(
    ("name", "read", "nothing"),
    [
        ("library.so", lambda pipe: Contents(pipe.with_name("kept")).of(pipe), ""),
        ("kept.json", lambda pipe: Contents(pipe).of(pipe.with_name("library.so")), ""),
        (CONTENTS_FILE, lambda pipe: read_contents(pipe.parent), {}),
        ("version.py", lambda pipe: FileReleases().of(str(pipe.with_name("array.py"))), None),
        ("source.py", lambda pipe: outline_of(str(pipe)), None),
        ("source.cc", lambda pipe: noted_if_short(Place(pipe, 12, None)).line, 12),
        (EXCERPTS, lambda pipe: kept_excerpts(pipe.parent), {}),
        ("framedex.toml", lambda pipe: Settings.load(pipe.parent)[0].file, None),
    ],
)
def test_a_pipe_is_read_as_nothing(tmp_path: Path, name: str, read: Callable[[Path], object], nothing: object) -> None:
    folder = tmp_path / "jax"
    folder.mkdir()
    os.mkfifo(folder / name)
    assert read(folder / name) == nothing


@pytest.mark.parametrize(
    ("read", "refused"),
    [
        (cmakelists.is_own, OSError),
        (compile_commands.is_own, OSError),
        (lambda pipe: read_map(pipe).__enter__(), SourceMapError),
        (lambda pipe: connect_reading(pipe, 0.0), FramedexError),
        (read_kept, FramedexError),
    ],
)
def test_a_pipe_is_refused_where_a_file_is_needed(
    tmp_path: Path, read: Callable[[Path], object], refused: type[Exception]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(refused, match="regular file"):
        read(tmp_path / "pipe")
