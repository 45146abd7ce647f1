"""Native frames of living processes, which are stopped for a moment."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.base.errors import FramedexError, SystemLimitError
from framedex.binaries.binary import Binary
from framedex.binaries.elf import Elf
from framedex.captures.metadata import write_foreign_metadata
from framedex.commands.main import cli
from framedex.live.memory import Memory, ProcessMemory
from framedex.live.model import Activity, LiveFrame, ProcessState
from framedex.live.native.generated_code import find_caller
from framedex.live.native.image import ProcessImage
from framedex.live.native.naming import name_frames
from framedex.live.native.stacks import ProcessStacks
from framedex.live.native.stopped import StoppedProcess, read_living_stacks
from framedex.live.runtime import find_python_binaries
from framedex.live.targets import find_target_of_process
from framedex.live.tasks import read_process_state, read_tasks
from framedex.model import NativeSymbol
from framedex.text_stacks.source_lookup.binaries import Binaries
from framedex.text_stacks.source_lookup.resolve import Resolver
from tests import pythons
from tests.indexer.live.cores import gdb_frames
from tests.indexer.live.programs import FRAMEDEX, started_process, wait_for
from tests.running import PROGRAMS
from tests.tiers import exhaustive_unless

COUNTS_SIGNALS = """\
import signal, sys

count = 0
def handler(number, frame):
    global count
    count += 1

signal.signal(signal.SIGUSR1, handler)
print("ready", flush=True)
for line in sys.stdin:
    print(count, flush=True)
"""

SPAWNS = """\
import os

print("ready", flush=True)
os.posix_spawn("/bin/true", ["true"], {{}}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, {fifo!r}, os.O_RDONLY, 0)])
print("spawned", flush=True)
"""
"""While the child opens the FIFO, the parent sleeps without interruption."""

WAITS_IN_C = """\
#include <unistd.h>

static int waits(void) {
  char byte; return read(0, &byte, 1) < 0;
}
int main(void) { return write(1, "ready\\n", 6) < 0 || waits(); }
"""

CALLS_GENERATED_CODE = """\
import ctypes, mmap

pause = ctypes.cast(ctypes.CDLL(None).pause, ctypes.c_void_p).value
page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
# push %rbp; mov %rsp, %rbp; mov $pause, %rax; call *%rax; pop %rbp; ret
page.write(b"\\x55\\x48\\x89\\xe5\\x48\\xb8" + pause.to_bytes(8, "little") + b"\\xff\\xd0\\x5d\\xc3")

def calls():
    print("ready", flush=True)
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()

calls()
"""

MAPS_A_FILE = """\
import mmap, sys

with open(sys.argv[1], "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module", params=exhaustive_unless(("3.11", "3.12", "3.13"), pythons.OWN_VERSION))
def interpreter(request: pytest.FixtureRequest) -> str:
    """An interpreter of each version with which gdb agrees."""
    found = next(iter(pythons.found(request.param)), None)
    if found is None:
        pytest.skip(f"no Python {request.param} here")
    return found.path


def _live(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["live", "--native", *arguments])


def test_stacks_of_all_threads_are_those_of_the_process_and_of_gdb(interpreter: str, tmp_path: Path) -> None:
    with started_process(interpreter, str(PROGRAMS / "live_frames.py")) as (process, line):
        truth = {int(tid): [LiveFrame(*frame) for frame in frames] for tid, frames in json.loads(line).items()}
        wait_for(lambda: read_tasks(process.pid, None)[0], lambda task: task.activity is Activity.FUTEX)

        stacks = read_living_stacks(process.pid)

        assert read_process_state(process.pid) is ProcessState.ALIVE
        python = {each.tid: [f for f in each.merged.frames if isinstance(f, LiveFrame)] for each in stacks.threads}
        assert {tid: python[tid] for tid in truth} == truth
        assert {thread.merged.problem for thread in stacks.threads} == {""}
        by_gdb = gdb_frames(["-p", str(process.pid)], tmp_path)
        assert {thread.tid: [frame.address for frame in thread.native.frames] for thread in stacks.threads} == {
            tid: [frame.address for frame in frames if frame.kind != "inlined"] for tid, frames in by_gdb.items()
        }


def test_a_running_thread_is_read_at_any_instruction(interpreter: str) -> None:
    with started_process(interpreter, str(PROGRAMS / "live_motion.py")) as (process, _):
        for _ in range(10):
            (thread,) = read_living_stacks(process.pid).threads
            assert (thread.merged.problem, thread.merged.apart) == ("", ())
            chain = [frame.function for frame in thread.merged.frames if isinstance(frame, LiveFrame)]
            numbers = [int(name[1:]) for name in chain if name.startswith("f")]
            assert numbers == list(range(len(numbers)))[::-1]


