"""The shared tables of a Firefox profile: stacks, frames, functions, files, binaries and texts."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from framedex.export.content import Content, Step

OTHER, PYTHON, NATIVE = range(3)
CATEGORIES = [
    {"name": name, "color": color, "subcategories": ["Other"]}
    for name, color in (("Other", "grey"), ("Python", "yellow"), ("Native", "blue"))
]
_LIBRARY = 1  # the resource type of a library


class Tables:
    """Assigns numbers to stacks and texts."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self._stacks: dict[tuple[int | None, int], int] = {}  # by number of the calling stack, and frame number
        self._frames: dict[int, int] = {}  # by step number
        self._functions: dict[tuple[str, str, int, str, bool], int] = {}
        self._sources: dict[str, int] = {}
        self._libraries: dict[str, int] = {}
        self._texts: dict[str, int] = {}

    def stack(self, steps: tuple[int, ...]) -> int:
        """Return the number of a stack, given by its steps, outermost first."""
        found: int | None = None
        for step in steps:
            frame = self._frames.setdefault(step, len(self._frames))
            found = self._stacks.setdefault((found, frame), len(self._stacks))
        assert found is not None  # a stack has at least the boundary function
        return found

    def text(self, text: str) -> int:
        """Return the number of a text."""
        return self._texts.setdefault(text, len(self._texts))

    def write(self, file: IO[bytes]) -> None:
        """Write `"libs"` and `"shared"`, members of the profile."""
        steps = [self._content.step(number) for number in self._frames]
        shared = {
            "stackTable": _table(prefix=[around for around, _ in self._stacks], frame=[it for _, it in self._stacks]),
            "frameTable": self._frame_table(steps),
            "funcTable": self._function_table(),
            "resourceTable": self._resource_table(),
            "nativeSymbols": _table(libIndex=[], address=[], name=[], functionSize=[]),
            "sources": _table(uuid=[None] * len(self._sources), filename=[self.text(path) for path in self._sources]),
            "stringArray": list(self._texts),
        }
        libraries = [_library(path) for path in self._libraries]
        file.write(f'"libs": {json.dumps(libraries)},\n"shared": {json.dumps(shared)}'.encode())

    def _frame_table(self, steps: list[Step]) -> dict[str, Any]:
        empty = [None] * len(steps)
        return _table(
            address=[-1] * len(steps),  # an address has meaning only with the address of its symbol
            inlineDepth=[0] * len(steps),
            category=[PYTHON if step.is_python else NATIVE if step.module else OTHER for step in steps],
            subcategory=[0] * len(steps),
            func=[self._function(step) for step in steps],
            nativeSymbol=empty,
            innerWindowID=empty,
            line=[step.line or None for step in steps],
            column=empty,
        )

    def _function(self, step: Step) -> int:
        path = step.path or step.defined_in
        key = step.name, step.url or path, step.first_line, step.module, step.is_python
        return self._functions.setdefault(key, len(self._functions))

    def _function_table(self) -> dict[str, Any]:
        empty = [None] * len(self._functions)
        return _table(
            name=[self.text(name) for name, *_ in self._functions],
            isJS=[False] * len(empty),
            relevantForJS=[False] * len(empty),
            resource=[
                self._libraries.setdefault(module, len(self._libraries)) if module else -1
                for *_, module, _ in self._functions
            ],
            source=[
                self._sources.setdefault(path, len(self._sources)) if path else None for _, path, *_ in self._functions
            ],
            lineNumber=[first or None for _, _, first, *_ in self._functions],
            columnNumber=empty,
        )

    def _resource_table(self) -> dict[str, Any]:
        return _table(
            lib=list(range(len(self._libraries))),
            name=[self.text(PurePosixPath(path).name) for path in self._libraries],
            host=[None] * len(self._libraries),
            type=[_LIBRARY] * len(self._libraries),
        )


def _library(path: str) -> dict[str, Any]:
    name = PurePosixPath(path).name
    known = {"name": name, "path": path, "debugName": name, "debugPath": path}
    return {"arch": "x86_64", **known, "breakpadId": "", "codeId": None}


def _table(**columns: list[Any]) -> dict[str, Any]:
    return {**columns, "length": len(next(iter(columns.values())))}
