"""Measure the CPython struct offsets that the frame walker needs, and write them to cpython_layout.json.

    python measure_cpython_layout.py PYTHON [PYTHON...]

Offsets that `framedex live` needs, in versions whose _PyRuntime does not contain them, go to
indexer/framedex/live/cpython_layout.json.

Each PYTHON is an interpreter with its headers. A C program that includes the internal headers (`Py_BUILD_CORE`) prints
byte offsets. They replace the entry of that minor version; other entries stay. The layout of these structures is fixed
within a minor version, because extension modules built for 3.N.0 must load into 3.N.x.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

DATA = Path(__file__).with_name("cpython_layout.json")
LIVE_DATA = Path(__file__).parents[2] / "indexer" / "framedex" / "live" / "cpython_layout.json"

# Since 3.14 the frame structs have their own header.
INCLUDES = """\
#define Py_BUILD_CORE 1
#include <Python.h>
#if PY_VERSION_HEX >= 0x030E0000
#include <internal/pycore_interpframe.h>
#else
#include <internal/pycore_frame.h>
#endif
#include <internal/pycore_runtime.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
"""

# A str keeps its kind and flags in bit fields. This C expression computes their mask in the state word.
STATE_MASK = "({{ PyASCIIObject text; memset(&text, 0, sizeof text); text.state.{0} = -1; *(unsigned*)&text.state; }})"

# The walker's offsets as C expressions. `frame` is _PyInterpreterFrame, `code` PyCodeObject.
COMMON = {
    "frame.previous": "offsetof(_PyInterpreterFrame, previous)",
    "frame.owner": "offsetof(_PyInterpreterFrame, owner)",
    "frame.owned_by_thread": "FRAME_OWNED_BY_THREAD",
    "frame.specials": "FRAME_SPECIALS_SIZE",
    "thread.datastack_top": "offsetof(PyThreadState, datastack_top)",
    "thread.datastack_chunk": "offsetof(PyThreadState, datastack_chunk)",
    "thread.datastack_limit": "offsetof(PyThreadState, datastack_limit)",
    "code.local_count": "offsetof(PyCodeObject, co_nlocalsplus)",
    "code.stack_size": "offsetof(PyCodeObject, co_stacksize)",
    "code.filename": "offsetof(PyCodeObject, co_filename)",
    "code.qualname": "offsetof(PyCodeObject, co_qualname)",
    "code.line_table": "offsetof(PyCodeObject, co_linetable)",
    "code.first_line": "offsetof(PyCodeObject, co_firstlineno)",
    "code.instructions": "offsetof(PyCodeObject, co_code_adaptive)",
    "bytes.size": "offsetof(PyBytesObject, ob_base.ob_size)",
    "bytes.data": "offsetof(PyBytesObject, ob_sval)",
    "text.length": "offsetof(PyASCIIObject, length)",
    "text.state": "offsetof(PyASCIIObject, state)",
    "text.kind_mask": STATE_MASK.format("kind"),
    "text.compact_mask": STATE_MASK.format("compact"),
    "text.ascii_mask": STATE_MASK.format("ascii"),
    "text.ascii_data": "sizeof(PyASCIIObject)",
    "text.compact_data": "sizeof(PyCompactUnicodeObject)",
    "object.type": "offsetof(PyObject, ob_type)",
}
BY_MINOR = {
    11: {
        "thread.cframe": "offsetof(PyThreadState, cframe)",
        "cframe.current_frame": "offsetof(_PyCFrame, current_frame)",
        "cframe.previous": "offsetof(_PyCFrame, previous)",
        "frame.code": "offsetof(_PyInterpreterFrame, f_code)",
        "frame.instruction": "offsetof(_PyInterpreterFrame, prev_instr)",
        "frame.is_entry": "offsetof(_PyInterpreterFrame, is_entry)",
        "type.deallocate": "offsetof(PyTypeObject, tp_dealloc)",
    },
    12: {
        "thread.cframe": "offsetof(PyThreadState, cframe)",
        "cframe.current_frame": "offsetof(_PyCFrame, current_frame)",
        "frame.code": "offsetof(_PyInterpreterFrame, f_code)",
        "frame.instruction": "offsetof(_PyInterpreterFrame, prev_instr)",
        "frame.owned_by_evaluator": "FRAME_OWNED_BY_CSTACK",
        "code.version": "offsetof(PyCodeObject, co_version)",
    },
    13: {
        "thread.current_frame": "offsetof(PyThreadState, current_frame)",
        "frame.code": "offsetof(_PyInterpreterFrame, f_executable)",
        "frame.instruction": "offsetof(_PyInterpreterFrame, instr_ptr)",
        "frame.owned_by_evaluator": "FRAME_OWNED_BY_CSTACK",
        "code.version": "offsetof(PyCodeObject, co_version)",
        "code.first_traceable": "offsetof(PyCodeObject, _co_firsttraceable)",
    },
    14: {
        "thread.current_frame": "offsetof(PyThreadState, current_frame)",
        "frame.code": "offsetof(_PyInterpreterFrame, f_executable)",
        "frame.code_tag": "Py_TAG_BITS",
        "frame.instruction": "offsetof(_PyInterpreterFrame, instr_ptr)",
        "frame.owned_by_evaluator": "FRAME_OWNED_BY_INTERPRETER",
        "code.version": "offsetof(PyCodeObject, co_version)",
        "code.first_traceable": "offsetof(PyCodeObject, _co_firsttraceable)",
    },
}
BY_MINOR[15] = BY_MINOR[14] | {"thread.base_frame": "offsetof(PyThreadState, base_frame)"}

# The offsets of `framedex live`, under the names that framedex/live/runtime.py uses.
LIVE_COMMON = {
    "runtime.interpreters_head": "offsetof(_PyRuntimeState, interpreters.head)",
    "interpreter.next": "offsetof(PyInterpreterState, next)",
    "interpreter.threads_head": "offsetof(PyInterpreterState, threads.head)",
    "thread.next": "offsetof(PyThreadState, next)",
    "thread.id": "offsetof(PyThreadState, thread_id)",
    "thread.native_id": "offsetof(PyThreadState, native_thread_id)",
    "thread.cframe": "offsetof(PyThreadState, cframe)",
    "cframe.current_frame": "offsetof(_PyCFrame, current_frame)",
    "frame.previous": "offsetof(_PyInterpreterFrame, previous)",
    "frame.code": "offsetof(_PyInterpreterFrame, f_code)",
    "frame.instruction": "offsetof(_PyInterpreterFrame, prev_instr)",
    "frame.locals": "offsetof(_PyInterpreterFrame, localsplus)",
    "frame.owner": "offsetof(_PyInterpreterFrame, owner)",
    "code.filename": "offsetof(PyCodeObject, co_filename)",
    "code.qualname": "offsetof(PyCodeObject, co_qualname)",
    "code.line_table": "offsetof(PyCodeObject, co_linetable)",
    "code.exception_table": "offsetof(PyCodeObject, co_exceptiontable)",
    "code.first_line": "offsetof(PyCodeObject, co_firstlineno)",
    "code.local_count": "offsetof(PyCodeObject, co_nlocalsplus)",
    "code.stack_size": "offsetof(PyCodeObject, co_stacksize)",
    "code.instructions": "offsetof(PyCodeObject, co_code_adaptive)",
    "text.ascii_data": "sizeof(PyASCIIObject)",
    "text.compact_data": "sizeof(PyCompactUnicodeObject)",
}
LIVE_BY_MINOR = {
    11: {
        "cframe.previous": "offsetof(_PyCFrame, previous)",
        "frame.is_entry": "offsetof(_PyInterpreterFrame, is_entry)",
        "runtime.gil": "offsetof(_PyRuntimeState, ceval.gil)",
        "runtime.gil_locked": "offsetof(_PyRuntimeState, ceval.gil.locked)",
        "runtime.gil_holder": "offsetof(_PyRuntimeState, ceval.gil.last_holder)",
    },
    12: {
        "interpreter.gil": "offsetof(PyInterpreterState, _gil)",
        "interpreter.gil_locked": "offsetof(PyInterpreterState, _gil.locked)",
        "interpreter.gil_holder": "offsetof(PyInterpreterState, _gil.last_holder)",
    },
}


def main(interpreters: list[str]) -> int:
    """Measure each interpreter and rewrite the data file."""
    if not interpreters:
        print(__doc__, file=sys.stderr)
        return 2
    for interpreter in interpreters:
        minor, layout, live_layout = measure(interpreter)
        write_layout(DATA, minor, layout)
        if live_layout:
            write_layout(LIVE_DATA, minor, live_layout)
    return 0


def write_layout(file: Path, minor: int, layout: dict[str, int]) -> None:
    """Replace the entry of a minor version in a data file."""
    layouts = json.loads(file.read_text())["layouts"] if file.exists() else {}
    layouts[f"3.{minor}"] = layout
    about = "Byte offsets inside CPython's structures on x86-64 Linux, written by measure_cpython_layout.py"
    file.write_text(json.dumps({"about": about, "layouts": dict(sorted(layouts.items()))}, indent=1) + "\n")


def measure(interpreter: str) -> tuple[int, dict[str, int], dict[str, int]]:
    """The minor version of an interpreter, the walker's layout, and that of `framedex live` (empty if not needed).

    Raises CalledProcessError if its headers do not compile.
    """
    query = "import sys, sysconfig; print(sys.version_info.minor, sysconfig.get_paths()['include'])"
    answer = subprocess.run([interpreter, "-c", query], check=True, capture_output=True, text=True).stdout.split()
    minor, include = int(answer[0]), answer[1]
    live = LIVE_COMMON | LIVE_BY_MINOR[minor] if minor in LIVE_BY_MINOR else {}
    return minor, values_of(COMMON | BY_MINOR[minor], include), values_of(live, include)


def values_of(expressions: dict[str, str], include: str) -> dict[str, int]:
    """The values of C expressions with the headers in a folder. Raises CalledProcessError if they do not compile."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "layout"
        source = program.with_suffix(".c")
        source.write_text(c_program(expressions))
        subprocess.run(["cc", "-w", f"-I{include}", f"-I{include}/internal", source, "-o", program], check=True)
        output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return {name: int(value) for name, value in (line.split() for line in output.splitlines())}


def c_program(expressions: dict[str, str]) -> str:
    """A C program that prints `name value` for each expression."""
    prints = "\n".join(f'  printf("{name} %zu\\n", (size_t)({value}));' for name, value in expressions.items())
    return f"{INCLUDES}int main(void) {{\n{prints}\n  return 0;\n}}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
