"""Without free files or memory, a command ends with one sentence, and does not report or store damage."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.base.errors import SystemLimitError
from framedex.binaries import Binary, DigestCache
from framedex.captures import (
    CaptureStream,
    UnreadableCaptureError,
    compute_fingerprint,
    count_records,
    project_captures_folder,
    read_capture_state,
    read_stored_program,
    recorded_modules,
)
from framedex.captures.stored_files import read_digests
from framedex.commands.main import cli
from framedex.index import Index
from framedex.index.file.database import DamagedIndexError
from framedex.index.file.soundness import report_damage
from framedex.ingest.recorded_binaries import RecordedBinaries
from framedex.model import Module
from framedex.sources.releases.statements import FileReleases
from tests.indexer.commands.small_captures import unpack_capture
from tests.indexer.recorded import Project
from tests.running import plain_environment

FEW_FILES = range(12, 24)  # from too few to import all of a verb, to enough for all of it


@contextmanager
def no_descriptor_left() -> Iterator[None]:
    """Within the block, this process cannot open a file."""
    free = os.open(os.devnull, os.O_RDONLY)
    os.close(free)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """A capture in the project `tmp_path`, in the default place."""
    return unpack_capture(project_captures_folder(tmp_path) / "first")


@pytest.mark.parametrize(
    "read",
    [
        CaptureStream,
        read_capture_state,
        count_records,
        recorded_modules,
        read_digests,
        lambda capture: read_stored_program(capture, f"{0:016x}-1"),
        lambda capture: compute_fingerprint(Path(sys.executable)),
        lambda capture: Binary.open(Path(sys.executable)),
        lambda capture: DigestCache(capture / "kept.json").compute_digest(Path(sys.executable)),
        lambda capture: RecordedBinaries().open(Module(sys.executable, 0, 0, None, "")),
        lambda capture: Index.open(capture / "index.db"),
        lambda capture: FileReleases().release_of(f"{capture}/site-packages/jax/_src/api.py"),
    ],
)
def test_a_file_that_the_process_cannot_open_is_neither_missing_nor_damaged(
    capture: Path, read: Callable[[Path], object]
) -> None:
    CliRunner().invoke(cli, ["--index", str(capture / "index.db"), "index", str(capture)])
    with no_descriptor_left(), pytest.raises(SystemLimitError, match="Too many open files") as raised:
        read(capture)
    assert "ulimit -n" in raised.value.remedy


def test_calls_that_the_process_cannot_open_are_not_truncated(capture: Path) -> None:
    stream = CaptureStream(capture)
    with no_descriptor_left(), pytest.raises(SystemLimitError):
        stream.next(stream.calls)
    assert not stream.problems


@pytest.mark.exhaustive(keep=["18"])
@pytest.mark.parametrize("most", FEW_FILES)
def test_an_index_created_with_few_open_files_is_completed_later(capture: Path, tmp_path: Path, most: int) -> None:
    """If a first `index` hits the limit for open files, a run without the limit completes it."""
    limited = subprocess.run(
        ["sh", "-c", f'ulimit -n {most}; exec "$@"', "sh", sys.executable, "-m", "framedex", "index"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=plain_environment(),
    )
    assert limited.returncode == 0 or limited.stderr.startswith("framedex: "), limited.stderr
    assert limited.returncode == 0 or "Too many open files.\n  Raise the limit" in limited.stderr
    index = tmp_path / ".framedex" / "index.db"
    assert CliRunner().invoke(cli, ["--index", str(index), "index", str(capture)]).exit_code == 0
    with Index.open(index) as opened:
        (row,) = opened.captures()
        assert row.calls == CaptureStream(capture).calls > 0
        assert not any("cut short" in problem or "cannot be read" in problem for problem in row.problems)


def test_a_capture_on_a_failing_disk_is_refused_and_read_after_repair(capture: Path, tmp_path: Path) -> None:
    index = str(tmp_path / "index.db")
    stream, well = capture / "thread-0.fdx", capture / "thread-0.away"
    stream.rename(well)
    stream.symlink_to("/proc/self/mem")  # a regular file whose bytes give EIO
    with pytest.raises(UnreadableCaptureError, match="Input/output error"):
        CaptureStream(capture)
    refused = CliRunner().invoke(cli, ["--index", index, "index", str(capture)])
    assert refused.exit_code == 1
    assert f"{stream} cannot be read: Input/output error." in refused.stderr
    stream.unlink()
    well.rename(stream)
    assert CliRunner().invoke(cli, ["--index", index, "index", str(capture)]).exit_code == 0
    with Index.open(Path(index)) as opened:
        assert opened.captures()[0].calls == CaptureStream(capture).calls > 0


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("contents.json", read_digests),
        (f"programs/{0:016x}-1", lambda capture: read_stored_program(capture, f"{0:016x}-1")),
    ],
)
def test_files_beside_the_calls_on_a_failing_disk_are_not_missing(
    capture: Path, name: str, read: Callable[[Path], object]
) -> None:
    (capture / name).parent.mkdir(exist_ok=True)
    (capture / name).symlink_to("/proc/self/mem")
    with pytest.raises(UnreadableCaptureError, match=re.escape(f"{capture / name} cannot be read: Input/output error")):
        read(capture)


def test_running_out_of_memory_ends_a_verb_with_one_sentence(tmp_path: Path) -> None:
    log, short = tmp_path / "log", tmp_path / "short"
    short.write_text("no stack\n")
    log.touch()
    os.truncate(log, 1 << 31)  # its last 16 MiB do not fit
    # The first text imports all modules: if an import fails, Python prints errors of its own.
    code = "import resource as r, sys; from framedex.commands.main import cli;" + (
        "cli(['explain', sys.argv[2]], standalone_mode=False);"
        "size = int(open('/proc/self/statm').read().split()[0]) * r.getpagesize();"
        "r.setrlimit(r.RLIMIT_AS, (size + (8 << 20),) * 2);"
        "cli(['explain', sys.argv[1]])"
    )
    command = [sys.executable, "-c", code, str(log), str(short)]
    done = subprocess.run(command, capture_output=True, text=True, env=plain_environment())
    assert done.returncode == 1
    assert done.stderr == (
        "This text contains no stack in a supported format.\n"
        "framedex: There is not enough memory.\n"
        "  Free some memory, or raise its limit (`ulimit -v`), then run the command again.\n"
    )


def test_running_out_of_memory_is_not_blamed_on_a_damaged_index(project: Project) -> None:
    project.ingest().close()
    project.index.write_bytes(project.index.read_bytes().replace(b"transfer", b"transFer"))
    with pytest.raises(MemoryError), report_damage(project.index):
        raise MemoryError
    with pytest.raises(DamagedIndexError), report_damage(project.index):
        raise KeyError
