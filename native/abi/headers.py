"""Parse the C headers of the PJRT C API into the form of the description in this folder (`pjrt_c_api.json`).

tree-sitter parses declarations without preprocessing, so the API's own macros stay visible. PJRT_DEFINE_STRUCT_TRAITS
names the last field that counts in a struct's `struct_size`. _PJRT_API_STRUCT_FIELD declares an entry of the table.
Sizes and offsets follow from the types on LP64; the build checks them (pjrt_layout_check.cc).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tree_sitter
import tree_sitter_cpp

OURS = re.compile(r"(?:PJRT|PLUGIN|XLA_FFI)_\w+")
# Relative to an XLA checkout. C++ helpers in the same folders have no extern "C" types and are skipped.
HEADERS = (
    "xla/pjrt/c/*.h",
    "xla/pjrt/extensions/*/*.h",
    "xla/backends/profiler/plugin/profiler_c_api.h",
    "xla/ffi/api/c_api.h",
)
SCALARS = {
    **dict.fromkeys(("bool", "char", "int8_t", "uint8_t"), 1),
    **dict.fromkeys(("int16_t", "uint16_t"), 2),
    **dict.fromkeys(("int", "int32_t", "uint32_t", "float"), 4),
    **dict.fromkeys(("int64_t", "uint64_t", "size_t", "intptr_t", "uintptr_t", "double"), 8),
}
WORD = 8
TABLE = "PJRT_Api"
OUTPUT = re.compile(r"[ \t]*//[ \t]*(?P<input>in[/-])?out(?:put)?s?\b", re.IGNORECASE)

_CPLUSPLUS = re.compile(r"#ifdef __cplusplus\s(?:(?:(?!#endif).)*#else)?(.*?)#endif", re.DOTALL)
_BRACES = re.compile(r'extern "C" \{|^\}\s*// extern "C"|^\}\s*$', re.MULTILINE)
_TRAITS = re.compile(r"\w+_DEFINE_STRUCT_TRAITS\(\s*(\w+),\s*(\w+)\s*\);?")
_ENTRY = re.compile(r"(?<!define )_\w+_API_STRUCT_FIELD\(\s*(\w+)\s*\);?")
_ATTRIBUTE = re.compile(r"(?<!define )\bPJRT_(?:NO_DISCARD|CAPI_EXPORT)\b")
_NUMBER = re.compile(r"#define (PJRT_API_M(?:AJOR|INOR)) (\d+)")
_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))

# A description, as parsed JSON.
Description = dict[str, Any]


@dataclass
class _Declarations:
    """The declarations in the headers, before sizes and offsets are known."""

    fields: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    enums: dict[str, dict[str, int]] = field(default_factory=dict)
    typedefs: dict[str, str] = field(default_factory=dict)
    last_fields: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)


def headers_of(checkout: Path) -> list[Path]:
    """The C headers of the API in an XLA checkout."""
    return [path for pattern in HEADERS for path in sorted(checkout.glob(pattern)) if 'extern "C"' in path.read_text()]


def describe(headers: Iterable[Path]) -> Description:
    """The functions, structs, enums, typedefs and version of these headers."""
    read = _Declarations()
    for path in headers:
        _read_header(path.read_text(), read)
    layout = _Layout(read)
    return {
        "pjrt_api_version": {name: read.numbers.get(f"PJRT_API_{name.upper()}", 0) for name in ("major", "minor")},
        "functions": [
            _function(entry["name"], read) for entry in read.fields.get(TABLE, ()) if entry["name"] in read.typedefs
        ],
        "structs": {
            name: layout.struct(name) for name in sorted(read.fields) if name != TABLE and layout.is_known(name)
        },
        "enums": read.enums,
        "typedefs": _typedefs(read),
    }


def _typedefs(read: _Declarations) -> dict[str, str]:
    """The typedefs besides structs and table entries: opaque types, callbacks and functions of extensions."""
    entries = {entry["name"] for entry in read.fields.get(TABLE, ())}
    return {name: target for name, target in read.typedefs.items() if name not in entries and name not in read.fields}


def _function(name: str, read: _Declarations) -> dict[str, str]:
    returns, _, arguments = read.typedefs.get(name, "").partition(" (")
    return {"name": name, "args": arguments.removesuffix("*)"), "returns": returns}


def _read_header(text: str, read: _Declarations) -> None:
    text = _CPLUSPLUS.sub(lambda match: _BRACES.sub("", match[1]), text)
    read.last_fields |= {name: last for name, last in _TRAITS.findall(text) if name != "sname"}
    read.numbers |= {name: int(number) for name, number in _NUMBER.findall(text)}
    text = _ENTRY.sub(r"\1* \1;", _ATTRIBUTE.sub("", _TRAITS.sub("", text)))
    for node in _declarations(_PARSER.parse(text.encode()).root_node):
        if node.type == "type_definition":
            _typedef(node, read)
        elif node.type in ("struct_specifier", "enum_specifier"):
            _struct_or_enum(node, _text(node.child_by_field_name("name")), read)
        elif node.type == "declaration" and (specifier := node.child_by_field_name("type")):
            _struct_or_enum(specifier, _text(specifier.child_by_field_name("name")), read)


def _declarations(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The declarations at file scope, including those in include guards."""
    for child in node.named_children:
        if child.type.startswith("preproc_if"):
            yield from _declarations(child)
        else:
            yield child


