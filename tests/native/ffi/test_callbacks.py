"""Host callbacks on the mock TPU: recorded by their Python names, once for each call of Python."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest

from framedex.index import Index, Store
from framedex.ingest import SilentProgress, ingest_captures
from framedex.model import CallFilter
from framedex.texts.errors import split_headline
from tests.ffi_running import FfiRun, mock_tpu, run_ffi
from tests.indexed_ffi import IndexedRun, indexed, line_of
from tests.running import PROGRAMS

PROGRAM = PROGRAMS / "host_callbacks.py"
DEEP = "descends_ein_größerer_weg_ändert_nichts"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> FfiRun:
    """A run of the program."""
    program_run = run_ffi(PROGRAM.name, folder=tmp_path_factory.mktemp("callbacks"), **mock_tpu())
    assert program_run.status == 0, program_run.stderr
    return program_run


@pytest.fixture(scope="module")
def index(recorded: FfiRun, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Its capture, indexed."""
    path = tmp_path_factory.mktemp("index") / "index.db"
    with Store(path) as store:
        ingest_captures(store, [recorded.capture], [], SilentProgress())
    with Index.open(path) as opened:
        yield opened


@pytest.fixture(scope="module")
def errors() -> IndexedRun:
    """Callbacks that raise."""
    return indexed("callback_errors.py", "tpu")


def test_each_python_callback_is_one_call(recorded: FfiRun, index: Index) -> None:
    calls = index.calls.find(CallFilter(function="*callback"))

    assert Counter(call.function for call in calls) == recorded.result
    assert not any("attributes" in call.arguments for call in calls), "how the mock moves data is nobody's business"


def test_a_callback_has_all_operands_in_order(index: Index) -> None:
    calls = index.calls.find(CallFilter(function="jax.pure_callback"))

    assert [call.arguments["arguments"] for call in calls] == ["f32[2], f32[3], f32[4], token[]"] * 2


def test_a_callback_has_the_program_line_that_requested_it(index: Index) -> None:
    calls = index.calls.find(CallFilter(function="*callback"))
    text = PROGRAM.read_text().splitlines()

    for call_id, line in index.calls.python_lines(calls).items():
        function = next(call.function for call in calls if call.id == call_id)
        assert line.location.path == str(PROGRAM)
        assert function.rpartition(".")[2] in text[line.location.line - 1]
    assert len(index.calls.python_lines(calls)) == len(calls)


def test_a_callback_error_keeps_the_innermost_frames_and_the_exception(errors: IndexedRun) -> None:
    program = PROGRAMS / "callback_errors.py"
    raised = f'  File "{program}", line {line_of(program, "raise ValueError")}, in raises\nValueError: bad value'
    failed = f"  File \"{program}\", line {line_of(program, 'raise KeyError')}, in {DEEP}\nKeyError: '{'ä' * 40}'"
    first, second = (call.arguments["error_message"] for call in errors.run.calls() if call.error > 0)
    assert first.rstrip().endswith(raised)
    assert second.startswith("CpuCallback error: Traceback (most recent call last):\n")
    assert second.rstrip().endswith(failed)
    beginning, left_out, end = re.split(r"\n\[(\d+) bytes left out\]\n", second)
    assert len(beginning.encode()) <= 1024 and len(end.encode()) <= 3072 and int(left_out) > 1000
    assert all(line.startswith("  File ") for line in [*beginning.splitlines()[1:], *end.splitlines()[:-1]])


def test_every_view_of_an_error_has_the_exception_and_its_line(errors: IndexedRun) -> None:
    program = PROGRAMS / "callback_errors.py"
    place = f"{program}:{line_of(program, 'raise ValueError')} in raises"
    check = errors.invoke("check", "--only", "error").stdout
    assert check.startswith("Capture 1")
    assert check.count("jax.pure_callback returned INTERNAL: CpuCallback error: ") == 2  # a later wait may fail, too
    assert "ValueError: bad value" in check and f"KeyError: '{'ä' * 40}'" in check
    assert f"INTERNAL: CpuCallback error: ValueError: bad value ({place})" in errors.invoke("calls", "--errors").stdout
    assert "ValueError: bad value" in errors.invoke("ffi", "jax.pure_callback").stdout
    with errors.open() as index:
        line = line_of(program, "jax.jit(lambda x")
        (use,) = index.line(str(program), line).ffi_uses()
    assert split_headline(use.error) == (
        f"INTERNAL: CpuCallback error: KeyError: '{'ä' * 40}'",
        f"{program}:16 in {DEEP}",
    )


def test_a_callback_is_a_target_with_its_name(index: Index) -> None:
    used = {each.name: each.totals.runs for each in index.ffi.targets() if each.totals.runs}

    assert used == {"jax.pure_callback": 2, "jax.experimental.io_callback": 2, "jax.debug.callback": 4}
