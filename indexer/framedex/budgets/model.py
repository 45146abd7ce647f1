"""Budgets with their patterns and verdicts, and their parsing from the command line, pytest marks and settings.

Patterns select lines and functions: `train.py:12`, `train.py:*`, `train.py:step`, `step`.
"""

from __future__ import annotations

import enum
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.words import BYTE_COUNT_REMEDY, find_nearest_name, parse_byte_count

if TYPE_CHECKING:
    from framedex.model import Compiles, DeviceMemory, Startup, Transfers

    Row = Compiles | Transfers | DeviceMemory | Startup
    from framedex.model import PythonLine

_PYTHON_SUFFIXES = (".py", ".pyw", ".ipynb")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern for lines of a file, a function, or everything. Empty fields and None match everything.

    `file` is an absolute path or its last components, with shell patterns for names. `function` is a shell pattern for
    a plain or qualified function name.
    """

    text: str = "*"
    file: str = ""
    line: int | None = None
    function: str = ""

    @classmethod
    def parse(cls, text: str) -> Pattern:
        """Parse `FILE:LINE`, `FILE:*`, `FILE`, `FILE:FUNCTION`, `FUNCTION`, or `*`; `./` is the working folder.

        Raises ValueError with a sentence for any other text.
        """
        file, colon, what = text.strip().rpartition(":")
        if not colon and (what.endswith(_PYTHON_SUFFIXES) or "/" in what):
            file, what = what, "*"
        if colon and not file:
            raise ValueError(
                f"'{text}' has no file before its colon: write 'train.py:12', 'train.py:*' or 'train.py:step'"
            )
        if what.isascii() and what.isdigit():
            if not file:
                raise ValueError(f"'{text}' is a line without a file: write 'train.py:{what}'")
            if not int(what):
                raise ValueError(f"'{text}' is not a line: lines count from 1")
            return cls(text, _normalise_path(file), line=int(what))
        return cls(text, _normalise_path(file), function="" if what in ("*", "") else what)

    @property
    def is_everything(self) -> bool:
        """Whether the pattern matches every line and function."""
        return not self.file and not self.function

    def matches_function(self, name: str) -> bool:
        """Whether the pattern matches a function by its plain or qualified name."""
        return bool(self.function) and (
            fnmatchcase(name, self.function) or fnmatchcase(name.rpartition(".")[2], self.function)
        )

    def matches_line(self, line: PythonLine | None) -> bool:
        """Whether a line is in the pattern's file and has its number, if any. None matches no file."""
        return self.matches_file(line) and (self.line is None or (line is not None and line.location.line == self.line))

    def matches_file(self, line: PythonLine | None) -> bool:
        """Whether a line is in the file of the pattern."""
        return not self.file or (line is not None and PurePosixPath(line.location.path).match(self.file))


def _normalise_path(file: str) -> str:
    """A normalised path; a path that starts with `./`, `../` or `~` becomes absolute.

    Raises ValueError with a sentence if nothing remains.
    """
    if file.startswith(("./", "../", "~")):
        return os.path.abspath(os.path.expanduser(file))  # noqa: PTH100, PTH111 - a pattern, not a path
    normal = os.path.normpath(file) if file else ""
    if normal == ".":
        raise ValueError(f"'{file}' is a folder, not a file: write 'train.py:*', or '*' for all files")
    return normal


class BudgetSubject(enum.Enum):
    """The quantity that a budget limits."""

    COMPILES = "compiles"
    IMPLICIT_TRANSFERS = "implicit-transfers"
    MEMORY = "memory"
    TRACE_TIME = "startup.trace_seconds"


@dataclass(frozen=True, slots=True)
class Budget:
    """An upper limit for a pattern's matches: compilations, implicit transfers, bytes per device, or ns of tracing.

    `text` is the budget as the user wrote it.
    """

    subject: BudgetSubject
    limit: int
    pattern: Pattern
    text: str


@dataclass(frozen=True, slots=True)
class BudgetViolation:
    """An exceeded budget: the amount (compilations, transfers, bytes or ns), and its rows.

    All rows have one type, largest first.
    """

    amount: int
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class BudgetVerdict:
    """The result of a budget for a recording.

    `matches` is the number of lines, functions or devices that match its pattern. `largest_amount` is the largest
    amount of a match that no later budget covers. `violations` are the exceeding amounts, largest first. `problem` says
    why the budget could not be judged, `missing_data` which data the figures lack.
    """

    budget: Budget
    matches: int
    largest_amount: int
    violations: tuple[BudgetViolation, ...]
    problem: str = ""
    missing_data: str = ""

    @property
    def is_met(self) -> bool:
        """Whether the recording meets the budget, according to the recorded data."""
        return not self.violations and not self.problem


