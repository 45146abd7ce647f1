"""Functions of libraries that the user names are recorded at their entry, with their arguments and merged stacks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click import UsageError

import framedex_native
from framedex.commands.launching.boundaries import BoundaryType, build_boundary_variables
from framedex.model import MergeOutcome
from tests.reading import Call, calls_of
from tests.running import PROGRAMS, TIMEOUT, Run, plain_environment, run

_PARAMETERS = "int a, long b, const char* text, double c, void* d, unsigned e, long f, long g, float h, long i"
_ARGUMENTS = {"a": -1, "b": 2, "c": 0.5, "d": None, "e": 5, "f": 6, "g": 7, "h": 1.5, "i": 1 << 40}


DEBIAN_PYTHON = Path("/usr/bin/python3.11")


def is_at_fixed_address(program: Path) -> bool:
    """Whether an executable is not position-independent: its ELF type is ET_EXEC."""
    return program.exists() and program.read_bytes()[16] == 2


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
    variables = build_boundary_variables([convert(each) for each in chosen])
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
    program_run = run_program(
        tmp_path, libraries, **build_boundary_variables([convert("libother.so:standin_mix,standin_mix")])
    )

    assert len(calls(program_run, "standin_mix")) == 2


def test_a_function_that_no_library_has_is_reported_at_the_exit(libraries: list[str], tmp_path: Path) -> None:
    program_run = run_program(
        tmp_path, libraries, **build_boundary_variables([convert("getenv,no_such_function,libz.so:getpid")])
    )

    assert program_run.stderr == (
        "framedex: --boundary: no loaded library has the function no_such_function.\n"
        "framedex: --boundary: no loaded library libz.so has the function getpid.\n"
    )


def test_functions_that_the_recorder_calls_itself_are_recorded(tmp_path: Path) -> None:
    chosen = build_boundary_variables([convert("malloc,free,strlen(const char* text)")])
    startup = {"PYTHONPATH": str(framedex_native.ffi_startup_path()), "FRAMEDEX_SAMPLE": "100"}
    program_run = run("boundaries_of_jax.py", folder=tmp_path, **chosen, **startup, JAX_PLATFORMS="cpu")

    assert (program_run.result, program_run.stderr) == ([8.0, 27.0, 64.0, 125.0], "")
    assert {call.function for call in calls_of(program_run.capture)} >= {"malloc", "free", "strlen"}


def test_a_function_stays_when_another_library_with_its_name_is_loaded(tmp_path: Path) -> None:
    for number in (1, 2):
        source = f'extern "C" int which() {{ return {number}; }} extern "C" int ask() {{ return which(); }}'
        command = ["g++", "-x", "c++", "-shared", "-fPIC", "-Wl,-z,now", "-", "-o", f"{tmp_path}/lib{number}.so"]
        subprocess.run(command, input=source, text=True, check=True)
    program = (
        "import ctypes; one = ctypes.CDLL('./lib1.so'); first = one.ask()\n"
        "ctypes.CDLL('./lib2.so', mode=ctypes.RTLD_GLOBAL).ask(); print([first, one.ask()])"
    )
    variables = {
        "FRAMEDEX_OUT": str(tmp_path / "captures"),
        "PYTHONPATH": str(framedex_native.ffi_startup_path()),
        **build_boundary_variables([convert("which")]),
    }
    program_run = Run.of([sys.executable, "-c", program], tmp_path, plain_environment() | variables, TIMEOUT)

    assert program_run.result == [1, 1]
    assert len(calls(program_run, "which")) >= 2


def test_too_many_functions_are_refused() -> None:
    assert build_boundary_variables([convert(",".join(["getenv"] * 256))])
    with pytest.raises(UsageError, match="at most 256 functions"):
        build_boundary_variables([convert(",".join(["getenv"] * 256)), convert("getpid")])


def test_the_lazy_calls_of_another_version_are_not_recorded(tmp_path: Path) -> None:
    build = ["g++", "-shared", "-fPIC", "-Wl,-z,lazy", str(PROGRAMS / "boundary_versions.cc"), "-o"]
    subprocess.run([*build, tmp_path / "libold.so", "-DOLD"], check=True)
    subprocess.run([*build, tmp_path / "libnew.so"], check=True)
    program = "import ctypes; print([ctypes.CDLL('./libold.so').copy(61), ctypes.CDLL('./libnew.so').copy(62)])"
    startup = {"PYTHONPATH": str(framedex_native.ffi_startup_path()), "FRAMEDEX_OUT": str(tmp_path / "captures")}
    chosen = build_boundary_variables([convert("memcpy(void* to, const void* from, size_t size)")])
    program_run = Run.of([sys.executable, "-c", program], tmp_path, plain_environment() | startup | chosen, TIMEOUT)

    assert program_run.result == [7, 7]
    assert [size for call in calls_of(program_run.capture) if (size := call.arguments["size"]) in (61, 62)] == [62]


@pytest.mark.skipif(not is_at_fixed_address(DEBIAN_PYTHON), reason="this system's Python is position-independent")
def test_a_function_with_a_stub_in_the_executable_is_recorded(tmp_path: Path) -> None:
    startup = {"PYTHONPATH": str(framedex_native.ffi_startup_path()), "FRAMEDEX_OUT": str(tmp_path / "captures")}
    variables = plain_environment() | startup | build_boundary_variables([convert("sin,fchdir(int fd)")])
    program = "import math, os; print(math.sin(0.0)); os.fchdir(os.open('.', 0))"
    program_run = Run.of([str(DEBIAN_PYTHON), "-c", program], tmp_path, variables, TIMEOUT)

    assert (program_run.result, program_run.stderr) == (0.0, "")
    assert [call.function for call in calls_of(program_run.capture)] == ["sin", "fchdir"]


@pytest.mark.parametrize(
    ("text", "converted"),
    [
        ("getenv", ":getenv"),
        ("libz.so:deflate, inflate", "libz.so:deflate;:inflate"),
        ("int f(void)", ":f:"),
        ("f(a, size_t b)", ":f:a=a,l=b"),
        ("f(char** x, const char *y, unsigned char* z, int[2])", ":f:p=x,s=y,p=z,p=argument3"),
        ("f(void (*callback)(int, int), uint32_t n)", ":f:p=callback,u=n"),
        (
            "f(unsigned long, long long, unsigned int, const char*)",
            ":f:l=argument0,l=argument1,u=argument2,s=argument3",
        ),
        ("f(unsigned long size, long double* x)", ":f:l=size,p=x"),
    ],
)
def test_functions_and_prototypes_are_parsed(text: str, converted: str) -> None:
    assert convert(text) == converted


@pytest.mark.parametrize("text", ["", "f(", "f)", "(int a)", "lib.so:", "a b c:", "f(int a, long double b)"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        convert(text)


def test_a_stack_leads_to_the_caller_from_every_instruction_of_a_trampoline(
    tmp_path: Path, libraries: list[str]
) -> None:
    (folder,) = {Path(library).parent for library in libraries}
    built = tmp_path / "libsteps.so"
    source = str(PROGRAMS / "boundary_steps.cc")
    link = [f"-L{folder}", "-lstandin", f"-Wl,-rpath,{folder},-z,now"]
    subprocess.run(["g++", "-O1", "-shared", "-fPIC", source, "-o", built, *link], check=True)
    program = tmp_path / "steps.py"
    program.write_text(f"import ctypes\nprint(ctypes.CDLL({str(built)!r}).step_through())\n")
    variables = build_boundary_variables([convert("libstandin.so:double standin_mix(int a)")])
    variables |= {"FRAMEDEX_OUT": str(tmp_path / "captures"), "PYTHONPATH": str(framedex_native.ffi_startup_path())}

    program_run = Run.of([sys.executable, str(program)], tmp_path, plain_environment() | variables, TIMEOUT)

    assert program_run.status == 0, program_run.stderr
    assert int(program_run.stdout) > 40
