"""Compiled programs are stored in the capture, each once, in the form that the runtime received."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from framedex.captures import read_stored_program
from tests.reading import calls_of
from tests.running import PROGRAMS, Run, run

COMPILE = "PJRT_Client_Compile"
PROGRAM = """\
import jax, numpy as np
x = np.arange(4, dtype=np.float32)
for _ in range(2):
    jax.jit(lambda x: x + 1).lower(x).compile(compiler_options=None)
    jax.clear_caches()
jax.jit(lambda x: x + np.arange(100_000, dtype=np.float32).sum() * np.ones((500, 500)).sum() + x * 2)(x)
print(1)
"""


def run_code(folder: Path, **environment: str) -> Run:
    """PROGRAM, recorded."""
    (folder / "program.py").write_text(PROGRAM)
    return run(os.path.relpath(folder / "program.py", PROGRAMS), folder=folder, **environment)


def kept(capture: Path) -> list[str]:
    """The stored-program field of each compilation."""
    return [call.arguments["program.kept"] for call in calls_of(capture, COMPILE)]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The capture of PROGRAM with default settings."""
    return run_code(tmp_path_factory.mktemp("kept")).capture


def test_a_program_is_stored_once_unchanged(recorded: Path) -> None:
    capture = recorded
    names = kept(capture)
    assert len(names) == 3
    assert len(set(names)) == 2  # the first was compiled twice
    options = {call.arguments["compile_options.kept"] for call in calls_of(capture, COMPILE)}
    assert {file.name for file in (capture / "programs").iterdir()} == {*names, *options}
    for name in names:
        program = read_stored_program(capture, name)
        assert program is not None and program.startswith(b"ML\xefR")


def test_a_changed_or_truncated_program_file_is_ignored(recorded: Path, tmp_path: Path) -> None:
    capture = Path(shutil.copytree(recorded, tmp_path / "capture"))
    name, other, _ = sorted(kept(capture))
    file = capture / "programs" / name
    content = file.read_bytes()
    for changed in (content[:-1], content + b"x", content[:40] + bytes([content[40] ^ 1]) + content[41:]):
        file.write_bytes(changed)
        assert read_stored_program(capture, name) is None
    (capture / "programs" / other).unlink()
    assert read_stored_program(capture, other) is None
    assert read_stored_program(capture, "../capture.json") is None


def test_no_program_is_stored_if_switched_off(tmp_path: Path) -> None:
    capture = run_code(tmp_path, FRAMEDEX_PROGRAMS="0").capture
    assert set(kept(capture)) == {"not kept: FRAMEDEX_PROGRAMS=0"}
    assert not (capture / "programs").exists()


def test_the_size_limit_of_a_recording_includes_programs(tmp_path: Path) -> None:
    capture = run_code(tmp_path, FRAMEDEX_LIMIT="500").capture
    assert any(name.startswith("not kept: ") for name in kept(capture))
    assert sum(file.stat().st_size for file in (capture / "programs").glob("*")) <= 500


@pytest.mark.exhaustive
def test_a_folder_that_cannot_be_created_loses_only_the_program(tmp_path: Path) -> None:
    program = "import framedex_native, pathlib\n" + PROGRAM.replace(
        "x = np", "jax.devices(); pathlib.Path(framedex_native.current_capture(), 'programs').write_text('')\nx = np", 1
    )
    (tmp_path / "program.py").write_text(program)
    capture = run(os.path.relpath(tmp_path / "program.py", PROGRAMS), folder=tmp_path).capture
    assert set(kept(capture)) == {"not kept: Not a directory"}
