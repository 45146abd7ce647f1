"""A folder, capture or text may name a pipe without a writer: nothing waits for it."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from framedex.base.errors import FramedexError
from framedex.base.regularfile import MAX_FILE_BYTES, read_regular, read_regular_text
from framedex.binaries import DigestCache
from framedex.captures import read_metadata
from framedex.captures.stored_files import DIGESTS_FILE, read_digests
from framedex.commands.inputs.files import FilePosition, note_if_too_short
from framedex.export.projects import project_files
from framedex.guidebook.observation_files import read_observation_file
from framedex.index.file.database import connect_reading
from framedex.settings import Settings
from framedex.shared.keeping import EXCERPTS, read_stored_excerpts
from framedex.sources.outline import read_outline
from framedex.sources.releases.statements import FileReleases
from framedex.sources.source_map import SourceMapError, read_map


@pytest.mark.parametrize(
    ("name", "read", "nothing"),
    [
        ("library.so", lambda pipe: DigestCache(pipe.with_name("kept")).compute_digest(pipe), ""),
        ("kept.json", lambda pipe: DigestCache(pipe).compute_digest(pipe.with_name("library.so")), ""),
        (DIGESTS_FILE, lambda pipe: read_digests(pipe.parent), {}),
        ("version.py", lambda pipe: FileReleases().release_of(str(pipe.with_name("array.py"))), None),
        ("source.py", lambda pipe: read_outline(str(pipe)), None),
        ("source.cc", lambda pipe: note_if_too_short(FilePosition(pipe, 12, None)).line, 12),
        (EXCERPTS, lambda pipe: read_stored_excerpts(pipe.parent), {}),
        ("framedex.toml", lambda pipe: Settings.load(pipe.parent)[0].file, None),
    ],
)
def test_a_pipe_is_read_as_empty(tmp_path: Path, name: str, read: Callable[[Path], object], nothing: object) -> None:
    folder = tmp_path / "jax"
    folder.mkdir()
    os.mkfifo(folder / name)
    assert read(folder / name) == nothing


@pytest.mark.parametrize(
    ("read", "refused"),
    [
        (project_files.is_own_cmakelists, OSError),
        (project_files.is_own_compile_commands, OSError),
        (lambda pipe: read_map(pipe).__enter__(), SourceMapError),
        (lambda pipe: connect_reading(pipe, 0.0), FramedexError),
        (read_observation_file, FramedexError),
    ],
)
def test_a_pipe_is_refused_where_a_file_is_needed(
    tmp_path: Path, read: Callable[[Path], object], refused: type[Exception]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(refused, match="regular file"):
        read(tmp_path / "pipe")


def _sparse(file: Path) -> None:
    with file.open("wb") as opened:
        opened.truncate(1 << 40)


@pytest.mark.parametrize("make", [_sparse, lambda file: file.symlink_to("/proc/self/pagemap")])
@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("capture.json", lambda file: read_metadata(file.parent)),
        ("observations.json", read_observation_file),
        (DIGESTS_FILE, lambda file: read_digests(file.parent)["a"]),
        (EXCERPTS, lambda file: read_stored_excerpts(file.parent)["a"]),
    ],
)
def test_an_endless_file_is_refused(
    tmp_path: Path, name: str, read: Callable[[Path], object], make: Callable[[Path], None]
) -> None:
    """A file may be sparse, or a system file of size 0 with endless content."""
    make(tmp_path / name)
    with pytest.raises((FramedexError, KeyError)):
        read(tmp_path / name)


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    file = tmp_path / "file"
    _sparse(file)
    for read in (read_regular, read_regular_text):
        with pytest.raises(OSError, match="more than 16,777,216"):
            read(file)
    os.truncate(file, MAX_FILE_BYTES)
    assert read_regular(file) == bytes(MAX_FILE_BYTES)


def test_a_small_file_allocates_less_than_its_limit(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"text")
    tracemalloc.start()
    try:
        assert read_regular(file, 1 << 40) == b"text"
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
