"""The program of a fork server, `process.py DESCRIPTOR MODULE...`: import the modules, then fork for each request.

Requests come from `tests/fork_server/__init__.py` on the socket DESCRIPTOR. The code that runs a program is at the end
of this file, outside functions: it adds only one frame to the program's stack.
"""

from __future__ import annotations

import array
import builtins
import ctypes
import gc
import importlib
import importlib.machinery
import json
import os
import runpy
import socket
import sys
import time
import types
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

HERE = "<frozen runpy>"
"""The file name in this module's compiled code."""
_MAX_FILES = 64
_PR_SET_MM, _PR_SET_MM_MAP = 35, 14
_command_line = ctypes.create_string_buffer(0)
"""The memory that /proc/self/cmdline shows."""


def serve(channel: socket.socket, modules: list[str]) -> tuple[dict[str, Any], list[int]]:
    """Fork for each request until the client closes the socket. Returns in the fork, with the request and its files."""
    for module in modules:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    parent = os.getppid()
    while True:
        length, rights, _, _ = channel.recvmsg(4, socket.CMSG_SPACE(_MAX_FILES * 4))
        if not length:
            os._exit(0)
        files = array.array("i")
        files.frombytes(b"".join(data for _, _, data in rights))
        body = channel.recv(int.from_bytes(length, "little"), socket.MSG_WAITALL)
        reading, writing = os.pipe()
        middle = _fork()
        if middle == 0:
            if child := _fork():
                os.write(writing, child.to_bytes(8, "little"))
                os._exit(0)
            while os.getppid() != parent:
                time.sleep(0.0002)
            for descriptor in (reading, writing, channel.detach()):
                os.close(descriptor)
            return json.loads(body), list(files)
        os.waitpid(middle, 0)
        answer = os.read(reading, 8)
        for descriptor in (reading, writing, *files):
            os.close(descriptor)
        channel.sendall(answer)


def _fork() -> int:
    """Fork without JAX's warning. Python shows a warning once, and a forking program must get it itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return os.fork()


def become(request: dict[str, Any], files: list[int]) -> None:
    """Give this process the files, folder, environment and arguments of a request."""
    _take_files(files, request["descriptors"])
    if request["new_session"]:
        os.setsid()
    os.umask(request["umask"])
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.stdin.reconfigure(line_buffering=os.isatty(0))  # type: ignore[union-attr]
    sys.stdout.reconfigure(line_buffering=os.isatty(1))  # type: ignore[union-attr]
    sys.orig_argv = request["arguments"]
    _set_command_line(request["arguments"])


def _take_files(files: list[int], numbers: list[int]) -> None:
    """Move each file to its number, and close all other descriptors."""
    above = max(*files, *numbers, 2) + 1
    for place, descriptor in enumerate(files):
        os.dup2(descriptor, above + place)
    for place, number in enumerate(numbers):
        os.dup2(above + place, number, inheritable=True)
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
        if int(name) not in numbers:
            with suppress(OSError):
                os.close(int(name))


def _set_command_line(arguments: list[str]) -> None:
    """Show these arguments in /proc/self/cmdline. Source: prctl(2), PR_SET_MM_MAP, which needs no privilege."""
    global _command_line
    line = b"".join(os.fsencode(argument) + b"\0" for argument in arguments)
    _command_line = ctypes.create_string_buffer(line, len(line))
    start = ctypes.addressof(_command_line)
    # By the numbers of proc_pid_stat(5): code 26, 27; stack 28; data 45, 46; heap 47; environment 50, 51.
    fields = dict(enumerate(Path("/proc/self/stat").read_bytes().rpartition(b") ")[2].split(), 3))
    number = {index: int(fields[index]) for index in (26, 27, 28, 45, 46, 47, 50, 51)}
    library = ctypes.CDLL(None, use_errno=True)
    library.sbrk.restype = ctypes.c_void_p
    places = [*(number[index] for index in (26, 27, 45, 46, 47)), library.sbrk(0), number[28]]
    places += [start, start + len(line), number[50], number[51], 0, 0xFFFFFFFF << 32]  # no vector, no executable
    table = (ctypes.c_uint64 * len(places))(*places)
    if library.prctl(_PR_SET_MM, _PR_SET_MM_MAP, table, ctypes.c_ulong(ctypes.sizeof(table)), 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_MM_MAP)")


def program_of(arguments: list[str]) -> tuple[str, types.CodeType | None]:
    """The module that a command line runs, or the code of `__main__`.

    Only the module `__main__` may refer to its globals. A reference from a frozen object would keep them alive at exit.
    """
    has_safe_path = arguments[1] == "-P"
    if has_safe_path:
        arguments = [arguments[0], *arguments[2:]]
    if arguments[1] == "-m":
        sys.argv = ["-m", *arguments[3:]]
        sys.path.insert(0, str(Path.cwd()))
        return arguments[2], None
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    names = vars(main)
    names["__builtins__"] = builtins
    if arguments[1] == "-c":
        sys.argv = ["-c", *arguments[3:]]
        if not has_safe_path:
            sys.path.insert(0, "")
        return "", compile(arguments[2], "<string>", "exec", dont_inherit=True)
    sys.argv = arguments[1:] if arguments[0] == sys.executable else arguments
    path = Path(sys.argv[0]).absolute()
    sys.path.insert(0, str(path.resolve().parent))
    names |= {"__file__": str(path), "__cached__": None}
    names["__loader__"] = importlib.machinery.SourceFileLoader("__main__", str(path))
    return "", compile(path.read_bytes(), str(path), "exec", dont_inherit=True)


def print_error(kind: type[BaseException], error: BaseException, trace: types.TracebackType | None) -> None:
    """Print a traceback without the frames of this file."""
    while trace is not None and trace.tb_frame.f_code.co_filename == HERE:
        trace = trace.tb_next
    sys.__excepthook__(kind, error.with_traceback(trace), trace)


if __name__ == "__main__":
    request, files = serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
    del sys.path[0]
    become(request, files)
    module, code = program_of(request["arguments"])
    sys.excepthook = print_error
    if code is None:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    else:
        exec(code, vars(sys.modules["__main__"]))
