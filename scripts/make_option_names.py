"""Write the names of compile options by their numbers: indexer/framedex/programs/option_names.json.

python scripts/make_option_names.py

The names come from the protobuf descriptors in this Python's jaxlib library: the messages of
`xla/pjrt/proto/compile_options.proto`, and their parts in `xla/xla.proto` and `xla/xla_data.proto`. A number keeps its
meaning across releases, so a new jaxlib only adds names.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from framedex_native.ffi.protobuf import fields

ROOT = Path(__file__).resolve().parent.parent
WRITTEN = ROOT / "indexer" / "framedex" / "programs" / "option_names.json"
FILES = ("xla/pjrt/proto/compile_options.proto", "xla/xla.proto", "xla/xla_data.proto")
ROOT_MESSAGE = "CompileOptionsProto"
MAX_DESCRIPTOR_BYTES = 1 << 20  # maximum size of a descriptor in bytes
NON_OPTION_MESSAGES = {"HloModuleProto", "ShapeProto", "HloModuleConfigProto", "Any"}  # have no option fields
_MESSAGES, _ENDS = 4, 12  # field numbers of FileDescriptorProto: message types, and the last field, the syntax
_NAME, _FIELDS, _NESTED = 1, 2, 3  # of DescriptorProto
_NUMBER, _TYPE, _TYPE_NAME = 3, 5, 6  # the first field of FieldDescriptorProto is its name
_KINDS = {
    **{1: "double", 2: "float", 8: "bool", 9: "text", 11: "message"},
    **dict.fromkeys((3, 4, 5, 13, 14), "int"),
}


def main() -> None:
    """Write the names of this jaxlib."""
    jaxlib = importlib.util.find_spec("jaxlib")
    assert jaxlib is not None and jaxlib.origin is not None
    library = Path(jaxlib.origin).with_name("libjax_common.so")
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        messages = {
            name: message for path in FILES for name, message in _parse_messages(_find_descriptor(content, path))
        }
    known: dict[str, Any] = {}
    _add_message(known, messages, ROOT_MESSAGE)
    document = {"jaxlib": importlib.metadata.version("jaxlib"), "messages": known}
    lines = json.dumps(document, indent=1, sort_keys=True).replace("[\n    ", "[").replace("\n   ]", "]")
    WRITTEN.write_text(lines.replace(",\n     ", ", ").replace("\n    ", " ") + "\n", encoding="utf-8")


def _find_descriptor(content: mmap.mmap, path: str) -> bytes:
    """The start of a file's descriptor, which begins with its path."""
    begin = content.find(bytes([0x0A, len(path)]) + path.encode() + b"\x12\x03xla")
    assert begin >= 0, f"this jaxlib has no descriptor of {path}"
    return content[begin : begin + MAX_DESCRIPTOR_BYTES]


def _parse_messages(descriptor: bytes) -> Iterator[tuple[str, bytes]]:
    for number, value, _ in fields(descriptor):
        if number == _ENDS:
            return
        if number == _MESSAGES and isinstance(value, bytes):
            yield from _flatten_messages(value, "")


def _flatten_messages(message: bytes, outer: str) -> Iterator[tuple[str, bytes]]:
    parts = list(fields(message))
    (name,) = [value for number, value, _ in parts if number == _NAME and isinstance(value, bytes)]
    whole = outer + name.decode()
    yield whole, message
    for number, value, _ in parts:
        if number == _NESTED and isinstance(value, bytes):
            yield from _flatten_messages(value, f"{whole}.")


def _add_message(known: dict[str, Any], messages: dict[str, bytes], name: str) -> None:
    """Add a message and its nested messages."""
    if name in known or name not in messages:
        return
    known[name] = {}
    for number, value, _ in fields(messages[name]):
        if number != _FIELDS or not isinstance(value, bytes):
            continue
        of_field = {number: value for number, value, _ in fields(value)}
        kind = _KINDS.get(int(of_field[_TYPE]), "bytes")
        field = [_decode(of_field[_NAME]), kind]
        if kind == "message":
            message_name = _decode(of_field[_TYPE_NAME]).rpartition("xla.")[2]
            if message_name in NON_OPTION_MESSAGES:
                field[1] = "bytes"
            else:
                field.append(message_name)
                _add_message(known, messages, message_name)
        known[name][str(of_field[_NUMBER])] = field


def _decode(value: int | bytes) -> str:
    assert isinstance(value, bytes)
    return value.decode()


if __name__ == "__main__":
    main()
