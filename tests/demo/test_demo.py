"""`make demo`: what demo/demo shows, and what it leaves alone."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FRAMEDEX = [sys.executable, "-c", "from framedex.commands.main import cli; cli(prog_name='framedex')"]


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A checkout's demo/ and an environment's bin/, beside each other; the former."""
    for name, command in (("framedex", FRAMEDEX), ("python", [sys.executable])):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
        program.chmod(0o755)
    shutil.copytree(ROOT / "demo", tmp_path / "demo", ignore=shutil.ignore_patterns(".framedex", "seed"))
    shutil.copytree(ROOT / "native" / "pjrt" / "mock", tmp_path / "native")
    return tmp_path / "demo"


def framedex(demo: Path, *arguments: str) -> str:
    done = subprocess.run([*FRAMEDEX, *arguments], cwd=demo, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout


def test_a_demo_shows_its_own_recording_and_leaves_what_is_there(demo: Path) -> None:
    """Given a program of the user's own, recorded and indexed there, when the demo runs, then that is still there."""
    own, sources = demo / "own.py", demo.parent / "sources"
    own.write_text("import jax\n\njax.device_put(2)\n")
    sources.mkdir()
    framedex(demo, "run", own.name)
    framedex(demo, "index", "--source", str(sources))
    (capture,) = (demo / ".framedex" / "captures").iterdir()

    shown = subprocess.run(
        [demo / "demo", demo.parent / "bin" / "framedex"], capture_output=True, text=True, check=True, timeout=120
    ).stdout

    assert "device_put.py:12" in shown and "DeviceMemory::Allocate" in shown
    assert "own.py" not in shown.partition("framedex trace")[2]
    assert capture.is_dir()
    assert "own.py" in framedex(demo, "where", "own.py:3")
    captures = json.loads(framedex(demo, "captures", "--json"))["captures"]
    assert [capture["command"].rpartition(" ")[2] for capture in captures] == ["own.py", "device_put.py"]
    roots = json.loads(framedex(demo, "sources", "--json"))["roots"]
    assert str(sources) in {root["path"] for root in roots}
