"""Compile this checkout into the environment of the running Python, while pip installs its dependencies.

.venv/bin/python scripts/install_checkout.py [EXTRA...]

Compiling needs the processors and pip the network, so they run in parallel. Compiled files are reused.
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
from queue import Empty, SimpleQueue
from threading import Thread

ROOT = Path(__file__).resolve().parent.parent
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install")
_NINJA = re.compile(r"\s*\[(\d+)/(\d+)\] ")
_SHOWN = 60  # output lines shown of a failed step
_CLEAR = "\r\x1b[K"
_MAX_SILENCE_S = 10.0  # maximum seconds between two lines of a log during a compilation
_DOWNLOADING = re.compile(r"\s*Downloading (\S+) \(([\d.]+) MB\)")
_INSTALLING = "Installing collected packages:"
_LARGE = 20.0  # MB
_BUILD_TOOLS = ("scikit-build-core>=1.1", "pybind11>=3.0", "cmake>=3.25", "ninja")
_CAUSES = {
    r"No space left on device": "the disk is full. Free some space",
    r"NameResolutionError|NewConnectionError|ConnectTimeoutError|No route to host|\(from versions: none\)": (
        "pip cannot reach the package index. Check the network (behind a mirror: PIP_INDEX_URL)"
    ),
    r"cc1plus: out of memory|Killed signal terminated program": (
        "the compiler ran out of memory. Set CMAKE_BUILD_PARALLEL_LEVEL=1"
    ),
}
_JOB_KIB = 1 << 20  # memory that one compiler process may need; the largest file takes 0.7 GiB


def main(extras: list[str]) -> int:
    """Install framedex, editable, with these extras. Return the exit status."""
    print_step("step 2 of 3: installing the build tools")
    done = subprocess.run([*PIP, "--quiet", *_BUILD_TOOLS], text=True, errors="replace", capture_output=True)
    if done.returncode != 0:
        report_failure("pip could not install the build tools", (done.stderr or done.stdout).splitlines(keepends=True))
        return 1
    print_step("step 3 of 3: compiling framedex while pip installs JAX and the rest")
    requirements = [*expand_requirements(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"], extras)]
    command = [*PIP, "--progress-bar", "off", *byte_code_options(), *requirements]
    needs = subprocess.Popen(
        command, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=1
    )
    last_lines: deque[str] = deque(maxlen=_SHOWN)
    listener = Thread(target=print_slow_pip_steps, args=(needs.stdout, last_lines))
    listener.start()
    try:
        compiled = compile_checkout()
        if compiled and needs.poll() is None:
            print_step("pip still installs what framedex needs")
    except BaseException:
        needs.terminate()
        raise
    if not compiled:
        needs.terminate()
    failed = needs.wait() != 0
    listener.join()
    if compiled and failed:
        report_failure("pip could not install what framedex needs", last_lines)
    return 0 if compiled and not failed else 1


def print_slow_pip_steps(lines: Iterable[str], last_lines: deque[str]) -> None:
    """Print pip's slow steps, and keep its last lines."""
    for line in lines:
        last_lines.append(line)
        if (large := _DOWNLOADING.match(line)) and float(large[2]) >= _LARGE:
            print_step(f"downloading {large[1].partition('-')[0]} ({large[2]} MB)")
        elif line.startswith(_INSTALLING):
            print_step(f"installing {len(line.split()) - len(_INSTALLING.split())} packages")


def print_step(step: str) -> None:
    """Print a step on its own line."""
    print(f"{_CLEAR * sys.stdout.isatty()}set-up: {step}", flush=True)


def expand_requirements(project: Mapping[str, object], extras: Iterable[str]) -> Iterator[str]:
    """A project's requirements with these extras, which may name further extras.

    Raises KeyError for an unknown extra.
    """
    optional = project.get("optional-dependencies", {})
    assert isinstance(optional, dict)
    own = re.compile(rf"{project['name']}\[([\w,\s.-]+)\]")
    required = project.get("dependencies", ())
    assert isinstance(required, Iterable)
    for requirement in (*required, *(each for extra in extras for each in optional[extra.strip()])):
        if others := own.fullmatch(requirement):
            yield from expand_requirements({**project, "dependencies": ()}, others[1].split(","))
        else:
            yield requirement


def byte_code_options() -> list[str]:
    """The pip option that leaves modules uncompiled: most are never imported.

    Unused if imports may not write byte code.
    """
    return [] if os.environ.get("PYTHONDONTWRITEBYTECODE") else ["--no-compile"]


