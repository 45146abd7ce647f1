"""Numbers with their nouns: no text uses a plural for one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from framedex.base import words

_ROOT = Path(__file__).parents[3]
_SOURCES = ("indexer/framedex", "server/framedex_server", "native/framedex_native")
# Counted nouns. Bytes and characters are exempt: one of them is rare, and then an error anyway.
_COUNTED = re.compile(
    r"\s+(?:more |other |named |new |recorded )?"
    r"(?:call|capture|thread|frame|stack|line|file|folder|function|definition|name|time|run|target|error|object|buffer"
    r"|finding|candidate|place|process|program|device|step|second|minute|day|kind|commit|version|symbol|note)(?:s|es)\b"
)


@pytest.mark.parametrize(("number", "text"), [(0, "0 calls"), (1, "1 call"), (2, "2 calls"), (1_200, "1,200 calls")])
def test_a_number_is_followed_by_its_noun(number: int, text: str) -> None:
    assert words.count(number, "call") == text


@pytest.mark.parametrize(
    ("size", "text"),
    [(1023, "1023 B"), (1024, "1 KiB"), (1_023_000, "999 KiB"), (1_024_000, "1,000 KiB"), (1 << 20, "1 MiB")],
)
def test_a_size_has_no_exponent(size: int, text: str) -> None:
    assert words.format_size(size) == text


@pytest.mark.exhaustive
@pytest.mark.parametrize("folder", _SOURCES)
def test_no_text_puts_a_plural_after_an_arbitrary_number(folder: str) -> None:
    """With `f"{calls:,} calls"`, one call is "1 calls": `words.count` avoids that."""
    found = [
        f"{file.relative_to(_ROOT)}:{line}: {text}"
        for file in sorted((_ROOT / folder).rglob("*.py"))
        for line, text in _plurals(ast.parse(file.read_text()))
    ]

    assert found == []


def _plurals(module: ast.Module) -> Iterator[tuple[int, str]]:
    """The line and the text of every f-string with a number that may be one before a plural."""
    for several in ast.walk(module):
        if isinstance(several, ast.IfExp):  # `... if count > 1 else ...`: already checked
            for inner in ast.walk(several):
                inner.is_asked = True  # type: ignore[attr-defined]
    for joined in ast.walk(module):
        if not isinstance(joined, ast.JoinedStr) or hasattr(joined, "is_asked"):
            continue
        for value, after in zip(joined.values, joined.values[1:], strict=False):
            text = after.value if isinstance(after, ast.Constant) else None
            if not isinstance(value, ast.FormattedValue) or not isinstance(text, str) or _is_constant(value.value):
                continue
            if _COUNTED.match(text) and _is_number(value):
                yield joined.lineno, ast.unparse(joined)


def _is_constant(value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id.strip("_").isupper()


def _is_number(value: ast.FormattedValue) -> bool:
    """Whether it is formatted as a count: with commas, or as a length."""
    call = value.value
    is_length = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ("len", "sum")
    return is_length or value.format_spec is not None


def test_a_real_time_signal_has_a_number_instead_of_a_name() -> None:
    assert [words.signal_name(number) for number in (15, 37)] == ["SIGTERM", "signal 37"]
