"""`framedex run --behaviour`: refused files, and a program with several, in a Python without framedex."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import pythons
from tests.reading import calls_of
from tests.run.invoking import framedex_run

RESOURCE_EXHAUSTED = 8
PROGRAM = "import jax; print(jax.device_put(1.5))"
BEHAVIOUR = """
from framedex_native.behaviour import on

@on("PJRT_Client_BufferFromHostBuffer")
def put(call):
    print("{name}")
    call.run()
"""


@pytest.mark.exhaustive(keep=["syntax.py-def-is not valid Python: invalid syntax"])
@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("missing.py", None, "cannot be read: No such file or directory"),
        ("syntax.py", "def", "is not valid Python: invalid syntax"),
        ("with:colon.py", "", "contains :, which separates behaviour files"),
    ],
)
def test_invalid_files_are_refused_before_the_program_runs(
    tmp_path: Path, name: str, text: str | None, message: str
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    ended = framedex_run("--behaviour", name, "-c", "print('ran')", folder=tmp_path)
    assert (ended.status, ended.stdout) == (1, b""), ended.stderr
    assert message in ended.stderr.decode()


def test_a_pipe_is_refused_because_it_cannot_be_read_twice(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    ended = framedex_run("--behaviour", "pipe.py", "-c", "print('ran')", folder=tmp_path)
    assert (ended.status, ended.stdout) == (1, b""), ended.stderr
    assert "pipe.py cannot be read" in ended.stderr.decode()


def test_a_file_that_raises_ends_the_program_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("from framedex_native.behaviour import on\non('PJRT_Cleint_Create')\n")
    ended = framedex_run("--behaviour", "mine.py", "-c", PROGRAM, folder=tmp_path)
    assert ended.status == 1 and ended.stdout == b""
    assert "Did you mean PJRT_Client_Create" in ended.stderr.decode()


@pytest.mark.exhaustive
def test_a_file_may_remove_its_folder_from_sys_path(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import sys\nsys.path.pop(0)\n" + BEHAVIOUR.format(name="mine"))
    ended = framedex_run("--behaviour", "mine.py", "-c", PROGRAM, folder=tmp_path)
    assert (ended.status, ended.stdout) == (0, b"mine\n1.5\n"), ended.stderr


@pytest.mark.exhaustive
def test_a_file_invalid_for_the_programs_python_is_reported_by_line(tmp_path: Path) -> None:
    python = pythons.with_jax("3.12")
    if python is None:
        pytest.skip("There is no Python 3.12 with JAX.")
    (tmp_path / "mine.py").write_text("x = 1\ndef\n")
    ended = framedex_run("--python", str(python.path), "--behaviour", "mine.py", "-c", PROGRAM, folder=tmp_path)
    said = ended.stderr.decode()
    assert (ended.status, ended.stdout) == (1, b""), said
    assert f'cannot be run:\n  File "{tmp_path}/mine.py", line 2\n' in said


def test_memory_refused_by_a_custom_chip_is_an_error_in_jax_and_in_the_capture(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from framedex_native.behaviour import chip, on\n"
        'chip(kind="MyChip 1", attributes={"revision": "B2"})\n'
        '@on("DeviceMemory::Allocate")\n'
        'def refuse(call): call.fail("RESOURCE_EXHAUSTED", "not today")\n'
    )
    program = (
        "import jax; chip, = jax.devices(); print(chip.device_kind, chip.revision, chip.coords); jax.device_put(1.5)"
    )
    ended = framedex_run("--behaviour", "mine.py", "-c", program, folder=tmp_path)
    assert ended.stdout == b"MyChip 1 B2 [0, 0, 0]\n", ended.stderr
    (refused,) = calls_of(tmp_path / ended.capture, "DeviceMemory::Allocate")
    assert refused.error == RESOURCE_EXHAUSTED


def test_several_files_work_in_a_python_without_framedex(tmp_path: Path) -> None:
    python = pythons.with_jax("3.12")
    if python is None:
        pytest.skip("There is no Python 3.12 with JAX.")
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text(BEHAVIOUR.format(name=name))
    ended = framedex_run(
        *("--python", str(python.path), "--behaviour", "first.py", "--behaviour", "second.py", "-c", PROGRAM),
        folder=tmp_path,
    )
    assert (ended.status, ended.stdout) == (0, b"first\nsecond\n1.5\n"), ended.stderr
