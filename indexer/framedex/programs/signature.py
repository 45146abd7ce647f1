"""The signature of a program: types, names and attributes of its arguments and results, and its constants.

JAX stores StableHLO as VHLO, whose encoding `VhloBytecode.cpp` of StableHLO describes. Shardings use Shardy's encoding
(`SdyBytecode`). Unknown parts are shown as their bytes, so that two signatures can still be compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from framedex.model.programs import Parameter, Signature
from framedex.programs.tables import ByteExtent, ProgramTables, parse_signed_varint, parse_varint, read_or_default

MAX_VALUES = 8
"""The maximum number of shown values of a constant."""

MAX_CONSTANTS = 200
"""The maximum number of constants listed separately."""

# Limits for nested attributes, which may repeat each other many times.
_MAX_DEPTH, _MAX_PARTS, _MAX_PART_CHARACTERS = 20, 100, 200
_ARRAY, _BOOLEAN, _DICTIONARY, _INTEGER, _STRING, _TENSOR, _TYPE = 1, 2, 6, 9, 14, 15, 17  # of VHLO's attributes
_BUILTIN_DICTIONARY, _BUILTIN_STRING, _BUILTIN_INTEGER = 1, 2, 8
_COMPLEX, _FUNCTION, _RANKED, _RANKED_ENCODED = 1, 8, 20, 21  # of VHLO's types
_TYPE_NAMES = {
    **{0: "bool", 2: "bfloat16", 3: "float16", 4: "float32", 5: "float64", 6: "float8_e4m3fn", 7: "float8_e5m2"},
    **{9: "index", 10: "int4", 11: "int8", 12: "int16", 13: "int32", 14: "int64", 15: "uint4", 16: "uint8"},
    **{17: "uint16", 18: "uint32", 19: "uint64", 22: "token", 27: "float8_e4m3fnuz", 28: "float8_e5m2fnuz"},
    **{29: "float8_e4m3b11fnuz", 31: "int2", 32: "uint2", 35: "float8_e4m3", 36: "float8_e3m4", 37: "float4_e2m1fn"},
    **{38: "float6_e2m3fn", 39: "float6_e3m2fn", 40: "float8_e8m0fnu"},
}
_DYNAMIC_LENGTH = -(2**63)  # an unknown length
_MESH_AXIS, _AXIS, _DIMENSION, _SHARDING = 1, 4, 5, 6  # of Shardy's attributes
_PARTITIONING_TARGET = "CustomSPMDPartitioning"
_OBJECT_ID = re.compile(r"[0-9]{9,20}")
_ELEMENT_BYTES = {  # bytes of a number that NumPy reads
    **{"float16": 2, "float32": 4, "float64": 8, "complex64": 8, "complex128": 16},
    **{f"{sign}int{8 * size}": size for sign in ("", "u") for size in (1, 2, 4, 8)},
}


@dataclass(frozen=True, slots=True)
class SignatureData:
    """The data from a program's ops for its signature.

    `functions` has the argument names of each function by its properties, and `constants` the number of constants by
    their properties. `attributes` are the module's attributes. `ops` is a digest of the ops and their data flow.
    """

    functions: Mapping[int, tuple[str, ...]]
    constants: Mapping[int, int]
    attributes: int | None
    ops: str


def read_signature(tables: ProgramTables, signature_data: SignatureData) -> Signature | None:
    """Return the signature of a program whose tables are read; None if it has no `main` of this form."""
    return read_or_default(lambda: _ValueFormatter(tables).signature(signature_data), None)


class _ValueFormatter:
    """Readable text of attributes and types."""

    def __init__(self, tables: ProgramTables) -> None:
        self._tables = tables
        self._data = tables.data
        self._texts: dict[int, str] = {}

    def signature(self, signature_data: SignatureData) -> Signature | None:
        for properties, of_function in signature_data.functions.items():
            position, _ = self._tables.properties[properties]
            parts = []
            for _ in range(4):
                part, position = parse_varint(self._data, position)
                parts.append(part)
            if self.text(parts[3]) == "main":
                names = of_function
                break
        else:
            return None
        inputs, outputs = self._function_types(parts[1])
        arguments = self._format_parameters(inputs, names, parts[0])
        results = self._format_parameters(outputs, (), parts[2])
        module = {} if signature_data.attributes is None else dict(self._read_pairs(signature_data.attributes))
        object_ids = self._object_ids()
        return Signature(
            arguments=arguments,
            results=results,
            partitions=module.get("mhlo.num_partitions", ""),
            replicas=module.get("mhlo.num_replicas", ""),
            constants=self._format_constants(signature_data),
            code=self._code_digest(signature_data, set(object_ids)),
            mesh=read_or_default(self._mesh, {}),
            object_ids=object_ids,
        )

    def _function_types(self, number: int) -> tuple[list[str], list[str]]:
        """Return the types of a function's arguments and results, from its type attribute."""
        kind, position = parse_varint(self._data, self._tables.attributes[number].begin)
        function, _ = parse_varint(self._data, position)
        code, position = parse_varint(self._data, self._tables.types[function].begin)
        if kind != _TYPE or code != _FUNCTION:
            raise ValueError("a function does not have a function type")
        inputs, position = self._read_references(position)
        outputs, _ = self._read_references(position)
        return [self.type(each) for each in inputs], [self.type(each) for each in outputs]

    def _format_parameters(self, types: list[str], names: tuple[str, ...], attributes: int) -> tuple[Parameter, ...]:
        attributes_of: list[dict[str, str]] = [{} for _ in types]
        code, position = parse_varint(self._data, self._tables.attributes[attributes].begin)
        if code == _ARRAY:
            for place, each in enumerate(self._read_references(position)[0][: len(types)]):
                attributes_of[place] = dict(self._read_pairs(each))
        return tuple(
            Parameter(
                kind, names[place] if place < len(names) else attributes_of[place].pop("jax.result_info", ""), known
            )
            for place, (kind, known) in enumerate(zip(types, attributes_of, strict=True))
        )

    def _read_references(self, position: int) -> tuple[list[int], int]:
        count, position = self._tables.count(position, len(self._data))
        found = []
        for _ in range(count):
            each, position = parse_varint(self._data, position)
            found.append(each)
        return found, position

    def _read_pairs(self, number: int) -> Iterable[tuple[str, str]]:
        """Yield the entries of a dictionary."""
        extent = self._tables.attributes[number]
        code, position = parse_varint(self._data, extent.begin)
        if code != (_DICTIONARY if extent.dialect == "vhlo" else _BUILTIN_DICTIONARY):
            return
        count, position = self._tables.count(position, extent.end)
        for _ in range(count):
            name, position = parse_varint(self._data, position)
            value, position = parse_varint(self._data, position)
            yield self.text(name), self.text(value)

    # Attributes

    def text(self, number: int, depth: int = 0) -> str:
        """Return the text of an attribute."""
        known = self._texts.get(number)
        if known is None:
            known = self._texts[number] = self._text(number, depth)
        return known

    def _text(self, number: int, depth: int) -> str:
        extent = self._tables.attributes[number]
        if not extent.is_encoded:
            return self._data[extent.begin : extent.end].rstrip(b"\0").decode("utf-8", "replace")
        read = {
            "vhlo": self._format_vhlo_text,
            "builtin": self._format_builtin_text,
            "sdy": self._format_shardy_text,
        }.get(extent.dialect)
        known = read_or_default(lambda: read(extent, depth), "") if read is not None and depth < _MAX_DEPTH else ""
        return known or self._data[extent.begin : extent.end].hex()

    def _format_vhlo_text(self, extent: ByteExtent, depth: int) -> str:
        code, position = parse_varint(self._data, extent.begin)
        if code == _STRING:
            return self._tables.strings[parse_varint(self._data, position)[0]]
        if code == _BOOLEAN:
            return "true" if parse_varint(self._data, position)[0] else "false"
        if code == _INTEGER:
            _, position = parse_varint(self._data, position)
            return str(parse_signed_varint(self._data, position)[0])
        if code == _TYPE:
            return self.type(parse_varint(self._data, position)[0])
        if code == _TENSOR:
            return self._format_tensor_text(extent)
        if code == _ARRAY:
            return f"[{', '.join(self._format_parts(position, depth))}]"
        return ""

    def _format_builtin_text(self, extent: ByteExtent, _: int) -> str:
        code, position = parse_varint(self._data, extent.begin)
        if code == _BUILTIN_STRING:
            return self._tables.strings[parse_varint(self._data, position)[0]]
        if code == _BUILTIN_INTEGER:
            _, position = parse_varint(self._data, position)
            return str(parse_signed_varint(self._data, position)[0])
        return ""

    def _format_shardy_text(self, extent: ByteExtent, depth: int) -> str:
        """Return a sharding as JAX writes it: `P('x', None)`."""
        code, position = parse_varint(self._data, extent.begin)
        if code == _SHARDING:
            _, position = parse_varint(self._data, position)  # the mesh
            return f"P({', '.join(self._format_parts(position, depth))})"
        if code == _DIMENSION:
            axes = self._format_parts(position, depth)
            if parse_varint(self._data, self._read_references(position)[1])[0]:
                axes.append("?")  # open: the compiler may split it further
            return axes[0] if len(axes) == 1 else f"({', '.join(axes)})" if axes else "None"
        if code == _AXIS:
            name, position = parse_varint(self._data, position)
            is_part = parse_varint(self._data, position)[0] != 0
            return repr(self._tables.strings[name]) + (":part" if is_part else "")
        return ""

    def _mesh(self) -> dict[str, int]:
        """Return the axes of meshes with their sizes, without axes of different sizes in two meshes."""
        sizes: dict[str, set[int]] = {}
        for extent in self._tables.attributes:
            code, position = (
                parse_varint(self._data, extent.begin) if extent.is_encoded and extent.dialect == "sdy" else (-1, 0)
            )
            if code == _MESH_AXIS:
                name, position = parse_varint(self._data, position)
                sizes.setdefault(self._tables.strings[name], set()).add(parse_signed_varint(self._data, position)[0])
        return {name: size for name, (size, *others) in sizes.items() if not others}

    def _format_parts(self, position: int, depth: int) -> list[str]:
        """Return an attribute's elements as strings."""
        return [
            self.text(each, depth + 1)[:_MAX_PART_CHARACTERS]
            for each in self._read_references(position)[0][:_MAX_PARTS]
        ]

    # Types

    def type(self, number: int, depth: int = 0) -> str:
        """Return a type in NumPy's notation: `float32[3,4]`."""
        extent = self._tables.types[number]
        if not extent.is_encoded or extent.dialect != "vhlo" or depth > _MAX_DEPTH:
            return self._data[extent.begin : extent.end].rstrip(b"\0").decode("utf-8", "replace")
        code, position = parse_varint(self._data, extent.begin)
        if code in (_RANKED, _RANKED_ENCODED):
            if code == _RANKED_ENCODED:
                _, position = parse_varint(self._data, position)
            count, position = self._tables.count(position, extent.end)
            lengths = []
            for _ in range(count):
                length, position = parse_signed_varint(self._data, position)
                lengths.append("?" if length == _DYNAMIC_LENGTH else str(length))
            return f"{self.type(parse_varint(self._data, position)[0], depth + 1)}[{','.join(lengths)}]"
        if code == _COMPLEX:
            return {"float32": "complex64", "float64": "complex128"}[
                self.type(parse_varint(self._data, position)[0], depth + 1)
            ]
        return _TYPE_NAMES.get(code) or self._data[extent.begin : extent.end].hex()

    # Constants and ops

    def _format_constants(self, signature_data: SignatureData) -> tuple[str, ...]:
        """Return the constants in order; those beyond `MAX_CONSTANTS` as one digest."""
        found = sorted(self._format_constant_text(each) for each in Counter(signature_data.constants).elements())
        rest = found[MAX_CONSTANTS:]
        digest = sha256("\0".join(rest).encode()).hexdigest()[:8]
        return (*found[:MAX_CONSTANTS], *([f"{len(rest)} more {digest}"] if rest else ()))

    def _format_constant_text(self, properties: int) -> str:
        """Return the constant of a constant op."""
        position, _ = self._tables.properties[properties]
        return self.text(parse_varint(self._data, position)[0])

    def _format_tensor_text(self, extent: ByteExtent) -> str:
        """Return an array: its values if they are few, else its type and a digest."""
        _, position = parse_varint(self._data, extent.begin)
        number, position = parse_varint(self._data, position)
        size, position = parse_varint(self._data, position)
        kind, content = self.type(number), self._data[position : position + size]
        dtype, _, shape = kind.partition("[")
        values = read_or_default(lambda: _format_values(dtype, content), None)
        if values is None:
            return f"{kind} {sha256(content).hexdigest()[:8]}"
        written = ", ".join(values)
        return written if shape == "]" else f"{kind} [{written}]"

    def _object_ids(self) -> tuple[str, ...]:
        """Return the ids of Python objects in the ops: JAX names each `custom_partitioning` call by one."""
        if _PARTITIONING_TARGET not in self._tables.strings:
            return ()
        return tuple(sorted({text for text in self._tables.strings if _OBJECT_ID.fullmatch(text)}))

    def _code_digest(self, signature_data: SignatureData, ignored: Collection[str]) -> str:
        """Return a digest of the ops and their attributes, without constants, argument names, lines and `ignored`."""
        constants = {parse_varint(self._data, self._tables.properties[each][0])[0] for each in signature_data.constants}
        texts = {self.type(number) for number in range(len(self._tables.types))}
        for number, extent in enumerate(self._tables.attributes):
            code = parse_varint(self._data, extent.begin)[0] if extent.is_encoded else -1
            # A container refers to its elements by number, and these numbers change with the lines of a program.
            is_plain = extent.dialect == "vhlo" and code not in (_ARRAY, _DICTIONARY, -1)
            if number not in constants and (is_plain or (extent.dialect == "sdy" and code == _SHARDING)):
                texts.add(self.text(number))
        texts.difference_update(ignored)
        return sha256("\0".join((signature_data.ops, *sorted(texts))).encode()).hexdigest()[:16]


def _format_values(dtype: str, content: bytes) -> list[str] | None:
    """Return a few values of a constant as text; None if there are many, or the type is unsupported."""
    if dtype == "bfloat16" and len(content) <= 2 * MAX_VALUES:
        widened = b"".join(b"\0\0" + content[position : position + 2] for position in range(0, len(content), 2))
        return _format_values("float32", widened)
    if dtype == "bool":  # eight per byte, and their number is not stored
        return [{0: "False", 255: "True"}[content[0]]] if len(content) == 1 and content[0] in (0, 255) else None
    size = _ELEMENT_BYTES.get(dtype, 0)
    if not size or not content or len(content) > MAX_VALUES * size or len(content) % size:
        return None
    return [str(value) for value in np.frombuffer(content, np.dtype(dtype).newbyteorder("<"))]
