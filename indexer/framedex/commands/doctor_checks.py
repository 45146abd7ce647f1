"""The checks of `framedex doctor`: framedex itself, its environment, and recording with an interpreter.

Each check is a function that yields findings. `run_checks` turns every exception into a finding.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import framedex
from framedex.base import nativepart
from framedex.base.errors import FramedexError
from framedex.base.folders import find_program, user_folder
from framedex.base.interpreters import build_own_module_command, query_interpreter, unusable_interpreter_error
from framedex.base.plaintext import quote_shell_word
from framedex.base.version import VERSION
from framedex.binaries import BinaryStore
from framedex.commands.inputs.project_index import read_settings_here
from framedex.index.file.database import check_sqlite_version
from framedex.sources.git import Git

_SERVER_TIMEOUT_S = 30.0
_IMPORT_TIMEOUT_S = 30.0  # long, because importing JAX from a network disk is slow
# For each module: its package, and the feature that needs it.
_REQUIRED_MODULES = {
    "elftools": ("pyelftools", "names of C++ frames"),
    "iced_x86": ("iced-x86", "lines of calls in C++ without debug information"),
    "pydemumble": ("pydemumble", "some names of C++ functions"),
    "symbolic": ("symbolic", "lines from debug information"),
    "tree_sitter_cpp": ("tree-sitter-cpp", "definitions in C++ sources"),
    "tree_sitter_python": ("tree-sitter-python", "definitions in Python sources"),
}
# A package may be half installed, which only an import detects.
_IMPORT_JAX = """
found = {"versions": {}, "broken": {}}
printed, sys.stdout = sys.stdout, sys.stderr
for package in ("jax", "jaxlib", "torch_xla", "libtpu"):
    try: found["versions"][package] = importlib.metadata.version(package)
    except Exception: pass
for module in ("jaxlib", "jax"):
    if module in found["versions"]:
        try: __import__(module)
        except BaseException as error: found["broken"][module] = "%s: %s" % (type(error).__name__, error)
sys.stdout = printed
print(json.dumps(found))
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """A result of one check: its subject, a text, and the remedy for a problem; the remedy may be empty."""

    subject: str
    text: str
    remedy: str = ""
    is_well: bool = True


Check = Callable[[], Iterable[Finding]]


def run_checks(checks: Sequence[tuple[str, Check]]) -> Iterator[Finding]:
    """Run all checks, and yield their findings in the order of the checks. Never raises.

    `checks` pairs each check with its subject. The checks run in parallel, because most of them wait for
    an interpreter.
    """
    with ThreadPoolExecutor(len(checks)) as threads:
        for findings in threads.map(lambda check: _run_check(*check), checks):
            yield from findings


def _run_check(subject: str, check: Check) -> list[Finding]:
    findings: list[Finding] = []
    try:
        findings.extend(check())
    except FramedexError as error:
        findings.append(Finding(subject, error.message, error.remedy, is_well=False))
    except Exception as error:  # a broken component may raise any error
        findings.append(Finding(subject, f"The check failed: {type(error).__name__}: {error}.", is_well=False))
    return findings


def list_software_checks() -> list[tuple[str, Check]]:
    """The checks of framedex itself: its version, native part, optional packages and server."""
    return [
        ("framedex", _check_versions),
        ("SQLite", _check_sqlite),
        ("native part", _check_native_part),
        ("packages", _check_packages),
        ("server", _check_server),
    ]


def _check_versions() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("framedex", f"{VERSION}, in {Path(framedex.__path__[0])}")
    yield Finding("Python", f"{version}, {sys.executable}")  # noqa: TID251


def _check_sqlite() -> Iterator[Finding]:
    yield Finding("SQLite", check_sqlite_version())


def _check_native_part() -> Iterator[Finding]:
    for name in ("_native", "_call_stream", "_extractor", "_scanner"):
        getattr(nativepart, name)
    yield Finding("native part", f"It is installed: {Path(nativepart._native.__file__ or '').parent}")


def _check_packages() -> Iterator[Finding]:
    if nativepart.name_unsupported_system() is not None:
        return  # only indexing needs these packages, and it is unsupported here
    for module, (package, what) in _REQUIRED_MODULES.items():
        try:
            if find_spec(module) is not None:
                importlib.import_module(module)
                continue
            why = "is not installed"
        except Exception as error:
            why = f"cannot be imported ({type(error).__name__}: {error})"
        remedy = f"{sys.executable} -m pip install --force-reinstall {package}"  # noqa: TID251
        yield Finding(package, f"The package {why}, so these are missing: {what}.", remedy, is_well=False)


