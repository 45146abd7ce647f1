"""Compiles one program in a child process, which libtpu.so starts when it must not wait for the GIL.

    python child.py PARENT FOLDER...

PARENT is the id of the process that requests the program, and FOLDER... is its sys.path. Standard input holds the
request: devices (id and process of each), names of the PJRT buffer types, program format, code and compile options.
Standard output receives the answer: an error's text, empty for success, and Program.description. The other end is
native/pjrt/mock/delegate/child_compiler.cc.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_TIME_LIMIT = 3600  # seconds; ends compilations that would never end, because nothing else interrupts them


def main() -> None:
    """Compile the program on standard input. Exit with status 0 if there is an answer, even an error."""
    parent, *path = sys.argv[1:]
    _exit_with_parent(int(parent))
    sys.path[:] = path
    # Redirect all other output to standard error.
    answer_descriptor = os.dup(1)
    os.dup2(2, 1)
    request = sys.stdin.buffer.read()
    folder = Path(__file__).parent
    sys.path.append(str(folder.parent))
    compiler = importlib.import_module(f"{folder.name}.child_compilation")
    with os.fdopen(answer_descriptor, "wb") as answer:
        answer.write(compiler.compile_request(request))


def _exit_with_parent(parent: int) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(_TIME_LIMIT)
    if os.getppid() != parent:
        sys.exit("the process that requested this compilation has exited")


if __name__ == "__main__":
    main()
