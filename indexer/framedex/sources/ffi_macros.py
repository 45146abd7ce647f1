"""The functions that XLA's macros define in C++ sources: the FFI handlers (xla/ffi/api/api.h)."""

from __future__ import annotations

import re

from framedex.model import Definition
from framedex.sources.macros import call_end

_HANDLER = re.compile(rb"^[ \t]*XLA_FFI_DEFINE_HANDLER_SYMBOL(?=\(\s*(\w+)\s*,)", re.MULTILINE)
_PARAMETERS = "XLA_FFI_CallFrame* call_frame"


def handler_definitions(source: bytes) -> tuple[Definition, ...]:
    """`XLA_FFI_DEFINE_HANDLER_SYMBOL(Name, implementation, binding)`, which defines an `extern "C"` function `Name`."""
    found = []
    for match in _HANDLER.finditer(source):
        end = call_end(source, match.end())
        if end >= 0:
            line = source.count(b"\n", 0, match.end()) + 1
            last = line + source.count(b"\n", match.end(), end)
            found.append(Definition(match[1].decode(), "function", _PARAMETERS, line, last))
    return tuple(found)
