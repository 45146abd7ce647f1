"""Demangle C++ names, also names as debuggers and crash handlers print them.

The choice of demangler matters. clang 18 began to mangle constrained template parameters as `Tn <type>`, which older
demanglers reject. This table counts the distinct names of jaxlib 0.10.2's libjax_common.so that stay mangled, of
393,451:

| demangler                                              | left  | us a name |
|--------------------------------------------------------|-------|-----------|
| pydemumble 0.1.1 (LLVM's, from PyPI)                   |   264 | 4         |
| llvm-cxxfilt of LLVM 22, the newest: the same texts    |   264 | -         |
| cpp_demangle 0.1.3 (Rust)                              | 7,695 | 7         |
| libstdc++ 12 `__cxa_demangle`: cxxfilt, demangler      | 8,678 | 4         |
| itanium_demangler 1.1 (pure Python)                    |   21 %| 72        |
| the first, then libstdc++                              |     3 | 4         |

symbolic, our DWARF reader, has no demangler in its Python interface. So framedex tries LLVM's demangler, if installed,
then libstdc++'s. A name that both reject stays mangled.

Printed names have additions: gdb appends argument values, c10 and lldb the offset of the call, and demanglers the
suffix of a compiler's clone. absl omits the text between brackets. A name printed into a fixed buffer may be truncated.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import NamedTuple

from framedex.base.lazy import compile_on_use
from framedex.binaries.names import find_unclosed_bracket

_Demangler = Callable[[str], "str | None"]

_MAX_LENGTH = 1 << 16  # characters; the longest name of libjax_common.so has 16 k

# A mangled name has no space or control character. Demanglers reject invalid UTF-8, which Python decodes to surrogates.
_MANGLED = re.compile(r"_{1,3}Z[^\x00-\x20\x7f\ud800-\udfff]+")

# Suffixes that compilers append to a function's name when they split, clone or promote it.
_CLONE_SUFFIX = re.compile(
    r"(?:\.(?:cold|hot|unlikely|warm|isra|part|constprop|llvm|lto_priv|localalias|__uniq|_omp_fn|specialized|resume|destroy|cleanup)"
    r"(?:\.\d+)*|\.\d+)+$"
)


def demangle(mangled: str) -> str:
    """The name of a symbol without compiler suffixes and library version; in C++, with its parameters."""
    plain = strip_clone_suffix(mangled).partition("@")[0] or mangled
    if len(plain) > _MAX_LENGTH or not _MANGLED.fullmatch(plain):
        return plain
    for demangler in _load_demanglers():
        text = demangler(plain)
        if text:
            return text
    return plain


def strip_clone_suffix(mangled: str) -> str:
    """The name of a function without the suffix of a compiler's clone (`f.cold`, `f.isra.0`, `f.llvm.123`).

    Keeps a symbol version (`f@@GLIBC_2.34`): its numbers are not a clone's.
    """
    name, at, version = mangled.partition("@")
    return (_CLONE_SUFFIX.sub("", name) or name) + at + version


@cache
def _load_demanglers() -> tuple[_Demangler, ...]:
    found = (load_llvm_demangler(), load_libstdcxx_demangler())
    return tuple(demangler for demangler in found if demangler)


def load_llvm_demangler() -> _Demangler | None:
    """LLVM's demangler; None if not installed."""
    try:
        native = import_module("pydemumble").demangle
    except (ImportError, AttributeError):
        return None

    def demangler(name: str) -> str | None:
        text: str = native(name)
        return text if text != name else None

    return demangler


def load_libstdcxx_demangler() -> _Demangler | None:
    """The demangler of libstdc++; None if not installed."""
    try:
        native = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
        free = ctypes.CDLL(None).free
    except (OSError, AttributeError):
        return None
    native.restype = ctypes.c_void_p
    native.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
    free.argtypes = [ctypes.c_void_p]
    free.restype = None

    def demangler(name: str) -> str | None:
        status = ctypes.c_int()
        text = native(name.encode("utf-8", "surrogateescape"), None, None, ctypes.byref(status))
        if not text:
            return None
        try:
            return ctypes.string_at(text).decode("utf-8", "replace")
        finally:
            free(text)

    return demangler


