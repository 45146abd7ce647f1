"""pprof format: a gzipped message `perftools.profiles.Profile`.

https://github.com/google/pprof/blob/main/proto/profile.proto defines the field numbers. A sample has the calls of one
kind, with one device and shape, weighted by count, time and bytes.
"""

from __future__ import annotations

import zlib
from typing import IO, TYPE_CHECKING

from framedex.base.version import VERSION
from framedex.export.formats import Weight
from framedex.export.protobuf import encode_integer, encode_message, encode_packed, text
from framedex.export.samples import SampleLabels, read_samples

if TYPE_CHECKING:
    from framedex.export.content import ExportContent, ExportedFrame
    from framedex.export.samples import Sample

_SAMPLE_TYPE, _SAMPLE, _MAPPING, _LOCATION, _FUNCTION, _STRING = 1, 2, 3, 4, 5, 6
_GZIP = 31  # makes zlib write a gzip header and trailer
_TIME, _DURATION, _COMMENT, _DEFAULT = 9, 10, 13, 14


def write(content: ExportContent, file: IO[bytes], weight: Weight) -> None:
    """Write a profile whose default sample type is the given weight."""
    out = _GzipWriter(file)
    _Profile(content, out).write(weight)
    out.end()


class _GzipWriter:
    """Writes gzip-compressed data to a file; an interrupted export has no trailer."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._stream = zlib.compressobj(wbits=_GZIP)

    def write(self, data: bytes) -> None:
        """Compress and write bytes."""
        self._file.write(self._stream.compress(data))

    def end(self) -> None:
        """Write the remaining data and the trailer."""
        self._file.write(self._stream.flush())


class _Profile:
    """Writes samples one by one, and at the end the tables that they refer to."""

    def __init__(self, content: ExportContent, out: _GzipWriter) -> None:
        self._content = content
        self._out = out
        self._strings = {"": 0}
        self._functions: dict[tuple[str, str, str, int], int] = {}
        self._mappings: dict[str, int] = {}
        self._locations: dict[int, int] = {}

    def write(self, weight: Weight) -> None:
        for each in Weight:
            self._out.write(
                encode_message(_SAMPLE_TYPE, self._encode_string(1, each.value) + self._encode_string(2, each.unit))
            )
        labels = SampleLabels(self._content)
        for sample in read_samples(self._content, labels.parse):
            self._out.write(encode_message(_SAMPLE, self._encode_sample(sample, labels)))
        for number, location in self._locations.items():
            self._out.write(encode_message(_LOCATION, self._encode_location(location, self._content.step(number))))
        for function, identifier in self._functions.items():
            name, symbol, path, line = function
            name_fields = self._encode_string(2, name) + self._encode_string(3, symbol) + self._encode_string(4, path)
            self._out.write(
                encode_message(_FUNCTION, encode_integer(1, identifier) + name_fields + encode_integer(5, line))
            )
        for path, identifier in self._mappings.items():
            self._out.write(
                encode_message(_MAPPING, encode_integer(1, identifier) + self._encode_string(5, path) + _HAS_SYMBOLS)
            )
        began = min(self._content.start_unix_ns(capture.id) for capture in self._content.captures)
        self._out.write(encode_integer(_TIME, began) + encode_integer(_DEFAULT, self._intern_string(weight.value)))
        self._out.write(self._encode_string(_COMMENT, f"framedex {VERSION}"))
        for capture in self._content.captures:
            self._out.write(self._encode_string(_COMMENT, f"capture {capture.id}: {capture.command}"))
        for string in self._strings:
            self._out.write(text(_STRING, string))

    def _encode_sample(self, sample: Sample, labels: SampleLabels) -> bytes:
        steps = reversed(self._content.steps(sample.kind))  # innermost first
        locations = [self._locations.setdefault(number, len(self._locations) + 1) for number in steps]
        encoded = b"".join(
            encode_message(3, self._encode_string(1, key) + self._encode_string(2, value))
            for key, value in labels.format(sample).items()
        )
        return encode_packed(1, locations) + encode_packed(2, sample.values) + encoded

    def _encode_location(self, identifier: int, step: ExportedFrame) -> bytes:
        key = step.name, step.symbol, step.path or step.defined_in, step.first_line
        function = self._functions.setdefault(key, len(self._functions) + 1)
        mapping = b""
        if step.module:
            mapping = encode_integer(2, self._mappings.setdefault(step.module, len(self._mappings) + 1))
        line = encode_integer(1, function) + encode_integer(2, step.line)
        return encode_integer(1, identifier) + mapping + encode_integer(3, step.offset) + encode_message(4, line)

    def _encode_string(self, number: int, value: str) -> bytes:
        return encode_integer(number, self._intern_string(value))

    def _intern_string(self, value: str) -> int:
        return self._strings.setdefault(value, len(self._strings))


_HAS_SYMBOLS = b"".join(
    encode_integer(number, 1) for number in (7, 8, 9, 10)
)  # has functions, files, lines, inlined frames