def _typedef(node: tree_sitter.Node, read: _Declarations) -> None:
    target = node.child_by_field_name("type")
    declarator = node.child_by_field_name("declarator")
    name = _declared_name(declarator)
    if not target or not declarator or not OURS.fullmatch(name):
        return
    if target.type in ("struct_specifier", "enum_specifier") and target.child_by_field_name("body"):
        tag = _text(target.child_by_field_name("name")) or name
        _struct_or_enum(target, tag, read)
        if tag != name:
            read.typedefs[name] = tag
    elif _text(target) == f"struct {name}":
        read.typedefs.setdefault(name, name)
    else:
        read.typedefs[name] = _type_of(node, declarator)


def _struct_or_enum(node: tree_sitter.Node, name: str, read: _Declarations) -> None:
    body = node.child_by_field_name("body")
    if body is None or not OURS.fullmatch(name):
        return
    if node.type == "struct_specifier":
        read.fields[name] = list(_fields(body))
    elif node.type == "enum_specifier":
        read.enums[name] = _enumerators(body)


def _fields(body: tree_sitter.Node) -> Iterator[dict[str, Any]]:
    source = body.text or b""
    for node in body.named_children:
        if node.type != "field_declaration":
            continue
        specifier = node.child_by_field_name("type")
        inner = specifier.child_by_field_name("body") if specifier else None
        if inner and specifier and specifier.type == "union_specifier":
            yield {"name": None, "type": "<anonymous union>", "kind": "union", "fields": list(_fields(inner))}
            continue
        for declarator in node.children_by_field_name("declarator"):
            entry: dict[str, Any] = {"name": _declared_name(declarator), "type": _type_of(node, declarator)}
            if parameters := _parameters(declarator):
                entry["parameters"] = parameters
            if output := OUTPUT.match(source[node.end_byte - body.start_byte :].decode()):
                entry["out"] = True
                if output["input"]:
                    entry["in"] = True
            yield entry


def _parameters(declarator: tree_sitter.Node) -> list[str]:
    """The names of a function's parameters; empty if the member is not a function, or its parameters have no names."""
    parameters = declarator.child_by_field_name("parameters")
    if declarator.type == "pointer_declarator":
        return _parameters(inner) if (inner := declarator.child_by_field_name("declarator")) else []
    declared = parameters.named_children if parameters else []
    names = [_declared_name(node.child_by_field_name("declarator")) for node in declared]
    return names if all(names) else []


def _enumerators(body: tree_sitter.Node) -> dict[str, int]:
    values: dict[str, int] = {}
    following = 0
    for node in body.named_children:
        if node.type == "enumerator":
            value = node.child_by_field_name("value")
            number = _integer(_text(value), values) if value else following
            values[_text(node.child_by_field_name("name"))] = number
            following = number + 1
    return values


def _integer(expression: str, known: dict[str, int]) -> int:
    """Evaluate a number, a shift of numbers, or an earlier enumerator."""
    number, _, shift = expression.strip("()").partition("<<")
    base = known[number.strip()] if number.strip() in known else int(number.strip(" uUlL"), 0)
    return base << int(shift.strip(" uUlL") or "0", 0)


