"""Find the PJRT plug-in of `framedex run --plugin`, and make a program load it through framedex."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from framedex.errors import FramedexError
from framedex.interpreters import ask, why_not
from framedex.regularfile import open_regular

# The folders of installed packages with a plug-in, by name. JAX finds the same ones (jax/_src/xla_bridge.py,
# discover_pjrt_plugins; jax/_src/cloud_tpu_init.py). Unlike importlib.util.find_spec, this imports neither a plug-in
# nor the packages around it.
_INSTALLED = """
folders = {}
def inside(module):
    found, name = None, ""
    for part in module.split("."):
        name = name + "." + part if name else part
        specs = (finder.find_spec(name, found) for finder in sys.meta_path if hasattr(finder, "find_spec"))
        spec = next((each for each in specs if each), None)
        if spec is None:
            return None
        try:
            found = list(spec.submodule_search_locations or ())
        except KeyError:  # a namespace, which looks for the package around it among those that were imported
            found = [each for each in (os.path.join(folder, part) for folder in found) if os.path.isdir(each)]
    return found
def look(name, module):
    found = inside(module)
    if found is not None:
        folders[name] = found
look("libtpu", "libtpu")
for module in pkgutil.iter_modules(inside("jax_plugins") or []):
    look(module.name, "jax_plugins." + module.name)
for entry in importlib.metadata.entry_points(group="jax_plugins"):
    look(entry.name, entry.module)
print(json.dumps(folders))
"""
_TPU = "libtpu"


@dataclass(frozen=True, slots=True)
class Plugin:
    """The library of a plug-in; `name` is its name in JAX, or None if an installed package registers it."""

    path: Path
    name: str | None

    def loaded_by(self, library: Path, current: Mapping[str, str]) -> dict[str, str]:
        """The variables for a program that finds its plug-in by a path: framedex's `library` takes its place."""
        variables = {"FRAMEDEX_PLUGIN": os.fspath(self.path)}
        if self.name == "tpu":
            return variables | {"TPU_LIBRARY_PATH": os.fspath(library)}
        registered = current.get("PJRT_NAMES_AND_LIBRARY_PATHS")
        return variables | {"PJRT_NAMES_AND_LIBRARY_PATHS": _with(f"{self.name}:{library}", registered, ",")}

    def met_by(self, preload: Path, current: Mapping[str, str]) -> dict[str, str]:
        """The variables that preload framedex's `preload`, which intercepts a program's access to this plug-in."""
        preloaded = _with(os.fspath(preload), current.get("LD_PRELOAD"), ":")
        return {"FRAMEDEX_PLUGIN": os.fspath(self.path), "LD_PRELOAD": preloaded}


def find_plugin(text: str, python: str) -> Plugin:
    """The plug-in for a text of the form PATH, NAME:PATH or NAME, where NAME is a package of this Python.

    Raises FramedexError if it is missing, or if the file is not a plug-in.
    """
    is_path = re.fullmatch(r"(?:(?P<name>\w+):)?(?P<path>.*/.*|.*\.so(?:\.\d+)*)", text)
    if not is_path:
        return _installed_plugin(text, python)
    path = Path(is_path["path"]).expanduser().absolute()
    _check(path)
    if is_path["name"]:
        return Plugin(path, is_path["name"])
    if "tpu" in path.name:
        return Plugin(path, "tpu")
    if path.resolve() in {library.resolve() for library in installed_plugins(python).values() if library}:
        return Plugin(path, None)
    raise FramedexError(
        f"JAX does not know {path.name} by itself.",
        f"Name the platform to register it as: --plugin NAME:{text}",
    )


def _installed_plugin(name: str, python: str) -> Plugin:
    installed = installed_plugins(python)
    matches = [name] if name in installed else [known for known in installed if name in known]
    if len(matches) != 1:
        names = ", ".join(sorted(installed)) or "none"
        raise FramedexError(
            f"{python} has {'several plug-ins' if matches else 'no plug-in'} called {name!r}.",
            f"Installed: {names}. Or use a path: --plugin NAME:/path/to/plugin.so",
        )
    library = installed[matches[0]]
    if library is None:
        raise FramedexError(
            f"No library of the package {matches[0]} exports GetPjrtApi.",
            "Name the library: --plugin NAME:/path/to/plugin.so",
        )
    return Plugin(library, "tpu" if matches[0] == _TPU else None)


def installed_plugins(python: str) -> dict[str, Path | None]:
    """The plug-ins of a Python by name, each with its library or None. Raises FramedexError if Python fails."""
    try:
        folders: dict[str, list[str]] = ask(python, _INSTALLED)
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        raise FramedexError(
            f"{python} cannot say which plug-ins it has: {why_not(error)}.", "Check --python."
        ) from None
    return {name: _library([Path(folder) for folder in paths]) for name, paths in folders.items()}


def _library(folders: list[Path]) -> Path | None:
    files = (path for folder in folders for path in sorted(folder.rglob("*.so*")))
    return next((path for path in files if path.is_file() and not _why_no_plugin(path)), None)


def _check(path: Path) -> None:
    if not path.is_file():
        raise FramedexError(f"No such plug-in: {path}.", "Check --plugin.")
    if why := _why_no_plugin(path):
        raise FramedexError(f"{path} is not a PJRT plug-in: {why}.", "Name the plug-in's library: --plugin PATH")


def _why_no_plugin(path: Path) -> str:
    """Why a file cannot be a plug-in, without loading it; empty if it can."""
    from elftools.common.exceptions import ELFError  # imported late: the mock, which most programs use, needs no check
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection

    try:
        with open_regular(path) as file:
            symbols = ELFFile(file).get_section_by_name(".dynsym")
            if not isinstance(symbols, SymbolTableSection) or not symbols.get_symbol_by_name("GetPjrtApi"):
                return "it has no function GetPjrtApi"
    except (ELFError, OSError) as error:
        return f"it cannot be read as a library ({error})"
    return ""


def _with(first: str, others: str | None, separator: str) -> str:
    return f"{first}{separator}{others}" if others else first
