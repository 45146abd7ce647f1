"""A process of its own that compiles one program: libtpu.so starts it where it must not wait for the GIL.

    python child.py PARENT FOLDER...

PARENT is the id of the process that wants the program, and FOLDER... its sys.path. The request comes on the standard
input: the devices (id and process of each), the names of the PJRT buffer types, the program's format, code and
compile options. The answer goes to the standard output: an error's text, which is empty if there is none, and
Program.description. native/pjrt/mock/delegate/child_compiler.cc is the other end.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_TIME_LIMIT = 3600  # seconds: for a program that XLA never ends with, and nobody is there to interrupt


def main() -> None:
    """Compile what the standard input holds. Exit status 0 where there is an answer, be it an error."""
    parent, *path = sys.argv[1:]
    _end_with(int(parent))
    sys.path[:] = path
    # What anybody prints goes to the standard error.
    answer_to = os.dup(1)
    os.dup2(2, 1)
    request = sys.stdin.buffer.read()
    folder = Path(__file__).parent
    sys.path.append(str(folder.parent))
    compiler = importlib.import_module(f"{folder.name}.apart")
    with os.fdopen(answer_to, "wb") as answer:
        answer.write(compiler.answer(request))


def _end_with(parent: int) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(_TIME_LIMIT)
    if os.getppid() != parent:
        sys.exit("the process that wants a program compiled is gone")


if __name__ == "__main__":
    main()
