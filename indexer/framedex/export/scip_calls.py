"""Call edges from lines to functions in the recorded stacks, for SCIP."""

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
    """A function: its name and first line. If that is unknown, `path` is its binary or boundary, and `line` is 0."""

    name: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Site:
    """A line of a file; `within` is the function that contains it."""

    path: str
    line: int
    within: str


class Calls:
    """The calls between functions on all stacks. `root` is the folder of the documents."""

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
        """Return the files below the folder that are on stacks or define functions, each with its call sites."""
        found: dict[str, list[Site]] = {}
        for site in self._sites:
            if self._is_inside(site.path):
                found.setdefault(site.path, []).append(site)
        for function in self._functions:
            if self._begins_inside(function):
                found.setdefault(function.path, [])
        return found

    def functions(self, path: str | None) -> list[Function]:
        """Return the functions defined in a file; for None, those defined in no file below the folder."""
        return [
            function
            for function in self._functions
            if (function.path if self._begins_inside(function) else None) == path
        ]

    def called(self, site: Site) -> dict[Function, Weights]:
        """Return the functions called on a line, with their weights."""
        return self._sites[site]

    def callers(self, function: Function) -> dict[Site, Weights]:
        """Return the lines that called a function, with their weights."""
        return self._callers.get(function, {})

    def led_to(self, function: Function) -> set[Function]:
        """Return the boundary functions called by program lines in this function."""
        return self._led_to.get(function, set())

    def symbol(self, function: Function) -> str:
        """Return the SCIP symbol of a function: its name, and its file and line to make it unique."""
        path = PurePosixPath(function.path)
        file = path.relative_to(self._root).as_posix() if self._begins_inside(function) else function.path
        line = str(function.line) if function.line else ""
        return f"framedex . . . {_escaped(file)}/{_escaped(function.name)}({line})."

    def _begins_inside(self, function: Function) -> bool:
        """Return whether the function's first line is known and its file is below the folder."""
        return function.line > 0 and self._is_inside(function.path)

    def _is_inside(self, path: str) -> bool:
        return PurePosixPath(path).is_relative_to(self._root)

    def _take(self, sample: Sample) -> None:
        """Count the edges of a sample's stack; a line that appears more than once counts once."""
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
    """Return a name escaped for a symbol: in backquotes, which are doubled inside, unless it is a simple identifier."""
    return name if _SIMPLE.fullmatch(name) else "`" + name.replace("`", "``") + "`"
