"""`framedex live` and `framedex hang` on processes in every state, and what they need."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from framedex.live.snapshot import take_snapshot
from framedex.live.targets import find_target
from tests.indexer.live.programs import FRAMEDEX, LiveProgram, started, started_process, wait_for
from tests.running import PROGRAMS, TIMEOUT


@pytest.fixture
def blocked(tmp_path: Path) -> Iterator[LiveProgram]:
    """A program whose callback blocks."""
    with started("hangs/callback_blocks.py", folder=tmp_path) as running:
        running.wait_at("callback blocks", "blocks")
        yield running


def _framedex(folder: Path, *arguments: str, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*before, *FRAMEDEX, *arguments], cwd=folder, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )


def test_each_thread_has_its_python_stack_with_the_users_line_first_and_its_calls_in_progress(
    blocked: LiveProgram,
) -> None:
    shown = _framedex(blocked.folder, "live").stdout.splitlines()

    assert shown[0].startswith(f"callback_blocks.py: process {blocked.target.pid} is alive, Python 3.")
    main = shown[shown.index("main  waits for another thread") :]
    marked = next(line for line in main if line.startswith("  > "))
    assert marked.split() == [">", "<module>", f"{blocked.file}:{blocked.line('blocks')}"]
    (call,) = (index for index, line in enumerate(shown) if line.startswith("  in jax.pure_callback  for "))
    marked = next(line for line in shown[call:] if line.startswith("  > "))
    assert marked.split() == [">", "host", f"{blocked.file}:{blocked.line('callback blocks')}"]
    assert shown[-1].endswith("without Python and without calls in progress")


def test_the_json_document_has_the_same(blocked: LiveProgram) -> None:
    document = json.loads(_framedex(blocked.folder, "live", "--json").stdout)

    assert (document["pid"], document["state"]) == (blocked.target.pid, "alive")
    (in_callback,) = (thread for thread in document["threads"] if thread["open_calls"])
    assert [call["function"] for call in in_callback["open_calls"]] == ["jax.pure_callback"]
    assert {
        "function": "host",
        "file": str(blocked.file),
        "line": blocked.line("callback blocks"),
        "is_users": True,
    } in (in_callback["python"]["frames"])


@pytest.mark.parametrize("named", ["pid", "capture", "folder of captures"])
def test_a_process_is_named_by_its_id_its_capture_or_a_folder(blocked: LiveProgram, tmp_path: Path, named: str) -> None:
    capture = blocked.target.capture
    assert capture is not None
    name = {"pid": str(blocked.target.pid), "capture": str(capture), "folder of captures": str(capture.parent)}[named]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    answer = _framedex(elsewhere, "hang", name, "--patience", "0")

    assert answer.stdout.startswith("Hang: Callback thread")
    assert "calls so far" in answer.stdout


def test_a_program_that_lives_counts_before_a_newer_one_that_has_ended(blocked: LiveProgram) -> None:
    done = _framedex(blocked.folder, "run", str(PROGRAMS / "put_through_plugin.py"))
    assert "recorded" in done.stderr

    assert find_target(None, blocked.folder).pid == blocked.target.pid


def test_a_stopped_program_is_said_to_be_stopped(blocked: LiveProgram) -> None:
    os.kill(blocked.target.pid, signal.SIGSTOP)
    wait_for(lambda: take_snapshot(blocked.target), lambda snapshot: snapshot.state == "stopped")

    answer = _framedex(blocked.folder, "hang").stdout

    assert answer.startswith(
        f"Stopped: The process is stopped by a signal. To continue it: kill -CONT {blocked.target.pid}"
    )
    assert f"{blocked.file}:{blocked.line('callback blocks')} in host" in answer


def test_a_program_that_has_ended_is_told_in_the_past(blocked: LiveProgram) -> None:
    os.kill(blocked.target.pid, signal.SIGKILL)
    wait_for(lambda: take_snapshot(blocked.target), lambda snapshot: snapshot.end != "")

    live, hang = _framedex(blocked.folder, "live").stdout, _framedex(blocked.folder, "hang").stdout

    pid = blocked.target.pid
    assert live.startswith(f"callback_blocks.py: process {pid} was killed by SIGKILL just now, ")
    assert "calls recorded" in live
    assert "  in jax.pure_callback  never returned" in live
    assert hang.startswith("Ended: The process was killed by SIGKILL.")
    assert "jax.pure_callback never returned" in hang


def test_in_a_terminal_the_view_is_updated_until_ctrl_c(blocked: LiveProgram) -> None:
    master, slave = os.openpty()
    view = subprocess.Popen([*FRAMEDEX, "live"], cwd=blocked.folder, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    shown = b""
    while shown.count(b"\x1b[2J") < 3:
        shown += os.read(master, 1 << 16)
    view.send_signal(signal.SIGINT)

    assert view.wait(TIMEOUT) == 0
    os.close(master)
    assert shown.count(b" is alive, Python 3.") >= 2
    assert b"Traceback" not in shown


def _watch(
    command: Sequence[str], rows: int, columns: int, *, until: Callable[[str], bool], then: Callable[[], object]
) -> str:
    """The output of a command in a terminal of a size; `then` is called once after `until` holds for the output."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("LINES", "COLUMNS")}
    with subprocess.Popen([*FRAMEDEX, *command], env=environment, stdin=slave, stdout=slave, stderr=slave) as view:
        os.close(slave)
        shown, is_called = b"", False
        with suppress(OSError):  # the command has closed the terminal
            while part := os.read(master, 1 << 16):
                shown += part
                if not is_called and until(shown.decode(errors="replace")):
                    is_called = True
                    then()
        os.close(master)
        assert view.wait(TIMEOUT) == 0
    return shown.decode()


