"""Judgement of a tool's stacks in the benchmark `process-stacks`."""

from __future__ import annotations

import pytest

from benchmarks.stack_truth import NativeFrame, NativeStack, PythonFrame, ToolStack, judge_stacks, normalize_name


def _frames(*names: str) -> list[NativeFrame]:
    return [NativeFrame(frozenset({name} if name else ())) for name in names]


@pytest.mark.parametrize(
    ("found", "truth", "is_moving", "counts"),
    [
        (["a", "b"], ["a", "b"], False, (2, 0, 0)),
        (["a", "c"], ["a", "b"], False, (1, 1, 1)),
        (["b"], ["a", "b"], False, (1, 0, 1)),
        (["x", "b"], ["", "b"], False, (1, 0, 0)),  # the truth has no name
        (["b"], ["", "b"], False, (1, 0, 0)),
        (["x", "y", "b"], ["b"], True, (1, 0, 0)),  # inner frames come and go
        (["x", "y", "b"], ["b"], False, (1, 2, 0)),
        ([], ["a", "b"], False, (0, 0, 2)),
    ],
)
def test_native_frames_are_counted(
    found: list[str], truth: list[str], is_moving: bool, counts: tuple[int, int, int]
) -> None:
    _, native = judge_stacks(
        {1: ToolStack((), _frames(*found))}, {}, {1: NativeStack(_frames(*truth), is_moving=is_moving)}
    )

    assert (native.right, native.wrong, native.missing) == counts


def test_a_python_frame_needs_its_line() -> None:
    truth = [PythonFrame("step", "/train.py", 4), PythonFrame("<module>", "/train.py", 9)]
    found = [PythonFrame("step", "/train.py", 5), PythonFrame("<module>", "/train.py", 9)]

    python, _ = judge_stacks({1: ToolStack(found, ())}, {1: truth}, {})

    assert (python.right, python.wrong, python.missing) == (1, 1, 1)


@pytest.mark.parametrize(
    ("name", "normalized"),
    [
        ("xla::cpu::ThunkExecutor::Execute(xla::cpu::Thunk::ExecuteParams const&) const", "ThunkExecutor::Execute"),
        ("void std::__invoke_impl<void, tsl::Closure&>(std::__invoke_other)", "std::__invoke_impl"),
        ("tsl::(anonymous namespace)::PThread::ThreadFn(void*)", "PThread::ThreadFn"),
        ("__clone3", "clone3"),
        ("__libc_start_main@@GLIBC_2.34", "libc_start_main"),
        ("handle_signals.isra.0", "handle_signals"),
    ],
)
def test_names_of_tools_have_one_form(name: str, normalized: str) -> None:
    assert normalize_name(name) == normalized
