"""The offsets for reading Python frames match the interpreters on this machine."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from collections.abc import Iterator
from types import ModuleType

import pytest

from tests import pythons
from tests.tiers import exhaustive_unless

ABI_FOLDER = pythons.ROOT / "native" / "abi"
LAYOUTS: dict[str, dict[str, int]] = json.loads((ABI_FOLDER / "cpython_layout.json").read_text())["layouts"]
LIVE_LAYOUTS: dict[str, dict[str, int]] = json.loads(
    (pythons.ROOT / "indexer" / "framedex" / "live" / "cpython_layout.json").read_text()
)["layouts"]

# `_PyRuntime` begins with _Py_DebugOffsets from 3.13 on (Include/internal/pycore_runtime.h, in 3.14
# pycore_debug_offsets.h): words in this order. 3.14 inserted those with `+`, 3.15 those with `*`.
WORDS = {
    "": "version free_threaded",
    "runtime.": "size finalizing interpreters_head",
    "interpreter.": "size id next threads_head +threads_main gc imports_modules sysdict builtins ceval_gil"
    " gil gil_enabled gil_locked gil_holder +code_object_generation +tlbc_generation",
    "thread.": "size prev next interp current_frame *base_frame *last_profiled_frame *last_profiled_frame_seq thread_id"
    " native_thread_id datastack_chunk status *holds_gil *gil_requested *current_exception *exc_state",
    "exception.": "*exc_value",
    "frame.": "size previous executable instr_ptr localsplus owner +stackpointer +tlbc_index",
    "code.": "size filename name qualname linetable firstlineno argcount localsplusnames localspluskinds"
    " co_code_adaptive +co_tlbc",
    "object.": "size type",
}
PUBLISHED = """
import ctypes, json
print(json.dumps(list((ctypes.c_uint64 * 64).in_dll(ctypes.pythonapi, "_PyRuntime"))))
"""
# Our name of an offset -> CPython's published name.
SAME = {
    "thread.current_frame": "thread.current_frame",
    "thread.datastack_chunk": "thread.datastack_chunk",
    "frame.previous": "frame.previous",
    "frame.code": "frame.executable",
    "frame.instruction": "frame.instr_ptr",
    "frame.owner": "frame.owner",
    "code.filename": "code.filename",
    "code.qualname": "code.qualname",
    "code.line_table": "code.linetable",
    "code.first_line": "code.firstlineno",
    "code.instructions": "code.co_code_adaptive",
    "object.type": "object.type",
}


@pytest.mark.parametrize("version", exhaustive_unless(pythons.RECORDABLE, pythons.OWN_VERSION))
def test_offsets_equal_those_of_the_interpreters_headers(version: str) -> None:
    python = pythons.with_headers(version)
    if python is None:
        pytest.skip(f"no Python {version} with its internal headers here")
    minor, layout, live_layout = _measuring().measure(python.path)
    assert f"3.{minor}" == version
    assert layout == LAYOUTS[version]
    assert live_layout == LIVE_LAYOUTS.get(version, {})


@pytest.mark.parametrize("version", ["3.13", "3.14", "3.15"])
def test_offsets_equal_those_published_by_the_interpreter(version: str) -> None:
    python = next(iter(pythons.found(version)), None)
    if python is None:
        pytest.skip(f"no Python {version} here")
    answer = subprocess.run([python.path, "-c", PUBLISHED], check=True, capture_output=True, text=True).stdout
    cookie, *words = json.loads(answer)
    published: dict[str, int] = dict(zip(_names(version), words, strict=False))
    assert cookie.to_bytes(8, "little") == b"xdebugpy"
    assert f"{published['version'] >> 24}.{published['version'] >> 16 & 0xFF}" == version
    assert {name: LAYOUTS[version][name] for name in SAME} == {name: published[theirs] for name, theirs in SAME.items()}


def _names(version: str) -> Iterator[str]:
    since = {"+": 14, "*": 15}
    for structure, words in WORDS.items():
        for word in words.split():
            if int(version.partition(".")[2]) >= since.get(word[0], 0):
                yield structure + word.lstrip("+*")


def _measuring() -> ModuleType:
    spec = importlib.util.spec_from_file_location("measuring", ABI_FOLDER / "measure_cpython_layout.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
