"""Reads ZIP files and JSON that a stranger may have written: every size is limited before it is read.

No name and no size in the file is trusted. Nothing is extracted to disk.
"""

from __future__ import annotations

import json
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from framedex.base.regularfile import open_regular

MAX_PARTS = 60_000
# end of central directory: signature, disks, entries twice, size, offset, comment length
_END = struct.Struct("<4s4H2LH")
_END_SIGNATURE = b"PK\5\6"
_LOCATOR = struct.Struct("<4sLQL")  # zip64: signature, disk, offset of the record, disks
_LOCATOR_SIGNATURE = b"PK\6\7"
# zip64's end of central directory: signature, length, versions, disks, entries twice, size, offset
_END_64 = struct.Struct("<4sQ2H2L4Q")
_END_64_SIGNATURE = b"PK\6\6"
_MAX_COMMENT_BYTES = 1 << 16
_MAX_DIRECTORY_BYTES = 8 << 20  # bytes of the central directory; the next limits are in bytes too
_MAX_TOTAL_BYTES = 16 << 30
MAX_RATIO = 400
"""The highest compression ratio of an honest file; a file of one repeated byte reaches 1000."""
_MIN_TOTAL_BYTES = 16 << 20
_MAX_JSON_MEMORY_BYTES = 1 << 30  # bytes of the Python values after parsing
_BYTES_OF_VALUES = {"{": 200, "[": 64, '"': 30, ",": 36}
_BROKEN = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, struct.error, KeyError)


class DamagedArchiveError(ValueError):
    """An archive is damaged or malformed."""


class UntrustedArchive:
    """Reads a ZIP file. Raises DamagedArchiveError if it is malformed, OSError if it cannot be read."""

    def __init__(self, path: Path, manifest: str, foreign: str, max_bytes: Callable[[str], int | None]) -> None:
        """`max_bytes` returns the size limit of a part, None for an unknown name.

        `foreign` is the message of the error for a file without `manifest`.
        """
        self._path = path
        with open_regular(path) as file:
            size = _check_central_directory(file)
            with _open_zip(file) as archive:
                infos = archive.infolist()
        self.sizes: Mapping[str, int] = {info.filename: info.file_size for info in infos}
        if manifest not in self.sizes:
            raise DamagedArchiveError(foreign)
        _check_entries(infos, size, max_bytes)

    def read(self, name: str) -> bytes:
        """The content of a part. Raises DamagedArchiveError."""
        ((_, data),) = self.read_all([name])
        return data

    def read_all(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield parts with their contents. The file is opened once. Raises DamagedArchiveError."""
        with open_regular(self._path) as file, _open_zip(file) as archive:
            for name in names:
                yield name, self._content(archive, name)

    def _content(self, archive: zipfile.ZipFile, name: str) -> bytes:
        try:
            info = archive.getinfo(name)
            with archive.open(info) as part:
                data = part.read(info.file_size + 1)
        except _BROKEN as error:
            raise DamagedArchiveError(f"its part {name} cannot be decompressed") from error
        if len(data) != self.sizes[name]:
            raise DamagedArchiveError("one of its parts does not have its declared size")
        return data


@contextmanager
def _open_zip(file: IO[bytes]) -> Iterator[zipfile.ZipFile]:
    try:
        archive = zipfile.ZipFile(file)
    except _BROKEN as error:
        raise DamagedArchiveError(str(error) or "it is not a complete zip file") from error
    with archive:
        yield archive


def _check_central_directory(file: IO[bytes]) -> int:
    """Check the limits of the central directory before zipfile reads it. Returns the file size in bytes."""
    size = file.seek(0, os.SEEK_END)
    start = file.seek(max(0, size - _END.size - _MAX_COMMENT_BYTES - _LOCATOR.size - _END_64.size))
    tail = file.read()
    end = tail.rfind(_END_SIGNATURE)
    if end < 0 or len(tail) - end < _END.size:
        raise DamagedArchiveError("it is not a complete zip file: its end is missing")
    _, _, _, _, entries, length, _, _ = _END.unpack_from(tail, end)
    if tail.startswith(_LOCATOR_SIGNATURE, end - _LOCATOR.size):
        entries, length = _read_zip64_end(tail, start, end - _LOCATOR.size)
    if entries > MAX_PARTS or length > _MAX_DIRECTORY_BYTES:
        raise DamagedArchiveError("it has too many parts")
    file.seek(0)
    return size


def _read_zip64_end(tail: bytes, start: int, locator: int) -> tuple[int, int]:
    """The number of entries and the directory's size, from the zip64 record before its locator; it takes precedence.

    `tail` begins at byte `start` of the file, and has the locator at `locator`.
    """
    end = locator - _END_64.size
    if end < 0 or not tail.startswith(_END_64_SIGNATURE, end) or _LOCATOR.unpack_from(tail, locator)[2] != start + end:
        raise DamagedArchiveError("its zip64 record is malformed")
    *_, entries, length, _ = _END_64.unpack_from(tail, end)
    return entries, length


def _check_entries(infos: list[zipfile.ZipInfo], size: int, max_bytes: Callable[[str], int | None]) -> None:
    if len({info.filename for info in infos}) != len(infos):
        raise DamagedArchiveError("it contains a part twice")
    for info in infos:
        if (largest := max_bytes(info.filename)) is None:
            raise DamagedArchiveError("it has an unknown part")
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DamagedArchiveError("one of its parts uses an unsupported compression or encryption")
        if info.file_size > largest:
            raise DamagedArchiveError("one of its parts is larger than allowed")
    if sum(info.file_size for info in infos) > min(_MAX_TOTAL_BYTES, _MIN_TOTAL_BYTES + MAX_RATIO * size):
        raise DamagedArchiveError("its decompressed size is larger than allowed")


def grows_too_large(data: bytes) -> bool:
    """Whether JSON would need more memory than allowed once parsed into Python values."""
    return estimate_memory(data) > _MAX_JSON_MEMORY_BYTES


def estimate_memory(text: bytes | str) -> int:
    """Return an estimate of the bytes that JSON needs once parsed into Python values."""
    if isinstance(text, str):
        return sum(text.count(mark) * size for mark, size in _BYTES_OF_VALUES.items())
    return sum(text.count(mark.encode()) * size for mark, size in _BYTES_OF_VALUES.items())


def parse_json(data: bytes) -> Any:
    """Parse the JSON of a part. Raises DamagedArchiveError if it is malformed or needs too much memory.

    Python values of ordinary JSON need five times its size, those of empty lists and objects up to thirty times.
    """
    if grows_too_large(data):
        raise DamagedArchiveError("its JSON needs more memory than allowed")
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DamagedArchiveError("its JSON is malformed") from error
