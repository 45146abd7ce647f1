"""Parse budgets from the command line, pytest marks and settings."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

from framedex import words
from framedex.budgets.model import Budget, Subject
from framedex.budgets.patterns import Pattern
from framedex.errors import FramedexError
from framedex.nearest import nearest
from framedex.sizes import HOW_TO_WRITE, bytes_of

_COUNTS = {"compiles": Subject.COMPILES, "implicit_transfers": Subject.IMPLICIT_TRANSFERS}
_NAMES = (*_COUNTS, "memory")


def budgets_named(values: Mapping[str, object]) -> tuple[Budget, ...]:
    """The budgets of keywords (`compiles`, `implicit_transfers` or `implicit-transfers`, `memory`); None is skipped.

    Raises FramedexError for a malformed budget.
    """
    given = {name.replace("-", "_"): value for name, value in values.items() if value is not None}
    for name in given:
        if name not in _NAMES:
            near = nearest(name, _NAMES)
            known = f"{', '.join(_NAMES[:-1])} and {_NAMES[-1]}"
            raise FramedexError(f"Unknown budget {name!r}.", f"Did you mean {near}?" if near else f"There are {known}.")
    try:
        counted = [(subject, given[name]) for name, subject in _COUNTS.items() if name in given]
        found = [budget for subject, written in counted for budget in budgets_of(subject, written)]
        if "memory" in given:
            found.append(budget_of_memory(given["memory"]))
    except ValueError as error:
        raise FramedexError(f"Invalid budget: {error}.") from None
    return tuple(found)


def budget_of_text(subject: Subject, text: str) -> Budget:
    """Parse a budget of the form `N` or `PATTERN=N`. Raises ValueError with a sentence if it is malformed."""
    pattern, equals, number = text.strip().rpartition("=")
    number = number.strip()
    if not (number.isascii() and number.isdigit()):
        named = pattern if equals else text
        raise ValueError(f"'{text}' has no number: write how many are allowed, '{named}=1', or '1'")
    if equals and not pattern.strip():
        raise ValueError(f"'{text}' has nothing before its '=': write 'train.py:*={number}', or '{number}'")
    return Budget(subject, int(number), Pattern.parse(pattern or "*"), text)


def budgets_of(subject: Subject, written: object) -> list[Budget]:
    """The budgets of a number, text, mapping or list. Raises ValueError with a sentence if the value is malformed."""
    if isinstance(written, bool):
        raise ValueError(f"{written} is no number of {subject.value}: write how many are allowed")
    if isinstance(written, int):
        if written < 0:
            raise ValueError(f"{written} is less than nothing: write how many are allowed")
        return [Budget(subject, written, Pattern(), str(written))]
    if isinstance(written, str):
        return [budget_of_text(subject, written)]
    if isinstance(written, Mapping):
        return [budget_of_text(subject, f"{pattern}={number}") for pattern, number in written.items()]
    if isinstance(written, Iterable):
        return [budget for each in written for budget in budgets_of(subject, each)]
    raise ValueError(f"{written!r} is no budget: write how many {subject.value} are allowed, or 'train.py:*=1'")


def budget_of_memory(written: object) -> Budget:
    """The budget for a number of bytes or a text such as `2GiB`.

    Raises ValueError with a sentence if it is malformed.
    """
    size = written if isinstance(written, int) and not isinstance(written, bool) else bytes_of(str(written))
    if size is None or not 0 <= size <= sys.maxsize:
        raise ValueError(f"{written!r} is not a number of bytes: {HOW_TO_WRITE}")
    return Budget(Subject.MEMORY, size, Pattern(), words.size(size))
