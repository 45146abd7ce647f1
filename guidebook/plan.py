"""What `programs.toml` says: which programs are recorded for the guidebook, and in which environments."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

Thing = TypeVar("Thing")
HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
TABLE = HERE / "programs.toml"


class PlanError(Exception):
    """The table says something that cannot be meant; the message says what."""


@dataclass(frozen=True, slots=True)
class PythonRecipe:
    """A Python: a `version` with `packages`, or what is in `folder` (made by the script `made_by`), else our own.

    What `torch` lists is installed alone, without CUDA (`stand_ins.py`).
    """

    name: str
    folder: str = ""
    made_by: str = ""
    version: str = ""
    packages: tuple[str, ...] = ()
    torch: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Download:
    """A package that is unpacked, the file of it that is wanted, and the Python whose wheel it is ("" for any)."""

    name: str
    package: str
    file: str
    version: str = ""


@dataclass(frozen=True, slots=True)
class Environment:
    """A Python, and the plug-in behind framedex (None: the mock TPU), which JAX knows as `platform`.

    `variables` are set for what runs in it.
    """

    name: str
    python: PythonRecipe
    plugin: Download | None
    platform: str
    variables: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Recording:
    """A program in an environment; `options` are those of `framedex run`, which mean the mock TPU alone.

    A client in C, or one of a `package`, is no program of a framework: it is told where its plug-in is.
    """

    program: Path
    environment: Environment
    options: tuple[str, ...]
    package: Download | None

    @property
    def name(self) -> str:
        """Of its folder, below that of all captures."""
        return f"{self.environment.name}/{self.program.stem}"


@dataclass(frozen=True, slots=True)
class Plan:
    """All that is to be recorded."""

    recordings: tuple[Recording, ...]

    @classmethod
    def read(cls, table: Path = TABLE, programs: Path = PROGRAMS) -> Plan:
        """Raises PlanError where the table names what is not there."""
        try:
            said = tomllib.loads(table.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise PlanError(f"{table}: {error}") from None
        return cls(tuple(_recordings(said, programs)))


def _recordings(said: Mapping[str, Any], programs: Path) -> Iterator[Recording]:
    downloads = {name: Download(name, **fields) for name, fields in said.get("downloads", {}).items()}
    environments = dict(_environments(said, downloads))
    sets = said.get("sets", {})
    for name, fields in said.get("programs", {}).items():
        program = _file(name, programs)
        package = _named(downloads, fields["package"], name) if "package" in fields else None
        wanted = [one for word in fields["environments"] for one in sets.get(word, [word])]
        for word in dict.fromkeys(wanted):
            environment = _named(environments, word, name)
            options = () if environment.plugin else tuple(fields.get("options", ()))
            yield Recording(program, environment, options, package)


def _environments(said: Mapping[str, Any], downloads: Mapping[str, Download]) -> Iterator[tuple[str, Environment]]:
    lists = ("packages", "torch")
    pythons = {
        name: PythonRecipe(name, **fields | {each: tuple(fields.get(each, ())) for each in lists})
        for name, fields in said.get("pythons", {}).items()
    }
    for name, fields in said.get("environments", {}).items():
        plugin = _named(downloads, fields["plugin"], name) if "plugin" in fields else None
        platform = fields.get("platform", "cpu_plugin")
        variables = tuple(fields.get("variables", {}).items())
        yield name, Environment(name, _named(pythons, fields["python"], name), plugin, platform, variables)


def _file(name: str, programs: Path) -> Path:
    """The program's source: Python's or C's."""
    for ending in (".py", ".c"):
        if (path := programs / f"{name}{ending}").is_file():
            return path
    raise PlanError(f"There is no program {name}.py or {name}.c in {programs}.")


def _named(things: Mapping[str, Thing], name: str, where: str) -> Thing:
    if name not in things:
        raise PlanError(f"{where} names {name!r}, which is none of {', '.join(sorted(things))}.")
    return things[name]
