"""The stored files of a capture: compiled programs and source files. Each is named by its content."""

from __future__ import annotations

import re
from pathlib import Path

from framedex.captures.unreadable import raise_if_failing
from framedex.nativepart import _native
from framedex.regularfile import open_regular

SOURCE = "source"
"""The kind of source file descriptions."""

_NAME = re.compile(r"[0-9a-f]{16}-([0-9a-f]{1,8})")


def read_kept_program(capture: Path, name: str) -> bytes | None:
    """The compiled program of this name; None if it is missing or its content has changed.

    Raises SystemLimitError or UnreadableCaptureError if the system fails to read it.
    """
    return _read_kept(capture / _native.PROGRAMS, name)


def read_kept_source(capture: Path, name: str) -> bytes | None:
    """The source file of this name; None if it is missing or its content has changed.

    Raises SystemLimitError or UnreadableCaptureError if the system fails to read it.
    """
    return _read_kept(capture / _native.SOURCES, name)


def _read_kept(folder: Path, name: str) -> bytes | None:
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    size, path = int(match[1], 16), folder / name
    try:
        with open_regular(path) as file:
            content = file.read(size + 1)
    except OSError as error:
        raise_if_failing(path, error)
        return None
    return content if len(content) == size and has_content_name(content, name) else None


def has_content_name(content: bytes, name: str) -> bool:
    """Whether a content matches a name, by size and checksum."""
    return _native.is_kept_content(name, content)
