"""AArch64 under QEMU: programs with JAX are recorded, and every stack equals libgcc's."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from framedex.captures import read_capture
from framedex.commands.launching.boundaries import BoundaryType, build_boundary_variables
from framedex.model import MergeOutcome
from framedex_native import _native
from tests.ffi_running import CPU, EXAMPLES, FfiRun
from tests.pythons import ROOT
from tests.reading import calls_of
from tests.running import PROGRAMS, Run, plain_environment

_COMPILER, _EMULATOR = "aarch64-linux-gnu-g++", "qemu-aarch64"
_MISSING = [name for name in (_COMPILER, _EMULATOR) if not shutil.which(name)]
_BUILD = ROOT / "build" / "arm64"
_TIMEOUT = 1800  # seconds: the emulator takes twenty times as long as the processor
_PUT = "PJRT_Client_BufferFromHostBuffer"
_CALL_OF_NULL = """
#include "pjrt_c_api.h"
extern "C" bool call(const PJRT_Api* api) {
  PJRT_Client_TopologyDescription_Args args{};
  args.struct_size = sizeof(args);
  return api->PJRT_Client_TopologyDescription(&args) == nullptr;
}
"""

pytestmark = [
    pytest.mark.exhaustive,  # `make test` decodes AArch64 code, and runs the same native code on x86-64
    pytest.mark.skipif(
        bool(_MISSING),
        reason=f"{' and '.join(_MISSING)} missing: apt-get install g++-aarch64-linux-gnu qemu-user",
    ),
]


@pytest.fixture(scope="module")
def python() -> str:
    """CPython for AArch64 with JAX and framedex_native, which runs under QEMU."""
    subprocess.run(["make", "--no-print-directory", "arm64"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return str(_BUILD / "python")


def run_recorded(python: str, folder: Path, program: str, *arguments: str, **environment: str) -> Run:
    """Run a program of `tests/programs`, with every stack compared with libgcc's."""
    package = _BUILD / "site" / "framedex_native"
    settings = {
        "FRAMEDEX_OUT": str(folder / "captures"),
        "FRAMEDEX_VERIFY": "1",
        "PYTHONPATH": f"{package / 'ffi' / 'startup'}:{EXAMPLES}",
        "TPU_LIBRARY_PATH": str(package / "libtpu.so"),
    }
    command = [python, str(PROGRAMS / program), *arguments]
    return FfiRun.of(command, folder, plain_environment() | settings | environment, _TIMEOUT)


def build(target: Path, *arguments: str) -> str:
    """Compile a shared library for AArch64."""
    subprocess.run([_COMPILER, "-shared", "-fPIC", "-g", *arguments, "-o", str(target)], check=True)
    return str(target)


def differences(run: Run) -> int:
    """The number of stacks that differ from libgcc's, of at least one."""
    counts = _native.count_records(os.fsencode(run.capture))
    assert counts["verified"] > 0
    return int(counts["different"])


def test_native_stacks_with_signed_return_addresses(python: str, tmp_path: Path) -> None:
    """From a signal handler, during an exception, from foreign threads, through run-time code, after a reload."""
    source = str(PROGRAMS / "native_paths.cc")
    libraries = [
        build(tmp_path / "paths.so", source, "-O1", "-mbranch-protection=standard"),
        build(tmp_path / "first.so", source, "-O1", "-fomit-frame-pointer"),
        build(tmp_path / "second.so", source, "-O0", "-fno-omit-frame-pointer"),
    ]

    completed = run_recorded(python, tmp_path, "native_paths.py", *libraries, "200")

    assert completed.result > 0
    assert differences(completed) == 0
    capture = read_capture(completed.capture)
    assert {stack.outcome for stack in capture.stacks} == {MergeOutcome.MERGED, MergeOutcome.NO_HOST}
    calls = calls_of(completed.capture, _PUT)
    assert len(calls) == 201
    assert all("libjax_common.so" in {Path(frame.file).name for frame in call.frames} for call in calls)
    assert all("paths.so" not in frame.file for call in calls for frame in call.frames)


