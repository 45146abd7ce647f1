"""Checks of recording with an interpreter: its JAX, the mock TPU, plug-ins and FFI kernels."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial

from framedex import nativepart
from framedex.commands.checking.findings import Finding, Look
from framedex.errors import FramedexError
from framedex.interpreters import ask, unusable
from framedex.plaintext import shell_word

_PATIENCE = 30.0  # seconds: importing JAX from a network disk is slow

# A package may be half installed, which only an import detects.
_IMPORTED = """
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


def looks(python: str) -> list[tuple[str, Look]]:
    """The checks for an interpreter; empty on a system that cannot record."""
    if nativepart.unsupported_system() is not None:
        return []
    return [
        ("JAX", partial(_jax, python)),
        ("mock TPU", partial(_mock, python)),
        ("plug-ins", partial(_plugins, python)),
        ("FFI kernels", _ffi),
    ]


def _jax(python: str) -> Iterator[Finding]:
    try:
        found = ask(python, _IMPORTED, _PATIENCE)
    except (OSError, subprocess.SubprocessError, ValueError) as why:
        raise unusable(python, why) from None
    for package, version in found["versions"].items():
        error = found["broken"].get(package)
        if error is None:
            yield Finding(package, version)
        else:
            remedy = f"{shell_word(python)} -m pip install --force-reinstall {package}"
            yield Finding(package, f"{version}, which cannot be imported: {error}.", remedy, is_well=False)
    if "jax" not in found["versions"] and "torch_xla" not in found["versions"]:
        install = f"`{shell_word(python)} -m pip install 'jax>=0.8'`"
        remedy = f"{install}, or `framedex run --python PATH SCRIPT` with another that has it."
        yield Finding("jax", f"It is not installed for {python}: no program of JAX runs there.", remedy, is_well=False)


def _mock(python: str) -> Iterator[Finding]:
    from framedex.commands.launching.launch import check_jaxlib, check_library, check_python
    from framedex.nativepart import framedex_native

    check_library(framedex_native.library_path())
    check_python(python)
    check_jaxlib(python)
    yield Finding("mock TPU", f"`framedex run{_named(python)} SCRIPT` records programs of {python} on it.")


def _plugins(python: str) -> Iterator[Finding]:
    from framedex.commands.launching.plugins import installed_plugins

    found = installed_plugins(python)
    if not found:
        yield Finding("plug-ins", "None are installed: the mock TPU is recorded.")
    for name, library in sorted(found.items()):
        named, plugin = _named(python), shell_word(name)
        if library is None:
            what = "Its package has no library with the function GetPjrtApi, so it is not recorded by its name."
            yield Finding(f"plug-in {name}", what, f"`framedex run{named} --plugin {plugin}:PATH SCRIPT` names it.")
        else:
            yield Finding(f"plug-in {name}", f"{library}: `framedex run{named} --plugin {plugin} SCRIPT` records it.")


def _named(python: str) -> str:
    """The --python option that selects an interpreter; empty for framedex's own."""
    return "" if python == sys.executable else f" --python {shell_word(python)}"  # noqa: TID251


def _ffi() -> Iterator[Finding]:
    from framedex.nativepart import framedex_native

    folder = framedex_native.ffi_startup_path()
    library = framedex_native.library_path().with_name("libframedex_ffi.so")
    try:
        ctypes.CDLL(os.fspath(library))
    except OSError as error:
        raise FramedexError(
            f"The library that traces them cannot be loaded: {error}.", nativepart.INSTALL_AGAIN
        ) from error
    yield Finding("FFI kernels", f"They are traced in programs that framedex starts, by {folder}")