def test_threads_may_start_and_end_meanwhile(interpreter: str) -> None:
    with started_process(interpreter, str(PROGRAMS / "live_threads.py")) as (process, _):
        for _ in range(20):
            stacks = read_living_stacks(process.pid)
            assert stacks.problems == ()
            assert stacks.threads[0].tid == process.pid
            assert all(not thread.merged.apart or thread.merged.problem for thread in stacks.threads)
        assert read_process_state(process.pid) is ProcessState.ALIVE


def test_a_stopped_process_stays_stopped() -> None:
    with started_process(sys.executable, str(PROGRAMS / "live_frames.py")) as (process, _):
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)

        stacks = read_living_stacks(process.pid)

        assert len(stacks.threads) == 7
        assert read_process_state(process.pid) is ProcessState.STOPPED


def test_no_signal_is_lost_or_added() -> None:
    with started_process(sys.executable, "-c", COUNTS_SIGNALS) as (process, _):
        assert process.stdin is not None and process.stdout is not None
        for count in range(1, 11):
            stopped = StoppedProcess(process.pid)
            process.send_signal(signal.SIGUSR1)
            stopped.resume()
            read_living_stacks(process.pid)
            process.stdin.write("count\n")
            process.stdin.flush()
            assert int(process.stdout.readline()) == count


def test_a_thread_that_could_not_stop_runs_later(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    program = SPAWNS.format(fifo=str(tmp_path / "fifo"))
    with started_process(sys.executable, "-c", program) as (process, _), ProcessMemory(process.pid) as memory:
        assert process.stdout is not None
        wait_for(lambda: Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0], "D".__eq__)
        stopped = StoppedProcess(process.pid)
        assert stopped.image(memory).problem == "1 thread did not stop and cannot be shown."
        os.close(os.open(tmp_path / "fifo", os.O_WRONLY))
        wait_for(lambda: read_process_state(process.pid), ProcessState.TRACED.__eq__)

        stopped.resume()

        assert process.stdout.readline() == "spawned\n"


def test_ctrl_z_waits_until_the_process_runs_again(monkeypatch: pytest.MonkeyPatch) -> None:
    masks = []

    def read(image: ProcessImage, resume: Callable[[], None]) -> ProcessStacks:
        masks.append(signal.pthread_sigmask(signal.SIG_BLOCK, ()))
        return ProcessStacks(image, "", (), ())

    monkeypatch.setattr("framedex.live.native.stopped.read_stacks", read)
    with started_process(sys.executable, "-c", COUNTS_SIGNALS) as (process, _):
        assert read_living_stacks(process.pid).image.root == Path("/")
    assert signal.SIGTSTP in masks[0] and signal.SIGTSTP not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_a_process_that_another_program_traces_names_it() -> None:
    with started_process(sys.executable, str(PROGRAMS / "live_frames.py")) as (process, _):
        stopped = StoppedProcess(process.pid)
        done = subprocess.run([*FRAMEDEX, "live", "--native", str(process.pid)], capture_output=True, text=True)
        stopped.resume()

    assert done.returncode == 1
    assert f"The native frames of process {process.pid} are not readable: Operation not permitted." in done.stderr
    assert "Another program traces it" in done.stderr


def test_live_shows_states_with_merged_stacks() -> None:
    with started_process(sys.executable, str(PROGRAMS / "live_frames.py")) as (process, _):
        text = wait_for(lambda: _live(str(process.pid)).output, lambda text: "main  waits for Lock" in text)
        document = json.loads(_live(str(process.pid), "--json").stdout)

    first = text.split("\n\n")[1].splitlines()
    assert first[0].startswith("main  waits for Lock")
    assert "PyThread_acquire_lock_timed" in text.split("\n\n")[1]
    assert any(line.startswith("> <module>  ") for line in first)
    stack = document["threads"][0]["stack"]
    assert {frame["language"] for frame in stack["frames"]} == {"native", "python"}
    assert stack["problem"] == ""


def test_callers_of_generated_code_are_found_by_its_frame_pointer() -> None:
    with started_process(sys.executable, "-c", CALLS_GENERATED_CODE) as (process, _):
        wait_for(lambda: read_tasks(process.pid, None)[0], lambda task: task.call == "pause")

        (thread,) = read_living_stacks(process.pid).threads

        assert (thread.merged.problem, thread.merged.apart) == ("", ())
        generated = next(
            frame for frame in thread.merged.frames if not isinstance(frame, LiveFrame) and not frame.module
        )
        assert generated.is_return_address
        assert [frame.function for frame in thread.merged.frames if isinstance(frame, LiveFrame)] == [
            "calls",
            "<module>",
        ]


