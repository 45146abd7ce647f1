"""Donated arguments that no result can reuse, from the signature of a program."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from framedex.programs.sizes import UnusedDonation, find_unused_donations

DONOR = {"jax.buffer_donor": "true"}


def signature(arguments: list[tuple[str, dict[str, str]]], results: list[str]) -> dict[str, Any]:
    return {
        "arguments": [{"type": kind, "name": "", "attributes": attributes} for kind, attributes in arguments],
        "results": [{"type": kind, "name": "", "attributes": {}} for kind in results],
        "partitions": "1",
    }


def places(donations: Iterable[UnusedDonation]) -> list[tuple[int, int]]:
    return [(each.argument, each.size) for each in donations]


@pytest.mark.parametrize(
    ("arguments", "results", "noted", "unused"),
    [
        ([("float32[4]", {"tf.aliasing_output": "0"})], ["float32[4]"], [0], []),
        ([("float32[4]", DONOR)], ["float32[2,2]"], [0], []),
        ([("float32[4]", DONOR)], ["bfloat16[8]"], [], []),
        ([("float32[4]", DONOR)], ["bfloat16[4]"], [], [(0, 16)]),
        ([("float32[4]", DONOR)], [], [], [(0, 16)]),
        ([("float32[4]", DONOR), ("float32[4]", DONOR)], ["float32[4]"], [], [(1, 16)]),
        ([("float32[4]", {"tf.aliasing_output": "0"}), ("float32[4]", DONOR)], ["float32[4]"], [], [(1, 16)]),
        ([("float32[4]", {})], ["float32[2]"], [0], [(0, 16)]),
        ([("float32[4]", {})], ["float32[2]"], [], []),
        ([("int4[4]", DONOR)], ["float32[2]"], [], []),
        ([("float32[4]", DONOR)], ["int4[4]"], [], []),
    ],
)
def test_a_donated_argument_needs_a_result_of_equal_size(
    arguments: list[tuple[str, dict[str, str]]], results: list[str], noted: list[int], unused: list[tuple[int, int]]
) -> None:
    assert places(find_unused_donations(signature(arguments, results), noted)) == unused


ALIASED = {"tf.aliasing_output": "0"}


@pytest.mark.parametrize(
    ("arguments", "results", "reused", "unused"),
    [
        ([("float32[4]", DONOR)], ["int32[4]"], 16, []),
        ([("float32[4]", DONOR)], ["int32[4]"], 0, [(0, 16)]),
        ([("float32[4]", DONOR), ("int32[4]", DONOR)], ["int32[4]", "float32[2,2]"], 16, [(0, 16)]),
        ([("float32[4]", ALIASED), ("float32[8]", DONOR)], ["float32[4]", "float32[8]"], 32, [(0, 16)]),
        ([("float32[4]", ALIASED)], ["float32[4]"], 512, []),  # padded
        ([("float32[4]", DONOR), ("int4[4]", DONOR)], ["int32[4]"], 0, []),  # of unknown size
    ],
)
def test_reported_bytes_decide_which_arguments_are_reused(
    arguments: list[tuple[str, dict[str, str]]], results: list[str], reused: int, unused: list[tuple[int, int]]
) -> None:
    assert places(find_unused_donations(signature(arguments, results), reused=reused)) == unused


@pytest.mark.parametrize(
    ("kind", "result", "attributes", "reason"),
    [
        ("float32[4]", "int32[4]", {}, "the result of its size has another type, int32[4]"),
        ("float32[4]", "float32[2]", {}, "no other result has its size"),
        ("float32[4]", "float32[4]", {"mhlo.memory_kind": "pinned_host"}, "the result of its type is in pinned_host"),
        ("float32[4]", "float32[4]", {}, "other arguments already reuse the results of its type"),
        ("float32[64]", "float32[64]", {"sdy.sharding": "P()"}, "the result of its type has another sharding"),
    ],
)
def test_an_unused_donation_has_a_reason(kind: str, result: str, attributes: dict[str, str], reason: str) -> None:
    told = signature([(kind, SHARDED if "sdy.sharding" in attributes else DONOR)], [result])
    told["results"][0]["attributes"] = attributes
    told |= {"partitions": "8", "mesh": {"x": 8}} if "sdy.sharding" in attributes else {}
    (unused,) = find_unused_donations(told, reused=0)
    assert unused.reason == reason


SHARDED = {**DONOR, "sdy.sharding": "P('x')"}


@pytest.mark.parametrize(
    ("argument", "results", "unused"),
    [
        ("float32[64]", ["float32[]"], [(0, 32)]),
        ("float32[64]", ["float32[64]"], []),  # split as the compiler likes
        ("float32[64]", ["float32[16]"], []),
        ("float32[64]", ["float32[4]"], [(0, 32)]),  # as a whole it is smaller
        ("float32[64]", ["float32[128]"], [(0, 32)]),  # an eighth of it is larger
        ("float32[64]", ["float32[4]", "int4[4]"], []),
    ],
)
def test_a_result_with_an_unknown_sharding_has_a_fraction_of_its_size(
    argument: str, results: list[str], unused: list[tuple[int, int]]
) -> None:
    told = signature([(argument, SHARDED)], results) | {"partitions": "8", "mesh": {"x": 8}}
    assert places(find_unused_donations(told)) == unused
