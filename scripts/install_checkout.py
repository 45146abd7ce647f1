"""Compile this checkout into the environment of the Python that runs this, while pip installs what it needs.

    .venv/bin/python scripts/install_checkout.py [EXTRA...]

Compiling needs the processors and pip the network: one beside the other. What is compiled already stays as it is.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install")
_NINJA = re.compile(r"\s*\[(\d+)/(\d+)\] ")
_SHOWN = 60  # lines of what a step that fails has said
_CLEAR = "\r\x1b[K"


def main(extras: list[str]) -> int:
    """Install framedex, editable, with these extras. The exit status."""
    requirements = [*needed(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"], extras)]
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        needs = subprocess.Popen([*PIP, "--quiet", *no_byte_code(), *requirements], stdout=said, stderr=said)
        try:
            compiled = compile_checkout()
            if compiled and needs.poll() is None:
                print("set-up: compiled; pip still installs what framedex needs", flush=True)
        except BaseException:
            needs.terminate()
            raise
        if not compiled:
            needs.terminate()
        failed = needs.wait() != 0
        if compiled and failed:
            said.seek(0)
            print(*deque(said, _SHOWN), sep="", file=sys.stderr)
            print("set-up: pip could not install what framedex needs; see above", file=sys.stderr)
    return 0 if compiled and not failed else 1


def needed(project: Mapping[str, object], extras: Iterable[str]) -> Iterator[str]:
    """What a project's metadata require with these extras, which may name others of it. KeyError for no extra."""
    optional = project.get("optional-dependencies", {})
    assert isinstance(optional, dict)
    own = re.compile(rf"{project['name']}\[([\w,\s.-]+)\]")
    required = project.get("dependencies", ())
    assert isinstance(required, Iterable)
    for requirement in (*required, *(each for extra in extras for each in optional[extra.strip()])):
        if others := own.fullmatch(requirement):
            yield from needed({**project, "dependencies": ()}, others[1].split(","))
        else:
            yield requirement


def no_byte_code() -> list[str]:
    """The option of pip that leaves modules uncompiled: most are never imported. Not where imports may not keep any."""
    return [] if os.environ.get("PYTHONDONTWRITEBYTECODE") else ["--no-compile"]


def compile_checkout() -> bool:
    """Compile and install this checkout; whether that went well. What went wrong is printed."""
    command = [*PIP, "--verbose", "--no-build-isolation", "--no-deps", "--editable", str(ROOT)]
    environment = compiler_cache() | os.environ
    process = subprocess.Popen(
        command, env=environment, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdout is not None
    said = deque(watched(process.stdout, sys.stdout.isatty()), _SHOWN)
    if process.wait() == 0:
        return True
    print(*said, sep="", file=sys.stderr)
    print("set-up: framedex could not be compiled; see above", file=sys.stderr)
    return False


def watched(lines: Iterable[str], on_terminal: bool) -> Iterator[str]:
    """The lines of a build but for Ninja's of what went well; on a terminal, its counter is shown in one place."""
    for line in lines:
        counted = _NINJA.match(line)
        if not counted:
            yield line
        elif on_terminal:
            print(f"{_CLEAR}set-up: compiling, {counted[1]} of {counted[2]}", end="", flush=True)
    if on_terminal:
        print(_CLEAR, end="", flush=True)


def compiler_cache() -> dict[str, str]:
    """The variables that have CMake compile through ccache, where there is one."""
    ccache = shutil.which("ccache")
    return {f"CMAKE_{language}_COMPILER_LAUNCHER": ccache for language in ("C", "CXX")} if ccache else {}


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:  # what is compiled stays
        sys.exit(128 + signal.SIGINT)