class _Stack(Memory):
    """Two pages of memory: generated code at 0x1000, and a stack of three words at 0x2000."""

    def __init__(self, code: bytes, words: tuple[int, int, int]) -> None:
        self._parts = {0x1000: code.ljust(64, b"\x90"), 0x2000: struct.pack("<3Q", *words)}

    def read(self, address: int, size: int) -> bytes:
        return self._parts[address & ~0xFFF][address & 0xFFF :][:size]


@pytest.mark.parametrize(
    ("code", "words", "is_return_address", "frame", "expected"),
    [
        pytest.param(b"\x55\x48\x89\xe5", (0x1030, 0, 0), False, 0x2008, (0x2008, 0x2008), id="push of rbp"),
        pytest.param(b"\x48\x89\xe5", (0x2010, 0x1030, 0), False, 0x2008, (0x2010, 0x2010), id="move to rbp"),
        pytest.param(b"\x31\xc0", (0, 0x2018, 0x1030), False, 0x2008, (0x2018, 0x2018), id="frame pointer"),
        pytest.param(b"\xc3", (0x1030, 0, 0), False, 0x2010, (0x2008, 0x2010), id="return"),
        pytest.param(b"\x48\x83\xc4\x08\xc3", (0, 0x1030, 0), True, 0x2010, (0x2010, 0x2010), id="trampoline"),
        pytest.param(b"\x31\xc0", (0, 0x2018, 0x1038), False, 0x2008, None, id="no call before the return address"),
        pytest.param(b"\x31\xc0", (0, 0x2018, 0x1030), False, 0x1000, None, id="no frame pointer"),
    ],
)
def test_the_caller_of_generated_code(
    code: bytes, words: tuple[int, int, int], is_return_address: bool, frame: int, expected: tuple[int, int] | None
) -> None:
    content = bytearray((b"\x90" * 16 + code).ljust(64, b"\x90"))
    content[15] = 0x55  # push %rbp, before the instruction
    content[0x2B:0x30] = b"\xe8\x00\x00\x00\x00"  # a call that returns to 0x1030
    registers = {6: frame, 7: 0x2000, 16: 0x1010}

    caller = find_caller(_Stack(bytes(content), words), registers, is_return_address=is_return_address)

    found = None if caller is None else (caller[7], caller[6])
    assert found == expected
    assert caller is None or caller[16] == 0x1030


@pytest.mark.parametrize(
    ("code", "is_call"),
    [
        pytest.param("e8 00 01 02 0a", True, id="relative, ends with a newline byte"),
        pytest.param("ff 15 00 01 02 00", True, id="slot relative to rip"),
        pytest.param("ff 94 24 00 01 00 00", True, id="stack slot, 32-bit displacement"),
        pytest.param("ff 14 c5 00 01 00 00", True, id="table at an address"),
        pytest.param("41 ff 54 24 08", True, id="stack slot, 8-bit displacement"),
        pytest.param("ff d0", True, id="register"),
        pytest.param("ff d0 0a", False, id="a newline byte after a call"),
        pytest.param("ff e0", False, id="jump"),
    ],
)
def test_a_return_address_follows_a_call_of_any_form(code: str, is_call: bool) -> None:
    content = bytearray(b"\x90" * 64)
    content[0x10:0x12] = b"\x31\xc0"
    call = bytes.fromhex(code)
    content[0x30 - len(call) : 0x30] = call
    registers = {6: 0x2008, 7: 0x2000, 16: 0x1010}

    assert (
        find_caller(_Stack(bytes(content), (0, 0x2018, 0x1030)), registers, is_return_address=False) is not None
    ) is is_call


def test_names_of_mapped_files_may_have_any_ends_of_lines(tmp_path: Path) -> None:
    capture = tmp_path / "a\rb\x0bc\x85d\u2028e\nf"
    capture.mkdir()
    write_foreign_metadata(capture, {})
    (capture / "stream.fdx").write_text("mapped")
    with started_process(sys.executable, "-c", MAPS_A_FILE, str(capture / "stream.fdx")) as (process, _):
        assert find_target_of_process(process.pid).capture == capture
        assert len(list(find_python_binaries(process.pid))) > 0
        assert str(capture / "stream.fdx") in {each.path for each in read_living_stacks(process.pid).image.mappings}


