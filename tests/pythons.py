"""The Python interpreters of this machine, for tests that need another one than their own.

The search covers the paths in FRAMEDEX_TEST_PYTHONS, the environments that `make` prepares (`.venv-3.12`, ...,
`.venv-legacy`), PATH, and pyenv's versions.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
OWN_VERSION = "{}.{}".format(*sys.version_info)
RECORDABLE = ("3.11", "3.12", "3.13", "3.14", "3.15")
LEGACY_JAXLIB = "0.4.13"
_QUERY = """
import importlib.metadata, importlib.util, json, os, sys, sysconfig
has_jax = importlib.util.find_spec("jax") is not None
print(json.dumps({
    "version": "%d.%d" % sys.version_info[:2] + ("t" if "t" in getattr(sys, "abiflags", "") else ""),
    "has_jax": has_jax,
    "jaxlib": importlib.metadata.version("jaxlib") if has_jax else "",
    "has_headers": os.path.exists(os.path.join(sysconfig.get_paths()["include"], "internal", "pycore_frame.h")),
}))
"""


@dataclass(frozen=True)
class Python:
    """A working interpreter.

    `version` is like `3.12`, or `3.14t` if it is free-threaded, `jaxlib` like `0.10.2`; `has_headers` means CPython's
    own.
    """

    path: str
    version: str
    has_jax: bool
    jaxlib: str
    has_headers: bool


def with_jax(version: str) -> Python | None:
    """An interpreter of this version that can import a current JAX, None without one."""
    return next((python for python in found(version) if python.has_jax and python.jaxlib != LEGACY_JAXLIB), None)


def with_legacy_jax() -> Python | None:
    """An interpreter with JAX 0.4.13, None without one."""
    return next((python for python in found("3.11") if python.jaxlib == LEGACY_JAXLIB), None)


def with_jaxlib(release: str) -> Python | None:
    """An interpreter with this release of jaxlib, like `0.9`, None without one."""
    pythons = (python for version in RECORDABLE for python in found(version))
    return next((python for python in pythons if python.jaxlib.startswith(f"{release}.")), None)


def with_headers(version: str) -> Python | None:
    """An interpreter of this version with CPython's internal headers, None without one."""
    return next((python for python in found(version) if python.has_headers), None)


def found(version: str) -> tuple[Python, ...]:
    """Every interpreter of this version, the tests' own first."""
    return tuple(python for path in _candidates(version) if (python := _ask(path)) and python.version == version)


@functools.cache
def _candidates(version: str) -> tuple[str, ...]:
    named = os.environ.get("FRAMEDEX_TEST_PYTHONS", "").split(":")
    paths = [sys.executable, *named, *(str(ROOT / f".venv-{name}" / "bin" / "python") for name in (version, "legacy"))]
    paths += [on_path] if (on_path := shutil.which(f"python{version}")) else []
    paths += _pyenv_pythons(version)
    return tuple(dict.fromkeys(path for path in paths if path and Path(path).exists()))


def _pyenv_pythons(version: str) -> Iterator[str]:
    pyenv = shutil.which("pyenv")
    root = subprocess.run([pyenv, "root"], capture_output=True, text=True).stdout.strip() if pyenv else ""
    if root:
        yield from (
            str(path / "bin" / "python") for path in sorted((Path(root) / "versions").glob(f"{version.rstrip('t')}.*"))
        )


@functools.cache
def _ask(path: str) -> Python | None:
    try:
        answer = subprocess.run([path, "-c", _QUERY], capture_output=True, text=True)
    except OSError:
        return None
    return Python(path, **json.loads(answer.stdout)) if answer.returncode == 0 else None
