"""A program behaves the same under `framedex run`: output, input, arguments, status, exceptions, signals."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from framedex.commands.launching import witness
from tests.run.invoking import FRAMEDEX, Ended, environment, framedex_run, plain_run, program
from tests.running import TIMEOUT


@pytest.mark.exhaustive(keep=["faithful.py x", "endings.py raises"])
@pytest.mark.parametrize(
    "arguments",
    [
        [program("faithful.py"), "x", "--devices", "3", "-o", "dir", "--", "-m", "größe", ""],
        ["-m", "faithful", "--hbm", "1"],
        [program("endings.py"), "returns"],
        [program("endings.py"), "exits"],
        [program("endings.py"), "exits_with_a_message"],
        [program("endings.py"), "exits_at_once"],
        [program("endings.py"), "raises"],
        [program("endings.py"), "aborts"],
        [program("endings.py"), "is_terminated"],
        [program("endings.py"), "is_interrupted"],
        [program("endings.py"), "leaves_a_daemon_thread"],
        [program("endings.py"), "leaves_a_thread"],
        [program("endings.py"), "forks"],
    ],
    ids=lambda arguments: " ".join(Path(argument).name for argument in arguments[:2]),
)
def test_everything_but_the_last_line_equals_a_run_without_framedex(arguments: list[str], tmp_path: Path) -> None:
    stdin = "first\nzweite größe\nno newline at the end".encode()
    plain = plain_run(*arguments, folder=tmp_path, stdin=stdin)
    recorded = framedex_run(*arguments, folder=tmp_path, stdin=stdin)
    assert without_process_ids(recorded) == without_process_ids(plain)
    assert len(recorded.said) == 1
    assert recorded.stderr.splitlines()[-1].startswith(b"framedex: ")
    assert (tmp_path / recorded.capture / "capture.json").is_file()
    assert recorded.capture.parent == Path(".framedex/captures")


def without_process_ids(ended: Ended) -> tuple[int, bytes, bytes]:
    """The program's behaviour; JAX's warnings are normalised, because their lines and processes vary."""
    status, stdout, stderr = ended.of_the_program
    return status, stdout, re.sub(rb"0x[0-9a-f]+|pid=\d+", b"*", stderr)


@pytest.mark.exhaustive
def test_the_signal_that_ended_the_program_is_named(tmp_path: Path) -> None:
    ended = framedex_run(program("endings.py"), "is_terminated", folder=tmp_path)
    assert ended.status == -signal.SIGTERM
    assert ended.said[-1].startswith("framedex: the program was ended by SIGTERM; recorded ")


@pytest.mark.exhaustive(keep=["SIGTERM"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_signal_to_framedex_reaches_the_program(tmp_path: Path, number: signal.Signals) -> None:
    ended = signalled(tmp_path, number, lambda process: process.send_signal(number))
    assert ended.status == -number
    assert (tmp_path / ended.capture).is_dir()


def test_ctrl_c_in_the_terminal_is_handled_by_the_program(tmp_path: Path) -> None:
    ended = signalled(tmp_path, signal.SIGINT, lambda process: os.killpg(process.pid, signal.SIGINT))
    assert ended.status == -signal.SIGINT
    assert b"KeyboardInterrupt" in ended.stderr
    assert ended.said[-1].startswith("framedex: the program was ended by SIGINT; recorded ")


def test_an_interrupt_reaches_the_program_once(tmp_path: Path) -> None:
    """After an interrupt for framedex alone and one for its group, the program has received two."""
    with waiting(tmp_path, "counts_interrupts") as process:
        assert process.stdout
        lines = [*read_until_ready(process.stdout)]
        process.send_signal(signal.SIGINT)
        lines.append(process.stdout.readline())
        os.killpg(process.pid, signal.SIGINT)
        lines.append(process.stdout.readline())
        process.terminate()
        lines += process.communicate(timeout=TIMEOUT)[0].splitlines(keepends=True)

    assert lines[-3:] == [b"ready\n", b"interrupt 1\n", b"interrupt 2\n"]


def test_a_stopped_program_stops_framedex_until_both_continue(tmp_path: Path) -> None:
    with waiting(tmp_path, "waits_for_a_signal", start_new_session=False, process_group=0) as process:
        assert process.stdout and process.stdout.readline()
        os.killpg(process.pid, signal.SIGTSTP)
        stopped = os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        os.killpg(process.pid, signal.SIGCONT)
        process.terminate()
        process.communicate(timeout=TIMEOUT)

    assert stopped and stopped.si_status == signal.SIGSTOP
    assert process.returncode == -signal.SIGTERM


def test_framedex_continues_with_a_program_that_ctrl_z_does_not_stop(tmp_path: Path) -> None:
    """In a process group without a shell above it, where SIGTSTP stops no program, framedex does not stop either."""

    def stop_then_end(process: subprocess.Popen[bytes]) -> None:
        os.killpg(process.pid, signal.SIGTSTP)
        process.terminate()

    assert signalled(tmp_path, signal.SIGTERM, stop_then_end).status == -signal.SIGTERM


def test_the_exit_status_is_the_programs_even_if_sigchld_is_ignored(tmp_path: Path) -> None:
    code = "import signal; raise SystemExit(3 if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN else 4)"
    ended = subprocess.run(
        [FRAMEDEX, "run", "-c", code],
        cwd=tmp_path,
        env=environment(),
        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
    )

    assert ended.returncode == 3


def test_the_end_of_the_program_is_noticed_even_if_sigchld_is_blocked(tmp_path: Path) -> None:
    ended = subprocess.run(
        [FRAMEDEX, "run", "-c", "raise SystemExit(3)"],
        cwd=tmp_path,
        env=environment(),
        preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD]),
        timeout=TIMEOUT,
    )

    assert ended.returncode == 3


def test_the_witness_kills_the_program_without_pidfd_open() -> None:
    """A Python built on an older Linux, such as uv's, or an older kernel."""
    code = Path(witness.__file__).read_text().replace("import time\n", "import time\ndel os.pidfd_open\n", 1)
    program = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as watching:
        watching.communicate(b"%d\n" % program.pid, timeout=TIMEOUT)

    assert program.wait(TIMEOUT) == -signal.SIGKILL


def test_a_killed_framedex_ends_the_program(tmp_path: Path) -> None:
    with waiting(tmp_path, "counts_interrupts") as process:
        assert process.stdout
        assert list(read_until_ready(process.stdout))
        process.kill()
        assert process.stdout.read() == b""  # the program had the other end of the pipe


def signalled(folder: Path, number: signal.Signals, send: object) -> Ended:
    """A waiting program under framedex, in its own process group, which gets a signal once it has printed."""
    assert callable(send)
    with waiting(folder, "waits_for_a_signal") as process:
        assert process.stdout
        first = process.stdout.readline()
        send(process)
        try:
            rest, stderr = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return Ended(process.returncode, first + rest, stderr)


def read_until_ready(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a program up to `ready`."""
    for line in lines:
        yield line
        if line == b"ready\n":
            return


def waiting(
    folder: Path, ending: str, *, start_new_session: bool = True, process_group: int | None = None
) -> subprocess.Popen[bytes]:
    """A program under framedex, in its own process group."""
    return subprocess.Popen(
        [FRAMEDEX, "run", program("endings.py"), ending],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=start_new_session,
        process_group=process_group,
    )