class DemangledName(NamedTuple):
    """A demangled name, without its last parameter list if that is unknown; empty if it is not a function.

    `is_cut`: the name is truncated, so it may also be the name of an entity inside the function.
    """

    symbol: str
    is_cut: bool = False


# These patterns expect single spaces and take linear time.
_OFFSET = compile_on_use(r" ?\+ ?(?:0x[0-9a-fA-F]+|\d+)$")
_CLONE_NOTES = compile_on_use(r"(?: ?\[clone [^\[\]]*\]| \(\.[\w.]+\)| \[inlined\]| \(inlined\))+$")
_VERSION = compile_on_use(r"(?<!@)@{1,2}(?:plt|[A-Z][\w.]*)$")
_MODULE_PREFIX = compile_on_use(r"^[\w.+-]+!(?=[\w:~?$])")
# Appended by gdb, and by lldb in place of parameters: ` (this=0x7f, n=3)`, ` ()`, `(n=3)`, `(...)`.
_ARGUMENT_VALUES = compile_on_use(r" \((?:\.\.\.|[\w.@$]+=.*|<[^()]*>)?\)$", re.DOTALL)
_NAMED_ARGUMENT_VALUES = compile_on_use(r"\((?:\.\.\.|[A-Za-z_]\w*=[^=].*)\)$", re.DOTALL)
_EMPTY_LAMBDA = compile_on_use(r"\{lambda\(\)(#\d+)?\}")
_CALL_OPERATOR = compile_on_use(r"\boperator\s*\(\)$")
_NOT_CODE = compile_on_use(
    r"^(?:guard variable for|vtable for|VTT for|typeinfo(?: name)? for|construction vtable for|reference temporary)"
)


def parse_printed_name(text: str) -> DemangledName:
    """The name of the function in a printed name."""
    name = _MODULE_PREFIX.sub("", " ".join(text.split()))
    for pattern in (_OFFSET, _CLONE_NOTES, _ARGUMENT_VALUES, _CLONE_NOTES, _VERSION):
        if pattern is not _ARGUMENT_VALUES or name.endswith(")"):
            name = pattern.sub("", name)
    is_truncated = name.endswith("...") and not name.endswith("(...")
    name = demangle(name.removesuffix("...") if is_truncated else name)
    if not name or _NOT_CODE.match(name):
        return DemangledName("")
    bracket = find_unclosed_bracket(name)
    if bracket is not None:
        prefix = name[:bracket]
        is_list = name[bracket] == "(" and not prefix.endswith(("::", " ")) and bool(prefix)
        return DemangledName(prefix if is_list else "", is_cut=True)
    if (is_truncated and not name.endswith(")")) or name.endswith((":", "~", ",")):
        return DemangledName("", is_cut=True)
    plain = _NAMED_ARGUMENT_VALUES.sub("", name) if name.endswith(")") else name
    return DemangledName(_drop_unknown_parameters(plain), is_truncated)


def strip_version(symbol: str) -> str:
    """A symbol without its library version: `fclose@@GLIBC_2.2.5`."""
    return _VERSION.sub("", symbol)


def _drop_unknown_parameters(name: str) -> str:
    """The name without an empty parameter list, which absl and glog print for any parameters.

    If the name ends in such a list or has none, the parameter lists of its lambdas are also unknown.
    """
    if name.endswith("()") and not _CALL_OPERATOR.search(name):
        name = name.removesuffix("()")
    return name if name.endswith((")", "const")) and not _CALL_OPERATOR.search(name) else _drop_lambda_parameters(name)


def _drop_lambda_parameters(name: str) -> str:
    return _EMPTY_LAMBDA.sub(r"{lambda\1}", name)
