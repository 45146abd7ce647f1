"""JSON that is read a piece at a time: of a large array only the element that is being looked at is in memory."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from framedex.imports.source import Source

_AT_ONCE = 1 << 20
LARGEST = 256 << 20
"""Characters of one value: more of it is not held."""

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def members(source: Source) -> Iterator[tuple[str, Any]]:
    """The members of the object that a file is, by name: of an array one element at a time, else the value.

    The elements of a file that is an array have no name; its end may be missing, as trace events may be written until
    a program dies. Raises ValueError where it is no JSON, or cut off.
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
        raise ValueError("it is no JSON")
    elif text.next() != "}":
        text.back()
        while True:
            key = text.value()
            if not isinstance(key, str) or text.next() != ":":
                raise ValueError("it is no JSON")
            if text.next() == "[":
                for element in text.elements():
                    yield key, element
            else:
                text.back()
                yield key, text.value()
            if (mark := text.next()) == "}":
                break
            if mark != ",":
                raise ValueError("it is no JSON")


class _EndError(ValueError):
    """The file ends between two parts of it."""

    def __init__(self) -> None:
        super().__init__("it is cut off")


class _Text:
    """The characters of a file, of which those that were read are let go."""

    def __init__(self, source: Source) -> None:
        self._pieces = self._decoded(source)
        self._held = ""
        self._at = 0
        self._is_whole = False

    def next(self) -> str:
        """The next character that is not blank."""
        while True:
            blank = _BLANK.match(self._held, self._at)
            self._at = blank.end() if blank else self._at
            if self._at < len(self._held):
                self._at += 1
                return self._held[self._at - 1]
            if not self._more():
                raise _EndError

    def back(self) -> None:
        """Go back by the character that was next."""
        self._at -= 1

    def value(self) -> Any:
        """The value that begins here."""
        self.next()
        self.back()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._held, self._at)
            except ValueError as error:
                # More of it may be to come: twice as much is looked at each time, so that this takes linear time.
                if not self._more(len(self._held) - self._at):
                    raise ValueError(f"it is no JSON, or cut off: {error}") from None
                continue
            if end == len(self._held) and not isinstance(value, dict | list | str) and self._more():
                continue  # of a number there may be more
            self._at = end
            return value

    def elements(self) -> Iterator[Any]:
        """The elements of the array that has begun."""
        if self.next() == "]":
            return
        self.back()
        while True:
            yield self.value()
            mark = self.next()
            if mark == "]":
                return
            if mark != ",":
                raise ValueError("it is no JSON")

    def _more(self, least: int = 0) -> bool:
        """Take in more characters; False at the end."""
        self._held = self._held[self._at :]
        self._at = 0
        if len(self._held) > LARGEST:
            raise ValueError(f"a part of it has more than {LARGEST:,} characters")
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
