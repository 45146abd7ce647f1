"""JAX's data on each compilation is recorded, invisible to the program and at no cost for it."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from framedex.captures import read_capture, read_stored_program
from framedex.ingest.recorded_files import StoredPrograms
from tests import pythons
from tests.reading import calls_of
from tests.run.costs.compiling import NOTED
from tests.running import Run, mock_environment, run
from tests.tiers import exhaustive_unless

COMPILE = "PJRT_Client_Compile"
LOAD = "PJRT_Executable_DeserializeAndLoad"
PROGRAM = """\
import jax, numpy as np
f = jax.jit(lambda x, unused, n: x * 2, static_argnames="n")
f(np.ones(3, np.float32), 1.0, n=4)
f(2.0, 1.0, n=(1, "a"))
"""
KNOWN = {
    "name": "jit(<lambda>)",
    "arguments": [["x", "float32[3]", False], ["unused", "float32[]", True]],
    "statics": [["n", "4"]],
}


def run_code(folder: Path, program: str, python: str = sys.executable, **environment: str) -> Run:
    """A program recorded on the mock TPU."""
    (folder / "program.py").write_text(program)
    return Run.of([python, "program.py"], folder, mock_environment(folder) | environment, 120)


def notes(capture: Path, function: str = COMPILE) -> list[Any]:
    """The note of each compilation, or of each call of another function; None without one."""
    found: list[Any] = []
    for call in calls_of(capture, function):
        name = call.arguments.get("jax.kept")
        content = None if name is None else read_stored_program(capture, name)
        found.append(None if content is None else json.loads(content))
    return found


def is_known(note: dict[str, Any]) -> bool:
    """Whether the note has the data of the first compilation."""
    return KNOWN.items() <= note.items() and "program.py:2" in note["function"]


@pytest.mark.parametrize("version", exhaustive_unless(pythons.RECORDABLE, pythons.OWN_VERSION))
def test_notes_are_written_by_each_python_and_jax(version: str, tmp_path: Path) -> None:
    python = pythons.with_jax(version)
    if python is None:
        pytest.skip(f"no Python {version} with JAX")
    done = run_code(tmp_path, PROGRAM, python.path, **NOTED)
    assert done.status == 0, done.stderr
    first, second = [note for note in notes(done.capture) if "lambda" in note["name"]]
    assert is_known(first)
    assert second["arguments"][0] == ["x", "float32[]", True] and second["statics"] == [["n", "(1, 'a')"]]


def test_a_recording_started_by_the_program_has_notes(tmp_path: Path) -> None:
    program = f"import framedex_native\nwith framedex_native.recording('captures'):\n    exec({PROGRAM!r})\n"
    done = run_code(tmp_path, program, FRAMEDEX_RECORD="0")
    assert done.status == 0, done.stderr
    assert any(note["statics"] == [["n", "4"]] for note in notes(done.capture))


@pytest.mark.exhaustive
def test_a_late_recording_has_notes_for_later_traces(tmp_path: Path) -> None:
    program = f"import jax, framedex_native\njax.devices()\nframedex_native.start('late')\nexec({PROGRAM!r})\n"
    done = run_code(tmp_path, program, FRAMEDEX_RECORD="0", FRAMEDEX_OUT=str(tmp_path / "unused"))
    assert done.status == 0, done.stderr
    (capture,) = (tmp_path / "late").iterdir()
    assert any(note["statics"] == [["n", "4"]] for note in notes(capture))


@pytest.mark.exhaustive
def test_a_cpu_compilation_has_no_note_of_the_next_load(tmp_path: Path) -> None:
    program = (
        "import jax, numpy as np\n"
        "from jax.experimental.serialize_executable import deserialize_and_load, serialize\n"
        "def wanted(x): return x * 2\n"
        "def other(x): return x + 1\n"
        "values = np.ones(3, np.float32)\n"
        "saved = serialize(jax.jit(wanted).lower(values).compile())\n"
        "jax.jit(other)(jax.device_put(values, jax.devices('cpu')[0]))\n"
        "assert deserialize_and_load(*saved)(values).platform() == 'tpu'\n"
    )
    done = run_code(tmp_path, program, **NOTED)
    assert done.status == 0, done.stderr
    assert "jit(wanted)" in [note["name"] for note in notes(done.capture)]
    assert notes(done.capture, LOAD) == [None]


@pytest.mark.exhaustive
def test_a_cached_program_after_a_cpu_compilation_keeps_its_name(tmp_path: Path) -> None:
    program = (
        "import jax, numpy as np\n"
        "def wanted(x): return x * 2\n"
        "def other(x): return x + 1\n"
        "values = np.ones(3, np.float32)\n"
        "jax.jit(wanted)(values)\n"
        "jax.clear_caches()\n"
        "jax.jit(other)(jax.device_put(values, jax.devices('cpu')[0]))\n"
        "jax.jit(wanted)(values)\n"
    )
    cached = {
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "cache"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    done = run_code(tmp_path, program, **NOTED, **cached)
    assert done.status == 0, done.stderr
    assert [note["name"] for note in notes(done.capture, LOAD)] == ["jit(wanted)"]


@pytest.mark.exhaustive
def test_notes_are_switched_off_with_the_handlers(tmp_path: Path) -> None:
    done = run_code(tmp_path, PROGRAM, FRAMEDEX_FFI="0", **NOTED)
    assert done.status == 0 and set(map(str, notes(done.capture))) == {"None"}


def test_an_incompatible_jax_compiles_without_notes(tmp_path: Path) -> None:
    broken = "import jax\nfrom jax._src.interpreters import pxla\npxla.AllArgsInfo = lambda *given: None\n"
    done = run_code(tmp_path, broken + PROGRAM, **NOTED)
    assert done.status == 0 and done.stderr == ""
    assert set(map(str, notes(done.capture))) == {"None"}


def test_a_static_argument_is_neither_run_nor_kept_alive(tmp_path: Path) -> None:
    program = PROGRAM + (
        "import gc, pickle, weakref\n"
        "class Odd:\n"
        "    def __repr__(self): raise SystemExit('asked for')\n"
        "    __str__ = __getattr__ = __repr__\n"
        "odd = Odd()\n"
        "f(3.0, 1.0, n=4.5)\n"
        "jax.jit(lambda x, odd: x, static_argnums=1)(1.0, odd)\n"
        "gone = weakref.ref(odd)\n"
        "del odd\n"
        "jax.clear_caches()\n"
        "gc.collect()\n"
        "assert gone() is None\n"
        "text = f.trace(1.0, 1.0, n=2).jaxpr.jaxpr.debug_info\n"
        "assert pickle.loads(pickle.dumps(text.traced_for)) == 'jit' == text.traced_for, text\n"
    )
    done = run_code(tmp_path, program, **NOTED)
    assert done.status == 0, done.stderr
    assert any(note["statics"] and note["statics"][0][1].startswith("Odd #") for note in notes(done.capture))


def test_notes_leave_no_frame_on_a_stack(tmp_path: Path) -> None:
    program = PROGRAM + (
        "import traceback\n"
        "try: jax.jit(lambda x: x.nothing)(1.0)\n"
        "except AttributeError: print(traceback.format_exc())\n"
    )
    done = run_code(tmp_path, program, JAX_TRACEBACK_FILTERING="off", **NOTED)
    assert done.status == 0, done.stderr
    assert "framedex" not in done.stdout.replace(str(pythons.ROOT), "")  # a checkout may have this name


def test_a_program_never_gets_the_note_of_another_thread(tmp_path: Path) -> None:
    """Compilations that fail early leave their notes, and other threads compile with notes and without."""
    capture = run("failed_compilations.py", folder=tmp_path, **NOTED).capture
    stored = StoredPrograms(read_capture(capture))

    found = Counter[tuple[str, str]]()
    for call in calls_of(capture, COMPILE):
        program, note = stored.program(call.arguments["program.kept"]), call.arguments.get("jax.kept")
        assert program is not None
        name = "" if note is None else json.loads(stored.note(note) or "{}")["name"]
        found[program.read().name, name.replace("(", "_").rstrip(")")] += 1

    assert found.pop(("jit_direct", ""), 0) == 25, found
    assert len(found) == 50 and all(name == noted and count == 1 for (name, noted), count in found.items()), found
