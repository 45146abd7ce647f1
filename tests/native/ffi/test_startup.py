"""FFI recording is enabled from outside: it reaches the right program, and does not disturb other processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import framedex_native
from tests.ffi_running import CPU, EXAMPLES, UNTRACED, library_for, run_ffi, tracing
from tests.running import PROGRAMS, TIMEOUT, plain_environment

SHOW = "import sys; print('jax' in sys.modules, 'framedex_ffi' in sys.modules, sys.path[1:3])"


def python(*arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A Python with the start-up folder on its path."""
    return subprocess.run(
        [sys.executable, *arguments],
        env=plain_environment() | tracing(folder) | environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )


def test_the_programs_own_sitecustomize_is_run(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("print('own', __file__)\n")
    startup = str(framedex_native.ffi_startup_path())
    completed = python("-c", SHOW, folder=tmp_path, PYTHONPATH=f"{startup}:{tmp_path / 'own'}")
    assert completed.stdout.splitlines()[0] == f"own {tmp_path / 'own' / 'sitecustomize.py'}"
    assert startup not in completed.stdout.splitlines()[1]
    assert completed.stderr == ""


def test_an_error_in_the_programs_sitecustomize_is_unchanged(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("import no_such_module\n")
    startup = str(framedex_native.ffi_startup_path())
    plain = python("-c", "print(1)", folder=tmp_path, PYTHONPATH=str(tmp_path / "own"))
    traced = python("-c", "print(1)", folder=tmp_path, PYTHONPATH=f"{startup}:{tmp_path / 'own'}")
    assert (traced.returncode, traced.stdout) == (plain.returncode, plain.stdout)
    assert traced.stderr.splitlines()[-1] == plain.stderr.splitlines()[-1]


@pytest.mark.exhaustive(keep=["options1"])
@pytest.mark.parametrize("options", [["-S"], ["-I"], ["-E"], ["-s"], ["-X", "importtime"]])
def test_interpreter_options_do_no_harm(options: list[str], tmp_path: Path) -> None:
    completed = python(*options, "-c", "print('ran')", folder=tmp_path)
    assert (completed.returncode, completed.stdout) == (0, "ran\n")
    assert "framedex: " not in completed.stderr


def test_a_program_without_jax_starts_without_leftovers(tmp_path: Path) -> None:
    completed = python("-c", f"{SHOW}; print(open('/proc/self/maps').read())", folder=tmp_path)
    assert "libframedex" not in completed.stdout
    assert not (tmp_path / "captures").exists()


@pytest.mark.exhaustive
def test_a_program_without_handler_runs_creates_no_capture(tmp_path: Path) -> None:
    completed = python("-c", "import jax; print(jax.numpy.ones(3) + 1)", folder=tmp_path, **CPU)
    assert completed.stdout == "[2. 2. 2.]\n"
    assert not (tmp_path / "captures").exists()


def test_ffi_tracing_can_be_switched_off(tmp_path: Path) -> None:
    completed = run_ffi("ffi_late.py", folder=tmp_path, FRAMEDEX_FFI="0", **CPU)
    assert "_framedex_ffi" in completed.stderr
    assert completed.captures == ()


@pytest.mark.exhaustive
def test_ffi_tracing_can_be_switched_on_by_code(tmp_path: Path) -> None:
    program = (
        "import framedex_native.ffi, runpy, sys\n"
        "framedex_native.ffi.install()\n"
        "framedex_native.ffi.install()\n"
        f"sys.argv = ['ffi_cached.py', {str(library_for(sys.executable))!r}]\n"
        f"runpy.run_path({str(PROGRAMS / 'ffi_cached.py')!r}, run_name='__main__')\n"
        "framedex_native.ffi.install()\n"
    )
    completed = python("-c", program, folder=tmp_path, PYTHONPATH=str(EXAMPLES), **CPU)
    assert completed.returncode == 0, completed.stderr
    assert len(list((tmp_path / "captures").iterdir())) == 1


@pytest.mark.exhaustive
def test_switching_on_repeatedly_hooks_the_jax_import_once(tmp_path: Path) -> None:
    program = (
        "import framedex_native, framedex_native.ffi, sys\n"
        "for _ in range(3):\n"
        "    framedex_native.start('captures')\n"
        "    framedex_native.stop()\n"
        "    framedex_native.ffi.install()\n"
        "print([type(finder).__module__ for finder in sys.meta_path if type(finder).__name__ == '_Finder'])\n"
        "import jax\n"
        "from jax._src import compiler\n"
        "print(compiler.get_compile_options.__wrapped__ is compiler._framedex_notes)\n"
        "print([finder for finder in sys.meta_path if type(finder).__name__ == '_Finder'])\n"
    )
    completed = python("-c", program, folder=tmp_path, **CPU)
    assert completed.stderr == ""
    assert completed.stdout.splitlines() == [f"{['framedex_ffi.importing'] * 2}", "True", "[]"]


def test_switching_on_after_importing_jax_is_early_enough(tmp_path: Path) -> None:
    program = (
        "import jax, framedex_native.ffi, runpy, sys\n"
        "framedex_native.ffi.install()\n"
        f"sys.argv = ['ffi_cached.py', {str(library_for(sys.executable))!r}]\n"
        f"runpy.run_path({str(PROGRAMS / 'ffi_cached.py')!r}, run_name='__main__')\n"
    )
    completed = python("-c", program, folder=tmp_path, **UNTRACED, **CPU)
    assert completed.returncode == 0, completed.stderr
    assert len(list((tmp_path / "captures").iterdir())) == 1


@pytest.mark.exhaustive
def test_a_missing_library_prints_one_line(tmp_path: Path) -> None:
    package = framedex_native.ffi_startup_path().parent
    copy = tmp_path / "elsewhere" / "ffi"
    copy.mkdir(parents=True)
    for source in [*package.glob("*.py"), package / "startup" / "sitecustomize.py"]:
        target = copy / source.relative_to(package)
        target.parent.mkdir(exist_ok=True)
        target.write_text(source.read_text())
    completed = python("-c", "import jax; print(1)", folder=tmp_path, PYTHONPATH=str(copy / "startup"))
    assert completed.stdout == "1\n"
    (line,) = completed.stderr.splitlines()
    assert line.startswith("framedex: FFI handlers are not recorded: ")
    assert "libframedex_ffi.so" in line


def test_an_incompatible_jax_is_imported_untraced(tmp_path: Path) -> None:
    program = (
        "import framedex_native.ffi.importing as importing\n"
        "importing.after_import({'colorsys': lambda module: module.no_such_function})\n"
        "import colorsys\n"
        "print(colorsys.rgb_to_hsv(0, 0, 0), type(colorsys.__loader__).__name__)\n"
    )
    plain = python("-c", "import colorsys; print(type(colorsys.__loader__).__name__)", folder=tmp_path)
    completed = python("-c", program, folder=tmp_path)
    assert completed.stdout.split()[:4] == ["(0.0,", "0.0,", "0)", plain.stdout.split()[0]]
    (line,) = completed.stderr.splitlines()
    assert line.startswith("framedex: FFI handlers are not recorded: AttributeError(")


def test_framedex_run_records_handlers_on_the_cpu_alone(tmp_path: Path) -> None:
    command = [str(Path(sys.executable).with_name("framedex")), "run", str(PROGRAMS / "ffi_cached.py")]
    completed = subprocess.run(
        [*command, str(library_for(sys.executable))],
        env=plain_environment() | UNTRACED | CPU,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert completed.stderr.splitlines()[-1].startswith("framedex: recorded 1 call on 1 thread in ")