def _check_server() -> Iterator[Finding]:
    """Start the language server, check its reply to `initialize`, and report where editors find the command."""
    requests: list[tuple[str, int | None, object]] = [
        ("initialize", 1, {"processId": None, "rootUri": None, "capabilities": {}}),
        ("shutdown", 2, None),
        ("exit", None, None),
    ]
    done = subprocess.run(  # noqa: TID251
        build_own_module_command("framedex_server", ()),
        input=b"".join(map(_encode_message, requests)),
        capture_output=True,
        timeout=_SERVER_TIMEOUT_S,
        check=False,
    )
    if done.returncode or b'"serverInfo"' not in done.stdout:
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        again = f"{sys.executable} -m pip install --force-reinstall framedex"  # noqa: TID251
        yield Finding("server", f"The language server does not start: {last or done.returncode}.", again, is_well=False)
    else:
        yield Finding("server", "The language server answers.")
    beside = Path(sys.executable).with_name("framedex")  # noqa: TID251
    on_path = find_program("framedex")
    if on_path is not None:
        yield Finding("editors", f"Editors find framedex on the PATH: {on_path}")
    else:
        remedy = f"Set the editor's command for the server to {beside}, or put its folder on the PATH."
        yield Finding("editors", "The command framedex is not on the PATH, where most editors look.", remedy)


def _encode_message(request: tuple[str, int | None, object]) -> bytes:
    method, number, params = request
    message = {"jsonrpc": "2.0", "method": method}
    content = json.dumps(message | ({"id": number} if number else {}) | ({"params": params} if params else {}))
    return f"Content-Length: {len(content)}\r\n\r\n{content}".encode()


def list_environment_checks() -> list[tuple[str, Check]]:
    """The checks of the settings, git, and the user's cache."""
    return [("settings", _check_settings), ("git", _check_git), ("cache", _check_cache)]


def _check_settings() -> Iterator[Finding]:
    settings, problems = read_settings_here()
    for problem in problems:
        yield Finding("settings", problem, "docs/reference/settings.md has every key.", is_well=False)
    if settings.file is None:
        if not problems:
            yield Finding(
                "settings",
                "There are no settings: no framedex.toml or pyproject.toml for framedex in this folder or above.",
            )
        return
    named = {
        "sources": list(map(str, settings.sources)),
        "sources outside of its folder (read after `framedex sources add DIR`)": list(map(str, settings.outside)),
        "path-map": [f"{rule.before} -> {rule.after}" for rule in settings.path_map if not rule.is_outside],
        "path-map out of its folder (used after `framedex sources add DIR`)": [
            f"{rule.before} -> {rule.after}" for rule in settings.path_map if rule.is_outside
        ],
        "links": list(settings.links),
        "mirrors": list(settings.mirrors),
        "index": [str(settings.index)] if settings.index else [],
        "editor": list(settings.editor),
    }
    what = "; ".join(f"{key}: {', '.join(values)}" for key, values in named.items() if values)
    yield Finding("settings", f"{settings.file}: {what or 'it has no settings'}")


def _check_git() -> Iterator[Finding]:
    git = Git(Path("/"))
    version = git.text("version")
    if version is None:
        what = (
            f"git cannot be used ({git.error}), so lines of changed files are not followed, and no sources are fetched."
        )
        yield Finding("git", what, "Install git with the package manager of your system.", is_well=False)
    else:
        yield Finding("git", version.strip())


def _check_cache() -> Iterator[Finding]:
    cache = user_folder("XDG_CACHE_HOME")
    if cache is None:
        remedy = "Set HOME, or XDG_CACHE_HOME to a folder of yours."
        yield Finding("cache", "The home folder is unknown, so nothing is cached between runs.", remedy, is_well=False)
        return
    folder = cache / "framedex"
    nearest = next(each for each in (folder, *folder.parents) if each.exists())
    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        what = f"{folder} cannot be written ({error.strerror or error}), so nothing is cached between runs."
        remedy = "Set XDG_CACHE_HOME to a writable folder."
        yield Finding("cache", what, remedy, is_well=False)
        return
    copies = f"{BinaryStore().size() / 1e6:,.0f} MB of copies of recorded binaries"
    what = f"{folder}: {copies}, fetched sources, and data read from binaries. You can delete it at any time."
    yield Finding("cache", what)