def test_functions_of_any_library(python: str, tmp_path: Path) -> None:
    source = str(PROGRAMS / "boundary_standin.cc")
    standin = build(tmp_path / "libstandin.so", source)
    caller = build(
        tmp_path / "libcaller.so", source, "-DCALLER", f"-L{tmp_path}", "-lstandin", f"-Wl,-rpath,{tmp_path}"
    )
    parameters = "int a, long b, const char* text, double c, void* d, unsigned e, long f, long g, float h, long i"
    chosen = ("libz.so:deflate", f"libstandin.so:double standin_mix({parameters})")
    variables = build_boundary_variables([BoundaryType().convert(each, None, None) for each in chosen])

    completed = run_recorded(python, tmp_path, "boundaries.py", standin, caller, **variables)

    assert completed.status == 0, completed.stderr
    assert differences(completed) == 0
    found = calls_of(completed.capture, "standin_mix")
    expected = {"a": -1, "b": 2, "c": 0.5, "d": None, "e": 5, "f": 6, "g": 7, "h": 1.5, "i": 1 << 40}
    assert [call.arguments for call in found] == [expected | {"text": "dlsym"}, expected | {"text": "slot"}]
    assert {call.outcome for call in found} == {MergeOutcome.MERGED}
    (deflate,) = calls_of(completed.capture, "deflate")
    assert list(deflate.arguments) == [f"x{number}" for number in range(8)]


def test_ffi_handlers(python: str, tmp_path: Path) -> None:
    include = _BUILD / "site" / "jaxlib" / "include"
    sources = [str(source) for source in sorted(EXAMPLES.glob("*.cc"))]
    library = build(
        tmp_path / "libffi_examples.so", "-std=c++17", "-O1", "-isystem", str(include), "-pthread", *sources
    )

    completed = run_recorded(python, tmp_path, "ffi_calls.py", library, **CPU)

    assert isinstance(completed, FfiRun)
    assert completed.result
    assert differences(completed) == 0
    first = completed.calls("rms_norm")[0]
    assert first.arguments["arguments"] == first.arguments["results"] == "f32[4,8]"
    assert first.arguments["attributes"] == "eps=f32(1e-05)"
    assert Path(first.frames[-1].file).name == "libffi_examples.so"


def test_a_plugin_that_any_program_loads_and_its_missing_functions(python: str, tmp_path: Path) -> None:
    """Without JAX, through LD_PRELOAD. The function that it calls is null, so that call is the last."""
    subprocess.run([sys.executable, str(ROOT / "native" / "abi" / "generate.py"), str(tmp_path)], check=True)
    (tmp_path / "call.cc").write_text(_CALL_OF_NULL)
    options = ("-std=c++17", "-O2", f"-I{tmp_path}")
    plugin = build(tmp_path / "small.so", *options, str(PROGRAMS / "small_plugin.cc"))
    caller = build(tmp_path / "call.so", *options, str(tmp_path / "call.cc"))
    program = f"import ctypes as c; get = c.CDLL({plugin!r}).GetPjrtApi; get.restype = c.c_void_p; "
    program += f"c.CDLL({caller!r}).call(c.c_void_p(get()))"
    preload = _BUILD / "site" / "framedex_native" / "libframedex_preload.so"
    settings = {"QEMU_SET_ENV": f"LD_PRELOAD={preload}", "FRAMEDEX_OUT": str(tmp_path / "captures")}

    completed = Run.of([python, "-c", program], tmp_path, plain_environment() | settings, _TIMEOUT)

    assert completed.status == -signal.SIGSEGV
    (call,) = calls_of(completed.capture, "PJRT_Client_TopologyDescription")
    assert call.arguments["missing_function"] == "null"
    assert caller in {frame.file for frame in call.frames}
