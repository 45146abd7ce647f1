"""MLIR's bytecode, in which JAX passes programs to the runtime: the kind and the location of each op.

The encoding is described in MLIR's documentation ("MLIR Bytecode Format", versions 0 to 6). The encoding of locations
follows `BuiltinDialectBytecode.td`. Malformed input raises nothing: the readable part is returned with the problem.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256

from framedex.model.programs import Program, ProgramOp
from framedex.programs.encoding import Damage, found_or, past, varint
from framedex.programs.locations import Joined, Line, Locations, Named, Node
from framedex.programs.signature import Reading, read_signature
from framedex.programs.tables import IR, UNKNOWN_LOCATIONS, Tables

MOST_OPS = 1_000_000
"""The maximum number of ops read from a program, which takes some seconds."""

MOST_LINE = 2**31 - 1
"""The greatest valid line number."""

_REGIONS_APART, _USE_LISTS = 2, 3  # since version
_HAS_ATTRIBUTES, _HAS_RESULTS, _HAS_OPERANDS, _HAS_SUCCESSORS, _HAS_REGIONS = 1, 2, 4, 8, 16
_HAS_USE_LISTS, _HAS_PROPERTIES = 32, 64
_CALL_SITE, _LINE, _FUSED, _FUSED_WITH_METADATA, _NAME, _RANGE = 10, 11, 12, 13, 14, 22
_STRUCTURE = {"return", "func", "module", "mesh", "unrealized_conversion_cast"}  # ops without computation
_VERSION = re.compile(r"_v\d+$")  # of the ops of VHLO, the stored form of StableHLO


def read_bytecode(data: bytes) -> Program:
    """Return the ops of a program in bytecode, with their lines."""
    reader = _Reader(data)
    problem = ""
    try:
        reader.read()
    except Damage:
        problem = "it is damaged, or in a form of MLIR's bytecode that is not known: some of its ops are missing"
    else:
        if reader.is_cut:
            problem = f"only its first {MOST_OPS:,} ops were looked at"
    ops: Counter[ProgramOp] = Counter()
    for (kind, location), count in reader.ops.items():
        name, frames = reader.locations.of_op(location)
        ops[ProgramOp(reader.kind(kind), name, frames)] += count
    return Program(
        name=reader.module_name(),
        ops={op: count for op, count in ops.items() if op.kind not in _STRUCTURE},
        problem=problem,
        signature=None if problem else read_signature(reader.tables, reader.met()),
    )


@dataclass
class _Reader:
    """The state of reading a program: the tables that ops refer to, and the number of ops by kind and location."""

    data: bytes
    ops: Counter[tuple[int, int]] = field(default_factory=Counter)
    is_cut: bool = False
    _functions: dict[int, tuple[str, ...]] = field(default_factory=dict)  # by properties: argument names
    _constants: Counter[int] = field(default_factory=Counter)  # by properties
    _module_attributes: int | None = None
    _kinds: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tables = Tables(self.data)
        self.locations = Locations(self.node)
        self._shape = sha256()
        self._function: int | None = None  # whose block follows

    def read(self) -> None:
        """Read all tables and ops. Raises one of `Damage`; the content read before stays."""
        self.tables.read()
        begin, end = self.tables.sections.get(IR, (0, 0))
        self._read_ops(begin, end)

    def kind(self, number: int) -> str:
        """Return the kind of ops by its number."""
        known = self._kinds.get(number)
        if known is None:
            name = self.tables.kinds[number] if number < len(self.tables.kinds) else ""
            known = self._kinds[number] = _VERSION.sub("", name)
        return known

    def module_name(self) -> str:
        """Return the name of the module, JAX's `jit_f`: the first property, or attribute, of the outermost op."""
        return found_or(self._module_name, "")

    def met(self) -> Reading:
        """Return the data for a signature."""
        return Reading(self._functions, self._constants, self._module_attributes, self._shape.hexdigest())

    def _module_name(self) -> str:
        at, _ = self.tables.sections[IR]
        _, at = varint(self.data, at)  # one op, without arguments
        _, at = varint(self.data, at)
        mask, at = self.data[at], at + 1
        _, at = varint(self.data, at)
        if mask & _HAS_ATTRIBUTES:
            _, at = varint(self.data, at)
        if not mask & _HAS_PROPERTIES:
            return ""
        number, _ = varint(self.data, at)
        attribute, _ = varint(self.data, self.tables.properties[number][0])
        return self.tables.text(attribute >> 1) if attribute & 1 else ""

    # Attributes

    def node(self, number: int) -> Node:
        """Return a location by its number."""
        return found_or(lambda: self._location(number), None)

    def _location(self, number: int) -> Node:
        code, at = self.tables.attribute(number)
        if code == _NAME:
            name, at = varint(self.data, at)
            inner, _ = varint(self.data, at)
            return Named(self.tables.text(name), inner)
        if code == _CALL_SITE:
            callee, at = varint(self.data, at)
            caller, _ = varint(self.data, at)
            return Joined((callee, caller))
        if code in (_LINE, _RANGE):
            file, at = varint(self.data, at)
            form, at = varint(self.data, at) if code == _RANGE else (1, at)
            line, _ = varint(self.data, at) if form else (0, at)
            return Line(self.tables.text(file), line if line <= MOST_LINE else 0)
        if code in (_FUSED, _FUSED_WITH_METADATA):
            count, at = varint(self.data, at)
            parts = []
            for _ in range(min(count, len(self.data))):
                part, at = varint(self.data, at)
                parts.append(part)
            return Joined(tuple(parts))
        return None

    # Ops

    def _read_ops(self, at: int, end: int) -> None:
        """Count the ops of the section, in regions nested to any depth."""
        blocks = [1]  # blocks left in each open region, the innermost last
        left = [0]  # ops left in the block of each open region
        seen = 0
        pending: list[list[bool]] = [[]]  # regions left of the present op in each open region
        while blocks:
            if pending[-1]:
                if pending[-1].pop():
                    _, at, _ = self.tables.section(at)
                count, at = varint(self.data, at)
                if count:
                    _, at = varint(self.data, at)  # values
                    blocks.append(count)
                    left.append(0)
                    pending.append([])
            elif left[-1]:
                left[-1] -= 1
                seen += 1
                if seen > MOST_OPS:
                    self.is_cut = True
                    return
                at, pending[-1] = self._read_op(at, end)
            elif blocks[-1]:
                blocks[-1] -= 1
                count, at = varint(self.data, at)
                left[-1] = count >> 1
                if count & 1:
                    at = self._past_arguments(at, end)
            else:
                blocks.pop()
                left.pop()
                pending.pop()

    def _read_op(self, at: int, end: int) -> tuple[int, list[bool]]:
        """Count one op; return its end, and for each of its regions whether it begins with a section.

        The end is before its regions. The regions are in reverse order.
        """
        data = self.data
        kind, at = varint(data, at)
        mask = data[at]
        location, at = varint(data, at + 1)
        self.ops[kind, location] += 1
        self._function = None
        if mask & _HAS_ATTRIBUTES:
            attributes, at = varint(data, at)
            if self.kind(kind) == "module" and self._module_attributes is None:
                self._module_attributes = attributes
        if mask & _HAS_PROPERTIES:
            properties, at = varint(data, at)
            if self.kind(kind) == "constant":
                self._constants[properties] += 1
            elif self.kind(kind) == "func":
                self._functions[properties] = ()
                self._function = properties
        begin = at
        results = 0
        if mask & _HAS_RESULTS:
            results, at = self.tables.count(at, end)
            at = past(data, at, results)
        if mask & _HAS_OPERANDS:
            count, at = self.tables.count(at, end)
            at = past(data, at, count)
        if mask & _HAS_SUCCESSORS:
            count, at = self.tables.count(at, end)
            at = past(data, at, count)
        if mask & _HAS_USE_LISTS:
            at = self._past_use_lists(at, end, results)
        self._shape.update(b"%s " % self.kind(kind).encode() + data[begin:at])
        if not mask & _HAS_REGIONS:
            return at, []
        count, at = varint(data, at)
        if count >> 1 > end - at:
            raise ValueError("there are more regions than there is room for")
        is_apart = bool(count & 1) and self.tables.version >= _REGIONS_APART
        return at, [*[False] * ((count >> 1) - 1), is_apart] if count >> 1 else []

    def _past_arguments(self, at: int, end: int) -> int:
        count, at = self.tables.count(at, end)
        names = []
        for _ in range(count):
            kind, at = varint(self.data, at)
            if self.tables.version < UNKNOWN_LOCATIONS or kind & 1:
                location, at = varint(self.data, at)
                if self._function is not None:
                    node = self.node(location)
                    names.append(node.name if isinstance(node, Named) else "")
            else:
                names.append("")
        if self._function is not None:
            self._functions[self._function] = tuple(names)
            self._function = None
        if self.tables.version >= _USE_LISTS:
            mask, at = self.data[at], at + 1
            if mask & _HAS_USE_LISTS:
                at = self._past_use_lists(at, end, count)
        return at

    def _past_use_lists(self, at: int, end: int, values: int) -> int:
        lists = 1
        if values != 1:
            lists, at = self.tables.count(at, end)
        for _ in range(lists):
            if values != 1:
                _, at = varint(self.data, at)
            count, at = varint(self.data, at)
            if count >> 1 > end - at:
                raise ValueError("a list is cut off")
            at = past(self.data, at, count >> 1)
        return at
