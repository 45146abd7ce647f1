"""The identity of a capture, its signature, which changes as the capture grows, and errors of the system."""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from framedex.base.errors import FramedexError, raise_if_limit
from framedex.base.nativepart import _native
from framedex.base.regularfile import open_regular
from framedex.captures.metadata import read_end_signal, read_metadata
from framedex.model import Metadata


class UnreadableCaptureError(FramedexError):
    """The system failed to read a file of a capture, so its calls are unknown."""


@contextmanager
def convert_read_errors() -> Iterator[None]:
    """Convert system errors of native reads in this block to UnreadableCaptureError or SystemLimitError."""
    try:
        yield
    except OSError as error:
        raise_if_limit(error)
        raise _make_unreadable_error(str(error.filename), error) from error


def raise_if_disk_failed(file: Path, error: OSError) -> None:
    """Raise UnreadableCaptureError if the disk failed; any other error is about the file, such as a missing file."""
    if error.errno == errno.EIO:
        raise _make_unreadable_error(str(file), error) from error


def _make_unreadable_error(file: str, error: OSError) -> UnreadableCaptureError:
    return UnreadableCaptureError(
        f"{file} cannot be read: {error.strerror}.",
        "Check the disk, or copy the capture to another one, then run `framedex index` again.",
    )


# A stream grows by whole segments, and the next segment is allocated early. So the size does not show an addition, but
# the last two segments do.
_TAIL_BYTES = 2 * _native.SEGMENT_SIZE


@dataclass(frozen=True, slots=True)
class CaptureState:
    """The current state of a capture folder: `identity` identifies its run, `signature` changes as it grows."""

    path: Path
    identity: str
    signature: str


def read_capture_state(path: Path) -> CaptureState:
    """The state of the capture in folder `path`, from its metadata and the ends of its streams.

    Raises FramedexError if the folder is not a capture or its version is unsupported.
    """
    metadata = read_metadata(path)
    foreign = metadata.foreign
    signature = (
        _compute_signature(path, read_end_signal(path))
        if foreign is None
        else f"{foreign.content} {foreign.value or ''}"
    )
    return CaptureState(path, compute_capture_identity(path, metadata), signature)


def compute_capture_identity(path: Path, metadata: Metadata) -> str:
    """Start time, process and host of a capture as text; its path if any of them is unknown.

    The identity of an imported capture is the path of its original file: another file at that path replaces it.
    """
    if metadata.foreign is not None:
        return identify_import(metadata.foreign.origin)
    parts = [metadata.started_unix_ns, metadata.pid, metadata.host]
    return str(path) if None in parts else "/".join(map(str, parts))


def identify_import(origin: str) -> str:
    """The identity of a capture imported from another recorder's file at a path."""
    return f"imported {origin}"


def is_being_written(path: Path, metadata: Metadata) -> bool:
    """Whether recording continues: not stopped, and mapped by a process of this user on this machine.

    Raises FramedexError if the system fails to read the capture.
    """
    if not _is_mapped(path, metadata):
        return False
    with convert_read_errors():
        return not _native.was_stopped(os.fsencode(path))


def is_complete(path: Path) -> bool:
    """Whether the capture in folder `path` is complete.

    Raises FramedexError if the folder is not a capture or is unreadable.
    """
    return not is_being_written(path, read_metadata(path))


def _is_mapped(path: Path, metadata: Metadata) -> bool:
    """Whether the process has the capture's streams mapped, as it does from their creation until it exits."""
    folder = os.fsencode(os.path.realpath(path)).replace(b"\n", b"\\012") + b"/"  # as the kernel writes it
    try:
        return folder in Path(f"/proc/{metadata.pid}/maps").read_bytes()
    except OSError as error:
        raise_if_limit(error)
        return False


def _compute_signature(path: Path, ended_by: str | None) -> str:
    try:
        streams = sorted(file for file in path.iterdir() if file.name.endswith(_native.STREAM_SUFFIX))
    except OSError as error:
        raise_if_limit(error)
        return ""
    endings = [f"{stream.name}:{_stream_signature(stream)}" for stream in streams]
    return " ".join([*endings, *([ended_by] if ended_by else [])])


def _stream_signature(stream: Path) -> str:
    """Size and checksum of the changing parts of a stream: its header and its end, or all of a ring."""
    try:
        with open_regular(stream) as file:
            size = os.fstat(file.fileno()).st_size
            checksum = zlib.crc32(file.read(_native.STREAM_HEADER_SIZE))
            if not stream.name.endswith(_native.RING_SUFFIX):
                file.seek(max(size - _TAIL_BYTES, _native.STREAM_HEADER_SIZE))
            while chunk := file.read(_TAIL_BYTES):
                checksum = zlib.crc32(chunk, checksum)
    except OSError as error:
        return str(error.errno)
    return f"{size:x}-{checksum:08x}"
