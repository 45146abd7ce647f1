"""The model of tools for agents, and of their answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Role(Enum):
    """How an argument of a tool is passed to its verb."""

    WORD = "word"
    OPTION = "option"  # an option of the same name
    VERB = "verb"  # the name of the verb
    INPUT = "input"  # the stdin of the verb


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a tool; `schema` is the JSON Schema of its value."""

    name: str
    schema: Mapping[str, Any]
    role: Role = Role.OPTION
    is_needed: bool = False

    @property
    def option(self) -> str:
        """The option of the verb that receives this argument."""
        return f"--{self.name.replace('_', '-')}"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as agents see it.

    `verbs` are the verbs behind the tool; if there are several, an argument chooses one. A tool without verbs is
    answered by other code. `keeps_gaps`: runs of spaces inside a line have a meaning and must stay.
    """

    name: str
    description: str
    arguments: tuple[Argument, ...]
    verbs: tuple[str, ...] = ()
    keeps_gaps: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The lines of an answer, and its notes.

    `is_failure`: nothing was found, or something failed. `is_cut`: the output was truncated, and more lines exist.
    """

    lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    is_failure: bool = False
    is_cut: bool = False
