"""What generated C++ was made from: the messages of a .proto file, the records of a TableGen .td file.

The code itself is nowhere in a source tree, so these are the lines to show for its functions. Both readers look at
declarations only and know the names that protoc and mlir-tblgen make of them; neither checks the rest of the syntax.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from framedex.model import Definition

_IGNORED = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|\[\{.*?\}\]', re.S)
_NOT_BLANK = re.compile(r"[^\n]")
_PROTO = re.compile(
    r"(?P<open>\{)|(?P<close>\})|\bpackage\s+(?P<package>[\w.]+)\s*;|\b(?:message|enum)\s+(?P<type>\w+)\s*(?=\{)|"
    r"\bservice\s+(?P<service>\w+)\s*(?=\{)|\bmap\s*<[^<>]*>\s*(?P<map>\w+)\s*="
)
_RECORD = re.compile(r"^[ \t]*def\s+(\w+)\s*:\s*([^;{]*)", re.M)
_QUOTED = re.compile(r'"(\w+)"')
_KIND = re.compile(r"(Attr|Type|Interface|Dialect|Pass)(?:Def|Base|Interface)?\b")


def proto_definitions(source: bytes) -> tuple[Definition, ...]:
    """The classes that protoc makes of a .proto file: messages, enums, entries of maps and gRPC services."""
    text = _without_comments(source.decode("utf-8", "replace"), keep_strings=False)
    lines = _Lines(text)
    found: list[Definition] = []
    package = ""
    scopes: list[str] = []
    pending = ""
    for match in _PROTO.finditer(text):
        kind, value = match.lastgroup, match.group(match.lastgroup or 0)
        if kind == "open":
            scopes.append(pending)
            pending = ""
        elif kind == "close":
            del scopes[-1:]
        elif kind == "package":
            package = value.replace(".", "::") + "::"
        else:
            outer = "".join(f"{scope}_" for scope in scopes if scope)
            name = {
                "type": f"{package}{outer}{value}",
                "service": f"{package}grpc::{value}",
                "map": f"{package}{outer}{_camel(value)}Entry_DoNotUse",
            }[kind or ""]
            found.append(_class(name, lines.at(match.start())))
            pending = value if kind == "type" else ""
    return tuple(found)


def table_definitions(source: bytes) -> tuple[Definition, ...]:
    """The classes that mlir-tblgen makes of the records of a .td file, without their namespace.

    A record's dialect, which knows the namespace, is most often in another file.
    """
    text = _without_comments(source.decode("utf-8", "replace"), keep_strings=True)
    lines = _Lines(text)
    return tuple(
        _class(name, lines.at(record.start(1)))
        for record in _RECORD.finditer(text)
        for name in dict.fromkeys(_record_classes(record[1], record[2]))
    )


def generating_names(key: tuple[str, ...]) -> Iterator[str]:
    """The names of the classes that a generated function can belong to, innermost first.

    `key` is the path of the function. What generators add is taken off: `createFooPass`, `FooOpGenericAdaptorBase`.
    """
    for part in reversed(key):
        name = part.removeprefix("create").removeprefix("~")
        while name[:1].isupper():
            yield name
            shorter = _ADDED.sub("", name)
            if shorter == name:
                break
            name = shorter


_ADDED = re.compile(
    r"(?:GenericAdaptorBase|GenericAdaptor|Adaptor|Storage|InterfaceTraits|Base|Options|DefaultTypeInternal|Stub)$"
)


def _record_classes(record: str, parents: str) -> Iterator[str]:
    prefix, _, rest = record.partition("_")
    yield rest if prefix and rest else record.removeprefix("_")
    yield record
    kinds = dict.fromkeys(_KIND.findall(parents))
    for text in _QUOTED.findall(parents):
        if text[0].isupper():
            yield text
            yield from (text + kind for kind in kinds)


def _class(name: str, line: int) -> Definition:
    return Definition(name, "class", None, line, line)


def _camel(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def _without_comments(text: str, *, keep_strings: bool) -> str:
    """The text with comments (and code in `[{ }]`) blanked, so that positions stay."""

    def blanked(match: re.Match[str]) -> str:
        keep = keep_strings and match[0].startswith('"')
        return match[0] if keep else _NOT_BLANK.sub(" ", match[0])

    return _IGNORED.sub(blanked, text)


class _Lines:
    """The number of the line at a position."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def at(self, position: int) -> int:
        return bisect_right(self._starts, position)
