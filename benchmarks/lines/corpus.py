"""The libraries of the benchmark: what each is fetched from and how it is built, as `libraries.toml` says."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Library:
    """One library as the table has it; `libraries.toml` says what each field means."""

    name: str
    source: str
    style: str
    compile: Sequence[str] = ()
    exclude: Sequence[str] = ()
    rename_main: Sequence[str] = ()
    include: Sequence[str] = ()
    flags: Sequence[str] = ()
    link: Sequence[str] = ()
    borrow: Mapping[str, Sequence[str]] = field(default_factory=dict)
    generate: Mapping[str, str] = field(default_factory=dict)
    arguments: Sequence[str] = ()
    files: Sequence[str] = ()
    remove: Sequence[str] = ()
    tests: Sequence[str] = ("test/*", "tests/*", "*/test/*", "*/tests/*", "*/testing/*", "*test.*")
    python: str = ""
    kept_out: bool = False

    @property
    def needs(self) -> list[str]:
        """The names of the libraries whose files or headers this one is built with."""
        folders = [entry.partition(":")[0] for entry in self.include if ":" in entry]
        return [name for name in dict.fromkeys([*self.borrow, *folders]) if name != "python"]

    def files_to_compile(self, root: Path) -> list[Path]:
        """The files to compile below its folder, and our own drivers."""
        found: dict[Path, None] = {}
        for pattern in self.compile:
            if pattern.startswith("own:"):
                found[HERE / "drivers" / pattern.removeprefix("own:")] = None
                continue
            matching = sorted(root.glob(pattern))
            if not matching:
                raise FileNotFoundError(f"{self.name}: nothing matches {pattern!r} below {root}")
            found.update(dict.fromkeys(path for path in matching if not self._is_excluded(path.relative_to(root))))
        return list(found)

    def is_test(self, path: str) -> bool:
        """Whether a file, by its path below the library's folder, is of its tests."""
        return any(fnmatch(path, pattern) for pattern in self.tests)

    def renames_main(self, file: Path, root: Path) -> bool:
        """Whether the file has a `main` of its own, where that of another is run."""
        return file.is_relative_to(root) and any(fnmatch(str(file.relative_to(root)), p) for p in self.rename_main)

    def _is_excluded(self, path: Path) -> bool:
        return any(fnmatch(str(path), pattern) for pattern in self.exclude)


@dataclass(frozen=True, slots=True)
class Options:
    """A compiler with the options of one build."""

    compiler: str
    level: str
    flags: Sequence[str]

    @property
    def name(self) -> str:
        """As it stands in the tables, and as its folder is called."""
        return f"{self.compiler}-{self.level}"


COMPILERS = {"clang": ("clang++-19", "clang++"), "gcc": ("g++-12", "g++")}
"""The commands to try for each compiler, the one that figures are published for first."""

_LEVELS = {"O2": ["-O2"], "O3-hidden": ["-O3", "-fvisibility=hidden"]}

BUILDS = [Options(compiler, level, flags) for level, flags in _LEVELS.items() for compiler in COMPILERS]
"""Every library is built with each of these."""


def read_libraries(table: Path = HERE / "libraries.toml") -> dict[str, Library]:
    """The libraries by name, in the order of the table."""
    return {name: Library(name, **entry) for name, entry in tomllib.loads(table.read_text()).items()}
