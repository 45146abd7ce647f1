"""The option `framedex run --boundary`: functions of any library, recorded like those of the runtime.

The native part is `native/boundary/`. It gets the functions as `LIBRARY:NAME:KIND=PARAMETER,...`, separated by
semicolons. A kind is a letter; native/boundary/boundary.h lists them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import click

_BOUNDARY = re.compile(
    r"(?:(?P<library>[^:();]+):)?[^:();]*?(?P<name>[A-Za-z_]\w*)\s*(?:\((?P<parameters>.*)\))?", re.S
)
_MAX_FUNCTIONS = 256  # the same limit as in native/boundary/boundary.h
_WORDS = re.compile(r"[A-Za-z_]\w*")
_ADDRESS, _TEXT, _ANY = "p", "s", "a"
_KINDS = (
    ("d", {"double"}),
    ("f", {"float"}),
    ("l", {"long", "size_t", "ssize_t", "off_t", "int64_t", "uint64_t", "intptr_t", "uintptr_t", "ptrdiff_t"}),
    ("u", {"unsigned", "uint32_t", "uint16_t", "uint8_t"}),
    ("i", {"int", "short", "char", "bool", "int32_t", "int16_t", "int8_t"}),
)
_QUALIFIERS = {"const", "volatile", "restrict", "struct", "enum", "union"}
_TYPE_WORDS = set().union(*(words for _, words in _KINDS), {"signed"})


class BoundaryType(click.ParamType[str]):
    """Functions, separated by commas: `getenv`, `libz.so:deflate`, `getenv(const char* name)`."""

    name = "boundary"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the functions in the form of FRAMEDEX_BOUNDARIES."""
        found = []
        texts = [*_split_functions(str(value))]
        if not texts or str(value).count("(") != str(value).count(")"):
            self.fail(f"{value!r} is not a list of functions.", param, ctx)
        for text in texts:
            parsed = _BOUNDARY.fullmatch(text)
            if parsed is None:
                self.fail(f"{text!r} is not [LIBRARY:]FUNCTION or [LIBRARY:]FUNCTION(PARAMETERS).", param, ctx)
            entry = f"{(parsed['library'] or '').strip()}:{parsed['name']}"
            if re.search(r"\blong\s+double\b(?![^,]*\*)", parsed["parameters"] or ""):
                self.fail(f"{text!r} has a parameter of type long double, which is not supported.", param, ctx)
            if parsed["parameters"] is not None:
                entry += ":" + ",".join(f"{each.kind}={each.name}" for each in _parse_parameters(parsed["parameters"]))
            found.append(entry)
        return ";".join(found)


def build_boundary_variables(chosen: Sequence[str]) -> dict[str, str]:
    """The environment variable for the values of `--boundary`. Raises UsageError if they are too many."""
    text = ";".join(chosen)
    if text.count(";") >= _MAX_FUNCTIONS:
        raise click.UsageError(f"--boundary records at most {_MAX_FUNCTIONS} functions.")
    return {"FRAMEDEX_BOUNDARIES": text} if chosen else {}


@dataclass(frozen=True, slots=True)
class _Parameter:
    kind: str
    name: str


def _split_functions(text: str) -> Iterator[str]:
    """The texts between the commas outside of parentheses."""
    depth, part = 0, ""
    for character in f"{text},":
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            if part.strip():
                yield part.strip()
            part = ""
        else:
            part += character


def _parse_parameters(text: str) -> Iterator[_Parameter]:
    for number, each in enumerate(_split_functions(text)):
        words = [word for word in _WORDS.findall(each) if word not in _QUALIFIERS]
        if words and words != ["void"]:
            is_unnamed = set(words) <= _TYPE_WORDS
            kind = _parameter_kind(each, words if is_unnamed else words[:-1] or words)
            is_named = not is_unnamed and (len(words) > 1 or (kind == _ANY and "*" not in each))
            yield _Parameter(kind, _parameter_name(each, words) if is_named else f"argument{number}")
        elif "*" in each:
            yield _Parameter(_ADDRESS, f"argument{number}")


def _parameter_name(text: str, words: Sequence[str]) -> str:
    pointer_to_function = re.search(r"\(\s*\*\s*(\w+)", text)
    return pointer_to_function[1] if pointer_to_function else words[-1]


def _parameter_kind(text: str, type_words: Sequence[str]) -> str:
    """The kind of a parameter. A type that C does not define itself is of any kind: an integer or an address."""
    if "(" in text or "[" in text or "*" in text:
        is_text = list(type_words) == ["char"] and text.count("*") == 1 and "[" not in text and "(" not in text
        return _TEXT if is_text else _ADDRESS
    return next((kind for kind, words in _KINDS if words & set(type_words)), _ANY)
