"""Joining runs to their ffi_call: each rule on hand-written captures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from framedex.model import Calls, Capture, Function, Metadata, ObjectDescription, SiteEvidence, Stack, Thread
from framedex.programs.ffi import RunJoin, parse_ffi_joins, split_function

SHAPE = {"arguments": "f32[4]", "results": "f32[4]"}


def capture(*descriptions: tuple[str, dict[str, Any]], runs: list[dict[str, Any]], function: str = "norm") -> Capture:
    """A capture with these descriptions, and runs of one function with these values."""
    count = len(runs)
    return Capture(
        path=Path("capture"),
        metadata=Metadata(),
        modules=(),
        codes=(),
        frames=(),
        stacks=(Stack(()),),
        functions=(Function("ffi", function),),
        threads=(Thread(1, "main"),),
        calls=Calls(
            thread=np.zeros(count, np.uint32),
            function=np.zeros(count, np.uint32),
            stack=np.zeros(count, np.uint32),
            start=np.arange(count, dtype=np.int64),
            duration=np.arange(count, dtype=np.int64),
            error=np.zeros(count, np.int32),
            arguments=tuple(map(json.dumps, runs)),
        ),
        problems=(),
        descriptions=tuple(ObjectDescription(kind, content) for kind, content in descriptions),
    )


def site(key: str, target: str = "norm") -> tuple[str, dict[str, Any]]:
    frames = [["/jax/ffi.py", 5, "wrapped"], ["/me.py", int(key, 16), "step"]]
    return "ffi_site", {"site": key, "target": target, "user_frame": 1, "frames": frames}


def instance(number: int | None, join: str, key: str | None, **changes: Any) -> tuple[str, dict[str, Any]]:
    content = {"instance": number, "join": join, "target": "norm", "site": key, "operands": "f32[4]"}
    return "ffi_instance", content | {"results": "f32[4]", "frames": [["/me.py", 9, "step"]]} | changes


def join_of(run: Capture) -> RunJoin | None:
    """The join of the first run of a capture."""
    return parse_ffi_joins(run).runs.join(int(run.calls.function[0]), run.calls.arguments[0])


def joined(*descriptions: tuple[str, dict[str, Any]], **run: Any) -> RunJoin | None:
    return join_of(capture(*descriptions, runs=[SHAPE | run]))


def test_the_instance_names_the_site_and_the_last_certain_description_wins() -> None:
    said = [site("0x1"), site("0x2"), instance(7, "ambiguous", "0x1"), instance(7, "exact", "0x1")]
    assert joined(*said, instance(7, "exact", "0x2"), instance=7, site="0x1") == RunJoin(SiteEvidence.EXACT, ("0x2",))


def test_ambiguous_descriptions_become_candidates() -> None:
    said = [site("0x1"), site("0x2"), instance(7, "ambiguous", "0x1"), instance(7, "ambiguous", "0x2")]
    assert joined(*said, instance=7) == RunJoin(SiteEvidence.AMBIGUOUS, ("0x1", "0x2"))


def test_a_site_with_other_shapes_is_not_a_candidate() -> None:
    other = instance(7, "ambiguous", "0x2", operands="f32[8]")
    assert joined(instance(7, "ambiguous", "0x1"), other, instance=7) == RunJoin(SiteEvidence.SINGLE, ("0x1",))


def test_a_certain_site_with_other_shapes_becomes_uncertain() -> None:
    assert joined(instance(7, "exact", "0x1", results="f32[8]"), instance=7) == RunJoin(
        SiteEvidence.AMBIGUOUS, ("0x1",)
    )


def test_truncated_shapes_are_compared_as_far_as_known() -> None:
    said = instance(7, "exact", "0x1", operands="f32[4], f32[5]")
    assert joined(said, instance=7, arguments="f32[4], f3...") == RunJoin(SiteEvidence.EXACT, ("0x1",))
    assert joined(said, instance=7, arguments="f32[9]...") == RunJoin(SiteEvidence.AMBIGUOUS, ("0x1",))


def test_without_a_site_the_lines_come_from_the_compiled_program() -> None:
    run = capture(instance(7, "exact", None), runs=[SHAPE | {"instance": 7}])
    followed, join = parse_ffi_joins(run), join_of(run)
    assert join is not None
    (key,) = join.sites
    assert followed.sites[key].from_metadata
    assert followed.sites[key].frames == (("/me.py", 9, "step"),)
    assert join.how is SiteEvidence.EXACT


def test_a_site_of_another_process_has_the_lines_of_the_compiled_program() -> None:
    run = capture(instance(7, "exact", "0x1"), runs=[SHAPE | {"instance": 7}])
    followed = parse_ffi_joins(run)
    assert join_of(run) == RunJoin(SiteEvidence.EXACT, ("0x1",))
    assert followed.sites["0x1"].from_metadata
    assert not parse_ffi_joins(capture(site("0x1"), instance(7, "exact", "0x1"), runs=[{}])).sites["0x1"].from_metadata


def test_a_program_without_lines_leaves_a_run_without_a_site() -> None:
    assert joined(instance(7, "exact", None, frames=[]), instance=7) is None


@pytest.mark.parametrize(("keys", "how"), [(["0x1"], SiteEvidence.SINGLE), (["0x1", "0x2"], SiteEvidence.AMBIGUOUS)])
def test_an_untyped_run_belongs_to_the_sites_of_its_target(keys: list[str], how: SiteEvidence) -> None:
    said = [instance(None, "by_target", key) for key in keys]
    assert joined(*said) == RunJoin(how, tuple(keys))


def test_a_run_of_an_undescribed_instance_names_its_own_site() -> None:
    assert joined(site("0x1"), site("0x2"), instance=7, site="0x2") == RunJoin(SiteEvidence.EXACT, ("0x2",))


def test_odd_descriptions_never_raise() -> None:
    odd: list[tuple[str, dict[str, Any]]] = [
        ("ffi_site", {}),
        ("ffi_site", {"site": 5, "frames": [["x", "y"], 3, ["f", 1, "g", 2]], "user_frame": "no"}),
        ("ffi_instance", {"instance": "seven", "frames": "none"}),
        ("ffi_instance", {"instance": 7, "join": None, "site": None, "frames": [[1]]}),
        ("ffi_target", {"stages": 3, "registered_at": {}}),
        ("ffi_problem", {"sites": None}),
        ("something else", {"x": 1}),
    ]
    run = capture(*odd, runs=[{"instance": 7}, {"instance": [1]}, {}])
    followed = parse_ffi_joins(run)
    assert not any(followed.runs.join(0, text) for text in run.calls.arguments)


def test_the_stage_is_separated_from_a_target_with_a_dot() -> None:
    assert split_function("counter.instantiate") == ("counter", "instantiate")
    assert split_function("counter") == ("counter", "execute")
    assert split_function("xla.gpu.sort") == ("xla.gpu.sort", "execute")
    assert split_function("my.prepare", ["my.prepare"]) == ("my.prepare", "execute")
