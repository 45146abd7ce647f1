"""Interpreters without some modules and functions, as on other systems and in smaller installations."""

from __future__ import annotations

import sys
from collections.abc import Iterable

JAX = ("jax", "jaxlib")
NATIVE_PART = tuple(f"framedex_native.{name}" for name in ("_call_stream", "_extractor", "_native", "_scanner"))
OF_X86 = ("iced_x86", "pydemumble", "symbolic", "tree_sitter_cpp", "tree_sitter_python")
"""Packages that have no wheels on some systems, or are not installed where captures are not read."""

OF_UNIX = ("fcntl", "grp", "pwd", "resource", "termios", "tty")
FUNCTIONS = ("getuid", "memfd_create", "pidfd_open", "pread", "pwrite", "sched_getaffinity", "statvfs", "uname")
"""Functions of `os` that macOS or Windows lack."""

ANOTHER_SYSTEM = (*JAX, *NATIVE_PART, *OF_X86, *OF_UNIX)

_START = """\
import asyncio, os, platform, socket, subprocess, sys, tempfile
import numpy  # which was built for this system
hidden = {modules!r}
class Hiding:
    def find_spec(self, name, path=None, target=None):
        if any(f"{{name}}.".startswith(f"{{each}}.") for each in hidden):
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hiding())
for name in [name for name in sys.modules if any(f"{{name}}.".startswith(f"{{each}}.") for each in hidden)]:
    del sys.modules[name]
for name in {functions!r}:
    if hasattr(os, name):
        delattr(os, name)
if "sched_getaffinity" in {functions!r} and hasattr(os, "process_cpu_count"):
    os.process_cpu_count = os.cpu_count  # as it is then
"""


def python_without(modules: Iterable[str], code: str, functions: Iterable[str] = ()) -> list[str]:
    """The command that runs code in an interpreter without these modules and these functions of `os`."""
    return [sys.executable, "-c", _START.format(modules=tuple(modules), functions=tuple(functions)) + code]
