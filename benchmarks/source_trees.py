"""The definitions of source trees in memory, as `framedex index` would have them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from framedex.model import CallSite, Definition
from framedex.sources import call_sites, extract_files, find_files, language_of, learn_macros

Candidate = tuple[str, Definition]


class SourceTrees:
    """The C++ definitions below some folders, and those that C++ is generated from."""

    def __init__(self, roots: Sequence[Path]) -> None:
        paths = [file.path for root in roots for file in find_files(root) if language_of(Path(file.path)) != "python"]
        macros = learn_macros([path for path in paths if language_of(Path(path)) == "cpp"])
        self.files = len(paths)
        self._by_name: dict[tuple[bool, str], list[Candidate]] = {}
        self._calling: dict[str, list[Definition]] = {}
        for file in extract_files(paths, macros):
            for name, lookup, kind, parameters, line, end_line, is_const, _, calls in file.definitions:
                sites: tuple[CallSite, ...] = call_sites(calls)
                found = Definition(name, kind, parameters, line, end_line, is_const, sites)
                self._by_name.setdefault((file.language == "cpp", lookup), []).append((file.path, found))
                if sites or kind in ("function", "method"):
                    self._calling.setdefault(file.path, []).append(found)

    def __len__(self) -> int:
        return sum(map(len, self._by_name.values()))

    def definitions(self, short_name: str) -> Sequence[Candidate]:
        """The C++ definitions of a short name."""
        return self._by_name.get((True, short_name), ())

    def classes_named(self, short_name: str) -> set[str]:
        """The qualified names of the classes of a short name."""
        return {found.name for _, found in self.definitions(short_name) if found.kind == "class"}

    def generating(self, short_name: str) -> Sequence[Candidate]:
        """The messages and records of a short name."""
        return self._by_name.get((False, short_name), ())

    def definitions_in(self, path: str) -> Sequence[Definition]:
        """The functions of a file, and what else calls something in it."""
        return self._calling.get(path, ())
