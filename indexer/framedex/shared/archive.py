"""Reads and writes the archive of a shared file: a zip of known parts, each with its size and digest in the manifest.

The reader trusts no name and no size in the file. It extracts nothing to disk.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from framedex.base.errors import FramedexError
from framedex.base.regularfile import open_regular
from framedex.base.version import VERSION as FRAMEDEX

FORMAT = "framedex-share"
VERSION = 1
SUFFIX = ".fdx.zip"
MANIFEST = "manifest.json"
DEFINITIONS = "definitions.json"

_PARTS = re.compile(r"definitions\.json|calls/\d{6}|sources/\d{6}")
_END = struct.Struct("<4s4H2LH")  # end of central directory: mark, disks, entries twice, size, offset, comment length
_END_MARK = b"PK\5\6"
_MAX_COMMENT_BYTES = 1 << 16

_MAX_PARTS = 60_000
_MAX_DIRECTORY_BYTES = 8 << 20  # bytes of the central directory; the next limits are in bytes too
_MAX_MANIFEST_BYTES = 16 << 20
_MAX_PART_BYTES = {"definitions.json": 512 << 20, "calls": 256 << 20, "sources": 16 << 20}
_MAX_TOTAL_BYTES = 16 << 30
_RATIO = 400
"""The highest compression ratio of an honest file; a file of one repeated byte reaches 1000."""
_UNPACKED = 16 << 20
_MAX_JSON_MEMORY_BYTES = 1 << 30  # bytes of the Python values that JSON becomes
_BYTES_OF_VALUES = {"{": 200, "[": 64, '"': 30, ",": 36}

_EPOCH = (1980, 1, 1, 0, 0, 0)  # fixed, so that equal contents give equal bytes


class DamagedArchiveError(ValueError):
    """A shared file is damaged or malformed."""


class ArchiveWriter:
    """Writes the parts of a shared file, then its manifest. Use it as a context manager."""

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, allowZip64=False)
        self._parts: dict[str, dict[str, object]] = {}

    def __enter__(self) -> ArchiveWriter:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # after a failed write, closing the zip fails again
            self._zip.close()

    def add(self, name: str, data: bytes) -> None:
        """Add a part. Raises FramedexError if the file gets too large."""
        self._parts[name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        self._write(name, data)

    def finish(self, members: Mapping[str, object]) -> None:
        """Add the manifest with the members of `members`, and close the archive."""
        manifest = {"format": FORMAT, "version": VERSION, "framedex": FRAMEDEX, **members, "parts": self._parts}
        self._write(MANIFEST, json.dumps(manifest, indent=1).encode())
        self._zip.close()

    def _write(self, name: str, data: bytes) -> None:
        info = zipfile.ZipInfo(name, _EPOCH)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.create_system = 3  # Unix, on every system
        info.external_attr = 0o100644 << 16
        largest = _MAX_PART_BYTES.get(name.partition("/")[0], _MAX_MANIFEST_BYTES)
        is_json = name in (DEFINITIONS, MANIFEST)
        if len(data) > largest or len(self._parts) > _MAX_PARTS or (is_json and grows_too_large(data)):
            raise too_large_error()
        try:
            self._zip.writestr(info, data)
        except zipfile.LargeZipFile as error:
            raise too_large_error() from error


def too_large_error() -> FramedexError:
    """The error for a capture that exceeds the limits of the reader."""
    return FramedexError(
        "The capture is too large for one file.", "Record fewer calls with --include, --sample or --limit."
    )


class ArchiveReader:
    """Reads an untrusted shared file. Raises DamagedArchiveError if it is malformed, OSError if it cannot be read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with open_regular(path) as file:
            size = _check_list(file)
            try:
                with zipfile.ZipFile(file) as archive:
                    infos = archive.infolist()
                    _check_entries(infos, size)
                    told = parse_json(_content(archive, archive.getinfo(MANIFEST)))
            except _BROKEN as error:
                raise DamagedArchiveError(str(error) or "it is not a complete zip file") from error
        _check_version(told)
        self.manifest: Mapping[str, Any] = told
        self._sizes = {info.filename: info.file_size for info in infos}
        parts = told.get("parts")
        if not isinstance(parts, dict) or {MANIFEST, *parts} != set(self._sizes):
            raise DamagedArchiveError("its parts differ from those in its manifest")
        self._parts = parts

    @property
    def batches(self) -> list[str]:
        """The names of the parts that hold calls, in order."""
        return sorted(name for name in self._sizes if name.startswith("calls/"))

    def read(self, name: str) -> bytes:
        """The content of a part. Raises DamagedArchiveError if it does not match its digest."""
        with open_regular(self._path) as file:
            try:
                with zipfile.ZipFile(file) as archive:
                    data = _content(archive, archive.getinfo(name))
            except _BROKEN as error:
                raise DamagedArchiveError(f"its part {name} cannot be decompressed") from error
        told = self._parts.get(name)
        if not isinstance(told, dict) or told.get("sha256") != hashlib.sha256(data).hexdigest():
            raise DamagedArchiveError(f"its part {name} does not match its digest")
        return data

    def read_json(self, name: str) -> Any:
        """Parse the JSON of a part. Raises DamagedArchiveError."""
        return parse_json(self.read(name))


