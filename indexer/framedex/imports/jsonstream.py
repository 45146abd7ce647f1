"""Parses large JSON files in pieces. Only the current element of an array is in memory."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from framedex.base import words
from framedex.base.untrusted import estimate_memory
from framedex.imports.source import Source

_CHUNK_CHARACTERS = 1 << 20
MAX_VALUE_CHARACTERS = 256 << 20
"""The maximum number of characters of one value."""
MAX_MEMORY_BYTES = 2 << 30
"""The maximum estimated memory of one parsed value, in bytes. Values of real profiles are smaller."""

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def read_members(source: Source) -> Iterator[tuple[str, Any]]:
    """Yield the members of the object in a file. An array member yields each element with the name of the member.

    If the file holds an array, its elements have an empty name. The end of that array may be missing, since programs
    write trace events until they die. Raises ValueError if the JSON is malformed or truncated.
    """
    text = _TextBuffer(source)
    first = text.next()
    if first == "[":
        try:
            for element in text.elements():
                yield "", element
        except _TruncatedError:
            return
    elif first != "{":
        raise ValueError("it is not valid JSON")
    elif text.next() != "}":
        text.put_back()
        while True:
            key = text.value()
            if not isinstance(key, str) or text.next() != ":":
                raise ValueError("it is not valid JSON")
            if text.next() == "[":
                for element in text.elements():
                    yield key, element
            else:
                text.put_back()
                yield key, text.value()
            if (mark := text.next()) == "}":
                break
            if mark != ",":
                raise ValueError("it is not valid JSON")


class _TruncatedError(ValueError):
    """The file is truncated between two tokens."""

    def __init__(self) -> None:
        super().__init__("it is truncated")


class _TextBuffer:
    """A buffer over the characters of a file, which drops consumed characters."""

    def __init__(self, source: Source) -> None:
        self._pieces = self._decode_pieces(source)
        self._held = ""
        self._at = 0
        self._is_whole = False

    def next(self) -> str:
        """Consume and return the next character that is not blank."""
        while True:
            blank = _BLANK.match(self._held, self._at)
            self._at = blank.end() if blank else self._at
            if self._at < len(self._held):
                self._at += 1
                return self._held[self._at - 1]
            if not self._read_more():
                raise _TruncatedError

    def put_back(self) -> None:
        """Put back the last consumed character."""
        self._at -= 1

    def value(self) -> Any:
        """Parse the next value."""
        self.next()
        self.put_back()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._held, self._at)
            except ValueError as error:
                # The value may be incomplete. Doubling the buffer keeps the total time linear.
                if not self._read_more(len(self._held) - self._at):
                    raise ValueError(f"its JSON is malformed or truncated: {error}") from None
                continue
            if end == len(self._held) and not isinstance(value, dict | list | str) and self._read_more():
                continue  # a number may continue
            self._at = end
            return value

    def elements(self) -> Iterator[Any]:
        """Yield the elements of the array whose `[` was consumed."""
        if self.next() == "]":
            return
        self.put_back()
        while True:
            yield self.value()
            mark = self.next()
            if mark == "]":
                return
            if mark != ",":
                raise ValueError("it is not valid JSON")

    def _read_more(self, least: int = 0) -> bool:
        """Read more than `least` characters. Returns False at the end of the file."""
        self._held = self._held[self._at :]
        self._at = 0
        if len(self._held) > MAX_VALUE_CHARACTERS:
            raise ValueError(f"a value in it has more than {MAX_VALUE_CHARACTERS:,} characters")
        pieces = [self._held]
        size = 0
        for piece in self._pieces:
            pieces.append(piece)
            size += len(piece)
            if size > least:
                break
        self._held = "".join(pieces)
        if least and estimate_memory(self._held) > MAX_MEMORY_BYTES:
            raise ValueError(f"a value in it needs more than {words.format_size(MAX_MEMORY_BYTES)} of memory")
        return size > 0

    def _decode_pieces(self, source: Source) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        with source.open() as file:
            while data := file.read(_CHUNK_CHARACTERS):
                yield decoder.decode(data)
