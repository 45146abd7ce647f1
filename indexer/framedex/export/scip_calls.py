"""Which line had which function called, by the recorded stacks: what SCIP is made of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypeVar

from framedex.export.weights import samples
from framedex.model.exported import Weights

if TYPE_CHECKING:
    from framedex.export.content import Content, Step
    from framedex.export.weights import Sample

_Key = TypeVar("_Key")

_SIMPLE = re.compile(r"[A-Za-z0-9_+$-]+")


@dataclass(frozen=True, slots=True)
class Function:
    """A function: its name, and where it begins; where that is not known, its binary or its boundary, and line 0."""

    name: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Site:
    """A line of a file; `within` is the function that it is in."""

    path: str
    line: int
    within: str


class Calls:
    """The calls between functions on all stacks. `root` is the folder whose files are looked at."""

    def __init__(self, content: Content, root: Path) -> None:
        self._content = content
        self._root = root
        self._boundaries = {kind.function: kind.boundary for kind in content.calls.kinds.values()}
        self._functions: dict[Function, None] = {}
        self._sites: dict[Site, dict[Function, Weights]] = {}
        self._callers: dict[Function, dict[Site, Weights]] = {}
        self._led_to: dict[Function, set[Function]] = {}
        for sample in samples(content):
            self._take(sample)

    def documents(self) -> dict[str, list[Site]]:
        """The files below the folder that stacks have been in, with the lines of calls, or where functions begin."""
        found: dict[str, list[Site]] = {}
        for site in self._sites:
            if self._is_inside(site.path):
                found.setdefault(site.path, []).append(site)
        for function in self._functions:
            if self._begins_inside(function):
                found.setdefault(function.path, [])
        return found

    def functions(self, path: str | None) -> list[Function]:
        """The functions that begin in a file, or, of None, in none that is below the folder."""
        return [
            function
            for function in self._functions
            if (function.path if self._begins_inside(function) else None) == path
        ]

    def called(self, site: Site) -> dict[Function, Weights]:
        """What was called on a line, and how much of it."""
        return self._sites[site]

    def callers(self, function: Function) -> dict[Site, Weights]:
        """The lines that called a function, and how much of it."""
        return self._callers.get(function, {})

    def led_to(self, function: Function) -> set[Function]:
        """The functions of the boundary that were called by a line of this function of the program."""
        return self._led_to.get(function, set())

    def symbol(self, function: Function) -> str:
        """The symbol of a function: its name with its file and line, which tell it from others of that name."""
        path = PurePosixPath(function.path)
        file = path.relative_to(self._root).as_posix() if self._begins_inside(function) else function.path
        line = str(function.line) if function.line else ""
        return f"framedex . . . {_escaped(file)}/{_escaped(function.name)}({line})."

    def _begins_inside(self, function: Function) -> bool:
        """Whether it is known to begin in a file below the folder; what has no line there is known by its binary."""
        return function.line > 0 and self._is_inside(function.path)

    def _is_inside(self, path: str) -> bool:
        return PurePosixPath(path).is_relative_to(self._root)

    def _take(self, sample: Sample) -> None:
        """Count what the stack of some calls has: a line that is on it more than once counts once."""
        kind = sample.kind
        steps = [self._content.step(number) for number in self._content.steps(kind)]
        boundary = Function(kind.function, kind.boundary, 0)
        road = [step for step in steps[:-1] if step.is_code and (step.path or step.module)]
        functions = [*map(self._function, road), boundary]
        self._functions.update(dict.fromkeys(functions))
        found = {(_site(step), function) for step, function in zip(road, functions[1:], strict=True)}
        line = self._content.line(kind)
        if line is not None:
            found.add((Site(line.location.path, line.location.line, line.function), boundary))
            for step, function in zip(road, functions[:-1], strict=True):
                if (step.path, step.line) == (line.location.path, line.location.line):
                    self._led_to.setdefault(function, set()).add(boundary)
        for site, function in found:
            _add(self._sites.setdefault(site, {}), function, sample.weights)
            _add(self._callers.setdefault(function, {}), site, sample.weights)

    def _function(self, step: Step) -> Function:
        if not step.is_python and step.name in self._boundaries:
            return Function(step.name, self._boundaries[step.name], 0)
        return Function(step.name, step.defined_in or step.path or step.module, step.first_line)


def _add(table: dict[_Key, Weights], key: _Key, weights: Weights) -> None:
    table[key] = table.get(key, Weights()) + weights


def _site(step: Step) -> Site:
    return Site(step.path, step.line, step.name)


def _escaped(name: str) -> str:
    """A name as symbols have it: `a b` in backquotes, which are doubled inside."""
    return name if _SIMPLE.fullmatch(name) else "`" + name.replace("`", "``") + "`"
