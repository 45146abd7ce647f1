"""The self-description of a program that demonstrates something in steps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProgramStep:
    """The code below a `# step: TITLE` comment, up to the next one.

    `first` and `last` are its lines (1-based), including the comment. `code` is empty if no statement follows: then the
    step covers the time after the program has ended.
    """

    title: str
    text: str
    code: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Program:
    """A program with steps; title and text come from its docstring."""

    title: str
    text: str
    steps: tuple[ProgramStep, ...]
