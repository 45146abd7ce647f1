"""Source files of the program are stored in the capture as they were at the first frame recorded in them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from framedex.captures import CaptureStream, matches_content_name, read_stored_source
from tests.running import PROGRAMS, Run, run

PROGRAM = """\
import pathlib, jax, numpy as np, helper
pathlib.Path(helper.__file__).write_text("edited = 1\\n" * 9)
jax.device_put(np.ones(3))
pathlib.Path(__file__).write_text("edited = 1\\n" * 9)
jax.device_put(np.ones(4))
helper.put(np.ones(5))
jax.jit(helper.double)(np.ones(6, np.float32))
print(1)
"""
HELPER = "import jax\n\n\ndef put(x):\n    return jax.device_put(x)\n\n\ndef double(x):\n    return x + x\n"


def run_code(folder: Path, **environment: str) -> Run:
    (folder / "program.py").write_text(PROGRAM)
    (folder / "helper.py").write_text(HELPER)
    return run(os.path.relpath(folder / "program.py", PROGRAMS), folder=folder, **environment)


def sources(capture: Path) -> dict[str, dict[str, object]]:
    """The descriptions of source files by their base names."""
    found = [each.content for each in CaptureStream(capture).capture.descriptions if each.kind == "source"]
    assert len({each["path"] for each in found}) == len(found)
    return {Path(str(each["path"])).name: each for each in found}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_code(tmp_path_factory.mktemp("sources")).capture


def test_a_text_has_the_content_at_the_first_recorded_frame(recorded: Path) -> None:
    found = sources(recorded)
    assert read_stored_source(recorded, str(found["program.py"]["kept"])) == PROGRAM.encode()
    assert found["program.py"]["kept"] == found["program.py"]["content"]
    # This file was edited between its import and its first frame, as its modification time shows.
    assert read_stored_source(recorded, str(found["helper.py"]["kept"])) == b"edited = 1\n" * 9


def test_installed_packages_are_stored_by_name_only(recorded: Path) -> None:
    found = sources(recorded)
    assert "kept" not in found["api.py"]
    assert matches_content_name(Path(str(found["api.py"]["path"])).read_bytes(), str(found["api.py"]["content"]))
    assert {each.name for each in (recorded / "sources").iterdir()} == {
        found[n]["kept"] for n in found if "kept" in found[n]
    }


def test_a_changed_text_is_not_stored(recorded: Path, tmp_path: Path) -> None:
    name = str(sources(recorded)["program.py"]["kept"])
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / name).write_bytes(PROGRAM.encode().replace(b"3", b"4"))
    assert read_stored_source(tmp_path, name) is None
    assert read_stored_source(recorded, "../capture.json") is None


def test_no_text_is_stored_if_switched_off(tmp_path: Path) -> None:
    capture = run_code(tmp_path, FRAMEDEX_SOURCES="0").capture
    assert sources(capture)["program.py"]["kept"] == "not kept: FRAMEDEX_SOURCES=0"
    assert not (capture / "sources").exists()
