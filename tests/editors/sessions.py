"""A scripted session in a real editor: its inputs and its report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from framedex.index import Index
from framedex.texts.traces import format_trace
from tests.server.recording import Recording, record
from tests.server.roads import record_roads

EDITORS = Path(__file__).parents[2] / "editors"

HOSTILE = "it's %#|$(touch pwned);`touch pwned`[a]"
"""A folder whose name looks like a shell, Vim or Emacs command. Everything must work in it."""

WALK = [("library.py", 2), ("library.py", 5), ("table.cc", 21), ("table.cc", 30)]
"""The target of go-to-first-frame on line 1 of the stack-path demo."""


def play(command: Sequence[str], plugin: Path, root: Path) -> dict[str, Any]:
    """Run an editor on a recorded program in a folder with a hostile name below `root`; return the script's report.

    Sources recorded in /build are public but not on this machine. The script reads JSON from $FRAMEDEX_SESSION: the
    `plugin` to load, the `cmd` that starts the server, the `demo`, a `trace` document, a `log` with a stack, the demo
    of `roads` through several trees, the `lines` to visit in them, and the path of its `report`.
    """
    folder = root / HOSTILE
    folder.mkdir()
    recording = record(folder)
    roads = record_roads(folder)
    trace, line = _trace_document(recording)
    log = recording.root / "crash.log"
    log.write_text(
        f'no stack\nTraceback (most recent call last):\n  File "{recording.library}", line 4, in device_put\n'
    )
    public = "https://example.org/moved/blob/main/{path}#L{line}"
    (recording.root / "framedex.toml").write_text(f'[links]\n"/build" = "{public}"\n')
    report = recording.root / "report.json"
    session = {
        "plugin": str(plugin),
        "cmd": [sys.executable, "-m", "framedex_server"],
        "demo": str(recording.demo),
        "trace": str(trace),
        "log": str(log),
        "roads": str(roads.demo),
        "lines": {"main_calls_make_input": recording.main_calls_make_input, "trace": line, "log": 3},
        "report": str(report),
    }
    # The editor has its own home folder, so it neither reads nor changes the user's files.
    environment = {**os.environ, "FRAMEDEX_SESSION": json.dumps(session), "HOME": str(root)}
    environment |= {f"XDG_{kind}_HOME": str(root) for kind in ("CONFIG", "STATE", "CACHE", "DATA")}
    done = subprocess.run(
        command, env=environment, timeout=120, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert report.is_file(), done.stderr
    seen: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    assert not list(root.rglob("pwned")) and not Path("pwned").exists()
    assert "problem" not in seen, f"{seen}\n{done.stderr}"
    return seen


def _trace_document(recording: Recording) -> tuple[Path, int]:
    """A trace document of the first call, and the line of its `device_put` frame; two interpreter frames follow."""
    with Index.open(recording.index) as index:
        trace = index.calls.trace(1)
    assert trace is not None
    document = recording.root / "call-1.fdtrace"
    text = format_trace(trace).replace(
        "N jax::Glue in /opt/lib/libjax_common.so+0x20", "N _PyEval_Vector at /build/ceval.c:6434"
    )
    document.write_text(text, encoding="utf-8")
    return document, next(number for number, line in enumerate(text.split("\n"), 1) if "device_put" in line)
