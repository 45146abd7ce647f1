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
import time
import tomllib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from threading import Thread

ROOT = Path(__file__).resolve().parent.parent
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install")
_NINJA = re.compile(r"\s*\[(\d+)/(\d+)\] ")
_SHOWN = 60  # lines of what a step that fails has said
_CLEAR = "\r\x1b[K"
_SILENCE = 10.0  # seconds: a log has a line at least so often while something compiles
_DOWNLOADING = re.compile(r"\s*Downloading (\S+) \(([\d.]+) MB\)")
_INSTALLING = "Installing collected packages:"
_LARGE = 20.0  # MB


def main(extras: list[str]) -> int:
    """Install framedex, editable, with these extras. The exit status."""
    requirements = [*needed(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"], extras)]
    command = [*PIP, "--progress-bar", "off", *no_byte_code(), *requirements]
    needs = subprocess.Popen(
        command, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=1
    )
    said: deque[str] = deque(maxlen=_SHOWN)
    listener = Thread(target=listen, args=(needs.stdout, said))
    listener.start()
    try:
        compiled = compile_checkout()
        if compiled and needs.poll() is None:
            say("pip still installs what framedex needs")
    except BaseException:
        needs.terminate()
        raise
    if not compiled:
        needs.terminate()
    failed = needs.wait() != 0
    listener.join()
    if compiled and failed:
        print(*said, sep="", file=sys.stderr)
        print("set-up: pip could not install what framedex needs; see above", file=sys.stderr)
    return 0 if compiled and not failed else 1


def listen(lines: Iterable[str], said: deque[str]) -> None:
    """Tell what takes a while of what pip does, and keep its last lines."""
    for line in lines:
        said.append(line)
        if (large := _DOWNLOADING.match(line)) and float(large[2]) >= _LARGE:
            say(f"downloading {large[1].partition('-')[0]} ({large[2]} MB)")
        elif line.startswith(_INSTALLING):
            say(f"installing {len(line.split()) - len(_INSTALLING.split())} packages")


def say(what: str) -> None:
    """Tell of a step, in a line of its own."""
    print(f"{_CLEAR * sys.stdout.isatty()}set-up: {what}", flush=True)


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


def watched(
    lines: Iterable[str], on_terminal: bool, clock: Callable[[], float] = time.monotonic, who: str = "set-up"
) -> Iterator[str]:
    """The lines of a build but for Ninja's of what went well, of which it is told how far they are, and what they took.

    On a terminal the counter stands in one place. In a log each tenth is a line, and each ten seconds; `clock` is in
    seconds. Nothing is said where nothing is to do.
    """
    began = told = clock()
    tenth = done = total = 0
    for line in lines:
        counted = _NINJA.match(line)
        if not counted:
            yield line
            continue
        done, total = int(counted[1]), int(counted[2])
        if on_terminal:
            print(f"{_CLEAR}{who}: compiling, {done} of {total}", end="", flush=True)
        elif 0 < done < total and (10 * done // total > tenth or clock() - told >= _SILENCE):
            tenth, told = 10 * done // total, clock()
            print(f"{who}: compiling, {done} of {total} ({duration(told - began)})", flush=True)
    if on_terminal and total:
        print(_CLEAR, end="", flush=True)
    if total and done == total:
        print(f"{who}: compiled {done} of {total} in {duration(clock() - began)}", flush=True)


def duration(seconds: float) -> str:
    """A time as people say it: `48 s`, `2 min 5 s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def compiler_cache() -> dict[str, str]:
    """The variables that have CMake compile through ccache, where there is one."""
    ccache = shutil.which("ccache")
    return {f"CMAKE_{language}_COMPILER_LAUNCHER": ccache for language in ("C", "CXX")} if ccache else {}


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:  # what is compiled stays
        sys.exit(128 + signal.SIGINT)
