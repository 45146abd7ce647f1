"""The message or record behind a generated function, from the names that protoc and mlir-tblgen choose."""

from __future__ import annotations

import re
from collections.abc import Iterator


def generating_names(key: tuple[str, ...]) -> Iterator[str]:
    """The names of the possible classes of a generated function, innermost first.

    `key` is the path of the function. Prefixes and suffixes of generators are removed: `createFooPass`,
    `FooOpGenericAdaptorBase`.
    """
    for part in reversed(key):
        name = part.removeprefix("create").removeprefix("~")
        while name[:1].isupper():
            yield name
            if match := _PREFIXED.match(name):  # AttrDef<Ifrt_Dialect, "IfrtDevices"> is usually named Ifrt_DevicesAttr
                yield name[match.end() :]
            shorter = _ADDED.sub("", name)
            if shorter == name:
                break
            name = shorter


_PREFIXED = re.compile(r"[A-Z][a-z]+(?=[A-Z][a-z]\w*(?:Attr|Type)$)")
_ADDED = re.compile(
    r"(?:GenericAdaptorBase|GenericAdaptor|Adaptor|Storage|InterfaceTraits|Base|Options|DefaultTypeInternal|Stub)$"
)
