"""Fork servers: processes that import JAX or framedex once, and fork for each program that a test starts.

Importing JAX takes most of the time of a short program. With `--fork-servers` (`make test`), subprocess uses a fork
server for each command line that `modules_of` recognises. It executes Python for all others, for tests with the mark
`own_start`, and without the option (`make test-all`).

A forked process is a child of the pytest process, so Popen waits for it, stops it and kills it like any other. It has
the arguments, environment, working directory and files of its command.

A fork server runs `process.py`. It reads requests from a socket: the length (4 bytes, little-endian) with the files
beside it, then a `Request` as JSON. It answers with the id of the process (8 bytes, little-endian).
"""

from __future__ import annotations

import array
import atexit
import ctypes
import dataclasses
import functools
import json
import os
import py_compile
import re
import socket
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from framedex.commands.main import VERBS
from tests.fork_server import process

OPTION = "--fork-servers"
MARKER = "own_start"
JAX = ("jax", "jax.numpy", "numpy")
FRAMEDEX = (
    "framedex_server.command",
    "framedex_server.server",
    *dict.fromkeys(verb.module for verb in VERBS.values()),
)
own_start = threading.Event()
"""While set, subprocess uses no fork servers."""

# Variables that the interpreter or an imported module reads once. A fork keeps its server's values of these.
_READ_AT_START = re.compile(
    r"(JAX|JAXLIB|LD|LIBTPU|MALLOC|MKL|OMP|OPENBLAS|TF|TPU|XLA)_|PYTHON|LANG|LC_|TZ|FRAMEDEX_FFI"
)
_IMPORTS_JAX = re.compile(r"^\s*(import|from) jax\b", re.MULTILINE)
_RUNS_FRAMEDEX = re.compile(r"^from framedex\.commands\.main import cli; cli\(")
_REPLAYS = re.compile(r"\bframedex_replay\b")  # on the mock TPU, which imports JAX
_FORK_EXEC = subprocess._fork_exec  # type: ignore[attr-defined]
MAX_SERVERS = 4  # each takes about 100 MB
_PR_SET_CHILD_SUBREAPER = 36


@dataclasses.dataclass(frozen=True)
class Request:
    """The process to create. `descriptors` are the numbers of its open files, in the order of the passed files."""

    arguments: list[str]
    environment: dict[str, str]
    folder: str
    umask: int
    new_session: bool
    descriptors: list[int]


class ForkServer:
    """A process that imports modules and forks on request. It exits when this process does."""

    def __init__(self, modules: Sequence[str], environment: Mapping[str, str]) -> None:
        self._socket, other = socket.socketpair()
        with other:
            self._process = subprocess.Popen(
                [sys.executable, _compiled_process(), str(other.fileno()), *modules],
                env=environment, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
            )  # fmt: skip
        atexit.register(self.end)

    def start(self, request: Request, files: Sequence[int]) -> int:
        """Fork the requested process. Returns its id; the process is a child of this one.

        Raises RuntimeError if the fork server has exited. Its own error is on standard error.
        """
        body = json.dumps(dataclasses.asdict(request)).encode()
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))]
        _adopt_orphans(True)
        try:
            self._socket.sendmsg([len(body).to_bytes(4, "little")], rights)
            self._socket.sendall(body)
            answer = self._socket.recv(8, socket.MSG_WAITALL)
        except OSError:
            answer = b""
        finally:
            _adopt_orphans(False)
        if len(answer) != 8:
            raise RuntimeError(f"a fork server exited with status {self._process.wait()}")
        return int.from_bytes(answer, "little")

    def end(self) -> None:
        """Stop the process and wait for its exit."""
        self._socket.close()
        self._process.wait()


