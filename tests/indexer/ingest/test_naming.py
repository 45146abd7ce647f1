"""Binaries that cannot be read: they are reported, and other binaries are still named."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from framedex.captures import compute_fingerprint
from framedex.ingest import CaptureFrameNamer
from framedex.ingest.naming import build_python_record
from framedex.ingest.recorded_files import RecordedPaths
from framedex.model import Calls, Capture, FrameRole, Metadata, Module, NativeFrame
from tests.indexer.privileges import run_without_privileges


def capture_of(module: Module) -> Capture:
    """A capture with one frame in this module."""
    none = np.zeros(0, np.uint32)
    calls = Calls(none, none, none, none.astype(np.int64), none.astype(np.int64), none.astype(np.int32), ())
    return Capture(Path("capture"), Metadata(), (module,), (), (NativeFrame(0, 16),), (), (), (), calls, ())


def problems_of(path: Path | str, fingerprint: str = "as recorded") -> list[str]:
    """The naming problems of a module without a build-id."""
    frames, problems = CaptureFrameNamer().name_frames(capture_of(Module(str(path), 0, 4096, None, fingerprint)))
    assert len(frames) == 1
    return problems


@pytest.mark.parametrize("name", ["/no/such/lib.so", "/dev/null", "/dev/null/lib.so", "odd\0name", "[vdso]"])
def test_a_path_that_is_not_a_file_is_not_on_this_machine(name: str) -> None:
    (problem,) = problems_of(name)

    assert problem.startswith(f"{name} is not on this machine")
    assert problem.endswith("its frames stay as module and offset.")


def test_a_name_that_the_system_rejects_is_a_problem_without_an_exception() -> None:
    (problem,) = problems_of("/" + "x" * 300 + "/lib.so")

    assert "cannot be read (File name too long)" in problem


def test_a_binary_unreadable_when_recorded_is_not_matched(library: Path) -> None:
    (problem,) = problems_of(library, fingerprint="")

    assert "could not be read when it was recorded" in problem


def test_a_binary_with_the_recorded_content_is_used(library: Path) -> None:
    assert problems_of(library, compute_fingerprint(library)) == []
    assert "has changed since it was recorded" in problems_of(library)[0]


@pytest.mark.exhaustive(keep=["'0123'-file"])
@pytest.mark.parametrize("closed", ["folder", "file"])
@pytest.mark.parametrize("build_id", ["None", "'0123'"])
def test_a_binary_without_permission_is_unreadable(tmp_path: Path, library: Path, closed: str, build_id: str) -> None:
    """For a folder or a file of mode 000, the problem is its permissions, not a missing or changed binary."""
    folder = tmp_path / "closed"
    folder.mkdir()
    binary = folder / "lib.so"
    binary.write_bytes(library.read_bytes())
    script = (
        "import sys; from framedex.ingest import CaptureFrameNamer; from framedex.model import Module\n"
        "from tests.indexer.ingest.test_naming import capture_of\n"
        f"print(*CaptureFrameNamer().name_frames(capture_of(Module(sys.argv[1], 0, 4096, {build_id}, '')))[1])"
    )
    target = folder if closed == "folder" else binary
    target.chmod(0)
    try:
        done = run_without_privileges([sys.executable, "-c", script, str(binary)])
    finally:
        target.chmod(0o755)

    assert done.stderr == ""
    assert f"{binary} cannot be read (Permission denied)" in done.stdout


def test_framedex_frames_between_program_and_jax_are_glue() -> None:
    import framedex_native.ffi.programs as followed

    record = build_python_record(RecordedPaths("/"), followed.__file__, "_followed.<locals>.load_and_join", 44, 0, 47)
    assert record.function.role is FrameRole.GLUE
