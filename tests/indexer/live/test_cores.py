"""Stacks of core files, compared with gdb's and with those that the program itself reports."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.live.model import LiveFrame
from tests import pythons
from tests.indexer.live.cores import gdb_frames, read_core, write_core
from tests.indexer.privileges import run_without_privileges
from tests.running import PROGRAMS
from tests.tiers import exhaustive_unless

CRASH = """\
import ctypes, faulthandler

def crash():
    ctypes.string_at(0)  # crash

def called_by_c():
    return sorted([2, 1], key=lambda _: crash())  # called_by_c

faulthandler.enable()
called_by_c()  # main
"""

LAMBDA = "called_by_c.<locals>.<lambda>"

FORK = """\
import os, threading

def child():
    os.abort()

threading.Thread(target=threading.Event().wait, daemon=True).start()
if os.fork():
    os.wait()
else:
    child()
"""

NULL_CALL = """\
import ctypes

def calls_null():
    ctypes.CFUNCTYPE(None)(16)()

calls_null()
"""

JAX_CALLBACK = """\
import os, jax, jax.numpy as jnp

def callback(x):
    os.abort()

@jax.jit
def step(x):
    return jax.pure_callback(callback, x, x)

step(jnp.ones(4)).block_until_ready()
"""

ENDS_WITH_A_CALL = """\
#include <stdlib.h>
#include <signal.h>
__attribute__((noinline)) void ends_with_a_call() { raise(SIGILL); abort(); }
__attribute__((noinline)) void neighbour() { raise(SIGFPE); abort(); }
int main(int count, char**) { if (count > 1) neighbour(); ends_with_a_call(); }
"""

MALFORMED_TABLE = """\
#include <stdlib.h>
__asm__(".type lost, @function\\nlost: .cfi_startproc\\nsub $8, %rsp\\n.cfi_adjust_cfa_offset 8\\n"
        ".cfi_escape ESCAPE\\ncall abort\\n.cfi_endproc\\n.size lost, . - lost\\n");
extern "C" void lost();
int main() { lost(); }
"""


@pytest.fixture(scope="module", params=exhaustive_unless(("3.11", "3.12", "3.13"), pythons.OWN_VERSION))
def interpreter(request: pytest.FixtureRequest) -> str:
    """An interpreter of each version whose C library writes cores of this machine."""
    found = next(iter(pythons.found(request.param)), None)
    if found is None:
        pytest.skip(f"no Python {request.param} here")
    return found.path


@pytest.fixture(scope="module")
def native_core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small core file of a C++ program, beside it."""
    folder = tmp_path_factory.mktemp("native")
    (folder / "ending.cc").write_text(ENDS_WITH_A_CALL)
    subprocess.run(["g++", "-O2", "-g", "ending.cc", "-o", "ending"], cwd=folder, check=True)
    return write_core(folder, str(folder / "ending"))[0]


def _write_python_core(interpreter: str, program: str, folder: Path) -> Path:
    (folder / "program.py").write_text(program)
    return write_core(folder, interpreter, "program.py")[0]


def _run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["core", *map(str, arguments)])


def _python_lines(document: dict[str, Any]) -> list[str]:
    """The function and line of each Python frame of the first thread."""
    frames = document["threads"][0]["frames"]
    return [f"{frame['function']}:{frame['line']}" for frame in frames if frame["language"] == "python"]


@pytest.mark.parametrize("program", [CRASH, FORK, NULL_CALL], ids=["signal handler", "fork", "call of null"])
def test_native_frames_are_those_of_gdb(interpreter: str, program: str, tmp_path: Path) -> None:
    core = _write_python_core(interpreter, program, tmp_path)

    stacks, names = read_core(core)

    truth = gdb_frames([stacks.image.program, str(core)], tmp_path)
    assert {thread.tid for thread in stacks.threads} == truth.keys()
    for thread in stacks.threads:
        compiled = [frame for frame in truth[thread.tid] if frame.kind != "inlined"]
        assert [frame.address for frame in thread.native.frames] == [frame.address for frame in compiled]
        assert thread.native.problem == ""
        found = [found for frame in thread.native.frames for found in names[frame]]
        assert [each.frame.place.line if each.frame.place else 0 for each in found] == [
            frame.line for frame in truth[thread.tid]
        ]
        # The C library has several names for a function.
        python = [(each.function, frame.name) for each, frame in zip(found, truth[thread.tid], strict=True)]
        assert all(ours == theirs for ours, theirs in python if "Py" in theirs)


