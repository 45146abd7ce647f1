"""The runtimes that JAX can load through framedex: the mock TPU by one of two APIs, or a PJRT plug-in.

Current JAX uses the PJRT C API. Only the stock wheel of jaxlib 0.4.13 still has and uses the TPU C API of
StreamExecutor.
"""

from __future__ import annotations

import enum
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from framedex.base.errors import FramedexError
from framedex.base.interpreters import format_failure_reason, query_interpreter
from framedex.base.regularfile import open_regular

LEGACY_JAXLIB = "0.4.13"
# Without TPU_LOAD_LIBRARY, a second process fails on a machine-wide lock file. JAX 0.4.13 has no FFI to trace.
_LEGACY_VARIABLES = {"JAX_USE_PJRT_C_API_ON_TPU": "0", "TPU_LOAD_LIBRARY": "1", "FRAMEDEX_FFI": "0"}
_LEGACY_PLATFORMS = {"JAX_PLATFORMS": "tpu,cpu"}


class Runtime(enum.Enum):
    """The API by which JAX uses the TPU runtime; the value is the mock's function that checks its settings."""

    PJRT = "framedex_check_mock"
    TPU_EXECUTOR = "framedex_check_legacy_mock"

    @property
    def option_names(self) -> str:
        """The options of `framedex run` that configure the machine of the mock for this runtime."""
        if self is Runtime.TPU_EXECUTOR:
            return "--device, --devices and --hbm"
        return "--device, --devices, --hosts, --host-id, --slices, --hbm and --fail"

    def variables(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The environment variables that select this runtime; a JAX_PLATFORMS of the user is kept."""
        if self is Runtime.PJRT:
            return {}
        platforms = {} if environment.get("JAX_PLATFORMS") else _LEGACY_PLATFORMS
        return _LEGACY_VARIABLES | platforms


# The folders of installed packages with a plug-in, by name. JAX finds the same ones (jax/_src/xla_bridge.py,
# discover_pjrt_plugins; jax/_src/cloud_tpu_init.py). Unlike importlib.util.find_spec, this imports neither a plug-in
# nor the packages around it.
_LIST_PLUGINS = """
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
_LIBTPU = "libtpu"
_SEPARATOR = ":"  # of several plug-ins in FRAMEDEX_PLUGIN


@dataclass(frozen=True, slots=True)
class Plugin:
    """The library of a plug-in; `name` is its name in JAX, or None if an installed package registers it."""

    path: Path
    name: str | None

    def library_variables(self, library: Path, current: Mapping[str, str]) -> dict[str, str]:
        """The variables for a program that loads its plug-in by path: they name framedex's `library` instead."""
        return {"FRAMEDEX_PLUGIN": os.fspath(self.path)} | self.registration_variables(library, current)

    def preload_variables(self, preload: Path, current: Mapping[str, str]) -> dict[str, str]:
        """The variables that preload framedex's library `preload`, which intercepts the loading of this plug-in."""
        return {"FRAMEDEX_PLUGIN": os.fspath(self.path)} | _build_preload_variable(preload, current)

    def registration_variables(self, library: Path, current: Mapping[str, str]) -> dict[str, str]:
        """The variables with which JAX registers a library under the plug-in's name."""
        if self.name is None:
            return {}
        if self.name == "tpu":
            return {"TPU_LIBRARY_PATH": os.fspath(library)}
        registered = current.get("PJRT_NAMES_AND_LIBRARY_PATHS")
        return {"PJRT_NAMES_AND_LIBRARY_PATHS": _prepend_to_list(f"{self.name}:{library}", registered, ",")}


# The mock TPU, beside another plug-in.
MOCK = Plugin(Path("mock"), "tpu")


def build_variables_of_several(
    plugins: Sequence[Plugin], library: Path, preload: Path, current: Mapping[str, str]
) -> dict[str, str]:
    """The variables for a program with several plug-ins, which JAX loads by their own paths.

    framedex's library `preload` records all but the mock TPU. The mock is `library`, which records itself, and which
    loads no other plug-in if FRAMEDEX_PLUGIN has several names.
    """
    variables = _build_preload_variable(preload, current)
    for plugin in plugins:
        path = library if plugin is MOCK else plugin.path
        variables |= plugin.registration_variables(path, {**current, **variables})
    return variables | {"FRAMEDEX_PLUGIN": _SEPARATOR.join(os.fspath(plugin.path) for plugin in plugins)}


def find_plugins(texts: Sequence[str], python: str) -> tuple[Plugin, ...]:
    """Find the plug-ins that `--plugin` names; empty for the mock TPU alone.

    Raises FramedexError as `find_plugin` does, and for plug-ins that cannot be in one process.
    """
    plugins = tuple(MOCK if text == MOCK.path.name else find_plugin(text, python) for text in dict.fromkeys(texts))
    if plugins == (MOCK,):
        return ()
    from framedex.programs.objects import PJRT_BOUNDARIES

    if len(plugins) > len(PJRT_BOUNDARIES):
        raise FramedexError(
            f"{len(plugins)} plug-ins are too many: framedex records at most {len(PJRT_BOUNDARIES)} per process.",
            "Give --plugin at most twice.",
        )
    names = [plugin.name for plugin in plugins if plugin.name is not None]
    if duplicates := [name for name in names if names.count(name) > 1]:
        raise FramedexError(
            f"Two plug-ins have the name {duplicates[0]} in JAX.", "Choose another name: --plugin NAME:PATH"
        )
    if len({plugin.path.resolve() for plugin in plugins}) < len(plugins):
        raise FramedexError(f"--plugin names {plugins[0].path} twice.", "Give each plug-in once.")
    for plugin in plugins:
        if len(plugins) > 1 and _SEPARATOR in os.fspath(plugin.path):
            raise FramedexError(
                f"The path {plugin.path} contains '{_SEPARATOR}', which separates plug-ins.", "Move or link the file."
            )
    return plugins


def find_plugin(text: str, python: str) -> Plugin:
    """Find the plug-in for a string of the form PATH, NAME:PATH or NAME, where NAME is a package of this Python.

    Raises FramedexError if the plug-in is missing, or if the file is not a plug-in.
    """
    is_path = re.fullmatch(r"(?:(?P<name>\w+):)?(?P<path>.*/.*|.*\.so(?:\.\d+)*)", text)
    if not is_path:
        return _find_installed_plugin(text, python)
    path = Path(is_path["path"]).expanduser().absolute()
    _check_library_file(path)
    if is_path["name"]:
        return Plugin(path, is_path["name"])
    if "tpu" in path.name:
        return Plugin(path, "tpu")
    if path.resolve() in {library.resolve() for library in find_installed_plugins(python).values() if library}:
        return Plugin(path, None)
    raise FramedexError(
        f"JAX does not register {path.name} by itself.",
        f"Name the platform to register it as: --plugin NAME:{text}",
    )


def _find_installed_plugin(name: str, python: str) -> Plugin:
    installed = find_installed_plugins(python)
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
    return Plugin(library, "tpu" if matches[0] == _LIBTPU else None)


def find_installed_plugins(python: str) -> dict[str, Path | None]:
    """The installed plug-ins of a Python by name, each with its library or None. Raises FramedexError on failure."""
    try:
        folders: dict[str, list[str]] = query_interpreter(python, _LIST_PLUGINS)
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        raise FramedexError(
            f"{python} cannot say which plug-ins it has: {format_failure_reason(error)}.", "Check --python."
        ) from None
    return {name: _find_library([Path(folder) for folder in paths]) for name, paths in folders.items()}


def _find_library(folders: list[Path]) -> Path | None:
    files = (path for folder in folders for path in sorted(folder.rglob("*.so*")))
    return next((path for path in files if path.is_file() and not _find_plugin_fault(path)), None)


def _check_library_file(path: Path) -> None:
    if not path.is_file():
        raise FramedexError(f"No such plug-in: {path}.", "Check --plugin.")
    if why := _find_plugin_fault(path):
        raise FramedexError(f"{path} is not a PJRT plug-in: {why}.", "Name the plug-in's library: --plugin PATH")


def _find_plugin_fault(path: Path) -> str:
    """The reason why a file cannot be a plug-in, without loading it; empty if it can."""
    from elftools.common.exceptions import ELFError
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


def _build_preload_variable(preload: Path, current: Mapping[str, str]) -> dict[str, str]:
    return {"LD_PRELOAD": _prepend_to_list(os.fspath(preload), current.get("LD_PRELOAD"), ":")}


def _prepend_to_list(first: str, others: str | None, separator: str) -> str:
    return f"{first}{separator}{others}" if others else first
