"""Takes off what tools add to a function's name when they print it: what is left is as a demangler gives it.

Behind a name gdb prints the values of arguments, c10 and lldb how far into the function a call was, and demanglers
which clone of it a compiler made. absl leaves out whatever stands in brackets. A name that was printed into a buffer
may lack its end.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from framedex.binaries.demangle import demangle
from framedex.binaries.names import unclosed
from framedex.patterns import compiled_on_use


class Spelling(NamedTuple):
    """A demangled name, without its last parameter list where that was not told; empty if it is of no function.

    `is_cut`: its end is missing, so it may also be the name of something inside of the function.
    """

    symbol: str
    is_cut: bool = False


# Of names in which one space stands for any run of them, and whose time grows with the length and no faster.
_DISPLACED = compiled_on_use(r" ?\+ ?(?:0x[0-9a-fA-F]+|\d+)$")
_CLONES = compiled_on_use(r"(?: ?\[clone [^\[\]]*\]| \(\.[\w.]+\)| \[inlined\]| \(inlined\))+$")
_VERSION = compiled_on_use(r"(?<!@)@{1,2}(?:plt|[A-Z][\w.]*)$")
_MODULE = compiled_on_use(r"^[\w.+-]+!(?=[\w:~?$])")
# What gdb prints behind a name, and lldb in place of its parameters: ` (this=0x7f, n=3)`, ` ()`, `(n=3)`, `(...)`.
_VALUES = compiled_on_use(r" \((?:\.\.\.|[\w.@$]+=.*|<[^()]*>)?\)$", re.DOTALL)
_NAMED_VALUES = compiled_on_use(r"\((?:\.\.\.|[A-Za-z_]\w*=[^=].*)\)$", re.DOTALL)
_EMPTY_LAMBDA = compiled_on_use(r"\{lambda\(\)(#\d+)?\}")
_CALL_OPERATOR = compiled_on_use(r"\boperator\s*\(\)$")
_NOT_CODE = compiled_on_use(
    r"^(?:guard variable for|vtable for|VTT for|typeinfo(?: name)? for|construction vtable for|reference temporary)"
)


def spelled(text: str) -> Spelling:
    """The name of the function that a printed name stands for."""
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
    """A symbol without the version that a library gives it: `fclose@@GLIBC_2.2.5`."""
    return _VERSION.sub("", symbol)


def _without_untold(name: str) -> str:
    """The name without an empty parameter list, which absl and glog print for whatever parameters.

    A name that ends in such a list, or in none, has lambdas whose lists tell nothing either.
    """
    if name.endswith("()") and not _CALL_OPERATOR.search(name):
        name = name.removesuffix("()")
    return name if name.endswith((")", "const")) and not _CALL_OPERATOR.search(name) else _untold_lambdas(name)


def _untold_lambdas(name: str) -> str:
    return _EMPTY_LAMBDA.sub(r"{lambda\1}", name)
