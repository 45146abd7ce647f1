"""The recordings of the guidebook, from `programs.toml`: programs and their environments."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

Item = TypeVar("Item")
FOLDER = Path(__file__).parent
PROGRAMS = FOLDER / "programs"
PLAN_FILE = FOLDER / "programs.toml"


class PlanError(Exception):
    """`programs.toml` has an error, which the message describes."""


@dataclass(frozen=True, slots=True)
class PythonRecipe:
    """A Python: a `version` with `packages`, the one in `folder` (created by the script `made_by`), or our own.

    `torch` lists packages that are installed without dependencies and without CUDA (`cuda_stubs.py`).
    """

    name: str
    folder: str = ""
    made_by: str = ""
    version: str = ""
    packages: tuple[str, ...] = ()
    torch: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Download:
    """A package to unpack, the needed file in it, and the Python version of its wheel (empty for any)."""

    name: str
    package: str
    file: str
    version: str = ""


@dataclass(frozen=True, slots=True)
class Environment:
    """A Python and a plug-in (None: the mock TPU), with the plug-in's name in JAX (`platform`).

    `variables` are environment variables of its programs.
    """

    name: str
    python: PythonRecipe
    plugin: Download | None
    platform: str
    variables: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Recording:
    """A program in an environment. `options` are options of `framedex run`, which configure the mock TPU.

    C clients and clients from a `package` use no framework. They get the path of the plug-in as an argument.
    """

    program: Path
    environment: Environment
    options: tuple[str, ...]
    package: Download | None

    @property
    def name(self) -> str:
        """The path of its captures, relative to the folder of all captures."""
        return f"{self.environment.name}/{self.program.stem}"


@dataclass(frozen=True, slots=True)
class Plan:
    """All recordings of the guidebook."""

    recordings: tuple[Recording, ...]

    @classmethod
    def read(cls, table: Path = PLAN_FILE, programs: Path = PROGRAMS) -> Plan:
        """Read a plan. Raises PlanError if the file is malformed or refers to something unknown."""
        try:
            document = tomllib.loads(table.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise PlanError(f"{table}: {error}") from None
        return cls(tuple(_parse_recordings(document, programs)))


def _parse_recordings(document: Mapping[str, Any], programs: Path) -> Iterator[Recording]:
    downloads = {name: Download(name, **fields) for name, fields in document.get("downloads", {}).items()}
    environments = dict(_parse_environments(document, downloads))
    sets = document.get("sets", {})
    for name, fields in document.get("programs", {}).items():
        program = _find_program(name, programs)
        package = find_item(downloads, fields["package"], name) if "package" in fields else None
        wanted = [environment for word in fields["environments"] for environment in sets.get(word, [word])]
        for word in dict.fromkeys(wanted):
            environment = find_item(environments, word, name)
            options = () if environment.plugin else tuple(fields.get("options", ()))
            yield Recording(program, environment, options, package)


def _parse_environments(
    document: Mapping[str, Any], downloads: Mapping[str, Download]
) -> Iterator[tuple[str, Environment]]:
    lists = ("packages", "torch")
    pythons = {
        name: PythonRecipe(name, **fields | {each: tuple(fields.get(each, ())) for each in lists})
        for name, fields in document.get("pythons", {}).items()
    }
    for name, fields in document.get("environments", {}).items():
        plugin = find_item(downloads, fields["plugin"], name) if "plugin" in fields else None
        platform = fields.get("platform", "cpu_plugin")
        variables = tuple(fields.get("variables", {}).items())
        yield name, Environment(name, find_item(pythons, fields["python"], name), plugin, platform, variables)


def _find_program(name: str, programs: Path) -> Path:
    """Return the path of a program's source, in Python or C."""
    for ending in (".py", ".c"):
        if (path := programs / f"{name}{ending}").is_file():
            return path
    raise PlanError(f"There is no program {name}.py or {name}.c in {programs}.")


def find_item(named_items: Mapping[str, Item], name: str, context: str) -> Item:
    if name not in named_items:
        raise PlanError(f"{context} names {name!r}, which is none of {', '.join(sorted(named_items))}.")
    return named_items[name]
