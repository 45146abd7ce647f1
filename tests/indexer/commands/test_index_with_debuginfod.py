"""`framedex index` queries the environment's debuginfod servers for missing debug files of libraries."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from tests.indexer.answering import Answering, Started
from tests.indexer.commands.small_captures import PUTS
from tests.running import TIMEOUT, Run, mock_environment

BUILD_ID = "0123456789abcdef"
ASKED = f"/buildid/{BUILD_ID}/debuginfo"
SOURCE = """
__attribute__((noinline)) static int inner(int (*callback)(int), int value) { return callback(value) + 1; }
extern "C" int through(int (*callback)(int), int value) { return inner(callback, value) + 1; }
"""
PROGRAM = f"""{PUTS}
def call_back(value):
    put(value)
    return value
print(ctypes.CDLL(sys.argv[1]).through(ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(call_back), 3))
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The recording of a program that sends an array through a stripped library, and the library's debug file."""
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "through.cc").write_text(SOURCE)
    library, debug = folder / "libthrough.so", folder / "libthrough.debug"
    options = ["-g", "-O1", "-fno-optimize-sibling-calls", "-shared", "-fPIC", f"-Wl,--build-id=0x{BUILD_ID}"]
    subprocess.run(["g++", *options, "through.cc", "-o", library], cwd=folder, check=True)
    subprocess.run(["objcopy", "--only-keep-debug", library, debug], check=True)
    subprocess.run(["objcopy", "--strip-all", library], check=True)
    ran = Run.of([sys.executable, "-c", PROGRAM, str(library)], folder, mock_environment(folder), TIMEOUT)
    assert ran.result == 5
    return ran.capture, debug


@pytest.fixture(scope="module")
def plain(recorded: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with that recording and its index without servers, and the verb's output. Tests only read it."""
    folder = tmp_path_factory.mktemp("plain")
    shutil.copytree(recorded[0], folder / ".framedex" / "captures" / "first")
    return folder, index(folder).stdout


@pytest.fixture
def project(recorded: tuple[Path, Path], plain: tuple[Path, str], tmp_path: Path) -> Path:
    """A folder with that recording, and a cache of the other recorded binaries, which take seconds to parse."""
    shutil.copytree(recorded[0], tmp_path / ".framedex" / "captures" / "first")
    shutil.copytree(plain[0] / "cache", tmp_path / "cache", copy_function=os.link)
    return tmp_path


def command(*arguments: str, verb: str = "index") -> list[str]:
    return [
        sys.executable,
        "-c",
        "from framedex.commands.main import cli; cli(prog_name='framedex')",
        verb,
        *arguments,
    ]


def environment(project: Path, **variables: str) -> dict[str, str]:
    without = {name: value for name, value in os.environ.items() if not name.startswith("DEBUGINFOD_")}
    return without | {"XDG_CACHE_HOME": str(project / "cache")} | variables


def index(project: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        cwd=project,
        env=environment(project, **variables),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=True,
    )


def missing(request: Answering) -> None:
    request.send_error(404)


def hanging(request: Answering) -> None:
    request.server.is_over.wait()


def frames_in(project: Path) -> set[tuple[str, str | None, int | None]]:
    """The functions of the library in the index, with the files and lines of their frames."""
    with closing(sqlite3.connect(project / ".framedex" / "index.db")) as database:
        rows = database.execute(
            "SELECT function, path, line FROM frames_readable WHERE module LIKE '%/libthrough.so'"
        ).fetchall()
    return {(name, path and Path(path).name, line) for name, path, line in rows}


def test_debuginfod_supplies_names_and_lines(
    project: Path, plain: tuple[Path, str], started: Started, recorded: tuple[Path, Path]
) -> None:
    server = started(
        lambda request: request.give(recorded[1].read_bytes()) if request.path == ASKED else missing(request)
    )

    after = index(project, "--rebuild", DEBUGINFOD_URLS=server.address)

    assert {path for _, path, _ in frames_in(plain[0])} == {None}
    assert frames_in(project) == {("inner", "through.cc", 2), ("through", "through.cc", 3)}
    assert "libthrough.so is stripped: 1 of its 2 recorded frames has no name." in plain[1]
    assert "is stripped" not in after.stdout
    assert f"{server.address} provided debug information for libthrough.so." in after.stderr


def test_servers_are_queried_once_for_missing_files(project: Path, started: Started) -> None:
    """If the server has no debug files, each library is requested once, and the index is the same as without."""
    server = started(missing)

    asking = index(project, DEBUGINFOD_URLS=server.address)
    asked = list(server.asked)
    again = index(project, "--rebuild", DEBUGINFOD_URLS=server.address)

    assert ASKED in asked and len(set(asked)) == len(asked)
    assert all(path.startswith("/buildid/") and path.endswith("/debuginfo") for path in asked)
    assert server.asked == asked
    assert "is stripped" in asking.stdout and "is stripped" in again.stdout
    assert server.address not in asking.stderr


def test_a_trace_names_the_command_that_explains_unnamed_frames(plain: tuple[Path, str]) -> None:
    trace = command("PJRT_Client_BufferFromHostBuffer", verb="trace")
    done = subprocess.run(trace, cwd=plain[0], capture_output=True, text=True, check=True, timeout=TIMEOUT)

    assert "(unnamed function)" in done.stdout
    assert "1 frame of libthrough.so without a name: `framedex doctor` shows the reason." in done.stderr


def test_a_settings_file_cannot_name_servers(project: Path, started: Started) -> None:
    server = started(missing)
    (project / "framedex.toml").write_text(f'debuginfod = "{server.address}"\nDEBUGINFOD_URLS = "{server.address}"\n')

    index(project)

    assert server.asked == []


@pytest.mark.exhaustive
def test_a_hanging_server_delays_at_most_its_timeout(project: Path, started: Started) -> None:
    server = started(hanging)

    done = index(project, DEBUGINFOD_URLS=server.address, DEBUGINFOD_TIMEOUT="1")

    assert len(server.asked) == 1
    assert done.stderr.count(server.address) == 1 and "native frames:" in done.stdout


@pytest.mark.exhaustive
def test_ctrl_c_cancels_waiting_for_a_server(project: Path, started: Started) -> None:
    was_asked = threading.Event()

    def hanging_told(request: Answering) -> None:
        was_asked.set()
        hanging(request)

    server = started(hanging_told)
    running = subprocess.Popen(
        command(),
        cwd=project,
        env=environment(project, DEBUGINFOD_URLS=server.address),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert was_asked.wait(TIMEOUT)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=TIMEOUT)

    assert running.returncode == 130, told
    assert "Interrupted." in told and "Traceback" not in told
    assert not any(path.is_file() for path in (project / "cache").rglob("debuginfo*"))
    assert "native frames:" in index(project).stdout
