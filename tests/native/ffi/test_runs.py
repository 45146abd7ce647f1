"""A handler run is recorded with its inputs, its result, and the handler at the end of its stack."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from framedex.model import MergeOutcome
from tests.ffi_running import CPU, FfiRun, library_for, mock_tpu, run_ffi
from tests.reading import Call
from tests.tiers import exhaustive_unless


@pytest.fixture(scope="module", params=exhaustive_unless(["cpu", "tpu"], "cpu"))
def completed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> FfiRun:
    """The program run once on the CPU alone and on the mock TPU."""
    environment = CPU if request.param == "cpu" else mock_tpu()
    return run_ffi("ffi_calls.py", folder=tmp_path_factory.mktemp("calls"), **environment)


def only(completed: FfiRun, function: str) -> Call:
    """The only run of a handler."""
    (call,) = completed.calls(function)
    return call


def test_the_program_computes_correct_results(completed: FfiRun) -> None:
    assert completed.result
    assert not completed.recorded.problems


def test_runs_have_dtypes_shapes_and_attributes(completed: FfiRun) -> None:
    first = completed.calls("rms_norm")[0]
    assert first.arguments["arguments"] == "f32[4,8]"
    assert first.arguments["results"] == "f32[4,8]"
    assert first.arguments["attributes"] == "eps=f32(1e-05)"
    assert first.arguments["device"] == 0
    backward = only(completed, "rms_norm_backward")
    assert backward.arguments["arguments"] == "f32[4], f32[4,8], f32[4,8]"
    batched, built = completed.calls("lu_pivots_to_permutation")
    assert batched.arguments["arguments"] == built.arguments["arguments"] == "s32[2,3]"
    assert batched.arguments["attributes"] == "permutation_size=s32(4)"


def test_runs_of_one_execution_share_its_id(completed: FfiRun) -> None:
    runs = [call.arguments["run_id"] for call in completed.calls("counter")]
    assert len(set(runs)) == 3


def test_a_stateful_handler_has_stages(completed: FfiRun) -> None:
    instantiation = only(completed, "counter.instantiate")
    runs = completed.calls("counter")
    assert instantiation.arguments["attributes"] == "start=s32(0)"
    assert {run.arguments["instance"] for run in runs} == {instantiation.arguments["instance"]}


def test_an_asynchronous_handler_has_a_future(completed: FfiRun) -> None:
    assert only(completed, "scale_later").arguments["asynchronous"] is True
    assert "asynchronous" not in only(completed, "rms_norm_forward").arguments


def test_jaxlib_handlers_are_recorded(completed: FfiRun) -> None:
    if not completed.calls("lapack_spotrf_ffi"):
        pytest.skip("on a TPU, a Cholesky factorisation is no custom call")
    run = only(completed, "lapack_spotrf_ffi")
    assert run.arguments["arguments"] == "f32[4,4]"
    assert run.frames[-1].file.endswith("_lapack.so")
    (entry,) = completed.instances[run.arguments["instance"]]
    assert entry["join"] == "exact"
    assert [frame for frame in entry["frames"] if frame[0].endswith("ffi_calls.py")][-1][1] == completed.result[
        "lapack"
    ]


def test_an_untyped_handler_is_recorded(completed: FfiRun) -> None:
    run = only(completed, "add_one_untyped")
    assert run.arguments == {}
    (entry,) = [entry for entry in completed.instances[None] if entry["target"] == "add_one_untyped"]  # type: ignore[index]
    assert entry["join"] == "by_target"
    assert completed.sites[entry["site"]]["frames"][1][2] == "add_one_untyped"


def test_handler_errors_are_recorded(completed: FfiRun) -> None:
    returned, thrown, number = completed.calls("fail")
    assert (returned.error, returned.arguments["error_message"]) == (3, "the handler does not want to")
    assert (thrown.error, thrown.arguments["error_message"]) == (2, "the handler threw this")
    assert (number.error, number.arguments["error_message"]) == (2, "the handler was left by an exception")


def test_the_handler_is_the_leaf_called_by_xla(completed: FfiRun) -> None:
    library = str(library_for(sys.executable))
    for function in ("rms_norm", "counter", "add_one_untyped", "fail.instantiate"):
        frames = completed.calls(function)[0].frames
        assert frames[-1].file == library
        assert "libjax_common" in frames[-2].file
        assert not [frame for frame in frames if frame.file.endswith("libframedex_ffi.so")]


def test_every_stack_is_merged(completed: FfiRun) -> None:
    assert {call.outcome for call in completed.calls()} == {MergeOutcome.MERGED}


def test_targets_have_the_lines_that_registered_them(completed: FfiRun) -> None:
    (target,) = [t for t in completed.described("ffi_target") if (t["target"], t["platform"]) == ("counter", "Host")]
    assert target["is_wrapped"] is True
    assert target["stages"] == ["instantiate", "execute"]
    assert "_register_counter" in [function for _, _, function in target["registered_at"]]
    assert all(target["is_wrapped"] for target in completed.described("ffi_target"))


def test_a_late_recording_knows_earlier_registrations(tmp_path: Path) -> None:
    completed = run_ffi("ffi_late.py", folder=tmp_path, **CPU, FRAMEDEX_RECORD="0")
    (run,) = completed.calls("rms_norm")
    site = completed.site_of(run)
    assert site is not None
    assert site["frames"][site["user_frame"]][2] == "rms_norm"


@pytest.mark.exhaustive
def test_a_forked_child_has_its_own_complete_capture(tmp_path: Path) -> None:
    completed = run_ffi("ffi_forking.py", folder=tmp_path, **CPU)
    assert completed.result == "joined"
    targets = [{t["target"] for t in FfiRun(0, "", "", (c,)).described("ffi_target")} for c in completed.captures]
    assert len(targets) == 2
    assert targets[0] == targets[1]
