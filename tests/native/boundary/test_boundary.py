"""Functions of libraries that the user names are recorded at their entry, with their arguments and merged stacks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click import UsageError

import framedex_native
from framedex.commands.launching.boundaries import BoundaryType, boundary_variables
from framedex.model import MergeOutcome
from tests.reading import Call, calls_of
from tests.running import PROGRAMS, TIMEOUT, Run, plain_environment

_PARAMETERS = "int a, long b, const char* text, double c, void* d, unsigned e, long f, long g, float h, long i"
_ARGUMENTS = {"a": -1, "b": 2, "c": 0.5, "d": None, "e": 5, "f": 6, "g": 7, "h": 1.5, "i": 1 << 40}


def convert(text: str) -> str:
    """The option's value for the recorder."""
    return BoundaryType().convert(text, None, None)


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The stand-in, and the library that calls it through a slot."""
    folder = tmp_path_factory.mktemp("libraries")
    source = str(PROGRAMS / "boundary_standin.cc")
    build = ["g++", "-shared", "-fPIC", "-g", source, "-o"]
    subprocess.run([*build, folder / "libstandin.so"], check=True)
    link = ["-DCALLER", f"-L{folder}", "-lstandin", f"-Wl,-rpath,{folder}"]
    subprocess.run([*build, folder / "libcaller.so", *link], check=True)
    return [str(folder / "libstandin.so"), str(folder / "libcaller.so")]


def run_program(folder: Path, libraries: list[str], **environment: str) -> Run:
    """Run the program, as `framedex run` would."""
    command = [sys.executable, str(PROGRAMS / "boundaries.py"), *libraries]
    variables = {"FRAMEDEX_OUT": str(folder / "captures"), "PYTHONPATH": str(framedex_native.ffi_startup_path())}
    return Run.of(command, folder, plain_environment() | variables | environment, TIMEOUT)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, libraries: list[str]) -> Run:
    """The program with four boundaries, with all stacks compared with libgcc's."""
    chosen = (
        "getenv(const char* name)",
        "libz.so:deflate,lib*openblas*:scipy_cblas_dgemm64_",
        f"libstandin.so:double standin_mix({_PARAMETERS})",
    )
    variables = boundary_variables([convert(each) for each in chosen])
    return run_program(tmp_path_factory.mktemp("run"), libraries, **variables, FRAMEDEX_VERIFY="1")


def calls(recorded: Run, function: str) -> list[Call]:
    """The recorded calls of a function."""
    return calls_of(recorded.capture, function)


def test_the_program_computes_the_same(recorded: Run, libraries: list[str], tmp_path: Path) -> None:
    plain = run_program(tmp_path, libraries, FRAMEDEX_RECORD="0")

    assert (plain.status, recorded.result) == (0, plain.result)


def test_a_prototype_names_the_arguments(recorded: Run) -> None:
    found, through_slot = calls(recorded, "standin_mix")

    assert found.arguments == {**_ARGUMENTS, "text": "dlsym"}
    assert through_slot.arguments == {**_ARGUMENTS, "text": "slot"}
    assert "BOUNDARY_TEST" in [call.arguments["name"] for call in calls(recorded, "getenv")]


def test_without_a_prototype_the_registers_are_recorded(recorded: Run) -> None:
    (call,) = calls(recorded, "scipy_cblas_dgemm64_")

    assert list(call.arguments) == ["rdi", "rsi", "rdx", "rcx", "r8", "r9"]
    assert [call.arguments[name] for name in ("rcx", "r8", "r9")] == [64, 64, 64]


@pytest.mark.parametrize(
    ("function", "caller", "library"),
    [
        ("getenv", "ask", "libc.so.6"),
        ("deflate", "pack", "libz.so"),
        ("scipy_cblas_dgemm64_", "multiply", "openblas"),
        ("standin_mix", "mix_through_slot", "libstandin.so"),
    ],
)
def test_the_stack_leads_from_python_to_the_function(recorded: Run, function: str, caller: str, library: str) -> None:
    call = calls(recorded, function)[-1]
    if function == "getenv":
        (call,) = [each for each in calls(recorded, function) if each.arguments["name"] == "BOUNDARY_TEST"]

    assert call.outcome is MergeOutcome.MERGED
    assert call.python_frames[-1][2] == caller
    assert library in call.frames[-1].file
    assert not [frame for frame in call.frames if "framedex_boundary" in frame.file]


def test_the_calls_of_other_libraries_with_that_name_are_not_recorded(libraries: list[str], tmp_path: Path) -> None:
    ran = run_program(tmp_path, libraries, **boundary_variables([convert("libother.so:standin_mix,standin_mix")]))

    assert len(calls(ran, "standin_mix")) == 2


def test_a_function_that_no_library_has_is_reported_at_the_exit(libraries: list[str], tmp_path: Path) -> None:
    ran = run_program(tmp_path, libraries, **boundary_variables([convert("getenv,no_such_function,libz.so:getpid")]))

    assert ran.stderr == (
        "framedex: --boundary: no loaded library has the function no_such_function.\n"
        "framedex: --boundary: no loaded library libz.so has the function getpid.\n"
    )


@pytest.mark.parametrize(
    ("text", "converted"),
    [
        ("getenv", ":getenv"),
        ("libz.so:deflate, inflate", "libz.so:deflate;:inflate"),
        ("int f(void)", ":f:"),
        ("f(a, size_t b)", ":f:a=a,l=b"),
        ("f(char** x, const char *y, unsigned char* z, int[2])", ":f:p=x,s=y,p=z,p=argument3"),
        ("f(void (*callback)(int, int), uint32_t n)", ":f:p=callback,u=n"),
    ],
)
def test_functions_and_prototypes_are_parsed(text: str, converted: str) -> None:
    assert convert(text) == converted


@pytest.mark.parametrize("text", ["", "f(", "f)", "(int a)", "lib.so:", "a b c:"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        convert(text)
