"""What a tool is, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Role(Enum):
    """What becomes of an argument in the command line of a verb."""

    WORD = "word"
    OPTION = "option"  # of the same name
    VERB = "verb"  # its value is the verb's name
    INPUT = "input"  # it is what the verb reads from stdin


@dataclass(frozen=True, slots=True)
class Argument:
    """One thing that a tool can be told; `schema` is what JSON Schema says of its value."""

    name: str
    schema: Mapping[str, Any]
    role: Role = Role.OPTION
    is_needed: bool = False

    @property
    def option(self) -> str:
        """The option of the verb that takes it."""
        return f"--{self.name.replace('_', '-')}"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as agents see it. `verbs` are those that answer, of which an argument chooses one where there are several.

    Without any, something else answers. `keeps_gaps`: how far texts are apart within its lines tells something.
    """

    name: str
    description: str
    arguments: tuple[Argument, ...]
    verbs: tuple[str, ...] = ()
    keeps_gaps: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """All lines of an answer, and what is noted beside them.

    `is_failure`: nothing was found, or something failed. `is_cut`: there are more lines, which nobody has read.
    """

    lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    is_failure: bool = False
    is_cut: bool = False
