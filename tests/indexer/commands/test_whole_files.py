"""Output paths that already exist: a link, a pipe, an older file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from framedex.commands.output.atomic_files import open_atomic, write_atomic


def test_output_through_a_link_keeps_the_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    for text in ("one", "two"):
        write_atomic(link, text)
        assert link.is_symlink() and target.read_text() == text


def test_output_to_a_pipe_keeps_the_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomic(pipe, "text")
        assert os.read(reader, 100) == b"text"
    finally:
        os.close(reader)
    assert pipe.is_fifo() and list(tmp_path.iterdir()) == [pipe]


def test_a_failed_write_keeps_the_previous_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    with pytest.raises(ValueError, match="half"), open_atomic(path) as file:
        file.write(b"af")
        raise ValueError("half")
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]
