"""What tells a capture from others wherever it lies, and whether it has grown since it was read."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from pathlib import Path

from framedex.captures.end import read_end
from framedex.captures.metadata import read_metadata
from framedex.captures.unreadable import refusing_unreadable
from framedex.model import Metadata
from framedex.nativepart import _native
from framedex.regularfile import open_regular
from framedex.systemlimits import raise_if_limit

# A stream grows by whole segments, the next of which is made ready early. So its size does not tell that something was
# added, but its last two segments do.
_TAIL = 2 * _native.SEGMENT_SIZE


@dataclass(frozen=True, slots=True)
class CaptureState:
    """A capture folder as it is now: `identity` is the run that it records, `signature` changes as it grows."""

    path: Path
    identity: str
    signature: str


def capture_state(path: Path) -> CaptureState:
    """The state of the capture in folder `path`, from its metadata and the ends of its streams.

    Raises FramedexError when the folder is no capture, or one of a version that this framedex does not read.
    """
    metadata = read_metadata(path)
    foreign = metadata.foreign
    signature = _signature(path, read_end(path)) if foreign is None else f"{foreign.content} {foreign.value or ''}"
    return CaptureState(path, capture_identity(path, metadata), signature)


def capture_identity(path: Path, metadata: Metadata) -> str:
    """When, by which process and on which host a capture was begun, as a text; its path where that is not known.

    What was imported is known by where its file was: another file there takes its place.
    """
    if metadata.foreign is not None:
        return identity_of_import(metadata.foreign.origin)
    parts = [metadata.started_unix_ns, metadata.pid, metadata.host]
    return str(path) if None in parts else "/".join(map(str, parts))


def identity_of_import(origin: str) -> str:
    """The identity of the capture that is made of the file of another recorder at a path."""
    return f"imported {origin}"


def is_being_written(path: Path, metadata: Metadata) -> bool:
    """Whether the recording goes on: nobody stopped it, and a process of this user on this machine has it mapped.

    Raises FramedexError where the system fails to read the capture.
    """
    if not _is_mapped(path, metadata):
        return False
    with refusing_unreadable():
        return not _native.was_stopped(os.fsencode(path))


def is_over(path: Path) -> bool:
    """Whether nothing more comes to the capture in folder `path`.

    Raises FramedexError when the folder is no capture, or one that cannot be read.
    """
    return not is_being_written(path, read_metadata(path))


def _is_mapped(path: Path, metadata: Metadata) -> bool:
    """Whether the process has the capture's streams mapped; it keeps them to its end, also when recording stops."""
    folder = os.fsencode(os.path.realpath(path)).replace(b"\n", b"\\012") + b"/"  # as the kernel writes it
    try:
        return folder in Path(f"/proc/{metadata.pid}/maps").read_bytes()
    except OSError as error:
        raise_if_limit(error)
        return False


def _signature(path: Path, ended_by: str | None) -> str:
    try:
        streams = sorted(file for file in path.iterdir() if file.name.endswith(_native.STREAM_SUFFIX))
    except OSError as error:
        raise_if_limit(error)
        return ""
    endings = [f"{stream.name}:{_ending(stream)}" for stream in streams]
    return " ".join([*endings, *([ended_by] if ended_by else [])])


def _ending(stream: Path) -> str:
    """Size and checksum of what changes in a stream: its header and its end, or all of a ring."""
    try:
        with open_regular(stream) as file:
            size = os.fstat(file.fileno()).st_size
            checksum = zlib.crc32(file.read(_native.STREAM_HEADER_SIZE))
            if not stream.name.endswith(_native.RING_SUFFIX):
                file.seek(max(size - _TAIL, _native.STREAM_HEADER_SIZE))
            while chunk := file.read(_TAIL):
                checksum = zlib.crc32(chunk, checksum)
    except OSError as error:
        return str(error.errno)
    return f"{size:x}-{checksum:08x}"
