"""Host callbacks on the mock TPU: recorded by their names in Python, once each time that Python is called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from framedex.index import Index, Store
from framedex.ingest import Silence, ingest_captures
from framedex.model import CallFilter
from tests.ffi_running import FfiRun, mock_tpu, run_ffi
from tests.running import PROGRAMS

PROGRAM = PROGRAMS / "host_callbacks.py"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> FfiRun:
    """A run of the program."""
    ran = run_ffi(PROGRAM.name, folder=tmp_path_factory.mktemp("callbacks"), **mock_tpu())
    assert ran.status == 0, ran.stderr
    return ran


@pytest.fixture(scope="module")
def index(recorded: FfiRun, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Its capture, indexed."""
    path = tmp_path_factory.mktemp("index") / "index.db"
    with Store(path) as store:
        ingest_captures(store, [recorded.capture], [], Silence())
    with Index.open(path) as opened:
        yield opened


def test_a_callback_is_one_call_each_time_that_python_is_called(recorded: FfiRun, index: Index) -> None:
    calls = index.calls.find(CallFilter(function="*callback"))

    assert Counter(call.function for call in calls) == recorded.result
    assert not any("attributes" in call.arguments for call in calls), "how the mock moves data is nobody's business"


def test_a_callback_has_the_line_of_the_program_that_asked_for_it(index: Index) -> None:
    calls = index.calls.find(CallFilter(function="*callback"))
    text = PROGRAM.read_text().splitlines()

    for call_id, line in index.calls.python_lines(calls).items():
        function = next(call.function for call in calls if call.id == call_id)
        assert line.location.path == str(PROGRAM)
        assert function.rpartition(".")[2] in text[line.location.line - 1]
    assert len(index.calls.python_lines(calls)) == len(calls)


def test_a_callback_is_a_target_by_its_name(index: Index) -> None:
    used = {each.name: each.totals.runs for each in index.ffi.targets() if each.totals.runs}

    assert used == {"jax.pure_callback": 2, "jax.experimental.io_callback": 2, "jax.debug.callback": 4}
