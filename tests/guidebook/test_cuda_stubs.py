"""Stubs of missing libraries: libraries that link to them can be loaded, and call them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from guidebook import cuda_stubs

ABSENT = "libframedex_absent.so.12"
CALLER = """
extern void* absent_function(void);
extern void* large_function(void);
int answer(void) { return absent_function() != 0 && large_function() != 0 && *(int*)absent_function() == 0; }
"""


def linked(library: Path, source: str, *options: str) -> None:
    """Compile a C library."""
    file = library.with_suffix(".c")
    file.write_text(source, encoding="ascii")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(file), *options], check=True)


@pytest.fixture
def libraries(tmp_path: Path) -> Path:
    """A folder like torch's: one library calls functions of a missing (versioned) library and of a large one."""
    absent, large = tmp_path / ABSENT, tmp_path / cuda_stubs.MAIN_LIBRARY
    (tmp_path / "versions").write_text(f"{ABSENT} {{ global: *; }};", encoding="ascii")
    script = f"-Wl,--version-script={tmp_path / 'versions'}"
    linked(absent, "void* absent_function(void) { return 0; }", script, f"-Wl,-soname,{ABSENT}")
    linked(large, "void* large_function(void) { return 0; }", f"-Wl,-soname,{cuda_stubs.MAIN_LIBRARY}")
    for name in cuda_stubs.LINKED:
        linked(tmp_path / f"lib{name}.so", "")
    linked(tmp_path / "libtorch_python.so", CALLER, str(absent), str(large), "-Wl,-rpath,$ORIGIN")
    absent.unlink()
    return tmp_path


def test_a_library_linked_with_stubs_is_loaded_and_calls_them(libraries: Path) -> None:
    cuda_stubs.build_stubs(libraries)

    # In a separate process: loaded libraries stay, and the next test uses the same names.
    program = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).answer())"
    command = [sys.executable, "-c", program, str(libraries / "libtorch_python.so")]
    called = subprocess.run(command, check=True, capture_output=True, text=True)
    assert called.stdout == "1\n"


def test_without_a_compiler_the_reason_is_an_error(libraries: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(libraries))
    with pytest.raises(OSError, match=r"c\+\+"):
        cuda_stubs.build_stubs(libraries)
