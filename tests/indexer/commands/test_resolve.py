"""`framedex resolve` in real pipes and terminals: forwarding, added text, and its end."""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from framedex.commands.output.notes import SourceNotes
from framedex.commands.output.terminal import Terminal
from framedex.path_resolution.files import PathRule
from framedex.path_resolution.precedence import PathResolver
from framedex.sources.releases import read_release_commits
from framedex.text_stacks import TextFrame, read
from framedex.text_stacks.source_lookup.frame_context import FoundFrame
from framedex.text_stacks.source_lookup.resolve import Resolver
from tests.indexer.privileges import run_without_privileges
from tests.indexer.recorded import Project
from tests.running import plain_environment

COMMAND = [sys.executable, "-c", "from framedex.commands.main import cli; cli()"]

TIMEOUT = 60  # timeout in seconds; none should be needed

CRASH = (
    "*** SIGSEGV received at time=1700 on cpu 0 ***\n"
    "PC: @     0x7f1bb00a8eec  (unknown)  (unknown)\n"
    "    @     0x7f1bb00a8eed        112  runtime::allocate()\n"
    "loss=0.25\n"
)


def resolved(log: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments, "resolve"],
        cwd=folder,
        input=log,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        env=plain_environment(),
    )


@contextmanager
def streaming(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The command between two pipes."""
    process = subprocess.Popen(
        [*COMMAND, "resolve"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        bufsize=0, env=plain_environment(),
    )  # fmt: skip
    with process:
        try:
            yield process
        finally:
            process.kill()


def passed(process: subprocess.Popen[bytes], piece: bytes) -> bytes:
    """The output while only `piece` has been written."""
    assert process.stdin and process.stdout
    process.stdin.write(piece)
    assert select.select([process.stdout], [], [], TIMEOUT)[0]
    return os.read(process.stdout.fileno(), 1 << 16)


def test_frames_with_a_symbol_get_their_source(project: Project) -> None:
    project.ingest(project.library.parent)
    done = resolved(CRASH, project.folder)
    line = f"runtime::allocate() → {project.library_source}:10 [definition]\n"
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == CRASH.replace("runtime::allocate()\n", line)


def test_an_offset_in_a_binary_gets_its_line(project: Project) -> None:
    project.ingest(project.library.parent)
    symbols = subprocess.run(["nm", project.library], capture_output=True, text=True, check=True).stdout
    (start,) = re.findall(r"(\w+) T PJRT_Client_BufferFromHostBuffer", symbols)
    done = resolved(f"    #0 0x55d999fcbf0d  ({project.library}+{int(start, 16):#x})\n", project.folder)
    assert f") → {project.library_source}:16 [doubtful]\n" in done.stdout


def test_several_locations_are_candidates(project: Project) -> None:
    for name in ("one", "two"):
        (project.folder / name).mkdir()
        (project.folder / name / "same.py").write_text("def f(): pass\n")
    project.ingest(project.folder)
    done = resolved('Thread 1 (idle): "MainThread"\n    f (same.py:1)\n', project.folder)
    places = [f"{project.folder}/{name}/same.py:1" for name in ("one", "two")]
    assert done.stdout.endswith(f"    f (same.py:1) → {' or '.join(places)} [candidates]\n")


def test_a_build_path_is_resolved_even_without_an_index(tmp_path: Path) -> None:
    tree = tmp_path / "tree" / "xla"
    tree.mkdir(parents=True)
    (tree / "shape.cc").write_text("int x;\n")
    (tmp_path / "framedex.toml").write_text('sources = ["tree"]\n')
    done = resolved("external/xla/xla/shape.cc:1:2: error\n/proc/self/cwd/xla/shape.cc:1] x\n", tmp_path)
    here = f"{tree}/shape.cc:1"
    assert done.stdout == f"external/xla/xla/shape.cc:1:2: error → {here}\n/proc/self/cwd/xla/shape.cc:1] x → {here}\n"
    assert done.stderr == ""


@pytest.mark.exhaustive
def test_a_relative_rule_of_the_settings_applies(tmp_path: Path) -> None:
    (tmp_path / "a.cc").write_text("int x;\n")
    (tmp_path / "framedex.toml").write_text('[[path-map]]\nfrom = "external/xla"\nto = "."\n')
    assert resolved("external/xla/a.cc:1\n", tmp_path).stdout == f"external/xla/a.cc:1 → {tmp_path}/a.cc:1\n"


def test_clickable_text_keeps_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    log = f'a.py:1: note\n{tmp_path}/a.py:1:1: note\n  File "a.py", line 1, in <module>\nI0101 b.cc:12] all is well\n'
    done = resolved(log, tmp_path)
    assert (done.stdout, done.stderr) == (log, "")


def test_locations_in_compiled_programs_are_added_even_for_local_files(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    for line in ('%0 = f() loc("a.py":1:3)', '%a = f32[] f(), metadata={source_file="a.py" source_line=1}'):
        assert resolved(line, tmp_path).stdout == f"{line} → {tmp_path}/a.py:1"


def test_without_an_index_the_missing_symbols_are_reported_once(tmp_path: Path) -> None:
    done = resolved(CRASH * 3, tmp_path)
    assert (done.returncode, done.stdout) == (0, CRASH * 3)
    assert done.stderr.count("framedex index --source DIR") == 1
    assert len(done.stderr.splitlines()) == 1


def test_a_damaged_index_does_not_stop_the_stream(tmp_path: Path) -> None:
    (tmp_path / ".framedex").mkdir()
    (tmp_path / ".framedex" / "index.db").write_bytes(b"SQLite format 3\0" + b"nonsense" * 1000)
    (tmp_path / "tree" / "xla").mkdir(parents=True)
    (tmp_path / "tree" / "xla" / "shape.cc").write_text("int x;\n")
    (tmp_path / "framedex.toml").write_text('sources = ["tree"]\n')
    done = resolved(CRASH * 3 + "external/xla/xla/shape.cc:1\n", tmp_path)
    noted = f"external/xla/xla/shape.cc:1 → {tmp_path}/tree/xla/shape.cc:1\n"
    assert (done.returncode, done.stdout) == (0, CRASH * 3 + noted)
    assert done.stderr.count("framedex:") == 1
    assert "framedex index --rebuild" in done.stderr and "no index" not in done.stderr


def test_relative_paths_are_resolved_in_the_folder_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.cc").write_text("int x;\n")
    (tmp_path / "logs" / "run.log").write_bytes(b"\xff a.cc:1")
    done = subprocess.run([*COMMAND, "resolve", "logs/run.log"], cwd=tmp_path, capture_output=True, timeout=TIMEOUT)
    assert done.stdout == b"\xff a.cc:1" + f" → {tmp_path}/logs/a.cc:1".encode()


@pytest.mark.exhaustive(keep=["nowhere.log"])
@pytest.mark.parametrize("name", ["nowhere.log", ".", "x\0y"])
def test_a_file_that_cannot_be_read_is_an_error_with_a_remedy(tmp_path: Path, name: str) -> None:
    result = CliRunner().invoke(cli, ["resolve", str(tmp_path / name) if "\0" not in name else name])
    assert result.exit_code == 1
    assert "cannot be read: " in result.stderr
    assert "Name a text file, or - for stdin." in result.stderr


def test_an_inaccessible_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "run.log").touch(mode=0)
    done = run_without_privileges([*COMMAND, "resolve", str(tmp_path / "run.log")])
    assert done.returncode == 1
    assert "run.log cannot be read: Permission denied." in done.stderr


@pytest.mark.exhaustive(keep=["resolve"])
@pytest.mark.parametrize("verb", ["resolve", "explain"])
def test_a_closed_stdin_or_stdout_is_reported(verb: str, tmp_path: Path) -> None:
    for closed, words in (("<&-", "stdin cannot be read"), (">&-", "stdout cannot be written")):
        done = subprocess.run(
            ["sh", "-c", f'echo x | "$@" {closed}', "sh", *COMMAND, verb],
            cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT,
        )  # fmt: skip
        assert (done.returncode, words in done.stderr) == (1, True), done.stderr


def test_each_line_is_forwarded_while_the_program_runs(tmp_path: Path) -> None:
    (tmp_path / "a.cc").write_text("int x;\n")
    with streaming(tmp_path) as process:
        assert passed(process, b"one\n") == b"one\n"
        assert passed(process, b"\r 10%") == b"\r 10%"
        assert passed(process, b"\r 20%\r") == b"\r 20%\r"
        assert passed(process, b"\nGo on? [y/n] ").startswith(b"\n")
        assert process.stdin
        process.stdin.close()
        assert process.wait(TIMEOUT) == 0


def test_a_closed_output_ends_it_silently(tmp_path: Path) -> None:
    with streaming(tmp_path) as process:
        assert passed(process, b"one\n") == b"one\n"
        assert process.stdin and process.stdout and process.stderr
        process.stdout.close()
        process.stdin.write(b"two\n")
        assert process.wait(TIMEOUT) == -signal.SIGPIPE
        assert process.stderr.read() == b""


def test_an_interrupt_still_forwards_the_last_output(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import time\n"
        "print('first', flush=True)\n"
        "try:\n    time.sleep(60)\n"
        "except KeyboardInterrupt:\n    print('saved', flush=True)\n    raise SystemExit(3) from None\n"
    )
    with subprocess.Popen(
        ["bash", "-c", 'set -o pipefail; trap : INT; "$0" program.py | "$@"', sys.executable, *COMMAND, "resolve"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    ) as pipe:  # fmt: skip
        assert pipe.stdout and pipe.stderr
        assert pipe.stdout.readline() == b"first\n"
        os.killpg(pipe.pid, signal.SIGINT)
        assert pipe.stdout.read() == b"saved\n"
        assert (pipe.wait(TIMEOUT), pipe.stderr.read()) == (3, b"")


def test_an_interrupt_at_typed_input_ends_it_silently(tmp_path: Path) -> None:
    """Ctrl-C on a typed log ends with the shells' usual status."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [*COMMAND, "resolve"],
        cwd=tmp_path, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=plain_environment(),
        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    with process, os.fdopen(ours, "wb", buffering=0) as keyboard:
        os.close(theirs)
        assert process.stdout and process.stderr
        keyboard.write(b"x\n")
        assert process.stdout.readline() == b"x\n"
        keyboard.write(b"\x03")
        assert process.wait(TIMEOUT) == 128 + signal.SIGINT
        assert process.stdout.read() + process.stderr.read() == b""


def shown(folder: Path, log: str, **environment: str) -> bytes:
    """The output to a terminal with the given environment."""
    ours, theirs = os.openpty()
    bare = {name: value for name, value in plain_environment().items() if name not in {"TERM_PROGRAM", "NO_COLOR"}}
    with os.fdopen(ours, "rb", buffering=0) as screen:
        process = subprocess.Popen(
            [*COMMAND, "resolve"], cwd=folder, stdin=subprocess.PIPE, stdout=theirs, env=bare | environment
        )
        os.close(theirs)
        process.communicate(log.encode(), timeout=TIMEOUT)
        content = b""
        try:
            while piece := screen.read(1 << 16):
                content += piece
        except OSError:  # Linux reports this if the other end is closed
            pass
    return content


def test_terminals_get_links_and_editors_get_plain_locations(tmp_path: Path) -> None:
    (tmp_path / "a.cc").write_text("int x;\n")
    (tmp_path / "framedex.toml").write_text('[[path-map]]\nfrom = "/build"\nto = "."\n')
    linked = shown(tmp_path, "/build/a.cc:1 x\n", TERM_PROGRAM="WezTerm", TERM="xterm-256color").decode()
    assert re.search(rf"x → .*\x1b\]8;;file://[^/]*{tmp_path}/a\.cc#1\x1b\\.*{tmp_path}/a\.cc:1", linked)
    plain = shown(tmp_path, "/build/a.cc:1 x\n", TERM_PROGRAM="vscode", TERM="xterm-256color", NO_COLOR="1").decode()
    assert plain == f"/build/a.cc:1 x → {tmp_path}/a.cc:1\r\n"


@pytest.mark.exhaustive
def test_a_terminal_with_links_gets_one_per_file_line(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    log = '  File "a.py", line 1, in <module>\na.py:1: native\n'
    linked = shown(tmp_path, log, TERM_PROGRAM="WezTerm", TERM="xterm", NO_COLOR="1").decode()
    frame, native = linked.splitlines()
    assert re.fullmatch(
        r'  File "a.py", line 1, in <module> → \x1b\]8;;file://.*/a.py#1\x1b\\a\.py:1\x1b\]8;;\x1b\\', frame
    )
    assert native == "a.py:1: native"


def _finding(resolver: Resolver) -> Callable[[TextFrame, TextFrame | None], FoundFrame]:
    return lambda frame, callee_frame: resolver.find(frame, callee_frame=callee_frame)


@pytest.mark.parametrize("links", [True, False])
def test_hostile_names_are_escaped(tmp_path: Path, links: bool) -> None:
    name = "a\x1b]0;x\x07 $(touch pwned);'\"\u202e\udcff.cc"
    (tmp_path / name).write_text("int x;\n")
    text = f"    #0 0x12 in main /build/{name}:1\n"
    resolver = Resolver(None, PathResolver([PathRule("/build", tmp_path)]))
    notes = SourceNotes(_finding(resolver), Terminal(colors=False, links=links, host="host"), "utf-8")
    note = notes.find_note(list(read(text).frames())).decode()
    bare = re.sub(r"\x1b\]8;;[!-~]*\x1b\\", "", note)  # our own links, whose targets have only visible ASCII
    assert bare == f" → {tmp_path}/a\\x1b]0;x\\x07 $(touch pwned);'\"\\u202e\\udcff.cc:1"
    assert (note != bare) is links


def test_an_encoding_without_arrows_gets_ascii() -> None:
    notes = SourceNotes(
        _finding(Resolver(None, PathResolver([PathRule("/build/é.cc", Path(__file__))]))),
        Terminal(colors=False, links=False),
        "ascii",
    )
    (frame,) = read("/build/é.cc:3\n").frames()
    assert notes.find_note([frame]).decode("ascii") == f" -> {Path(__file__)}:3"


@pytest.mark.exhaustive
def test_memory_does_not_grow_with_the_log(tmp_path: Path) -> None:
    def peak(repeats: int) -> int:
        with streaming(tmp_path) as process:
            assert process.stdin and process.stdout
            drain = subprocess.Popen(["cat"], stdin=process.stdout, stdout=subprocess.DEVNULL)
            for block in range(repeats):
                frames = "".join(
                    f'  File "/{block}/{i}.py", line {i}, in f\nx /{block}/{i}.cc:{i}\n' for i in range(500)
                )
                process.stdin.write(frames.encode() + b"ordinary text\n" * 30_000)
            process.stdin.close()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            drain.wait(TIMEOUT)
            assert process.returncode == 0
            return used.ru_maxrss

    assert peak(40) - peak(10) < 16 << 10  # KiB


@pytest.mark.exhaustive
def test_locations_without_file_and_address_are_not_links(tmp_path: Path) -> None:
    done = resolved("/nowhere/a.cc:12: error\n", tmp_path)
    assert done.stdout == "/nowhere/a.cc:12: error\n"


def test_a_location_that_the_file_contradicts_is_marked(tmp_path: Path) -> None:
    (tmp_path / "xla.py").write_text("def helper():\n    pass\n\n\ndef make():\n    return helper()\n")
    log = (
        f'  File "{tmp_path}/xla.py", line 6, in make\n'
        f'  File "{tmp_path}/xla.py", line 584, in compile\n'
        f'  File "{tmp_path}/xla.py", line 2, in make\n'
        f'  File "{tmp_path}/xla.py", line 2, in other\n'
    )
    right, behind, moved, other = resolved(log, tmp_path).stdout.splitlines()
    assert "→" not in right
    assert behind.endswith(f" → {tmp_path}/xla.py:6 [doubtful, was line 584, edited since]")
    assert moved.endswith(f" → {tmp_path}/xla.py:5 [definition, was line 2, edited since]")
    assert other.endswith(f" → {tmp_path}/xla.py:2 [doubtful]")


def test_a_release_stated_in_a_log_applies_from_that_line_on(tmp_path: Path) -> None:
    """The installed jax has another version than the log."""
    site = tmp_path / "lib" / "python3.11" / "site-packages"
    (site / "jax").mkdir(parents=True)
    (site / "jax-0.12.0.dist-info").mkdir()
    (site / "jax" / "api.py").write_text("def jit():\n    pass\n")
    frame = f'  File "{site}/jax/api.py", line 2, in jit\n'
    before, stated, *_, after = resolved(f"{frame}jax:    0.10.2\nstep 1\n{frame}", tmp_path).stdout.splitlines()
    assert (before, stated) == (frame.rstrip("\n"), "jax:    0.10.2")
    page = f"https://github.com/jax-ml/jax/blob/{read_release_commits('0.10.2')['jax']}/jax/api.py#L2"
    assert after.endswith(f" → {page} [not here]")