def compile_checkout() -> bool:
    """Compile and install this checkout; return whether that succeeded. Errors are printed."""
    command = [*PIP, "--verbose", "--no-build-isolation", "--no-deps", "--editable", str(ROOT)]
    processors = len(os.sched_getaffinity(0))
    environment = (
        compiler_cache_variables() | parallel_level(Path("/proc/meminfo").read_text(), processors) | os.environ
    )
    process = subprocess.Popen(
        command, env=environment, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdout is not None
    counter = NinjaProgress(sys.stdout.isatty())
    last_lines = deque(counter.track(lines_with_silences(process.stdout)), _SHOWN)
    if process.wait() == 0:
        counter.print_success()
        return True
    report_failure("framedex could not be compiled", last_lines)
    return False


def report_failure(step: str, output: Iterable[str]) -> None:
    """Report a failed step in one line if the output names a known cause; otherwise show the output first."""
    lines = list(output)
    cause = next((cause for pattern, cause in _CAUSES.items() if any(re.search(pattern, line) for line in lines)), None)
    if cause is None:
        sys.stderr.writelines(lines)
    print(f"set-up: {step}: {cause}, then repeat." if cause else f"set-up: {step}; see above", file=sys.stderr)


class NinjaProgress:
    """Prints Ninja's progress: in place on a terminal; in a log, a line for each tenth and every ten seconds.

    Without work to do, it prints no line. `prefix` begins each line; `clock` is in seconds.
    """

    def __init__(self, on_terminal: bool, prefix: str = "set-up", clock: Callable[[], float] = time.monotonic) -> None:
        self._on_terminal, self._who, self._clock = on_terminal, prefix, clock
        self._began = self._told = clock()
        self._done = self._total = self._tenth = 0

    def track(self, lines: Iterable[str | None]) -> Iterator[str]:
        """The lines of a build except Ninja's successful steps; None stands for ten seconds without one."""
        for line in lines:
            counted = _NINJA.match(line) if line is not None else None
            if counted:
                self._done, self._total = int(counted[1]), int(counted[2])
            elif line is not None:
                yield line
                continue
            if 0 < self._done < self._total:
                self._print_progress()
        if self._on_terminal and self._total:
            print(_CLEAR, end="", flush=True)

    def _print_progress(self) -> None:
        now, tenth = self._clock(), 10 * self._done // self._total
        if self._on_terminal:
            print(f"{_CLEAR}{self._who}: compiling, {self._done} of {self._total}", end="", flush=True)
        elif tenth > self._tenth or now - self._told >= _MAX_SILENCE_S:
            self._tenth, self._told = tenth, now
            after = format_duration(now - self._began)
            print(f"{self._who}: compiling, {self._done} of {self._total} ({after})", flush=True)

    def print_success(self) -> None:
        """Report success, and the duration."""
        if self._total:
            print(f"{self._who}: compiled in {format_duration(self._clock() - self._began)}", flush=True)


def lines_with_silences(lines: Iterable[str]) -> Iterator[str | None]:
    """The lines as they arrive, and None for every ten seconds without one."""
    arrived: SimpleQueue[str | None] = SimpleQueue()

    def read_lines() -> None:
        for line in lines:
            arrived.put(line)
        arrived.put(None)

    Thread(target=read_lines, daemon=True).start()
    while True:
        try:
            line = arrived.get(timeout=_MAX_SILENCE_S)
        except Empty:
            yield None
            continue
        if line is None:
            return
        yield line


def format_duration(seconds: float) -> str:
    """A duration in words: `48 s`, `2 min 5 s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def parallel_level(meminfo: str, processors: int) -> dict[str, str]:
    """The variable that limits CMake's parallel jobs; empty if the available memory suffices for Ninja's default.

    `meminfo` is the text of /proc/meminfo, in KiB. Ninja starts at most two jobs more than there are processors.
    """
    available = re.search(r"^MemAvailable:\s+(\d+) kB$", meminfo, re.MULTILINE)
    if available is None:
        return {}
    jobs = max(1, int(available[1]) // _JOB_KIB)
    return {"CMAKE_BUILD_PARALLEL_LEVEL": str(jobs)} if jobs < processors + 2 else {}


def compiler_cache_variables() -> dict[str, str]:
    """The variables that make CMake compile through ccache, if installed."""
    ccache = shutil.which("ccache")
    return {f"CMAKE_{language}_COMPILER_LAUNCHER": ccache for language in ("C", "CXX")} if ccache else {}


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:  # keep compiled files for the next run
        sys.exit(128 + signal.SIGINT)
