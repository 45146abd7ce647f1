"""The key that definitions are looked up by."""

from __future__ import annotations

from framedex.binaries.names import ANONYMOUS, LAMBDA, Name, parse_name
from framedex.patterns import compiled_on_use

_PLAIN = compiled_on_use(r"[\w:]+")
# nanobind has renamed the function that NB_MODULE defines; the extractor gives it the older name.
_CONVERSION = compiled_on_use(r"operator (?!new\b|delete\b|co_await\b)")
_MODULE = compiled_on_use(r"nanobind_\w+_exec")
_MODULES = compiled_on_use(r"nanobind_\w+_exec_impl|pybind11_init_\w+|TestBody")


def short_name(name: str) -> str:
    """The last component of a qualified or demangled C++ name or a Python qualname, under which definitions are kept.

    Lambdas have the key of the function they are in; destructors and assignments, which the compiler may have made,
    that of their class. So one look-up finds all that `match` chooses from: `xla::Foo::~Foo()` -> `Foo`,
    `f(int)::$_4::operator()(char) const` -> `f`.
    """
    if _PLAIN.fullmatch(name) and not name.endswith("_exec"):
        return name.rpartition(":")[2]
    if "::" not in name and "." in name and "(" not in name:
        return name.rpartition(".")[2]
    return short_of(key_of(parse_name(name))) or name


def key_of(name: Name) -> tuple[str, ...]:
    """The path of a symbol, to compare with `path_of` of definitions."""
    return tuple(_comparable(part) for part in name.key)


def _comparable(part: str) -> str:
    if part.startswith("operator ") and _CONVERSION.match(part):
        return "operator type"  # in a template it is written as the parameter
    return f"{part}_impl" if _MODULE.fullmatch(part) else part


def is_of_macro(function: str) -> bool:
    """Whether this is the function of a macro (of a module, of a test), whose parameters are written as others."""
    return _MODULES.fullmatch(function) is not None


def path_of(name: str) -> tuple[str, ...]:
    """The name of a C++ definition as a path to compare with `Name.key`."""
    return key_of(parse_name(name)) if "operator " in name else tuple(name.split("::"))


def short_of(key: tuple[str, ...]) -> str:
    """The short name (see `short_name`) of a name that is taken apart already."""
    named = [part for part in key if part not in (LAMBDA, ANONYMOUS)]
    if named[-1:] == ["operator="] and len(named) > 1:
        named.pop()
    return named[-1].removeprefix("~") if named else "".join(key[-1:])
