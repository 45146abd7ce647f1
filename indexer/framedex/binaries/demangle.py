"""Mangled names to C++ text.

Which demangler matters: clang 18 began to mangle constrained template parameters as `Tn <type>`, which older
ones refuse. Of the 393,451 distinct mangled names in jaxlib 0.10.2's libjax_common.so, left undemangled:

| demangler                                              | left  | us a name |
|--------------------------------------------------------|-------|-----------|
| pydemumble 0.1.1 (LLVM's, from PyPI)                   |   264 | 4         |
| llvm-cxxfilt of LLVM 22, the newest: the same texts    |   264 | -         |
| cpp_demangle 0.1.3 (Rust)                              | 7,695 | 7         |
| libstdc++ 12 `__cxa_demangle`: cxxfilt, demangler      | 8,678 | 4         |
| itanium_demangler 1.1 (pure Python)                    |   21 %| 72        |
| the first, then libstdc++                              |     3 | 4         |

symbolic, which reads DWARF for us, has no demangler in its Python interface. So: LLVM's where it is installed,
libstdc++ for what that one refuses, and the mangled name itself when neither knows it.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from functools import cache
from importlib import import_module

_Demangler = Callable[[str], "str | None"]

_LONGEST = 1 << 16  # a longer name is not worth the demangler's time; the longest of libjax_common.so has 16 k

# No space or control character is part of one, and what was no UTF-8 (a surrogate here) no demangler takes.
_MANGLED = re.compile(r"_{1,3}Z[^\x00-\x20\x7f\ud800-\udfff]+")

# What compilers append to a function's name when they split, clone or promote it.
_CLONE = re.compile(
    r"(?:\.(?:cold|hot|unlikely|warm|isra|part|constprop|llvm|lto_priv|localalias|__uniq|_omp_fn|specialized|resume|destroy|cleanup)"
    r"(?:\.\d+)*|\.\d+)+$"
)


def demangle(mangled: str) -> str:
    """The C++ name of a symbol without compiler suffixes and version; others only lose their suffixes."""
    plain = without_suffix(mangled)
    unversioned = plain.partition("@")[0]
    if len(plain) > _LONGEST or not _MANGLED.fullmatch(unversioned):
        return plain
    for demangler in _demanglers():
        text = demangler(unversioned)
        if text:
            return text
    return plain


def without_suffix(mangled: str) -> str:
    """The name of the function that a clone (`f.cold`, `f.isra.0`, `f.llvm.123`) was made from.

    The version of a symbol (`f@@GLIBC_2.34`) stays: its numbers are no clone's.
    """
    name, at, version = mangled.partition("@")
    return (_CLONE.sub("", name) or name) + at + version


@cache
def _demanglers() -> tuple[_Demangler, ...]:
    found = (llvm_demangler(), libstdcxx_demangler())
    return tuple(demangler for demangler in found if demangler)


def llvm_demangler() -> _Demangler | None:
    """The demangler of LLVM, None where there is none."""
    try:
        native = import_module("pydemumble").demangle
    except (ImportError, AttributeError):
        return None

    def demangler(name: str) -> str | None:
        text: str = native(name)
        return text if text != name else None

    return demangler


def libstdcxx_demangler() -> _Demangler | None:
    """The demangler of libstdc++, None where there is none."""
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
