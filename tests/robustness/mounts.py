"""Real disks that are small or read-only: in a process with its own mounts, which also restrict root."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running import plain_environment

_OWN_MOUNTS = ["unshare", "--mount", "--map-root-user"]
_FRAMEDEX = str(Path(sys.executable).with_name("framedex"))


def on_small_disk(folder: Path, size: str, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script in `folder`, with a disk of `size` (like `6m`) mounted there meanwhile.

    It has our `framedex` and `python`. `fill` leaves no byte free.
    """
    fill = "fill() { dd if=/dev/zero of=filling bs=1k 2>/dev/null; dd if=/dev/zero of=more bs=1 2>/dev/null; true; }"
    mount = f'mount -t tmpfs -o size={size} tmpfs "$0" && cd "$0" || exit 99\n{fill}'
    return _run(folder, mount, script, environment)


def on_read_only_disk(folder: Path, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script in `folder`, which is read-only meanwhile, even for root."""
    mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd "$0" || exit 99'
    return _run(folder, mount, script, environment)


def _run(folder: Path, mount: str, script: str, more: dict[str, str]) -> subprocess.CompletedProcess[str]:
    probe = [*_OWN_MOUNTS, "sh", "-c", "mount -t tmpfs tmpfs /mnt"]
    if not shutil.which("unshare") or subprocess.run(probe, check=False, capture_output=True).returncode:
        pytest.skip("this machine does not let a process mount")
    ours = f'framedex() {{ "{_FRAMEDEX}" "$@"; }}\npython() {{ "{sys.executable}" "$@"; }}'
    environment = plain_environment() | {"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)} | more
    done = subprocess.run(
        [*_OWN_MOUNTS, "sh", "-c", f"{mount}\n{ours}\n{script}", str(folder)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
    )
    assert done.returncode != 99, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done
