"""The offsets with which Python frames are read are those of the interpreters that run here."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from types import ModuleType
from typing import Any

import pytest

from tests import pythons

ABI_FOLDER = pythons.ROOT / "native" / "abi"
LAYOUTS: dict[str, dict[str, int]] = json.loads((ABI_FOLDER / "cpython_layout.json").read_text())["layouts"]

# `_PyRuntime` begins with _Py_DebugOffsets from 3.13 on (Include/internal/pycore_runtime.h): words in this order.
PUBLISHED = """
import ctypes, json
words = (ctypes.c_uint64 * 64).in_dll(ctypes.pythonapi, "_PyRuntime")
cookie = bytes(words)[:8].decode()
names = ["version", "free_threaded"]
names += ["runtime.size", "runtime.finalizing", "runtime.interpreters_head"]
names += ["interpreter." + n for n in ("size", "id", "next", "threads_head", "gc", "imports_modules", "sysdict",
                                       "builtins", "ceval_gil", "gil", "gil_enabled", "gil_locked", "gil_holder")]
names += ["thread." + n for n in ("size", "prev", "next", "interp", "current_frame", "thread_id", "native_thread_id",
                                  "datastack_chunk", "status")]
names += ["frame." + n for n in ("size", "previous", "executable", "instr_ptr", "localsplus", "owner")]
names += ["code." + n for n in ("size", "filename", "name", "qualname", "linetable", "firstlineno", "argcount",
                                "localsplusnames", "localspluskinds", "co_code_adaptive")]
names += ["object.size", "object.type"]
print(json.dumps({"cookie": cookie, **dict(zip(names, words[1:]))}))
"""
# Our name of an offset -> the name under which 3.13 publishes it.
SAME = {
    "thread.current_frame": "thread.current_frame",
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


@pytest.mark.parametrize("version", pythons.RECORDABLE)
def test_the_offsets_are_those_that_the_interpreters_headers_give(version: str) -> None:
    python = pythons.with_headers(version)
    if python is None:
        pytest.skip(f"no Python {version} with its internal headers here")
    minor, layout = _measuring().measure(python.path)
    assert f"3.{minor}" == version
    assert layout == LAYOUTS[version]


def test_the_offsets_of_3_13_are_those_that_it_publishes_itself() -> None:
    python = next(iter(pythons.found("3.13")), None)
    if python is None:
        pytest.skip("no Python 3.13 here")
    answer = subprocess.run([python.path, "-c", PUBLISHED], check=True, capture_output=True, text=True).stdout
    published: dict[str, Any] = json.loads(answer)
    assert published["cookie"] == "xdebugpy"
    assert published["version"] >> 16 == 0x030D
    assert {name: LAYOUTS["3.13"][name] for name in SAME} == {name: published[theirs] for name, theirs in SAME.items()}


def _measuring() -> ModuleType:
    spec = importlib.util.spec_from_file_location("measuring", ABI_FOLDER / "measure_cpython_layout.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