class ForkServers:
    """The fork servers of this process.

    The second request for modules and an environment creates their server. It replaces the least recently used one if
    there are MAX_SERVERS.
    """

    def __init__(self) -> None:
        self._requests: Counter[Any] = Counter()
        self._servers: dict[Any, ForkServer] = {}

    def server_for(self, modules: tuple[str, ...], environment: Mapping[str, str]) -> ForkServer | None:
        """The server for these modules in such an environment, or None."""
        read = {name: value for name, value in environment.items() if _READ_AT_START.match(name)}
        key = modules, tuple(sorted(read.items()))
        self._requests[key] += 1
        server = self._servers.pop(key, None)
        if server is None and self._requests[key] > 1:
            if len(self._servers) == MAX_SERVERS:
                self._servers.pop(next(iter(self._servers))).end()
            server = ForkServer(modules, environment)
        if server is not None:
            self._servers[key] = server  # the last one is the most recently used
        return server


def install() -> None:
    """Make subprocess use fork servers from now on."""
    subprocess._USE_POSIX_SPAWN = False  # type: ignore[misc]
    servers = ForkServers()
    lock = threading.RLock()

    def start(*parameters: Any) -> int:
        found = None if own_start.is_set() else _request_of(*parameters)
        if found and (modules := modules_of(found[0])):
            with lock:
                server = servers.server_for(modules, found[0].environment)
                if server:
                    return server.start(*found)
        pid: int = _FORK_EXEC(*parameters)
        return pid

    subprocess._fork_exec = start  # type: ignore[attr-defined]


def modules_of(request: Request) -> tuple[str, ...]:
    """The modules that a fork server imports for this process; empty if no fork server can create it."""
    executable, *rest = request.arguments
    if executable == str(Path(sys.executable).with_name("framedex")):
        return FRAMEDEX
    if executable != sys.executable or not rest:
        return ()
    match rest:
        case ["-m", "framedex" | "framedex_server", *_]:
            return FRAMEDEX
        case ["-c", code, *_]:
            return _modules_of_code(code)
        case ["-P", "-c", code, *_] if _REPLAYS.search(code):
            return JAX
        case [program, *_] if not program.startswith("-"):
            try:
                return _modules_of_code(Path(request.folder, program).read_text(encoding="utf-8"))
            except (OSError, ValueError):
                return ()
    return ()


def _modules_of_code(code: str) -> tuple[str, ...]:
    if _IMPORTS_JAX.search(code):
        return JAX
    return FRAMEDEX if _RUNS_FRAMEDEX.search(code) else ()


def _request_of(
    arguments: Sequence[Any], _executables: Any, close_fds: bool, keep: Sequence[int], folder: Any, environment: Any,
    stdin: int, _to_stdin: int, _from_stdout: int, stdout: int, _from_stderr: int, stderr: int,
    _failures: int, failure: int, restore_signals: bool, new_session: bool, group: int, gid: Any, gids: Any, uid: Any,
    umask: int, preexec: Any, *_more: Any,
) -> tuple[Request, list[int]] | None:  # fmt: skip
    """The request and its open files, from the parameters of `fork_exec`; None if a fork cannot have these settings."""
    is_plain = gid is None and gids is None and uid is None and preexec is None and umask == -1 and group == -1
    if not (is_plain and close_fds and restore_signals):
        return None
    passed = [descriptor for descriptor in keep if descriptor != failure]
    variables = os.environ if environment is None else dict(os.fsdecode(entry).split("=", 1) for entry in environment)
    request = Request(
        [os.fsdecode(argument) for argument in arguments],
        dict(variables),
        str(Path(os.fsdecode(folder or ".")).absolute()),
        _umask(),
        new_session,
        [0, 1, 2, *passed],
    )
    standard = [number if given == -1 else given for number, given in enumerate((stdin, stdout, stderr))]
    return request, [*standard, *passed]


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask


def _adopt_orphans(adopts: bool) -> None:
    """Set whether this process becomes the parent of descendants whose parent exits."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, int(adopts), 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


@functools.cache
def _compiled_process() -> str:
    """Compile `process.py` with the file name of runpy, so that framedex counts its frame as the interpreter's."""
    folder = tempfile.TemporaryDirectory(prefix="framedex-fork-server-")
    atexit.register(folder.cleanup)
    target = f"{folder.name}/process.pyc"
    py_compile.compile(process.__file__, target, process.HERE, doraise=True)
    return target