_BROKEN = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, struct.error, KeyError)


def fits(head: bytes) -> bool:
    """Whether a file with these first bytes may be a shared file."""
    return head.startswith(b"PK\3\4")


def _check_list(file: IO[bytes]) -> int:
    """Check the limits of the central directory before zipfile reads it. Returns the file size in bytes."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END.size - _MAX_COMMENT_BYTES))
    tail = file.read()
    at = tail.rfind(_END_MARK)
    if at < 0 or len(tail) - at < _END.size:
        raise DamagedArchiveError("it is not a complete zip file: its end is missing")
    _, _, _, _, entries, length, _, _ = _END.unpack_from(tail, at)
    if entries > _MAX_PARTS or length > _MAX_DIRECTORY_BYTES:
        raise DamagedArchiveError("it has more parts than a shared capture may have")
    file.seek(0)
    return size


def _check_entries(infos: list[zipfile.ZipInfo], size: int) -> None:
    names = [info.filename for info in infos]
    if MANIFEST not in names:
        raise DamagedArchiveError("it was not written by `framedex share`")
    if len(set(names)) != len(names):
        raise DamagedArchiveError("it contains a part twice")
    for info in infos:
        if info.filename != MANIFEST and not _PARTS.fullmatch(info.filename):
            raise DamagedArchiveError("it has an unknown part")
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DamagedArchiveError("one of its parts uses an unsupported compression or encryption")
        if info.file_size > _MAX_PART_BYTES.get(info.filename.partition("/")[0], _MAX_MANIFEST_BYTES):
            raise DamagedArchiveError("one of its parts is larger than a shared capture allows")
    whole = sum(info.file_size for info in infos)
    if whole > min(_MAX_TOTAL_BYTES, _UNPACKED + _RATIO * size):
        raise DamagedArchiveError("its decompressed size is larger than a shared capture allows")


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with archive.open(info) as part:
        data = part.read(info.file_size + 1)
    if len(data) != info.file_size:
        raise DamagedArchiveError("one of its parts does not have its declared size")
    return data


def grows_too_large(data: bytes) -> bool:
    """Whether JSON needs more memory as Python values than a shared capture allows."""
    return estimate_memory(data) > _MAX_JSON_MEMORY_BYTES


def estimate_memory(text: bytes | str) -> int:
    """Return an estimate of the bytes that JSON needs as Python values."""
    if isinstance(text, str):
        return sum(text.count(mark) * size for mark, size in _BYTES_OF_VALUES.items())
    return sum(text.count(mark.encode()) * size for mark, size in _BYTES_OF_VALUES.items())


def parse_json(data: bytes) -> Any:
    """Parse the JSON of a part. Raises DamagedArchiveError if it is malformed or needs too much memory.

    The JSON of an honest capture needs five times its size as Python values. Empty lists and objects need up to thirty.
    """
    if grows_too_large(data):
        raise DamagedArchiveError("its JSON needs more memory than a shared capture allows")
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DamagedArchiveError("its JSON is malformed") from error


def _check_version(told: object) -> None:
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise DamagedArchiveError("it was not written by `framedex share`")
    if told.get("version") != VERSION:
        version = told.get("version")
        written = f"version {version}" if isinstance(version, int) else "an unknown version"
        raise DamagedArchiveError(f"its format has {written}; this framedex reads version {VERSION}: update framedex")
