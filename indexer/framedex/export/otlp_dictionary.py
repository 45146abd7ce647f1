"""The dictionary of OpenTelemetry profiles: texts, attributes, stacks, functions and binaries, referenced by number.

The first entry of each table is empty, so that 0 means none.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from framedex.binaries.htlhash import htlhash
from framedex.captures import fingerprint_of
from framedex.export.protobuf import integer, message, packed, text
from framedex.nativepart import NoNativePartError

if TYPE_CHECKING:
    from framedex.export.content import Content, Step
    from framedex.model import BinaryId

_Key = TypeVar("_Key")

_MAPPINGS, _LOCATIONS, _FUNCTIONS, _LINKS, _TEXTS, _ATTRIBUTES, _STACKS = range(1, 8)


class Dictionary:
    """Assigns numbers; it is written after all samples."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self._texts = {"": 0}
        self._attributes: dict[tuple[str, str], int] = {}
        self._stacks: dict[tuple[int, ...], int] = {}
        self._locations: dict[int, int] = {}  # by step number
        self._functions: dict[tuple[str, str, str, int], int] = {}
        self._mappings: dict[BinaryId, int] = {}
        self._limits: dict[BinaryId, int] = {}  # end of the known address range of each binary

    def text(self, value: str) -> int:
        """Return the number of a text."""
        return self._texts.setdefault(value, len(self._texts))

    def attribute(self, key: str, value: str) -> int:
        """Return the number of an attribute with a text value."""
        return _numbered(self._attributes, (key, value))

    def stack(self, steps: tuple[int, ...]) -> int:
        """Return the number of a stack, given by its steps, outermost first."""
        return _numbered(self._stacks, steps)

    def message(self) -> bytes:
        """Return the tables; each is built before the tables that it refers to, which it may extend."""
        stacks = [packed(1, [self._location(step) for step in reversed(steps)]) for steps in self._stacks]
        locations = [self._told_location(number, self._content.step(number)) for number in self._locations]
        functions = [self._told_function(*function) for function in self._functions]
        mappings = [self._told_mapping(binary) for binary in self._mappings]
        attributes = [integer(1, self.text(key)) + message(2, text(1, value)) for key, value in self._attributes]
        tables = {
            _MAPPINGS: mappings,
            _LOCATIONS: locations,
            _FUNCTIONS: functions,
            _LINKS: [],
            _ATTRIBUTES: attributes,
            _STACKS: stacks,
        }
        told = b"".join(message(table, entry) for table, entries in tables.items() for entry in (b"", *entries))
        return told + b"".join(text(_TEXTS, each) for each in self._texts)

    def _location(self, step: int) -> int:
        return _numbered(self._locations, step)

    def _told_location(self, number: int, step: Step) -> bytes:
        key = step.name, step.symbol, step.path or step.defined_in, step.first_line
        line = integer(1, _numbered(self._functions, key)) + integer(2, step.line)
        told = message(3, line)
        if step.is_python or step.module:
            told += packed(4, [self.attribute("profile.frame.type", "cpython" if step.is_python else "native")])
        binary = self._content.binary(number)
        if binary is None:
            return told
        self._limits[binary] = max(self._limits.get(binary, 0), step.offset + 1)
        return integer(1, _numbered(self._mappings, binary)) + integer(2, step.offset) + told

    def _told_function(self, name: str, symbol: str, path: str, line: int) -> bytes:
        texts = (self.text(name), self.text(symbol), self.text(path))
        return b"".join(integer(field, value) for field, value in enumerate((*texts, line), 1))

    def _told_mapping(self, binary: BinaryId) -> bytes:
        known = {"gnu": binary.build_id, "htlhash": _htlhash(binary)}
        attributes = [
            self.attribute(f"process.executable.build_id.{kind}", value) for kind, value in known.items() if value
        ]
        return integer(2, self._limits[binary]) + integer(4, self.text(binary.path)) + packed(5, attributes)


def _htlhash(binary: BinaryId) -> str:
    """Return the hash of a binary; empty if the recorded file is missing or was replaced."""
    path = Path(binary.path)
    try:
        return htlhash(path) if binary.fingerprint and fingerprint_of(path) == binary.fingerprint else ""
    except (OSError, NoNativePartError):
        return ""


def _numbered(table: dict[_Key, int], key: _Key) -> int:
    """Return the number of an entry, added if new; 0 is the empty entry."""
    return table.setdefault(key, len(table) + 1)
