"""A forked process equals the one that Python's own start would give."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import fork_server

PROGRAM = """
import json, os, sys
import jax
print(json.dumps({
    "arguments": sys.argv, "original": sys.orig_argv, "main": __name__, "file": __file__, "path": sys.path[0],
    "command": open("/proc/self/cmdline").read().split("\\0"), "folder": os.getcwd(), "parent": os.getppid(),
    "variables": {name: value for name, value in os.environ.items() if name.startswith("FRAMEDEX_TEST_")},
    "home": os.environ.get("HOME"), "read": sys.stdin.read(), "umask": os.umask(0), "session": os.getsid(0),
    "files": sorted(map(int, os.listdir("/proc/self/fd")))[:-1],
}))
print("an error", file=sys.stderr)
class Left:
    def __del__(self):
        print("an object is freed at the exit", file=sys.stderr)
left = Left()
if sys.argv[1:] == ["fail"]:
    raise ValueError("on purpose")
if sys.argv[1:] == ["wait"]:
    sys.stdout.flush()
    import time
    time.sleep(60)
sys.exit(len(sys.argv))
"""


@pytest.fixture(autouse=True)
def fork_servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[str]]]:
    """Fork servers for one test; yields the command lines that they started."""
    monkeypatch.setattr(subprocess, "_fork_exec", subprocess._fork_exec)  # type: ignore[attr-defined]
    monkeypatch.setattr(subprocess, "_USE_POSIX_SPAWN", False)
    started: list[list[str]] = []
    start = fork_server.ForkServer.start

    def noted(self: fork_server.ForkServer, request: fork_server.Request, files: list[int]) -> int:
        started.append(request.arguments)
        return start(self, request, files)

    monkeypatch.setattr(fork_server.ForkServer, "start", noted)
    fork_server.own_start.clear()
    fork_server.install()
    yield started


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that prints its arguments, environment and open files."""
    path = tmp_path / "a program.py"
    path.write_text(PROGRAM)
    return path


def run(program: Path, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Run a program in the folder of its file."""
    command = [sys.executable, program.name, *arguments]
    return subprocess.run(command, cwd=program.parent, input="in", capture_output=True, text=True, **options)  # type: ignore[call-overload,no-any-return]


def test_a_fork_behaves_like_a_new_process(program: Path, fork_servers: list[list[str]]) -> None:
    environment = os.environ | {"FRAMEDEX_TEST_ONE": "a=b\nü"}
    found = [run(program, "two words", "", env=environment) for _ in range(3)]
    assert len(fork_servers) == 2
    assert len({(each.returncode, each.stderr) for each in found}) == 1 and found[0].returncode == 3
    first, *others = (json.loads(each.stdout) for each in found)
    assert first["variables"] == {"FRAMEDEX_TEST_ONE": "a=b\nü"} and first["parent"] == os.getpid()
    assert others == [first] * 2


def test_errors_are_printed_as_in_a_new_process(program: Path) -> None:
    own, _, forked = (run(program, "fail") for _ in range(3))
    assert own.returncode == forked.returncode == 1
    assert own.stderr == forked.stderr and "on purpose" in own.stderr


def test_a_signal_ends_the_fork_and_reaches_its_parent(program: Path, fork_servers: list[list[str]]) -> None:
    for _ in range(2):
        command = [sys.executable, str(program), "wait"]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=30) == -signal.SIGINT
    assert len(fork_servers) == 1


def test_programs_that_cannot_be_forked_start_normally(program: Path, fork_servers: list[list[str]]) -> None:
    plain = program.with_name("plain.py")
    plain.write_text("print(1)")
    for _ in range(3):
        assert run(program, preexec_fn=lambda: None).returncode == 1
        assert run(program, close_fds=False).returncode == 1
        assert run(plain).stdout == "1\n"
        assert run(program.with_name("missing.py")).returncode == 2
        fork_server.own_start.set()
        assert run(program).returncode == 1
        fork_server.own_start.clear()
    assert fork_servers == []


def test_another_import_environment_gets_its_own_server(program: Path, fork_servers: list[list[str]]) -> None:
    code = "import jax; print(jax.config.jax_enable_x64)"
    for value in ("0", "1", "0", "1"):
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=os.environ | {"JAX_ENABLE_X64": value}, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, f"{value == '1'}\n")
    assert len(fork_servers) == 2


def test_a_new_server_replaces_the_least_recently_used_one() -> None:
    servers = fork_server.ForkServers()

    def server(number: int) -> fork_server.ForkServer | None:
        return servers.server_for(("json",), os.environ | {"TZ": str(number)})

    first, second, *_ = [server(number) or server(number) for number in range(fork_server.MAX_SERVERS)]
    assert first is not None and server(0) is first
    assert server(-1) is None and server(-1) is not None
    assert server(0) is first and server(1) is not second


def test_the_command_line_is_forked_with_its_imports_loaded(tmp_path: Path, fork_servers: list[list[str]]) -> None:
    for name in (Path(sys.executable).with_name("framedex"), "-m"):
        for _ in range(2):
            command = [sys.executable, "-m", "framedex", "calls"] if name == "-m" else [str(name), "calls"]
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
            assert done.returncode == 1 and "framedex" in done.stderr and "Traceback" not in done.stderr
    assert len(fork_servers) == 3


def test_a_server_that_cannot_import_is_reported(tmp_path: Path) -> None:
    server = fork_server.ForkServer(["no_such_module"], os.environ)
    request = fork_server.Request(
        [sys.executable, "-c", "pass"], dict(os.environ), str(tmp_path), 0o022, False, [0, 1, 2]
    )
    with pytest.raises(RuntimeError, match="a fork server exited with status 1"):
        server.start(request, [0, 1, 2])