def test_python_frames_of_all_threads_replace_their_evaluators(interpreter: str, tmp_path: Path) -> None:
    core, line = write_core(tmp_path, interpreter, str(PROGRAMS / "live_frames.py"))
    truth = {int(tid): [LiveFrame(*frame) for frame in frames] for tid, frames in json.loads(line).items()}

    stacks, names = read_core(core)

    merged = {thread.tid: thread.merged for thread in stacks.threads if thread.tid in truth}
    found = {tid: [each for each in stack.frames if isinstance(each, LiveFrame)] for tid, stack in merged.items()}
    assert len(truth) == 6
    assert found == truth
    assert all(stack.apart == () and stack.problem == "" for stack in merged.values())
    native = [frame for stack in merged.values() for frame in stack.frames if not isinstance(frame, LiveFrame)]
    assert "_PyEval_EvalFrameDefault" not in {found.function for frame in native for found in names[frame]}


def test_a_crash_behind_a_signal_handler_and_a_call_from_c(interpreter: str, tmp_path: Path) -> None:
    document = json.loads(_run(_write_python_core(interpreter, CRASH, tmp_path), "--json").output)

    functions = [frame["function"] for frame in document["threads"][0]["frames"]]
    in_order = ["__restore_rt", "PyCFuncPtr_call", "crash", LAMBDA, "PyObject_CallOneArg", "called_by_c"]
    assert [each for each in functions if each in in_order] == in_order
    assert _python_lines(document)[1:] == ["crash:4", f"{LAMBDA}:7", "called_by_c:7", "<module>:10"]
    assert (document["signal"], document["fault_address"], document["problems"]) == ("SIGSEGV", None, [])


def test_a_forked_child_has_its_python(interpreter: str, tmp_path: Path) -> None:
    document = json.loads(_run(_write_python_core(interpreter, FORK, tmp_path), "--json").output)

    assert _python_lines(document) == ["child:4", "<module>:10"]
    assert len(document["threads"]) == 1


@pytest.mark.exhaustive
def test_c_plus_plus_under_jax_is_between_the_python_frames(tmp_path: Path) -> None:
    core = _write_python_core(sys.executable, JAX_CALLBACK, tmp_path)

    text = _run(core).output

    main = text.partition("main (")[2].partition("\n\n")[0]
    parts = ["os_abort", "> callback  ", "xla::cpu::CustomCallThunk::Execute(", "PjitFunction", "<module>  "]
    positions = [main.find(part) for part in parts]
    assert -1 not in positions
    assert positions == sorted(positions)
    assert "custom_call_thunk.cc#L" in main
    assert " threads (" in text  # a pool, whose threads wait in the same function


def test_a_caller_whose_call_is_its_last_instruction_is_not_its_neighbour(native_core: Path) -> None:
    output = _run(native_core).output

    assert "ending: process " in output
    assert "killed by SIGILL" in output
    assert [line.split()[0] for line in output.splitlines() if "ending.cc:" in line] == ["ends_with_a_call", "main"]


@pytest.mark.parametrize("escape", ["0x0f, 1, 0x0e", "0x07, 7"], ids=["truncated expression", "no stack pointer"])
def test_a_malformed_unwind_table_ends_the_stack_with_a_reason(tmp_path: Path, escape: str) -> None:
    (tmp_path / "lost.cc").write_text(MALFORMED_TABLE.replace("ESCAPE", escape))
    subprocess.run(["g++", "-O1", "lost.cc", "-o", "lost"], cwd=tmp_path, check=True)

    result = _run(write_core(tmp_path, str(tmp_path / "lost"))[0])

    assert result.exit_code == 0, result.exception
    assert "lost has an unwind table that framedex cannot read" in result.output


def test_explain_names_the_verb_for_a_core_file(native_core: Path) -> None:
    result = CliRunner().invoke(cli, ["explain", str(native_core)])

    assert result.exit_code == 1
    assert "framedex core" in result.output


def test_a_moved_program_is_named_on_the_command_line(native_core: Path, tmp_path: Path) -> None:
    folder = tmp_path / "built"
    shutil.copytree(native_core.parent, folder, ignore=lambda *_: ["core"])
    core, _ = write_core(folder, str(folder / "ending"))
    moved = tmp_path / "moved"
    (folder / "ending").rename(moved)

    without, named = _run(core).output, _run(core, moved).output

    assert "is not here. Name its file: `framedex core FILE EXE`." in without
    assert "The stack ends here: " in without
    assert "ends_with_a_call" in named
    assert "stack ends" not in named


