"""Symbols: a mangled or demangled name of any text is taken apart, in time linear in its length."""

from __future__ import annotations

from framedex.binaries.demangle import demangle, without_suffix
from framedex.binaries.names import parse_name, readable, split_parameters
from framedex.ffi.signature import attribute_names, mismatches, signature_of, signature_text
from framedex.sources.names import key_of, path_of, short_name
from tests.fuzz.inputs import text_of

LONGEST = 1 << 13


def run(data: bytes) -> None:
    """The name as it is, and demangled."""
    text = text_of(data)
    for name in dict.fromkeys((text, "_Z" + text, demangle(text), demangle("_Z" + text), without_suffix(text))):
        parsed = parse_name(name)
        assert all(isinstance(part, str) for part in key_of(parsed))
        assert isinstance(parsed.parameters, tuple | None)
        readable(name), short_name(name), path_of(name)
    signature = signature_of(("", "", *split_parameters(text)))
    signature_text(signature)
    mismatches(signature, {"arguments": text, "results": text, "attributes": text})
    attribute_names(text)
