"""Reading verbs work without JAX, without the native part, and on systems without Linux features."""

from __future__ import annotations

import contextlib
import io
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from framedex.base import nativepart
from framedex.base.errors import FramedexError
from framedex.base.nativepart import NoNativePartError
from framedex.commands.main import cli
from framedex.live.native.stopped import read_living_stacks
from framedex.live.snapshot import take_snapshot
from framedex.live.targets import find_target_of_process
from framedex.text_stacks.lines import PlainScanner, build_line_scanner
from tests.crash_corpus import FOLDER
from tests.hiding import ANOTHER_SYSTEM, FUNCTIONS, JAX, NATIVE_PART, python_without
from tests.indexer.recorded import Project, build_project

QUESTIONS = (
    *("captures", "calls", "calls --json", "calls --group", "summary", "check", "trace 1", "trace 1 --json", "ffi"),
    *("trace 1 -o trace.fdtrace", "where demo.py", "where demo.py:2", "find transfer", "callers transfer"),
    *("callees transfer", "sources", "doctor --json", "explain log.txt"),
)
NATIVE_VERBS = ("index", "index --rebuild", "run demo.py", "resolve log.txt", "sources export . -o map")

# One process runs them all, because start-up takes most of the time of each.
COST_KINDS = """
import contextlib, io, json
from framedex.commands.main import cli
answers = {}
for verb in sys.argv[1:]:
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            cli(verb.split(), prog_name="framedex")
        except SystemExit as end:
            answers[verb] = end.code, out.getvalue(), errors.getvalue()
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory, library: Path) -> Project:
    """An indexed project, with a log beside it."""
    project = build_project(tmp_path_factory.mktemp("project"), library)
    project.ingest(library.parent).close()
    log = f'Traceback (most recent call last):\n  File "{project.program}", line 2, in transfer\n'
    (project.folder / "log.txt").write_text(log)
    return project


def answer_in_process(verb: str) -> list[Any]:
    """The report of COST_KINDS on a verb."""
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors), pytest.raises(SystemExit) as end:
        cli(verb.split(), prog_name="framedex")
    return [end.value.code, out.getvalue(), errors.getvalue()]


def answers(command: Sequence[str], project: Project, verbs: Sequence[str]) -> dict[str, list[Any]]:
    done = subprocess.run([*command, *verbs], cwd=project.folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.exhaustive(keep=["another system"])
@pytest.mark.parametrize(
    ("modules", "functions"), [(JAX, ()), (ANOTHER_SYSTEM, FUNCTIONS)], ids=["JAX", "another system"]
)
def test_every_question_has_the_same_answer(
    indexed: Project, modules: Sequence[str], functions: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(indexed.folder)
    expected = {verb: answer_in_process(verb) for verb in QUESTIONS}
    found = answers(python_without(modules, COST_KINDS, functions), indexed, QUESTIONS)
    for verb in QUESTIONS:
        if verb.startswith("doctor"):
            assert found[verb][0] == 0, found[verb]
        else:
            assert found[verb] == expected[verb], verb


def test_a_verb_that_needs_the_native_part_says_so_and_lists_alternatives(indexed: Project) -> None:
    before = indexed.index.read_bytes()
    found = answers(python_without(ANOTHER_SYSTEM, COST_KINDS, FUNCTIONS), indexed, NATIVE_VERBS)
    for verb, (status, out, errors) in found.items():
        assert (status, out) == (1, ""), verb
        assert "framedex's native part" in errors and "Traceback" not in errors, (verb, errors)
    assert indexed.index.read_bytes() == before


def test_a_log_is_read_equally_without_the_native_part(indexed: Project) -> None:
    code = """
import json, pathlib
from framedex.text_stacks import read
from framedex.text_stacks.lines import build_line_scanner
print(type(build_line_scanner()).__name__)
for path in sys.argv[1:]:
    text = pathlib.Path(path).read_bytes().decode("utf-8", "replace")
    print(path, read(text) if len(text) < 100_000 else "")
"""
    texts = sorted(map(str, FOLDER.rglob("*.txt")))
    assert len(texts) > 40
    with_it = subprocess.run([sys.executable, "-c", "import sys\n" + code, *texts], capture_output=True, text=True)
    without = subprocess.run([*python_without(NATIVE_PART, code), *texts], capture_output=True, text=True)
    first, _, read = with_it.stdout.partition("\n")
    assert (first, with_it.returncode) == ("LineScanner", 0), with_it.stderr
    assert (without.stdout.partition("\n")[2], without.stdout.partition("\n")[0]) == (read, "PlainScanner")


def test_the_python_scanner_equals_the_native_one() -> None:
    text = b'\n\x1b[31m  Fi\x1b[0mle "a.py", line 2\r\nb.py:3: boo\n\n#0 0x12 in f () at a.c:1\nnothing\n  at x.y(Z:3)'
    native = build_line_scanner()
    assert not isinstance(native, PlainScanner)
    plain = PlainScanner([b"File ", b"#"], [b".py:"])
    assert [line[:3] for line in plain.scan(text)] == [line[:3] for line in _native([b"File ", b"#"], [b".py:"], text)]


def _native(needles: Sequence[bytes], words: Sequence[bytes], text: bytes) -> Sequence[tuple[int, int, int, object]]:
    from framedex.base.nativepart import _scanner

    return _scanner.LineScanner(needles, words).scan(text)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"platform": "darwin"}, "macOS"),
        ({"platform": "win32"}, "Windows"),
        ({"version_info": (3, 99, 0)}, "Python 3.99"),
        ({"abiflags": "t"}, "free-threaded Python"),
    ],
)
def test_an_unsupported_system_is_named(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, object], named: str
) -> None:
    for name, value in changed.items():
        monkeypatch.setattr(f"framedex.base.nativepart.sys.{name}", value)
    monkeypatch.setitem(nativepart._MODULES, "_native", "framedex_native._no_such_module")
    with pytest.raises(NoNativePartError) as raised:
        nativepart._native  # noqa: B018 - looking it up imports it
    assert named in raised.value.message
    assert "language server" in raised.value.remedy


def test_an_unsupported_processor_or_c_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert nativepart.name_unsupported_system() is None
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert nativepart.name_unsupported_system() is None
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert nativepart.name_unsupported_system() == "Linux on riscv64"
    monkeypatch.undo()

    def of_musl(name: str) -> str:
        raise ValueError("unrecognized configuration name")

    monkeypatch.setattr(os, "confstr", of_musl)
    assert "glibc" in str(nativepart.name_unsupported_system())


def test_frames_of_running_processes_are_refused_on_another_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")

    look = take_snapshot(find_target_of_process(os.getpid()))

    assert look.problem.endswith("on aarch64: only x86-64 is supported.")
    assert os.getpid() in {each.task.tid for each in look.threads if each.task is not None}
    with pytest.raises(FramedexError, match="only x86-64 is supported"):
        read_living_stacks(os.getpid())
