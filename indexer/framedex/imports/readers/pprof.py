"""Reads pprof profiles: a protocol buffer, usually compressed with gzip (google/pprof, proto/profile.proto).

The first pass reads the definitions, which usually come after the samples. The second pass reads the samples.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from framedex.base.protobuf import Message, to_signed
from framedex.imports.building import ProfileBuilder
from framedex.imports.modules import Mapping, Modules
from framedex.imports.names import build_imported_frame
from framedex.imports.source import Source
from framedex.imports.values import ValueType, WeightRules
from framedex.imports.wire import parse_first_fields, stream_fields
from framedex.model import ImportedFrame, NativeFrame

_SAMPLE_TYPE, _SAMPLE, _MAPPING, _LOCATION, _FUNCTION, _STRING = range(1, 7)
_TIME, _PERIOD_TYPE, _DEFAULT_TYPE = 9, 11, 14
_MESSAGES = frozenset((_SAMPLE_TYPE, _SAMPLE, _MAPPING, _LOCATION, _FUNCTION, _STRING, _PERIOD_TYPE))
_INTEGERS = frozenset((7, 8, _TIME, 10, 12, _DEFAULT_TYPE, 15))
_COMMENTS = 13  # integers, packed or not
_HASHED_SYMBOL = re.compile(r"17h[0-9a-f]{16}E$")  # a Rust symbol: its demangled name is better
_THREAD_IDS = ("thread_id", "tid", "thread id")
_THREAD_NAMES = ("thread", "thread_name", "thread name", "comm")


def matches(head: bytes) -> bool:
    """Whether the first bytes are fields of a profile, with a sample type or a sample."""
    seen = set()
    try:
        for number, value in parse_first_fields(head):
            if number != _COMMENTS and number not in (_MESSAGES if isinstance(value, bytes) else _INTEGERS):
                return False
            if number == _SAMPLE_TYPE and isinstance(value, bytes) and not _is_type(Message(value)):
                return False
            seen.add(number)
    except ValueError:
        return False
    return bool(seen & {_SAMPLE_TYPE, _SAMPLE})


def _is_type(message: Message) -> bool:
    """Whether a message can be a sample type: the numbers of two strings."""
    return message.numbers() <= {1, 2} and not message.contents(1) and not message.contents(2)


class _Line(NamedTuple):
    """A line of a location, with the id of its function."""

    function: int
    line: int


@dataclass(slots=True)
class _Location:
    mapping: int
    address: int
    lines: list[_Line]


class _Function(NamedTuple):
    """A function. Its names are numbers of strings."""

    name: int
    system_name: int
    file: int
    first_line: int


@dataclass(slots=True)
class _Tables:
    """The definitions of a profile, by id."""

    strings: list[str] = field(default_factory=list)
    types: list[tuple[int, int]] = field(default_factory=list)
    mappings: dict[int, Mapping] = field(default_factory=dict)
    locations: dict[int, _Location] = field(default_factory=dict)
    functions: dict[int, _Function] = field(default_factory=dict)
    default_type: int = 0

    def text(self, number: int) -> str:
        """The string with this number."""
        if not 0 <= number < len(self.strings):
            raise ValueError(f"it refers to string {number} of {len(self.strings)}")
        return self.strings[number]


def read(source: Source, builder: ProfileBuilder) -> None:
    """Read the profile. Raises ValueError as `ImportFormat.read` does."""
    tables = _read_tables(source, builder)
    types = [ValueType(tables.text(name), tables.text(unit)) for name, unit in tables.types]
    if not types:
        raise ValueError("it has no sample types")
    names, usual = [value.name for value in types], tables.text(tables.default_type)
    builder.set_weight_rules(WeightRules(types, builder.wanted, names.index(usual) if usual in names else -1))
    stacks = _StackConverter(tables, builder)
    with source.open() as file:
        for number, content in stream_fields(file):
            if number == _SAMPLE and isinstance(content, bytes):
                _add_sample(Message(content), len(types), tables, stacks, builder)


def _read_tables(source: Source, builder: ProfileBuilder) -> _Tables:
    tables = _Tables()
    functions, locations = tables.functions, tables.locations
    mappings: dict[int, Message] = {}
    with source.open() as file:
        for number, content in stream_fields(file):
            if isinstance(content, int):
                if number == _TIME and content:
                    builder.started_unix_ns = max(to_signed(content), 0)
                elif number == _DEFAULT_TYPE:
                    tables.default_type = content
            elif number == _STRING:
                tables.strings.append(content.decode("utf-8", "replace"))
            elif number in (_SAMPLE_TYPE, _MAPPING, _LOCATION, _FUNCTION):
                of = Message(content)
                if number == _SAMPLE_TYPE:
                    tables.types.append((of.integer(1), of.integer(2)))
                elif number == _MAPPING:
                    mappings[of.integer(1)] = of
                elif number == _FUNCTION:
                    functions[of.integer(1)] = _Function(of.integer(2), of.integer(3), of.integer(4), of.signed(5))
                else:
                    lines = [_Line(line.integer(1), line.signed(2)) for line in map(Message, of.contents(4))]
                    locations[of.integer(1)] = _Location(of.integer(2), of.integer(3), lines)
    for identifier, of in mappings.items():
        path, build_id = tables.text(of.integer(5)), tables.text(of.integer(6))
        tables.mappings[identifier] = Mapping(path, of.integer(2), of.integer(3), of.integer(4), build_id)
    return tables


class _StackConverter:
    """Converts the locations of stacks to frames, innermost first."""

    def __init__(self, tables: _Tables, builder: ProfileBuilder) -> None:
        self._read_tables = tables
        self._builder = builder
        self._modules = Modules(builder)
        self._frames: dict[int, tuple[int, ...]] = {}  # of a location, innermost first

    def frames(self, locations: list[int]) -> list[int]:
        """The numbers of the frames of a stack."""
        frames: list[int] = []
        for location in locations:
            found = self._frames.get(location)
            if found is None:
                found = self._frames[location] = tuple(map(self._builder.add_frame, self._frames_at(location)))
            frames += found
        return frames

    def _frames_at(self, identifier: int) -> list[NativeFrame | ImportedFrame]:
        """The frames at a location, with inlined frames, innermost first."""
        location = self._read_tables.locations.get(identifier)
        if location is None:
            raise ValueError(f"a sample refers to location {identifier}, which is missing")
        mapping = self._read_tables.mappings.get(location.mapping)
        if not location.lines:
            return [self._modules.frame(mapping, location.address)]
        module = "" if mapping is None else mapping.path
        last = len(location.lines) - 1
        return [
            self._build_frame(line, module, place < last)
            if line.function
            else self._modules.frame(mapping, location.address)
            for place, line in enumerate(location.lines)
        ]

    def _build_frame(self, line: _Line, module: str, is_inlined: bool) -> ImportedFrame:
        function = self._read_tables.functions.get(line.function)
        if function is None:
            raise ValueError(f"a location refers to function {line.function}, which is missing")
        text = self._read_tables.text
        name = text(function.system_name) or text(function.name)
        file = text(function.file)
        is_plain = not name.startswith("_Z") or _HASHED_SYMBOL.search(name) is not None
        return build_imported_frame(
            text(function.name) if is_plain and function.name else name,
            *(file, line.line),
            module=module,
            first_line=function.first_line,
            is_inlined=is_inlined,
        )


def _add_sample(sample: Message, types: int, tables: _Tables, stacks: _StackConverter, builder: ProfileBuilder) -> None:
    values = [to_signed(value) for value in sample.integers(2)]
    if len(values) != types:
        raise ValueError(f"a sample has {len(values)} values instead of {types}")
    labels: dict[str, object] = {}
    tid, name = 0, ""
    for label in map(Message, sample.contents(3)):
        key, text = tables.text(label.integer(1)), tables.text(label.integer(2))
        number = label.signed(3)
        if key in _THREAD_IDS:
            tid = number or (int(text) if text.isdecimal() and len(text) < 19 else 0)
        elif key in _THREAD_NAMES and text:
            name = text
        elif key:
            labels[key] = text or number
    builder.add_sample(stacks.frames(sample.integers(1)), builder.add_thread(tid, name), values, labels)