_COUNT_SUBJECTS = {"compiles": BudgetSubject.COMPILES, "implicit_transfers": BudgetSubject.IMPLICIT_TRANSFERS}
_BUDGET_NAMES = (*_COUNT_SUBJECTS, "memory", "startup")
_TRACE_SECONDS = "trace_seconds"
_MAX_SECONDS = 1e9


def parse_budgets(values: Mapping[str, object]) -> tuple[Budget, ...]:
    """The budgets of keywords (`compiles`, `implicit_transfers` or `implicit-transfers`, `memory`, `startup`).

    None is skipped. Raises FramedexError for a malformed budget.
    """
    given = {name.replace("-", "_"): value for name, value in values.items() if value is not None}
    for name in given:
        if name not in _BUDGET_NAMES:
            near = find_nearest_name(name, _BUDGET_NAMES)
            known = f"{', '.join(_BUDGET_NAMES[:-1])} and {_BUDGET_NAMES[-1]}"
            raise FramedexError(
                f"Unknown budget {name!r}.", f"Did you mean {near}?" if near else f"The budgets are {known}."
            )
    try:
        counted = [(subject, given[name]) for name, subject in _COUNT_SUBJECTS.items() if name in given]
        found = [budget for subject, written in counted for budget in parse_count_budgets(subject, written)]
        if "memory" in given:
            found.append(parse_memory_budget(given["memory"]))
        if "startup" in given:
            found.append(parse_startup_budget(given["startup"]))
    except ValueError as error:
        raise FramedexError(f"Invalid budget: {error}.") from None
    return tuple(found)


def parse_budget(subject: BudgetSubject, text: str) -> Budget:
    """Parse a budget of the form `N` or `PATTERN=N`. Raises ValueError with a sentence if it is malformed."""
    pattern, equals, number = text.strip().rpartition("=")
    number = number.strip()
    if not (number.isascii() and number.isdigit()):
        named = pattern if equals else text
        raise ValueError(f"'{text}' has no number: add the limit, such as '{named}=1' or '1'")
    if equals and not pattern.strip():
        raise ValueError(f"'{text}' has no pattern before its '=': write 'train.py:*={number}', or '{number}'")
    return Budget(subject, int(number), Pattern.parse(pattern or "*"), text)


def parse_count_budgets(subject: BudgetSubject, value: object) -> list[Budget]:
    """Parse budgets from a number, text, mapping or list. Raises ValueError with a sentence if malformed."""
    if isinstance(value, bool):
        raise ValueError(f"{value} is not a number of {subject.value}: write the limit as a number")
    if isinstance(value, int):
        if value < 0:
            raise ValueError(f"{value} is negative: write a limit of 0 or more")
        return [Budget(subject, value, Pattern(), str(value))]
    if isinstance(value, str):
        return [parse_budget(subject, value)]
    if isinstance(value, Mapping):
        return [parse_budget(subject, f"{pattern}={number}") for pattern, number in value.items()]
    if isinstance(value, Iterable):
        return [budget for each in value for budget in parse_count_budgets(subject, each)]
    raise ValueError(f"{value!r} is not a budget: write a limit for {subject.value}, or 'train.py:*=1'")


def parse_memory_budget(value: object) -> Budget:
    """Parse a memory budget from a number of bytes or a text such as `2GiB`.

    Raises ValueError with a sentence if it is malformed.
    """
    size = value if isinstance(value, int) and not isinstance(value, bool) else parse_byte_count(str(value))
    if size is None or not 0 <= size <= sys.maxsize:
        raise ValueError(f"{value!r} is not a number of bytes: {BYTE_COUNT_REMEDY}")
    return Budget(BudgetSubject.MEMORY, size, Pattern(), words.format_size(size))


def parse_startup_budget(value: object) -> Budget:
    """Parse a startup budget, a mapping with `trace_seconds`. Raises ValueError with a sentence if it is malformed."""
    names = {str(name).replace("-", "_"): each for name, each in value.items()} if isinstance(value, Mapping) else {}
    found = names.get(_TRACE_SECONDS)
    seconds = found if isinstance(found, int | float) and not isinstance(found, bool) else -1
    if len(names) != 1 or not 0 <= seconds <= _MAX_SECONDS:
        raise ValueError(f"{value!r} is not a startup budget: write startup.{_TRACE_SECONDS} = 10")
    return Budget(BudgetSubject.TRACE_TIME, round(seconds * 1e9), Pattern(), f"{seconds:g} s")
