"""What a program says of itself that shows something in steps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProgramStep:
    """What lies below a `# step: TITLE` comment, up to the next one.

    `first` and `last` are its lines (1-based), with the comment; `code` is empty where no statement follows: then the
    step is what happens when the program has ended.
    """

    title: str
    text: str
    code: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Program:
    """A program with steps; title and text are of its docstring."""

    title: str
    text: str
    steps: tuple[ProgramStep, ...]
