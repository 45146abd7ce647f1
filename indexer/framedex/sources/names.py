"""The key that definitions are looked up by."""

from __future__ import annotations

import re

from framedex.binaries.names import ANONYMOUS, LAMBDA, parse_name

_PLAIN = re.compile(r"[\w:]+")


def short_name(name: str) -> str:
    """The last component of a qualified or demangled C++ name or a Python qualname, under which definitions are kept.

    Lambdas have the key of the function they are in; destructors and assignments, which the compiler may have made,
    that of their class. So one look-up finds all that `match` chooses from: `xla::Foo::~Foo()` -> `Foo`,
    `f(int)::$_4::operator()(char) const` -> `f`.
    """
    if _PLAIN.fullmatch(name):
        return name.rpartition(":")[2]
    if "::" not in name and "." in name and "(" not in name:
        return name.rpartition(".")[2]
    return short_of(parse_name(name).key) or name


def short_of(key: tuple[str, ...]) -> str:
    """The same for a name already taken apart."""
    named = [part for part in key if part not in (LAMBDA, ANONYMOUS)]
    if named[-1:] == ["operator="] and len(named) > 1:
        named.pop()
    return named[-1].removeprefix("~") if named else "".join(key[-1:])
