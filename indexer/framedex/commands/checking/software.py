"""Checks of framedex itself: its version, its native part, and its optional packages."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import framedex
from framedex import nativepart
from framedex.commands.checking.findings import Finding, Look
from framedex.index.file.database import check_sqlite
from framedex.interpreters import own_module
from framedex.onpath import program_on_path
from framedex.version import VERSION

_PATIENCE = 30.0  # seconds

# For each module: its package, and the feature that needs it.
_NEEDED = {
    "elftools": ("pyelftools", "names of C++ frames"),
    "iced_x86": ("iced-x86", "lines of calls in C++ without debug information"),
    "pydemumble": ("pydemumble", "some names of C++ functions"),
    "symbolic": ("symbolic", "lines from debug information"),
    "tree_sitter_cpp": ("tree-sitter-cpp", "definitions in C++ sources"),
    "tree_sitter_python": ("tree-sitter-python", "definitions in Python sources"),
}


def looks() -> list[tuple[str, Look]]:
    """The checks of this module."""
    return [
        ("framedex", _framedex),
        ("SQLite", _sqlite),
        ("native part", _native_part),
        ("packages", _packages),
        ("server", _server),
    ]


def _framedex() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("framedex", f"{VERSION}, in {Path(framedex.__path__[0])}")
    yield Finding("Python", f"{version}, {sys.executable}")  # noqa: TID251


def _sqlite() -> Iterator[Finding]:
    yield Finding("SQLite", check_sqlite())


def _native_part() -> Iterator[Finding]:
    for name in ("_native", "_call_stream", "_extractor", "_scanner"):
        getattr(nativepart, name)
    yield Finding("native part", f"It is there: {Path(nativepart._native.__file__ or '').parent}")


def _packages() -> Iterator[Finding]:
    if nativepart.unsupported_system() is not None:
        return  # indexing is unsupported here, and only indexing needs them
    for module, (package, what) in _NEEDED.items():
        try:
            if find_spec(module) is not None:
                importlib.import_module(module)
                continue
            why = "is not installed"
        except Exception as error:
            why = f"cannot be imported ({type(error).__name__}: {error})"
        remedy = f"{sys.executable} -m pip install --force-reinstall {package}"  # noqa: TID251
        yield Finding(package, f"It {why}: without it there are no {what}.", remedy, is_well=False)


def _server() -> Iterator[Finding]:
    """Start the language server, check its reply to `initialize`, and report where editors find the command."""
    requests: list[tuple[str, int | None, object]] = [
        ("initialize", 1, {"processId": None, "rootUri": None, "capabilities": {}}),
        ("shutdown", 2, None),
        ("exit", None, None),
    ]
    done = subprocess.run(  # noqa: TID251
        own_module("framedex_server", ()),
        input=b"".join(map(_message, requests)),
        capture_output=True,
        timeout=_PATIENCE,
        check=False,
    )
    if done.returncode or b'"serverInfo"' not in done.stdout:
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        again = f"{sys.executable} -m pip install --force-reinstall framedex"  # noqa: TID251
        yield Finding("server", f"The language server does not start: {last or done.returncode}.", again, is_well=False)
    else:
        yield Finding("server", "The language server answers.")
    beside = Path(sys.executable).with_name("framedex")  # noqa: TID251
    on_path = program_on_path("framedex")
    if on_path is not None:
        yield Finding("editors", f"Editors find it on the PATH: {on_path}")
    else:
        remedy = f"Set the editor's command for the server to {beside}, or put its folder on the PATH."
        yield Finding("editors", "The command framedex is not on the PATH, where most editors look.", remedy)


def _message(request: tuple[str, int | None, object]) -> bytes:
    method, number, params = request
    message = {"jsonrpc": "2.0", "method": method}
    content = json.dumps(message | ({"id": number} if number else {}) | ({"params": params} if params else {}))
    return f"Content-Length: {len(content)}\r\n\r\n{content}".encode()