def _declared_name(declarator: tree_sitter.Node | None) -> str:
    """The name in a declarator."""
    while declarator and declarator.type not in ("identifier", "field_identifier", "type_identifier"):
        inner = declarator.child_by_field_name("declarator")
        declarator = inner or next(iter(declarator.named_children), None)
    return _text(declarator)


def _type_of(declaration: tree_sitter.Node, declarator: tree_sitter.Node) -> str:
    """The type in a declaration, without the declared name: `const char*`, `void (*)(int, void*)`."""
    qualifiers = [_text(child) for child in declaration.children if child.type == "type_qualifier"]
    base = re.sub(r"\b(?:struct|enum) ", "", _text(declaration.child_by_field_name("type")))
    base = "void" if "::" in base else base  # C++ types occur only behind pointers
    text = " ".join([*qualifiers, base]) + _abstract_declarator(declarator)
    return re.sub(r"(?<=\S)\s*\*(?=\s*[*)]|$)", "*", text)


def _abstract_declarator(declarator: tree_sitter.Node | None) -> str:
    if declarator is None:
        return ""
    inner = declarator.child_by_field_name("declarator")
    match declarator.type:
        case "pointer_declarator" | "abstract_pointer_declarator":
            const = " const" if any(child.type == "type_qualifier" for child in declarator.children) else ""
            return f"*{const}{_abstract_declarator(inner)}"
        case "array_declarator":
            return f"{_abstract_declarator(inner)}[{_text(declarator.child_by_field_name('size'))}]"
        case "function_declarator" | "abstract_function_declarator":
            parameters = declarator.child_by_field_name("parameters")
            types = [
                _type_of(node, node.child_by_field_name("declarator"))  # type: ignore[arg-type]
                for node in (parameters.named_children if parameters else [])
                if node.type == "parameter_declaration"
            ]
            return f" {_abstract_declarator(inner)}({', '.join(types)})"
        case "parenthesized_declarator" | "abstract_parenthesized_declarator":
            held = _abstract_declarator(next(iter(declarator.named_children), None))
            return f"({held})" if held else ""
        case _:
            return ""


def _text(node: tree_sitter.Node | None) -> str:
    return " ".join((node.text or b"").decode().split()) if node else ""


class _Layout:
    """Computes sizes and offsets in bytes on LP64."""

    def __init__(self, read: _Declarations) -> None:
        self._read = read

    def is_known(self, name: str) -> bool:
        """Whether the sizes of all by-value members are known. C++ types have none here."""
        try:
            self._measure(self._read.fields[name], union=False)
        except KeyError:
            return False
        return True

    def struct(self, name: str) -> Description:
        """The description entry of a struct."""
        fields, size, _ = self._measure(self._read.fields[name], union=False)
        last = next((field for field in fields if field["name"] == self._read.last_fields.get(name)), None)
        counted = {} if last is None else {"struct_size": last["offset"] + self._size(last["type"])[0]}
        return {"size": size, **counted, "fields": fields}

    def _measure(self, fields: list[dict[str, Any]], *, union: bool) -> tuple[list[dict[str, Any]], int, int]:
        placed, end, alignment = [], 0, 1
        for entry in fields:
            if entry["name"] is None:
                members, size, align = self._measure(entry["fields"], union=True)
                entry = {**entry, "fields": members}
            else:
                size, align = self._size(entry["type"])
            start = 0 if union else -(-end // align) * align
            placed.append({"name": entry["name"], "type": entry["type"], "offset": start} | entry)
            end, alignment = max(end, start + size), max(alignment, align)
        return placed, -(-end // alignment) * alignment, alignment

    def _size(self, c_type: str) -> tuple[int, int]:
        """The size and alignment of a type. Raises KeyError for an unknown type."""
        plain = c_type.removeprefix("const ")
        if plain.endswith("]"):
            element, _, count = plain[:-1].partition("[")
            size, align = self._size(element)
            return size * int(count), align
        if plain.endswith("*") or "(*)" in plain or "(*)" in self._read.typedefs.get(plain, ""):
            return WORD, WORD
        if plain in SCALARS:
            return SCALARS[plain], SCALARS[plain]
        if plain in self._read.enums:
            return 4, 4
        if plain in self._read.fields:
            return self._measure(self._read.fields[plain], union=False)[1:]
        target = self._read.typedefs[plain]
        if target == plain:
            raise KeyError(plain)
        return self._size(target)
