"""The archive that a shared file is: a zip of known parts, each as long and as its digest says. Nothing is unpacked
by a name of it: what opens it may be given anything.
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

from framedex.errors import FramedexError
from framedex.regularfile import open_regular
from framedex.version import VERSION as FRAMEDEX

FORMAT = "framedex-share"
VERSION = 1
SUFFIX = ".fdx.zip"
MANIFEST = "manifest.json"
DEFINITIONS = "definitions.json"

_PARTS = re.compile(r"definitions\.json|calls/\d{6}|sources/\d{6}")
_END = struct.Struct("<4s4H2LH")  # of a zip: mark, numbers of disks, entries twice, size and place of the list, comment
_END_MARK = b"PK\5\6"
_LONGEST_COMMENT = 1 << 16

_MOST_PARTS = 60_000
_LARGEST_LIST = 8 << 20  # bytes, as are the next
_LARGEST_MANIFEST = 16 << 20
_LARGEST = {"definitions.json": 512 << 20, "calls": 256 << 20, "sources": 16 << 20}
_LARGEST_ALL = 16 << 30
_RATIO = 400
"""How much smaller an honest file gets by packing, at most; one that is all one byte becomes a thousandth."""
_UNPACKED = 16 << 20
_LARGEST_VALUES = 1 << 30  # bytes of what JSON holds, as values of Python
_BYTES_OF_VALUES = {b"{": 200, b"[": 64, b'"': 30, b",": 36}

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same content is to give the same bytes


class DamagedError(ValueError):
    """A shared file that is not as it was written."""


class Writing:
    """Writes a shared file, part by part; the manifest comes last. A context manager."""

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, allowZip64=False)
        self._parts: dict[str, dict[str, object]] = {}

    def __enter__(self) -> Writing:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # it has failed already, and would say so a second time from where nobody hears it
            self._zip.close()

    def add(self, name: str, data: bytes) -> None:
        """Add a part. Raises FramedexError where the file gets too large."""
        self._parts[name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        self._write(name, data)

    def finish(self, told: Mapping[str, object]) -> None:
        """Add the manifest, with what it tells beside the parts, and end the file."""
        manifest = {"format": FORMAT, "version": VERSION, "framedex": FRAMEDEX, **told, "parts": self._parts}
        self._write(MANIFEST, json.dumps(manifest, indent=1).encode())
        self._zip.close()

    def _write(self, name: str, data: bytes) -> None:
        info = zipfile.ZipInfo(name, _EPOCH)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.create_system = 3  # whatever system this is
        info.external_attr = 0o100644 << 16
        largest = _LARGEST.get(name.partition("/")[0], _LARGEST_MANIFEST)
        is_json = name in (DEFINITIONS, MANIFEST)
        if len(data) > largest or len(self._parts) > _MOST_PARTS or (is_json and grows_too_large(data)):
            raise too_large()
        try:
            self._zip.writestr(info, data)
        except zipfile.LargeZipFile as error:
            raise too_large() from error


def too_large() -> FramedexError:
    """The error for a capture that no reader would take."""
    return FramedexError(
        "The capture is too large for one file.", "Record less of the program, with --include, --sample or --limit."
    )


class Archive:
    """A shared file that somebody wrote. Raises DamagedError where it is none, and OSError where it cannot be read."""

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
                raise DamagedError(str(error) or "it is no whole zip file") from error
        _check_version(told)
        self.told: Mapping[str, Any] = told
        self._sizes = {info.filename: info.file_size for info in infos}
        parts = told.get("parts")
        if not isinstance(parts, dict) or {MANIFEST, *parts} != set(self._sizes):
            raise DamagedError("it does not have the parts that it says")
        self._parts = parts

    @property
    def batches(self) -> list[str]:
        """The parts that calls are in, in their order."""
        return sorted(name for name in self._sizes if name.startswith("calls/"))

    def read(self, name: str) -> bytes:
        """A part, which is as its digest says. Raises DamagedError."""
        with open_regular(self._path) as file:
            try:
                with zipfile.ZipFile(file) as archive:
                    data = _content(archive, archive.getinfo(name))
            except _BROKEN as error:
                raise DamagedError(f"its part {name} cannot be unpacked") from error
        told = self._parts.get(name)
        if not isinstance(told, dict) or told.get("sha256") != hashlib.sha256(data).hexdigest():
            raise DamagedError(f"its part {name} is not as it was written")
        return data

    def read_json(self, name: str) -> Any:
        """The JSON of a part. Raises DamagedError."""
        return parse_json(self.read(name))


_BROKEN = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, struct.error, KeyError)


def fits(head: bytes) -> bool:
    """Whether a file that begins so may be a shared one."""
    return head.startswith(b"PK\3\4")


def _check_list(file: IO[bytes]) -> int:
    """Look at the end of the file, before all its entries are read; its size in bytes."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END.size - _LONGEST_COMMENT))
    tail = file.read()
    at = tail.rfind(_END_MARK)
    if at < 0 or len(tail) - at < _END.size:
        raise DamagedError("it is no whole zip file: its end is missing")
    _, _, _, _, entries, length, _, _ = _END.unpack_from(tail, at)
    if entries > _MOST_PARTS or length > _LARGEST_LIST:
        raise DamagedError("it has more parts than a shared capture has")
    file.seek(0)
    return size


def _check_entries(infos: list[zipfile.ZipInfo], size: int) -> None:
    names = [info.filename for info in infos]
    if MANIFEST not in names:
        raise DamagedError("it is no capture that framedex has shared")
    if len(set(names)) != len(names):
        raise DamagedError("it has a part twice")
    for info in infos:
        if info.filename != MANIFEST and not _PARTS.fullmatch(info.filename):
            raise DamagedError("it has a part that no shared capture has")
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DamagedError("a part of it is packed as no shared capture is")
        if info.file_size > _LARGEST.get(info.filename.partition("/")[0], _LARGEST_MANIFEST):
            raise DamagedError("a part of it is larger than those of shared captures are")
    whole = sum(info.file_size for info in infos)
    if whole > min(_LARGEST_ALL, _UNPACKED + _RATIO * size):
        raise DamagedError("it would get larger by unpacking than a shared capture does")


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with archive.open(info) as part:
        data = part.read(info.file_size + 1)
    if len(data) != info.file_size:
        raise DamagedError("a part of it is not as long as it says")
    return data


def grows_too_large(data: bytes) -> bool:
    """Whether JSON takes more memory as values of Python than the JSON of a shared capture may."""
    return sum(data.count(mark) * size for mark, size in _BYTES_OF_VALUES.items()) > _LARGEST_VALUES


def parse_json(data: bytes) -> Any:
    """The JSON of a part, which a file may repeat a thousand times in few bytes. Raises DamagedError.

    A shared capture takes five times its bytes as values of Python; empty lists and objects take up to thirty times.
    """
    if grows_too_large(data):
        raise DamagedError("it says more than a shared capture does")
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DamagedError("what it says cannot be read") from error


def _check_version(told: object) -> None:
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise DamagedError("it is no capture that framedex has shared")
    if told.get("version") != VERSION:
        version = told.get("version")
        written = f"version {version}" if isinstance(version, int) else "a version that is not told"
        raise DamagedError(f"it is of {written} of its format, and this framedex reads version {VERSION}: update it")
