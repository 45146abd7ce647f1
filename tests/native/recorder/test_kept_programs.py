"""Programs that are compiled are kept in the capture, each once, as they were given to the runtime."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from framedex.captures import read_kept_program
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


def ran(folder: Path, **environment: str) -> Run:
    """PROGRAM, recorded."""
    (folder / "program.py").write_text(PROGRAM)
    return run(os.path.relpath(folder / "program.py", PROGRAMS), folder=folder, **environment)


def kept(capture: Path) -> list[str]:
    """What each compilation says of where its program is."""
    return [call.arguments["program.kept"] for call in calls_of(capture, COMPILE)]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The capture of PROGRAM with the usual settings."""
    return ran(tmp_path_factory.mktemp("kept")).capture


def test_a_program_is_kept_once_as_it_was_given(recorded: Path) -> None:
    capture = recorded
    names = kept(capture)
    assert len(names) == 3
    assert len(set(names)) == 2  # the first was compiled twice
    options = {call.arguments["compile_options.kept"] for call in calls_of(capture, COMPILE)}
    assert {file.name for file in (capture / "programs").iterdir()} == {*names, *options}
    for name in names:
        program = read_kept_program(capture, name)
        assert program is not None and program.startswith(b"ML\xefR")


def test_a_file_that_was_changed_or_cut_off_is_none(recorded: Path, tmp_path: Path) -> None:
    capture = Path(shutil.copytree(recorded, tmp_path / "capture"))
    name, other, _ = sorted(kept(capture))
    file = capture / "programs" / name
    content = file.read_bytes()
    for changed in (content[:-1], content + b"x", content[:40] + bytes([content[40] ^ 1]) + content[41:]):
        file.write_bytes(changed)
        assert read_kept_program(capture, name) is None
    (capture / "programs" / other).unlink()
    assert read_kept_program(capture, other) is None
    assert read_kept_program(capture, "../capture.json") is None


def test_none_is_kept_where_that_is_switched_off(tmp_path: Path) -> None:
    capture = ran(tmp_path, FRAMEDEX_PROGRAMS="0").capture
    assert set(kept(capture)) == {"not kept: FRAMEDEX_PROGRAMS=0"}
    assert not (capture / "programs").exists()


def test_the_limit_of_a_recording_is_one_for_its_programs_too(tmp_path: Path) -> None:
    capture = ran(tmp_path, FRAMEDEX_LIMIT="500").capture
    assert any(name.startswith("not kept: ") for name in kept(capture))
    assert sum(file.stat().st_size for file in (capture / "programs").glob("*")) <= 500


@pytest.mark.exhaustive
def test_a_folder_that_cannot_be_made_costs_the_program_alone(tmp_path: Path) -> None:
    program = "import framedex_native, pathlib\n" + PROGRAM.replace(
        "x = np", "jax.devices(); pathlib.Path(framedex_native.current_capture(), 'programs').write_text('')\nx = np", 1
    )
    (tmp_path / "program.py").write_text(program)
    capture = run(os.path.relpath(tmp_path / "program.py", PROGRAMS), folder=tmp_path).capture
    assert set(kept(capture)) == {"not kept: Not a directory"}