def list_recording_checks(python: str) -> list[tuple[str, Check]]:
    """The checks of recording with an interpreter; empty on a system that cannot record."""
    if nativepart.name_unsupported_system() is not None:
        return []
    return [
        ("JAX", partial(_check_jax, python)),
        ("mock TPU", partial(_check_mock_tpu, python)),
        ("plug-ins", partial(_check_plugins, python)),
        ("FFI kernels", _check_ffi_tracing),
    ]


def _check_jax(python: str) -> Iterator[Finding]:
    try:
        found = query_interpreter(python, _IMPORT_JAX, _IMPORT_TIMEOUT_S)
    except (OSError, subprocess.SubprocessError, ValueError) as why:
        raise unusable_interpreter_error(python, why) from None
    for package, version in found["versions"].items():
        error = found["broken"].get(package)
        if error is None:
            yield Finding(package, version)
        else:
            remedy = f"{quote_shell_word(python)} -m pip install --force-reinstall {package}"
            yield Finding(package, f"{version}, which cannot be imported: {error}.", remedy, is_well=False)
    if "jaxlib" in found["versions"]:
        yield find_release_map(found["versions"]["jaxlib"])
    if "jax" not in found["versions"] and "torch_xla" not in found["versions"]:
        install = f"`{quote_shell_word(python)} -m pip install 'jax>=0.8'`"
        remedy = f"{install}, or run `framedex run --python PATH SCRIPT` with a Python that has JAX."
        yield Finding("jax", f"JAX is not installed for {python}, so no JAX program runs there.", remedy, is_well=False)


def find_release_map(jaxlib: str) -> Finding:
    """The release map that gives the C++ lines of a jaxlib. Raises SourceMapError if the maps are unreadable."""
    from framedex.sources.release_maps import open_release_maps

    found = open_release_maps().nearest("xla", jaxlib)
    if found is None or found.is_nearest:
        nearest = f"those of {found.release}, the nearest release, and are marked" if found else "no release"
        text = f"jaxlib {jaxlib} has no map, so its C++ lines come from {nearest}."
        return Finding("release map", text, "After a recording, `framedex sources fetch` gets its own sources.")
    return Finding(
        "release map", f"C++ lines of jaxlib {jaxlib} come from its own map, at XLA {found.info.commit[:12]}."
    )


def _check_mock_tpu(python: str) -> Iterator[Finding]:
    from framedex.base.nativepart import framedex_native
    from framedex.commands.launching.launch import check_library, check_python, find_runtime

    check_library(framedex_native.library_path())
    check_python(python)
    find_runtime(python)
    yield Finding("mock TPU", f"`framedex run{_python_option(python)} SCRIPT` records programs of {python} on it.")


def _check_plugins(python: str) -> Iterator[Finding]:
    from framedex.commands.launching.runtimes import find_installed_plugins

    found = find_installed_plugins(python)
    if not found:
        yield Finding("plug-ins", "No plug-in is installed: programs run on the mock TPU.")
    for name, library in sorted(found.items()):
        named, plugin = _python_option(python), quote_shell_word(name)
        if library is None:
            what = "No library of its package exports GetPjrtApi, so its name alone does not select it."
            yield Finding(
                f"plug-in {name}", what, f"Name its library: `framedex run{named} --plugin {plugin}:PATH SCRIPT`."
            )
        else:
            yield Finding(f"plug-in {name}", f"{library}: `framedex run{named} --plugin {plugin} SCRIPT` records it.")


def _python_option(python: str) -> str:
    """The --python option that selects this interpreter; empty for framedex's own."""
    return "" if python == sys.executable else f" --python {quote_shell_word(python)}"  # noqa: TID251


def _check_ffi_tracing() -> Iterator[Finding]:
    from framedex.base.nativepart import framedex_native

    folder = framedex_native.ffi_startup_path()
    library = framedex_native.library_path().with_name("libframedex_ffi.so")
    try:
        ctypes.CDLL(os.fspath(library))
    except OSError as error:
        raise FramedexError(
            f"The library that traces FFI kernels cannot be loaded: {error}.", nativepart.REINSTALL_REMEDY
        ) from error
    yield Finding("FFI kernels", f"framedex traces them in the programs that it starts, by {folder}")
