"""The folders that inputs of the fuzzer `captures` encode, in the form described in native/fuzz/capture_folder.h."""

from __future__ import annotations

import struct
from pathlib import Path

from framedex_native import _native

SEGMENT = _native.SEGMENT_SIZE
_HEADER = struct.Struct("<8sIIQIIQ16s")  # all bytes before its checksum
_HEADER_SIZE = _native.STREAM_HEADER_SIZE
_STOP_REASONS = 80
_SEALED_ONCE = _STOP_REASONS, 88, 96, 104  # verified, different, missing_calls
_RECORD = struct.Struct("<BBHI")
_PADDING, _SEGMENT_RECORD = 1, 10
_OLD_HEADER = struct.Struct("<8sIIQIIQQ16s")  # of version 1
_OLD_RECORD = struct.Struct("<IHH")
_MARK = 0xFDFD
_LARGEST_STREAM = 2 * SEGMENT
NAMES = (
    _native.PROCESS_STREAM,
    *(f"thread-{n}.fdx" for n in (1, 2, 3)),
    *(f"thread-{n}.ring.fdx" for n in (0, 1, 2, 3)),
)


def unpack(data: bytes, folder: Path) -> None:
    """Write the folder that an input encodes."""
    streams: dict[str, _Stream] = {_native.PROCESS_STREAM: _Stream(_native.PROCESS_STREAM, 0, 0)}
    current = streams[_native.PROCESS_STREAM]
    position = 0

    def take(size: int) -> bytes:
        nonlocal position
        taken = data[position : position + size]
        position += len(taken)
        return taken

    def number(size: int) -> int:
        return int.from_bytes(take(size), "little")

    while position < len(data):
        item = number(1) % 6
        if item == 0:
            name = NAMES[number(1) % 8]
            current = streams[name] = _Stream(name, number(1), number(1))
            continue
        if current.is_full:
            break
        if item == 1:
            kind = number(1)
            detail = number(1) if current.has_details else 0
            current.add_record(kind, take(number(2)), detail)
        elif item == 2:
            current.bytes += take(number(2))
        elif item == 3:
            current.end_segment()
        elif item == 4:
            current.is_cut = True
        else:
            place = number(2) | number(1) << 16
            current.bytes[-1 - place % len(current.bytes)] = number(1)
    for name in NAMES:
        (folder / name).unlink(missing_ok=True)
        if name in streams:
            (folder / name).write_bytes(streams[name].encode())


class _Stream:
    def __init__(self, name: str, stop_reasons: int, clock: int) -> None:
        version = _native.FORMAT_VERSIONS[0 if clock & 2 else -1 if clock & 4 else 1]
        self._is_old, self._is_ring = version == 1, ".ring." in name
        self.has_details = version == _native.FORMAT_VERSIONS[-1]
        self._key = self._segment = 0
        self.is_cut = False
        kind = 1 if name == _native.PROCESS_STREAM else 3 if self._is_ring else 2
        if self._is_old:
            header = _native.MAGIC, 1, kind, len(name), stop_reasons, clock % 2, 0, 0, b"fuzzed"
            self.bytes = bytearray(_OLD_HEADER.pack(*header))
            return
        number = 0 if name == _native.PROCESS_STREAM else int(name[len("thread-")])
        fixed = _HEADER.pack(_native.MAGIC, version, kind, 7, number, clock % 2, len(name), b"fuzzed")
        self._key = _finished(_summed(0, 0, len(fixed), fixed + bytes(8)))
        sealed = (self._seal(field, stop_reasons if field == _STOP_REASONS else 0) for field in _SEALED_ONCE)
        self.bytes = bytearray(
            fixed + struct.pack("<Q", self._key) + bytes(16) + struct.pack("<4Q", *sealed) + bytes(16)
        )
        self._note_end()

    @property
    def is_full(self) -> bool:
        return self.is_cut or len(self.bytes) >= _LARGEST_STREAM

    def add_record(self, kind: int, body: bytes, detail: int = 0) -> None:
        padded = body + bytes(-len(body) % 8)
        if len(self.bytes) % SEGMENT + len(padded) + 16 > SEGMENT:
            self.end_segment()
        if self._is_old:
            self.bytes += _OLD_RECORD.pack(_OLD_RECORD.size + len(padded), kind, _MARK)
        else:
            begins = len(self.bytes) % SEGMENT == (_HEADER_SIZE if len(self.bytes) < SEGMENT else 0)
            if self._is_ring and begins and kind == _SEGMENT_RECORD and padded:
                self._segment = int.from_bytes(padded[:8], "little")
            self._append_header(kind, detail, len(padded) // 8 + 1, padded)
        self.bytes += padded
        self._note_end()

    def end_segment(self) -> None:
        rest = SEGMENT - len(self.bytes) % SEGMENT
        if not self._is_old and rest % 8 == 0:
            self._append_header(_PADDING, 0, rest // 8, b"")
        self.bytes += bytes(-len(self.bytes) % SEGMENT)
        self._segment = len(self.bytes) // SEGMENT
        self._note_end()

    def encode(self) -> bytes:
        return bytes(self.bytes if self.is_cut else self.bytes + bytes(_RECORD.size))

    def _append_header(self, kind: int, detail: int, words: int, body: bytes) -> None:
        words &= 0xFFFF
        check = _finished(_summed(self._key, self._position, kind | detail << 8 | words << 16, body))
        self.bytes += _RECORD.pack(kind, detail, words, check >> 32)

    @property
    def _position(self) -> int:
        return self._segment * SEGMENT + len(self.bytes) % SEGMENT

    def _seal(self, field: int, value: int) -> int:
        kept = value & (1 << 40) - 1
        return kept | _finished(_summed(self._key, field, kept, b"")) >> 40 << 40

    def _note_end(self) -> None:
        if not self._is_old:
            segments = -(-len(self.bytes) // SEGMENT)
            struct.pack_into("<2Q", self.bytes, 64, self._position & _ALL, self._seal(72, self._segment + 1))
            struct.pack_into("<Q", self.bytes, 112, self._seal(112, segments))


_ALL = (1 << 64) - 1
_PLACE, _OTHER, _STEP, _FIRST = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xBF58476D1CE4E5BA, 0x165667B19E3779F9


def _summed(key: int, position: int, first: int, body: bytes) -> int:
    """native/recorder/format/record_check.h, with unbounded integers."""
    total, factor = key + position * _PLACE + first * _OTHER, _FIRST
    for (word,) in struct.iter_unpack("<Q", body):
        total, factor = total + word * factor, factor + _STEP
    return total & _ALL


def _finished(total: int) -> int:
    mixed = (total ^ total >> 32) * _PLACE & _ALL
    mixed = (mixed ^ mixed >> 29) * _OTHER & _ALL
    return mixed ^ mixed >> 32