def test_the_view_ends_with_its_process_and_the_last_stacks_remain() -> None:
    program = "import time; print(flush=True); time.sleep(10_000)"
    with started_process(sys.executable, "-c", program) as (process, _):
        text = _watch(
            ["live", str(process.pid)], 24, 200, until=lambda shown: "sleeps, for" in shown, then=process.kill
        )

    last = text.split("\x1b[2J")[-1]
    assert "sleeps, for" in last
    assert f"process {process.pid} has ended" in last
    assert "(no command)" not in last


MANY_THREADS = """\
import threading, time

for _ in range(300):
    threading.Thread(target=time.sleep, args=[10_000], daemon=True).start()
for number in range(20):
    exec(f"def wait_{number}(): time.sleep(10_000)")
    threading.Thread(target=globals()[f"wait_{number}"], daemon=True).start()
print(flush=True)
time.sleep(10_000)
"""


def test_many_threads_fit_a_small_terminal() -> None:
    with started_process(sys.executable, "-c", MANY_THREADS) as (process, _):
        command = ["live", str(process.pid)]
        wait_for(lambda: _framedex(Path.cwd(), *command).stdout, lambda text: "300 threads (" in text)
        text = _watch(command, 12, 40, until=lambda shown: shown.count("\x1b[2J") == 3, then=process.kill)

    *_, view, _ = text.split("\x1b[2J")
    lines = view.removeprefix("\x1b[3J").split("\r\n")
    assert len(lines) == 12  # the cursor is in the last row
    assert re.fullmatch(r"… \d+ more rows\. All of them: `framedex live --once`\x1b\[H", lines[-2] + lines[-1])


READERS = """\
import os, sys, threading, time

os.chdir(sys.argv[1])

def read(name):
    os.read(os.open(name, os.O_RDWR), 1)

for name in ("a.fifo", "b.fifo", "b.fifo"):
    if not os.path.exists(name):
        os.mkfifo(name)
    threading.Thread(target=read, args=[name], daemon=True).start()
for seconds in (10_000, 20_000):
    threading.Thread(target=time.sleep, args=[seconds], daemon=True).start()
print(flush=True)
threading.Event().wait()
"""