def test_another_build_names_no_function(native_core: Path, tmp_path: Path) -> None:
    subprocess.run(["g++", "-O2", str(native_core.parent / "ending.cc"), "-o", tmp_path / "other"], check=True)

    output = _run(native_core, tmp_path / "other").output

    assert "other is a different build from the process's." in output
    assert "ends_with_a_call" not in output


def test_another_build_without_an_id_names_no_function(tmp_path: Path) -> None:
    (tmp_path / "ending.cc").write_text(ENDS_WITH_A_CALL)
    for name, level in (("ending", "-O2"), ("other", "-O0")):
        subprocess.run(["g++", level, "-Wl,--build-id=none", "ending.cc", "-o", name], cwd=tmp_path, check=True)
    core, _ = write_core(tmp_path, str(tmp_path / "ending"))

    same, other = _run(core).output, _run(core, tmp_path / "other").output

    assert "ends_with_a_call" in same and "another build" not in same
    assert "other is a different build from the process's." in other and "ends_with_a_call" not in other


def test_a_binary_whose_build_is_unknown_is_named(native_core: Path, tmp_path: Path) -> None:
    core = tmp_path / "without_headers"
    core.write_bytes(_with_segments(native_core.read_bytes(), 32, lambda size: 0 if size == 4096 else size))

    output = _run(core).output

    assert "ending may be a different build from the process's: it cannot be checked." in output
    assert "ends_with_a_call" in output


def test_offsets_beyond_all_files_are_no_error_of_python(native_core: Path, tmp_path: Path) -> None:
    core = tmp_path / "far"
    core.write_bytes(_with_segments(native_core.read_bytes(), 8, lambda _: 1 << 63))

    result = _run(core)

    assert result.exit_code == 0, result.exception
    assert "The core file is truncated" in result.output


def _with_segments(core: bytes, at: int, change: Callable[[int], int]) -> bytes:
    """A core file with a changed member of each PT_LOAD header."""
    content = bytearray(core)
    (first,), (count,) = struct.unpack_from("<Q", core, 32), struct.unpack_from("<H", core, 56)
    for header in range(first, first + 56 * count, 56):
        if struct.unpack_from("<I", core, header) == (1,):
            (value,) = struct.unpack_from("<Q", core, header + at)
            struct.pack_into("<Q", content, header + at, change(value))
    return bytes(content)


BAD_FILES: dict[str, tuple[Callable[[bytes], bytes], str, str]] = {
    "empty": (lambda core: b"", "is not a core file", "framedex explain"),
    "text": (lambda core: b"Segmentation fault\n", "is not a core file", "framedex explain"),
    "program": (lambda core: core[:16] + b"\3\0" + core[18:], "is a program or a library", "framedex core FILE EXE"),
    "machine": (lambda core: core[:18] + b"\xb7\0" + core[20:], "is a core file of aarch64 (64 bits)", "gdb"),
    "compressed": (lambda core: b"\x28\xb5\x2f\xfd" + core, "is compressed", "zstd -d"),
    "header": (lambda core: core[:70], "it is truncated", "ulimit -c unlimited"),
    "notes": (lambda core: core[:900], "it is truncated", "ulimit -c unlimited"),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_bad_file_has_a_message_and_a_remedy(native_core: Path, tmp_path: Path, kind: str) -> None:
    damage, message, remedy = BAD_FILES[kind]
    (tmp_path / "bad").write_bytes(damage(native_core.read_bytes()))

    result = _run(tmp_path / "bad")

    assert result.exit_code == 1
    assert message in result.output
    assert remedy in result.output


def test_a_truncated_core_shows_what_it_has(native_core: Path, tmp_path: Path) -> None:
    content = native_core.read_bytes()
    (tmp_path / "cut").write_bytes(content[: len(content) // 2])

    result = _run(tmp_path / "cut")

    assert result.exit_code == 0
    assert "The core file is truncated: " in result.output
    assert "killed by SIGILL" in result.output


def test_an_unreadable_core_names_who_can_read_it(native_core: Path, tmp_path: Path) -> None:
    core = tmp_path / "secret"
    core.write_bytes(native_core.read_bytes())
    core.chmod(0)

    result = run_without_privileges([sys.executable, "-m", "framedex", "core", str(core)])

    assert "Permission denied" in result.stderr
    assert "as that user, or as root" in result.stderr
