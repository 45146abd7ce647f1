"""Demangle C++ names.

The choice of demangler matters. clang 18 began to mangle constrained template parameters as `Tn <type>`, which older
demanglers reject. Distinct mangled names in jaxlib 0.10.2's libjax_common.so left undemangled, of 393,451:

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
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from functools import cache
from importlib import import_module

_Demangler = Callable[[str], "str | None"]

_LONGEST = 1 << 16  # characters; the longest name of libjax_common.so has 16 k, and longer ones are not worth the time

# A mangled name has no space or control character. Demanglers reject invalid UTF-8, which is a surrogate here.
_MANGLED = re.compile(r"_{1,3}Z[^\x00-\x20\x7f\ud800-\udfff]+")

# Suffixes that compilers append to a function's name when they split, clone or promote it.
_CLONE = re.compile(
    r"(?:\.(?:cold|hot|unlikely|warm|isra|part|constprop|llvm|lto_priv|localalias|__uniq|_omp_fn|specialized|resume|destroy|cleanup)"
    r"(?:\.\d+)*|\.\d+)+$"
)


def demangle(mangled: str) -> str:
    """The C++ name of a symbol without compiler suffixes and version; an unmangled name only loses its suffixes."""
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
    """The name of the function from which a compiler made a clone (`f.cold`, `f.isra.0`, `f.llvm.123`).

    Keeps a symbol version (`f@@GLIBC_2.34`): its numbers are not a clone's.
    """
    name, at, version = mangled.partition("@")
    return (_CLONE.sub("", name) or name) + at + version


@cache
def _demanglers() -> tuple[_Demangler, ...]:
    found = (llvm_demangler(), libstdcxx_demangler())
    return tuple(demangler for demangler in found if demangler)


def llvm_demangler() -> _Demangler | None:
    """LLVM's demangler; None if not installed."""
    try:
        native = import_module("pydemumble").demangle
    except (ImportError, AttributeError):
        return None

    def demangler(name: str) -> str | None:
        text: str = native(name)
        return text if text != name else None

    return demangler


def libstdcxx_demangler() -> _Demangler | None:
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