def test_threads_at_the_same_code_share_its_symbols(monkeypatch: pytest.MonkeyPatch) -> None:
    with started_process(sys.executable, str(PROGRAMS / "live_frames.py")) as (process, _):
        stacks = read_living_stacks(process.pid)
    frames = [frame for thread in stacks.threads for frame in thread.native.frames if frame.module]
    binaries = {frame.module.binary for frame in frames if frame.module}
    resolved = []
    resolve = Binary.resolve

    def count(binary: Binary, addresses: Sequence[int]) -> list[tuple[NativeSymbol, ...]]:
        if binary in binaries:
            resolved.append((binary, *addresses))
        return resolve(binary, addresses)

    monkeypatch.setattr(Binary, "resolve", count)
    names = name_frames(stacks, Resolver(None, binaries=Binaries()))

    assert names.keys() >= set(frames)
    assert len(resolved) == len(set(resolved)) < len(frames)


def _install_by_link(root: Path, build_id: str) -> Path:
    return root / "usr/lib/debug/opt/program.debug"


def _install_by_build_id(root: Path, build_id: str) -> Path:
    return root / f"usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"


@pytest.mark.parametrize("installed", [_install_by_link, _install_by_build_id])
def test_the_debug_files_of_a_container_give_the_lines(tmp_path: Path, installed: Callable[[Path, str], Path]) -> None:
    pivot = 'mount --bind "$0" "$0" && cd "$0" && pivot_root . old && exec /opt/program'
    in_container = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", pivot, str(tmp_path))
    for name in ("opt", "old"):
        (tmp_path / name).mkdir()
    source, program, debug = tmp_path / "program.c", tmp_path / "opt/program", tmp_path / "program.debug"
    source.write_text(WAITS_IN_C)
    subprocess.run(
        ["gcc", "-g", "-static", "-Wl,--build-id,--eh-frame-hdr", str(source), "-o", str(program)], check=True
    )
    build_id = Elf.open(program).build_id or ""
    subprocess.run(["objcopy", "--only-keep-debug", str(program), str(debug)], check=True)
    subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", str(program)], check=True)
    there = installed(tmp_path, build_id)
    there.parent.mkdir(parents=True)
    debug.rename(there)
    if subprocess.run(in_container, stdin=subprocess.DEVNULL, capture_output=True).returncode:
        pytest.skip("no permission to create a namespace here")
    with started_process(*in_container) as (process, _):
        stacks = read_living_stacks(process.pid)

        names = name_frames(stacks, Resolver(None, binaries=Binaries()))

    (thread,) = stacks.threads
    lines = [each.frame.place for frame in thread.native.frames for each in names[frame] if each.frame.place]
    assert (str(source), 6) in [(place.path, place.line) for place in lines]


def test_a_process_that_ends_meanwhile_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(image: ProcessImage, resume: Callable[[], None]) -> ProcessStacks:
        os.kill(image.pid, signal.SIGKILL)
        os.waitid(os.P_PID, image.pid, os.WEXITED | os.WNOWAIT)
        image.memory.read(image.mappings[0].start, 1)
        raise AssertionError("the memory of the process is gone")

    monkeypatch.setattr("framedex.live.native.stopped.read_stacks", read)
    with (
        started_process(sys.executable, "-c", COUNTS_SIGNALS) as (process, _),
        pytest.raises(FramedexError, match=f"Process {process.pid} ended while it was read"),
    ):
        read_living_stacks(process.pid)


def test_another_error_names_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(image: ProcessImage, resume: Callable[[], None]) -> ProcessStacks:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with started_process(sys.executable, "-c", COUNTS_SIGNALS) as (process, _):
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
        try:
            with pytest.raises(SystemLimitError, match="Too many open files"):
                read_living_stacks(process.pid)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        monkeypatch.setattr("framedex.live.native.stopped.read_stacks", read)
        with pytest.raises(FramedexError, match=f"of process {process.pid} are not readable: Input/output error"):
            read_living_stacks(process.pid)


def test_a_process_that_was_stopped_for_too_long_has_no_python_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("framedex.live.native.stopped._READ_TIMEOUT_S", 0.0)
    with started_process(sys.executable, str(PROGRAMS / "live_frames.py")) as (process, _):
        stacks = read_living_stacks(process.pid)

    reason = "the process may not be stopped for more than 0 s"
    assert stacks.problems == (f"Python frames are not readable: {reason}.",)
    assert all(thread.native.problem == "" for thread in stacks.threads)


def test_an_ended_process_has_no_native_frames(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["live", "--native", str(2**22 - 1)])

    assert result.exit_code == 1
    assert "There is no process" in result.output