def test_threads_that_wait_for_different_files_are_shown_apart(tmp_path: Path) -> None:
    with started_process(sys.executable, "-c", READERS, str(tmp_path)) as (process, _):
        shown = wait_for(
            lambda: _framedex(tmp_path, "live", str(process.pid)).stdout,
            lambda text: text.count("\n2 threads ") == 2 and "/a.fifo)" in text,
        )

    assert re.search(rf"^\S+ \(\d+\)  waits in read \({tmp_path}/a.fifo\)$", shown, re.MULTILINE)
    assert re.search(rf"^2 threads \(\d+, \d+\)  wait in read \({tmp_path}/b.fifo\)$", shown, re.MULTILINE)
    assert re.search(r"^2 threads \(\d+, \d+\)  sleep$", shown, re.MULTILINE)


def test_without_the_permission_to_trace_the_calls_in_progress_are_shown_and_the_remedy(tmp_path: Path) -> None:
    options = ("--behaviour", str(PROGRAMS / "untraceable.py"))
    with started("hangs/callback_blocks.py", folder=tmp_path, options=options) as running:
        wait_for(
            lambda: take_snapshot(running.target),
            lambda snapshot: any(
                call.function == "jax.pure_callback" for each in snapshot.threads for call in each.open_calls
            ),
        )
        drop = () if os.getuid() else ("setpriv", "--bounding-set=-sys_ptrace")

        live, hang = (_framedex(tmp_path, verb, before=drop) for verb in ("live", "hang"))

        assert (live.returncode, hang.returncode) == (0, 0), live.stderr + hang.stderr
        problem = f"Python frames and waits of process {running.target.pid} are not readable: Permission denied."
        assert problem in live.stdout
        assert problem in hang.stdout
        assert "Run this command as" in live.stdout
        assert "  in jax.pure_callback  for " in live.stdout
        assert hang.stdout.startswith("Unknown: ")


def test_from_another_container_the_calls_in_progress_are_shown(blocked: LiveProgram) -> None:
    other_host = ("unshare", "--uts", "sh", "-c", 'hostname elsewhere && exec "$@"', "sh")
    if subprocess.run([*other_host, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no permission to create a namespace here")

    live, hang = (_framedex(blocked.folder, verb, before=other_host).stdout for verb in ("live", "hang"))

    where = f"process {blocked.target.pid} is on another machine or in another container"
    assert live.startswith(f"callback_blocks.py: {where}, ")
    assert "  in jax.pure_callback  for " in live
    assert hang.startswith("Unknown: ")
    assert "is in jax.pure_callback for " in hang


def test_the_exit_code_tells_a_hang(blocked: LiveProgram) -> None:
    assert _framedex(blocked.folder, "hang", "--patience", "0", "--exit-code").returncode == 1
    assert _framedex(blocked.folder, "hang", "--patience", "100000", "--exit-code").returncode == 0


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ((), "There is no recording in this folder or in a folder above."),
        (("2147483646",), "There is no process 2147483646."),
        (("nowhere",), "nowhere cannot be listed"),
    ],
)
def test_an_unknown_process_is_an_error_with_a_remedy(tmp_path: Path, name: tuple[str, ...], problem: str) -> None:
    answer = _framedex(tmp_path, "live", *name)

    assert answer.returncode == 1
    assert problem in answer.stderr
    assert len(answer.stderr.splitlines()) == 2


def test_a_process_that_framedex_does_not_record_has_python_frames(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        target = find_target(str(process.pid), tmp_path)
        wait_for(lambda: take_snapshot(target), lambda now: bool(now.threads and now.threads[0].task.subject))  # type: ignore[union-attr]

        answer = _framedex(tmp_path, "hang", str(process.pid)).stdout

        assert answer.startswith("Waiting: The main thread waits for a pipe (read).\n  <string>:1 in <module>\n")
        assert "not recorded by framedex" in answer
        process.kill()
