"""The lookup key of definitions, and the files of a tree that are likely to define a function."""

from __future__ import annotations

import re
from collections.abc import Sequence

from framedex.base.lazy import compile_on_use
from framedex.binaries.names import ANONYMOUS, LAMBDA, QualifiedName, parse_name
from framedex.path_resolution.moved_files import TreeFiles

_PLAIN = compile_on_use(r"[\w:]+")
# nanobind renamed the function that NB_MODULE defines; the extractor uses the older name.
_CONVERSION = compile_on_use(r"operator (?!new\b|delete\b|co_await\b)")
_NANOBIND_MODULE = compile_on_use(r"nanobind_\w+_exec")
_PYBIND11_MODULE = "pybind11_exec_"
_MACRO_DEFINED = compile_on_use(r"nanobind_\w+_exec_impl|pybind11_init_\w+|TestBody")

ANY_SCOPE = "*"
"""A part of a definition's name that depends on the build: a macro with several values stands for a namespace."""


def short_name(name: str) -> str:
    """The last component of a qualified or demangled C++ name or a Python qualname: the key of stored definitions.

    A lambda has the key of its enclosing function. Destructors and assignments, which may be implicit, have the key of
    their class. So one lookup finds all candidates for `match_symbol`: `xla::Foo::~Foo()` -> `Foo`,
    `f(int)::$_4::operator()(char) const` -> `f`.
    """
    if _PLAIN.fullmatch(name) and not name.endswith("_exec") and _PYBIND11_MODULE not in name:
        return name.rpartition(":")[2]
    if "::" not in name and "." in name and "(" not in name:
        return name.rpartition(".")[2]
    return shorten(build_key(parse_name(name))) or name


def build_key(name: QualifiedName) -> tuple[str, ...]:
    """The path of a symbol, comparable with `split_path` of definitions."""
    return tuple(_normalise_part(part) for part in name.key)


def _normalise_part(part: str) -> str:
    if part.startswith("operator ") and _CONVERSION.match(part):
        return "operator type"  # for a template, this is a parameter instead of the type
    if part.startswith(_PYBIND11_MODULE):
        return f"pybind11_init_{part.removeprefix(_PYBIND11_MODULE)}"
    return f"{part}_impl" if _NANOBIND_MODULE.fullmatch(part) else part


def is_defined_by_macro(function: str) -> bool:
    """Whether a macro defines this function (a module, a test); its written parameters differ from the symbol's."""
    return _MACRO_DEFINED.fullmatch(function) is not None


def split_path(name: str) -> tuple[str, ...]:
    """The path of a C++ definition's name, comparable with `Name.key`."""
    return build_key(parse_name(name)) if "operator " in name else tuple(name.split("::"))


def shorten(key: tuple[str, ...]) -> str:
    """The short name (see `short_name`) of a parsed name."""
    named = [part for part in key if part not in (LAMBDA, ANONYMOUS)]
    if named[-1:] == ["operator="] and len(named) > 1:
        named.pop()
    return named[-1].removeprefix("~") if named else "".join(key[-1:])


_HEADERS = (".h", ".hpp", ".hh", ".inl", ".cuh", "_internal.h", "-inl.h", "_base.h")
_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def find_likely_files(files: TreeFiles, symbol: str, unit: str) -> list[str]:
    """The files that may define a function, most likely first.

    They are its translation unit, the unit's header, and files named after its class or namespace by convention
    (`PjRtClient` -> `pjrt_client.h`).
    """
    folders, stems = _split_name(symbol)
    unit_files = _in_matching_folders(files.files_with_tail(unit), folders) if unit else []
    found = dict.fromkeys(unit_files)
    stem = unit.rpartition("/")[2].partition(".")[0]
    for candidate in (stem, *stems):
        for ending in (*_HEADERS, ".cc", ".cpp"):
            if candidate and (same := files.files_called(candidate + ending)):
                found.update(dict.fromkeys(_in_matching_folders(same, folders)))
    return list(found)


def _split_name(symbol: str) -> tuple[frozenset[str], list[str]]:
    """The words of a symbol's path as folder names, and its classes and namespaces as file names, innermost first."""
    key = [part for part in parse_name(symbol).key[:-1] if part not in (ANONYMOUS, LAMBDA)]
    scopes = [_WORD_BOUNDARY.sub("_", part).lower() for part in reversed(key)]
    # PjRt and StableHLO are one word in file names.
    joined = [name.replace("pj_rt", "pjrt").replace("stable_hlo", "stablehlo") for name in scopes]
    return frozenset(part.lower() for part in key), list(dict.fromkeys(joined + scopes))


def _in_matching_folders(files: Sequence[str], folders: frozenset[str]) -> list[str]:
    """Among files with one name, those in folders named after the function's namespaces."""
    if len(files) < 2:
        return list(files)
    scores = [len(folders.intersection(path.split("/"))) for path in files]
    return [path for score, path in zip(scores, files, strict=True) if score == max(scores)]
