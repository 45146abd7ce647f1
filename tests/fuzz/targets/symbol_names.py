"""Symbols: any text is parsed as a mangled or demangled name, in linear time."""

from __future__ import annotations

from framedex.binaries.demangle import demangle, strip_clone_suffix
from framedex.binaries.names import parse_name, readable_name, split_parameters
from framedex.programs.ffi.signatures import find_mismatches, format_signature, parse_attribute_names, parse_signature
from framedex.sources.names import build_key, short_name, split_path
from tests.fuzz.inputs import text_of

MAX_SIZE = 1 << 13


def run(data: bytes) -> None:
    """Parse the name unchanged, and demangled."""
    text = text_of(data)
    for name in dict.fromkeys((text, "_Z" + text, demangle(text), demangle("_Z" + text), strip_clone_suffix(text))):
        parsed = parse_name(name)
        assert all(isinstance(part, str) for part in build_key(parsed))
        assert isinstance(parsed.parameters, tuple | None)
        readable_name(name), short_name(name), split_path(name)
    signature = parse_signature(("", "", *split_parameters(text)))
    format_signature(signature)
    find_mismatches(signature, {"arguments": text, "results": text, "attributes": text})
    parse_attribute_names(text)
