"""MLIR's bytecode, in which JAX passes programs to the runtime: the kind and the location of each op.

The encoding is described in MLIR's documentation ("MLIR Bytecode Format", versions 0 to 6). The encoding of locations
follows `BuiltinDialectBytecode.td`. Malformed input never raises: the readable part is returned, with the problem.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256

from framedex.model.programs import Program, ProgramOp
from framedex.programs.locations import Line, LocationSequence, NamedLocation, Node, OpLocations
from framedex.programs.signature import SignatureData, read_signature
from framedex.programs.tables import (
    DAMAGE_ERRORS,
    IR_SECTION,
    MAGIC,
    UNKNOWN_LOCATIONS_VERSION,
    ProgramTables,
    parse_varint,
    read_or_default,
    skip_varints,
)

MAX_OPS = 1_000_000
"""The maximum number of ops read from a program, which takes some seconds."""

MAX_LINE = 2**31 - 1
"""The greatest valid line number."""

_ISOLATED_REGIONS_VERSION, _USE_LISTS_VERSION = 2, 3  # since this version
_HAS_ATTRIBUTES, _HAS_RESULTS, _HAS_OPERANDS, _HAS_SUCCESSORS, _HAS_REGIONS = 1, 2, 4, 8, 16
_HAS_USE_LISTS, _HAS_PROPERTIES = 32, 64
_CALL_SITE, _LINE, _FUSED, _FUSED_WITH_METADATA, _NAME, _RANGE = 10, 11, 12, 13, 14, 22
_STRUCTURAL_KINDS = {"return", "func", "module", "mesh", "unrealized_conversion_cast"}  # ops without computation
_VERSION_SUFFIX = re.compile(r"_v\d+$")  # of the ops of VHLO, the stored form of StableHLO


def read_bytecode(data: bytes) -> Program:
    """Return the ops of a program in bytecode, with their lines."""
    reader = _Reader(data)
    problem = ""
    try:
        reader.read()
    except DAMAGE_ERRORS:
        problem = "it is damaged, or in an unsupported form of MLIR's bytecode: some of its ops are missing"
    else:
        if reader.is_truncated:
            problem = f"only its first {MAX_OPS:,} ops were read"
    ops: Counter[ProgramOp] = Counter()
    for (kind, location), count in reader.ops.items():
        name, frames = reader.locations.find_op(location)
        ops[ProgramOp(reader.kind(kind), name, frames)] += count
    return Program(
        name=reader.module_name(),
        ops={op: count for op, count in ops.items() if op.kind not in _STRUCTURAL_KINDS},
        problem=problem,
        signature=None if problem else read_signature(reader.tables, reader.signature_data()),
    )


@dataclass
class _Reader:
    """The state of reading a program: the tables that ops refer to, and the number of ops by kind and location."""

    data: bytes
    ops: Counter[tuple[int, int]] = field(default_factory=Counter)
    is_truncated: bool = False
    _functions: dict[int, tuple[str, ...]] = field(default_factory=dict)  # argument names, by properties
    _constants: Counter[int] = field(default_factory=Counter)  # numbers of constants, by properties
    _module_attributes: int | None = None
    _kinds: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tables = ProgramTables(self.data)
        self.locations = OpLocations(self.node)
        self._shape = sha256()
        self._function: int | None = None  # the function whose first block follows

    def read(self) -> None:
        """Read all tables and ops. Raises one of `DAMAGE_ERRORS`, and keeps the content read before."""
        self.tables.read()
        begin, end = self.tables.sections.get(IR_SECTION, (0, 0))
        self._read_ops(begin, end)

    def kind(self, number: int) -> str:
        """Return the kind of ops by its number."""
        known = self._kinds.get(number)
        if known is None:
            name = self.tables.kinds[number] if number < len(self.tables.kinds) else ""
            known = self._kinds[number] = _VERSION_SUFFIX.sub("", name)
        return known

    def module_name(self) -> str:
        """Return the name of the module, JAX's `jit_f`: the first property, or attribute, of the outermost op."""
        return read_or_default(self._module_name, "")

    def signature_data(self) -> SignatureData:
        """Return the data for a signature."""
        return SignatureData(self._functions, self._constants, self._module_attributes, self._shape.hexdigest())

    def _module_name(self) -> str:
        position, _ = self.tables.sections[IR_SECTION]
        _, position = parse_varint(self.data, position)  # one op, without arguments
        _, position = parse_varint(self.data, position)
        mask, position = self.data[position], position + 1
        _, position = parse_varint(self.data, position)
        if mask & _HAS_ATTRIBUTES:
            _, position = parse_varint(self.data, position)
        if not mask & _HAS_PROPERTIES:
            return ""
        number, _ = parse_varint(self.data, position)
        attribute, _ = parse_varint(self.data, self.tables.properties[number][0])
        return self.tables.text(attribute >> 1) if attribute & 1 else ""

    # Attributes

    def node(self, number: int) -> Node:
        """Return a location by its number."""
        return read_or_default(lambda: self._location(number), None)

    def _location(self, number: int) -> Node:
        code, position = self.tables.attribute(number)
        if code == _NAME:
            name, position = parse_varint(self.data, position)
            inner, _ = parse_varint(self.data, position)
            return NamedLocation(self.tables.text(name), inner)
        if code == _CALL_SITE:
            callee, position = parse_varint(self.data, position)
            caller, _ = parse_varint(self.data, position)
            return LocationSequence((callee, caller))
        if code in (_LINE, _RANGE):
            file, position = parse_varint(self.data, position)
            form, position = parse_varint(self.data, position) if code == _RANGE else (1, position)
            line, _ = parse_varint(self.data, position) if form else (0, position)
            return Line(self.tables.text(file), line if line <= MAX_LINE else 0)
        if code in (_FUSED, _FUSED_WITH_METADATA):
            count, position = parse_varint(self.data, position)
            parts = []
            for _ in range(min(count, len(self.data))):
                part, position = parse_varint(self.data, position)
                parts.append(part)
            return LocationSequence(tuple(parts))
        return None

    # Ops

    def _read_ops(self, position: int, end: int) -> None:
        """Count the ops of the section, in regions nested to any depth."""
        blocks = [1]  # blocks left in each open region, the innermost last
        left = [0]  # ops left in the block of each open region
        seen = 0
        pending: list[list[bool]] = [[]]  # in each open region, the regions left of the current op
        while blocks:
            if pending[-1]:
                if pending[-1].pop():
                    _, position, _ = self.tables.section(position)
                count, position = parse_varint(self.data, position)
                if count:
                    _, position = parse_varint(self.data, position)  # values
                    blocks.append(count)
                    left.append(0)
                    pending.append([])
            elif left[-1]:
                left[-1] -= 1
                seen += 1
                if seen > MAX_OPS:
                    self.is_truncated = True
                    return
                position, pending[-1] = self._read_op(position, end)
            elif blocks[-1]:
                blocks[-1] -= 1
                count, position = parse_varint(self.data, position)
                left[-1] = count >> 1
                if count & 1:
                    position = self._skip_arguments(position, end)
            else:
                blocks.pop()
                left.pop()
                pending.pop()

    def _read_op(self, position: int, end: int) -> tuple[int, list[bool]]:
        """Count one op; return its end, and whether each of its regions begins with a section.

        The end of an op is before its regions. The regions are in reverse order.
        """
        data = self.data
        kind, position = parse_varint(data, position)
        mask = data[position]
        location, position = parse_varint(data, position + 1)
        self.ops[kind, location] += 1
        self._function = None
        if mask & _HAS_ATTRIBUTES:
            attributes, position = parse_varint(data, position)
            if self.kind(kind) == "module" and self._module_attributes is None:
                self._module_attributes = attributes
        if mask & _HAS_PROPERTIES:
            properties, position = parse_varint(data, position)
            if self.kind(kind) == "constant":
                self._constants[properties] += 1
            elif self.kind(kind) == "func":
                self._functions[properties] = ()
                self._function = properties
        begin = position
        results = 0
        if mask & _HAS_RESULTS:
            results, position = self.tables.count(position, end)
            position = skip_varints(data, position, results)
        if mask & _HAS_OPERANDS:
            count, position = self.tables.count(position, end)
            position = skip_varints(data, position, count)
        if mask & _HAS_SUCCESSORS:
            count, position = self.tables.count(position, end)
            position = skip_varints(data, position, count)
        if mask & _HAS_USE_LISTS:
            position = self._skip_use_lists(position, end, results)
        self._shape.update(b"%s " % self.kind(kind).encode() + data[begin:position])
        if not mask & _HAS_REGIONS:
            return position, []
        count, position = parse_varint(data, position)
        if count >> 1 > end - position:
            raise ValueError("an op declares more regions than its section can hold")
        is_isolated = bool(count & 1) and self.tables.version >= _ISOLATED_REGIONS_VERSION
        return position, [*[False] * ((count >> 1) - 1), is_isolated] if count >> 1 else []

    def _skip_arguments(self, position: int, end: int) -> int:
        count, position = self.tables.count(position, end)
        names = []
        for _ in range(count):
            kind, position = parse_varint(self.data, position)
            if self.tables.version < UNKNOWN_LOCATIONS_VERSION or kind & 1:
                location, position = parse_varint(self.data, position)
                if self._function is not None:
                    node = self.node(location)
                    names.append(node.name if isinstance(node, NamedLocation) else "")
            else:
                names.append("")
        if self._function is not None:
            self._functions[self._function] = tuple(names)
            self._function = None
        if self.tables.version >= _USE_LISTS_VERSION:
            mask, position = self.data[position], position + 1
            if mask & _HAS_USE_LISTS:
                position = self._skip_use_lists(position, end, count)
        return position

    def _skip_use_lists(self, position: int, end: int, values: int) -> int:
        lists = 1
        if values != 1:
            lists, position = self.tables.count(position, end)
        for _ in range(lists):
            if values != 1:
                _, position = parse_varint(self.data, position)
            count, position = parse_varint(self.data, position)
            if count >> 1 > end - position:
                raise ValueError("a list is truncated")
            position = skip_varints(self.data, position, count >> 1)
        return position


def read_program(data: bytes) -> Program:
    """Return the ops of a program with their lines. Never raises: errors are in its `problem`."""
    if data.startswith(MAGIC):
        return read_bytecode(data)
    return Program(problem="its format is not supported")
