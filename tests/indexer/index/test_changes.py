"""Differences between two compilations without a recording: the types of cotangents."""

from __future__ import annotations

import pytest

from framedex.index.ask.costs.changes import CompilationFacts, compare_compilations, summarize_changes
from framedex.model import ChangeCause, CompileChange, CompileNote, NoteArgument, Parameter, Signature

SMALL, LARGE = "float32[2]", "float32[3]"


def _facts(argument: str, result: str, *, name: str = "", result_name: str = "result[0]") -> CompilationFacts:
    signature = Signature(
        arguments=(Parameter(argument, name, {}),),
        results=(Parameter(result, result_name, {}),),
        partitions="1",
        replicas="1",
        constants=(),
        code=f"{argument} to {result}",
    )
    note = CompileNote("jit_f", "f", "f.py:1", (NoteArgument(name, argument, is_weak=False),), (), keys=())
    return CompilationFacts(signature, note, {})


def test_a_cotangent_without_the_forward_pass_is_named() -> None:
    backward = compare_compilations(_facts("float32[]", SMALL), _facts("float32[]", LARGE))
    assert summarize_changes([(backward, 1)]) == (
        CompileChange(ChangeCause.SHAPE, "result 0 of the backward pass", (SMALL, LARGE)),
    )


def test_the_argument_of_the_forward_pass_explains_a_cotangent_of_the_same_types() -> None:
    forward = compare_compilations(
        _facts(SMALL, "float32[]", result_name=""), _facts(LARGE, "float32[]", result_name="")
    )
    backward = compare_compilations(_facts("float32[]", SMALL), _facts("float32[]", LARGE))
    other = compare_compilations(_facts("float32[]", LARGE), _facts("float32[]", "int32[3]"))
    changes = summarize_changes([(forward, 1), (backward, 1), (other, 1)])
    assert [(change.cause, change.values) for change in changes] == [
        (ChangeCause.SHAPE, (SMALL, LARGE)),
        (ChangeCause.DTYPE, (LARGE, "int32[3]")),
    ]


@pytest.mark.parametrize("difference", [{"name": "x"}, {"result_name": "1d33"}])
def test_results_of_other_programs_are_no_cotangents(difference: dict[str, str]) -> None:
    pair = (_facts("float32[]", size, **difference) for size in (SMALL, LARGE))
    assert [cause for cause, *_ in compare_compilations(*pair)] == [ChangeCause.CODE]
