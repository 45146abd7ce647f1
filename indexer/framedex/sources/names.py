"""The lookup key of definitions."""

from __future__ import annotations

from framedex.binaries.names import ANONYMOUS, LAMBDA, Name, parse_name
from framedex.patterns import compiled_on_use

_PLAIN = compiled_on_use(r"[\w:]+")
# nanobind renamed the function that NB_MODULE defines; the extractor uses the older name.
_CONVERSION = compiled_on_use(r"operator (?!new\b|delete\b|co_await\b)")
_MODULE = compiled_on_use(r"nanobind_\w+_exec")
_MODULES = compiled_on_use(r"nanobind_\w+_exec_impl|pybind11_init_\w+|TestBody")


def short_name(name: str) -> str:
    """The last component of a qualified or demangled C++ name or a Python qualname: the key of stored definitions.

    A lambda has the key of its enclosing function. Destructors and assignments, which may be implicit, have the key of
    their class. So one lookup finds all candidates for `match`: `xla::Foo::~Foo()` -> `Foo`,
    `f(int)::$_4::operator()(char) const` -> `f`.
    """
    if _PLAIN.fullmatch(name) and not name.endswith("_exec"):
        return name.rpartition(":")[2]
    if "::" not in name and "." in name and "(" not in name:
        return name.rpartition(".")[2]
    return short_of(key_of(parse_name(name))) or name


def key_of(name: Name) -> tuple[str, ...]:
    """The path of a symbol, comparable with `path_of` of definitions."""
    return tuple(_comparable(part) for part in name.key)


def _comparable(part: str) -> str:
    if part.startswith("operator ") and _CONVERSION.match(part):
        return "operator type"  # a template has its parameter here in place of the type
    return f"{part}_impl" if _MODULE.fullmatch(part) else part


def is_of_macro(function: str) -> bool:
    """Whether a macro defines this function (a module, a test); its written parameters differ from the symbol's."""
    return _MODULES.fullmatch(function) is not None


def path_of(name: str) -> tuple[str, ...]:
    """The path of a C++ definition's name, comparable with `Name.key`."""
    return key_of(parse_name(name)) if "operator " in name else tuple(name.split("::"))


def short_of(key: tuple[str, ...]) -> str:
    """The short name (see `short_name`) of a parsed name."""
    named = [part for part in key if part not in (LAMBDA, ANONYMOUS)]
    if named[-1:] == ["operator="] and len(named) > 1:
        named.pop()
    return named[-1].removeprefix("~") if named else "".join(key[-1:])
