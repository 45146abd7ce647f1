"""The child process that compiles for another: it ends with its parent, and serves no other process."""

from __future__ import annotations

import os
import select
import subprocess
import sys

import framedex_native
from tests.running import TIMEOUT

CHILD = framedex_native.library_path().parent / "mock_tpu" / "child.py"
# Starts the child and sends it a megabyte, more than a pipe holds without a reader: then it is ready.
PARENT = f"""
import os, subprocess, sys
command = [sys.executable, "-P", {os.fspath(CHILD)!r}, str(os.getpid()), *sys.path]
child = subprocess.Popen(command, stdin=subprocess.PIPE)
os.write(child.stdin.fileno(), bytes(1 << 20))
print(child.pid, flush=True)
child.wait()
"""


def test_the_child_ends_when_its_parent_is_killed() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = os.pidfd_open(int(parent.stdout.readline()))
    parent.kill()
    parent.wait()
    completed, _, _ = select.select([child], [], [], TIMEOUT)
    os.close(child)
    assert completed
    parent.stdout.close()


def test_the_child_does_nothing_for_a_dead_parent() -> None:
    not_the_parent = str(os.getppid())
    command = [sys.executable, "-P", os.fspath(CHILD), not_the_parent, *sys.path]
    completed = subprocess.run(command, input=b"", capture_output=True, timeout=TIMEOUT)
    assert (completed.returncode, completed.stdout) == (1, b"")
    assert b"the process that requested this compilation has exited" in completed.stderr
