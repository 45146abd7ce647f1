"""Remove the additions of printing tools from a function's name, to get the demangled name.

gdb appends argument values, c10 and lldb the offset of the call, and demanglers the clone that a compiler made. absl
omits the text between brackets. A name printed into a fixed buffer may be truncated.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from framedex.binaries.demangle import demangle
from framedex.binaries.names import unclosed
from framedex.patterns import compiled_on_use


class Spelling(NamedTuple):
    """A demangled name, without its last parameter list if that is unknown; empty if it is not a function.

    `is_cut`: the name is truncated, so it may also be the name of an entity inside the function.
    """

    symbol: str
    is_cut: bool = False


# These patterns expect single spaces and take linear time.
_DISPLACED = compiled_on_use(r" ?\+ ?(?:0x[0-9a-fA-F]+|\d+)$")
_CLONES = compiled_on_use(r"(?: ?\[clone [^\[\]]*\]| \(\.[\w.]+\)| \[inlined\]| \(inlined\))+$")
_VERSION = compiled_on_use(r"(?<!@)@{1,2}(?:plt|[A-Z][\w.]*)$")
_MODULE = compiled_on_use(r"^[\w.+-]+!(?=[\w:~?$])")
# Appended by gdb, and by lldb in place of parameters: ` (this=0x7f, n=3)`, ` ()`, `(n=3)`, `(...)`.
_VALUES = compiled_on_use(r" \((?:\.\.\.|[\w.@$]+=.*|<[^()]*>)?\)$", re.DOTALL)
_NAMED_VALUES = compiled_on_use(r"\((?:\.\.\.|[A-Za-z_]\w*=[^=].*)\)$", re.DOTALL)
_EMPTY_LAMBDA = compiled_on_use(r"\{lambda\(\)(#\d+)?\}")
_CALL_OPERATOR = compiled_on_use(r"\boperator\s*\(\)$")
_NOT_CODE = compiled_on_use(
    r"^(?:guard variable for|vtable for|VTT for|typeinfo(?: name)? for|construction vtable for|reference temporary)"
)


def spelled(text: str) -> Spelling:
    """The name of the function in a printed name."""
    name = _MODULE.sub("", " ".join(text.split()))
    for pattern in (_DISPLACED, _CLONES, _VALUES, _CLONES, _VERSION):
        if pattern is not _VALUES or name.endswith(")"):
            name = pattern.sub("", name)
    was_cut = name.endswith("...") and not name.endswith("(...")
    name = demangle(name.removesuffix("...") if was_cut else name)
    if not name or _NOT_CODE.match(name):
        return Spelling("")
    opened = unclosed(name)
    if opened is not None:
        begins = name[:opened]
        is_list = name[opened] == "(" and not begins.endswith(("::", " ")) and bool(begins)
        return Spelling(begins if is_list else "", is_cut=True)
    if (was_cut and not name.endswith(")")) or name.endswith((":", "~", ",")):
        return Spelling("", is_cut=True)
    return Spelling(_without_untold(_NAMED_VALUES.sub("", name) if name.endswith(")") else name), was_cut)


def without_version(symbol: str) -> str:
    """A symbol without its library version: `fclose@@GLIBC_2.2.5`."""
    return _VERSION.sub("", symbol)


def _without_untold(name: str) -> str:
    """The name without an empty parameter list, which absl and glog print for any parameters.

    If the name ends in such a list or has none, the parameter lists of its lambdas are also unknown.
    """
    if name.endswith("()") and not _CALL_OPERATOR.search(name):
        name = name.removesuffix("()")
    return name if name.endswith((")", "const")) and not _CALL_OPERATOR.search(name) else _untold_lambdas(name)


def _untold_lambdas(name: str) -> str:
    return _EMPTY_LAMBDA.sub(r"{lambda\1}", name)
