"""Large files named by a client, a log or an index: bounded memory, and no blocking."""

from __future__ import annotations

import errno
import resource
from pathlib import Path

import pytest

from framedex.base.regularfile import MAX_FILE_BYTES, read_regular
from framedex_server.documents import file_texts
from framedex_server.documents.file_texts import read_line, read_text
from tests.server.raw_client import RawClient
from tests.server.recording import Recording

HUGE = 2 << 30
"""Bytes of a sparse file."""

ROOM = 256 << 20
"""The server's allowed memory growth in bytes."""

LINES = "one\ntwo\r\nthree\rfour\n\n\r\n\nü\r\nlast line"


def test_files_of_any_size_do_not_change_the_server(tmp_path: Path, recording: Recording) -> None:
    huge, log = tmp_path / "huge.py", tmp_path / "huge.log"
    for file in (huge, log):
        with file.open("wb") as content:
            content.truncate(HUGE)
    at = {"line": 2, "character": 0}
    with RawClient() as client:
        client.initialize(recording.root)
        assert client.request("textDocument/hover", {"textDocument": {"uri": huge.as_uri()}, "position": at}, 1)
        limit_memory(client.process.pid)
        for number, (uri, text) in enumerate(
            (
                (log.as_uri(), None),
                (huge.as_uri(), None),
                (huge.as_uri(), "x = 1\ny = 2\nz = 3\n"),
                (
                    "untitled:crash",
                    f'Traceback (most recent call last):\n  File "{huge}", line 3, in f\n    z = 3\nE: x',
                ),
            )
        ):
            if text is not None:
                document = {"uri": uri, "languageId": "plaintext", "version": 1, "text": text}
                client.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
            for method in ("hover", "definition", "documentLink", "documentSymbol", "references"):
                params = {"textDocument": {"uri": uri}, "position": at, "context": {"includeDeclaration": True}}
                assert "result" in client.request(f"textDocument/{method}", params, f"{number} {method}"), (uri, method)


def limit_memory(process: int) -> None:
    """Limit a process to `ROOM` bytes more than it has."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
    most = int(status["VmData"].split()[0]) * 1024 + ROOM
    resource.prlimit(process, resource.RLIMIT_DATA, (most, most))


@pytest.mark.parametrize("kept", range(1, len(LINES.encode()) + 1))
def test_the_end_of_a_long_text_keeps_its_line_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    monkeypatch.setattr(file_texts, "MAX_READ", kept)
    monkeypatch.setattr(file_texts, "_CHUNK_BYTES", 3)
    file = tmp_path / "a.log"
    file.write_bytes(LINES.encode())

    whole, found = plain_lines(LINES), plain_lines(read_text(str(file)))
    assert len(found) == len(whole)
    shown = len(plain_lines(LINES.encode()[-kept:].decode("utf-8", "replace"))) - 1
    assert found[len(whole) - shown :] == whole[len(whole) - shown :]
    assert set(found[: len(whole) - shown]) <= {"", *whole}


def plain_lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def test_a_text_with_too_many_bytes_or_lines_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_texts, "MAX_READ", 4)
    monkeypatch.setattr(file_texts, "_MAX_LINES", 3)
    file = tmp_path / "a.log"
    file.write_text("1\n2\n3\nend")
    assert read_text(str(file)) == "\n\n\nend"
    file.write_text("1\n2\n3\n4\n5\nend")
    assert read_text(str(file)) == ""
    with file.open("wb") as content:
        content.truncate(file_texts.MAX_TEXT_BYTES + 1)
    assert read_text(str(file)) == ""


def test_a_line_of_a_file_is_found_across_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.py"
    text = "a\n\nlonger than a part\r\n\nü\nlast"
    file.write_bytes(text.encode())
    monkeypatch.setattr(file_texts, "_CHUNK_BYTES", 5)

    found = [read_line(str(file), line) for line in range(8)]
    assert found == ["", "a", "", "longer than a part", "", "ü", "last", ""]


def test_a_line_is_bounded_and_inside_the_source_limit(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"x" * MAX_FILE_BYTES + b"\nbehind\n")

    assert read_line(str(file), 1) == "x" * file_texts.MAX_LINE_CHARACTERS
    assert read_line(str(file), 2) == ""
    with pytest.raises(OSError, match="more than 16,777,216"):
        read_regular(file)


def test_an_unreadable_line_is_read_again_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(path: Path) -> None:
        raise OSError(errno.EIO, "the disk failed", str(path))

    file = tmp_path / "one.py"
    file.write_text("x = 1\n")
    with monkeypatch.context() as failure:
        failure.setattr(file_texts, "open_regular", failing)
        assert read_line(str(file), 1) == ""
    assert read_line(str(file), 1) == "x = 1"
