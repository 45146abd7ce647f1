"""Parses large JSON files in pieces. Only the current element of an array is in memory."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from framedex.imports.source import Source

_AT_ONCE = 1 << 20
LARGEST = 256 << 20
"""The most characters of one value."""

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def members(source: Source) -> Iterator[tuple[str, Any]]:
    """Yield the members of the object in a file. An array member yields each element with the name of the member.

    If the file holds an array, its elements have an empty name. The end of that array may be missing, since programs
    write trace events until they die. Raises ValueError if the JSON is malformed or truncated.
    """
    text = _Text(source)
    first = text.next()
    if first == "[":
        try:
            for element in text.elements():
                yield "", element
        except _EndError:
            return
    elif first != "{":
        raise ValueError("it is not valid JSON")
    elif text.next() != "}":
        text.back()
        while True:
            key = text.value()
            if not isinstance(key, str) or text.next() != ":":
                raise ValueError("it is not valid JSON")
            if text.next() == "[":
                for element in text.elements():
                    yield key, element
            else:
                text.back()
                yield key, text.value()
            if (mark := text.next()) == "}":
                break
            if mark != ",":
                raise ValueError("it is not valid JSON")


class _EndError(ValueError):
    """The file is truncated between two tokens."""

    def __init__(self) -> None:
        super().__init__("it is truncated")


class _Text:
    """A buffer over the characters of a file. It drops consumed characters."""

    def __init__(self, source: Source) -> None:
        self._pieces = self._decoded(source)
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
            if not self._more():
                raise _EndError

    def back(self) -> None:
        """Put back the last consumed character."""
        self._at -= 1

    def value(self) -> Any:
        """Parse the next value."""
        self.next()
        self.back()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._held, self._at)
            except ValueError as error:
                # The value may be incomplete. Doubling the buffer keeps the total time linear.
                if not self._more(len(self._held) - self._at):
                    raise ValueError(f"its JSON is malformed or truncated: {error}") from None
                continue
            if end == len(self._held) and not isinstance(value, dict | list | str) and self._more():
                continue  # a number may continue
            self._at = end
            return value

    def elements(self) -> Iterator[Any]:
        """Yield the elements of the array whose `[` was consumed."""
        if self.next() == "]":
            return
        self.back()
        while True:
            yield self.value()
            mark = self.next()
            if mark == "]":
                return
            if mark != ",":
                raise ValueError("it is not valid JSON")

    def _more(self, least: int = 0) -> bool:
        """Read more than `least` characters. Returns False at the end of the file."""
        self._held = self._held[self._at :]
        self._at = 0
        if len(self._held) > LARGEST:
            raise ValueError(f"a value in it has more than {LARGEST:,} characters")
        pieces = [self._held]
        size = 0
        for piece in self._pieces:
            pieces.append(piece)
            size += len(piece)
            if size > least:
                break
        self._held = "".join(pieces)
        return size > 0

    def _decoded(self, source: Source) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        with source.opened() as file:
            while data := file.read(_AT_ONCE):
                yield decoder.decode(data)
