"""Comparing two sequences of calls: common calls, and differences."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from framedex.fleet.ranks.departures import SequenceComparer
from framedex.fleet.ranks.model import Kind
from framedex.fleet.ranks.reading import EXECUTE, CallToken
from framedex.fleet.ranks.sequences import (
    MAX_DEPARTURES,
    Departure,
    SequenceAlignment,
    align_closely,
    align_sequences,
)

# A loop of two calls a step, and a third in every tenth.
LOOP = [0, 1, 2, *(call for step in range(50) for call in ((5, 7, 8) if step % 10 == 0 else (5, 7)))]


def held(sequence: list[int], reference: list[int]) -> SequenceAlignment:
    """A comparison of two sequences."""
    found = align_sequences(np.array(sequence, np.int64), np.array(reference, np.int64))
    assert_covers(found, sequence, reference)
    return found


def assert_covers(found: SequenceAlignment, sequence: list[int], reference: list[int]) -> None:
    """Matched calls are equal and in order; all others are in a deviation."""
    pairs = [(int(place), other) for other, place in enumerate(found.matched) if place >= 0]
    assert all(sequence[place] == reference[other] for place, other in pairs)
    assert all(before < after for (before, _), (after, _) in pairwise(pairs))
    own = {place for place, _ in pairs} | {each.start + n for each in found.departures for n in range(each.count)}
    others = {other for _, other in pairs} | {
        each.other_start + n for each in found.departures for n in range(each.other_count)
    }
    assert own == set(range(len(sequence))) and others == set(range(len(reference)))


@pytest.mark.parametrize(
    ("sequence", "departure"),
    [
        pytest.param([*LOOP[:30], 99, *LOOP[31:]], Departure(30, 1, 30, 1), id="another call"),
        pytest.param([*LOOP[:30], *LOOP[31:]], Departure(30, 0, 30, 1), id="one less"),
        pytest.param([*LOOP[:30], 99, *LOOP[30:]], Departure(30, 1, 30, 0), id="one more"),
        pytest.param([*LOOP[:30], LOOP[31], LOOP[30], *LOOP[32:]], Departure(30, 2, 30, 2), id="in another order"),
        pytest.param(LOOP[:60], Departure(60, 0, 60, len(LOOP) - 60), id="no more"),
        pytest.param(LOOP[3:], Departure(0, 0, 0, 3), id="later"),
        pytest.param([], Departure(0, 0, 0, len(LOOP)), id="nothing"),
        pytest.param([*LOOP, 11, 12], Departure(len(LOOP), 2, len(LOOP), 0), id="more"),
        pytest.param([3] * 500, Departure(0, 500, 0, len(LOOP)), id="nothing in common"),
    ],
)
def test_one_divergence_is_classified(sequence: list[int], departure: Departure) -> None:
    assert held(sequence, LOOP).departures == (departure,)


def test_equal_sequences_have_no_divergence() -> None:
    assert not held(LOOP, LOOP).departures and not held([], []).departures


def test_two_divergences_in_one_sequence_are_separate() -> None:
    sequence = [*LOOP[:30], LOOP[31], LOOP[30], *LOOP[32:60]]

    found = held(sequence, LOOP).departures

    assert found == (Departure(30, 2, 30, 2), Departure(60, 0, 60, len(LOOP) - 60))


def test_a_call_replaced_in_each_step_diverges_in_each_step() -> None:
    found = held([99 if call == 5 else call for call in LOOP], LOOP)

    assert len(found.departures) >= 20 and found.matched_count >= 20


def test_the_number_of_divergences_is_bounded() -> None:
    reference = list(range(30)) * 333
    sequence = [77 if place % 6 == 0 else call for place, call in enumerate(reference)]

    found = held(sequence, reference)

    assert len(found.departures) == MAX_DEPARTURES


@pytest.mark.parametrize("steps", [48, 480])
def test_repeatedly_inserted_calls_are_each_reported(steps: int) -> None:
    """A loop of one program, with an occasional evaluation that one rank reports and saves."""
    reference: list[int] = []
    sequence: list[int] = []
    more = 0
    for step in range(steps):
        evaluated = [6, 7] * 5 + [9] if step % 15 == 14 else []
        reference += [5, *evaluated]
        sequence += [5, *([8] if step % 6 == 0 else []), *evaluated, *([10] if evaluated else [])]
        more += (step % 6 == 0) + bool(evaluated)

    found = held(sequence, reference)

    assert [(each.count, each.other_count) for each in found.departures] == [(1, 0)] * more
    assert {sequence[each.start] for each in found.departures} == {8, 10}


@pytest.mark.exhaustive(keep=["0", "1", "2"])
@pytest.mark.parametrize("seed", range(20))
def test_an_alignment_accounts_for_all_calls_of_both_sequences(seed: int) -> None:
    chance = random.Random(seed)
    reference = [chance.randrange(4) for _ in range(chance.randrange(200))] + LOOP * chance.randrange(3)
    sequence = list(reference)
    for _ in range(chance.randrange(30)):
        place = chance.randrange(len(sequence) + 1)
        sequence[place : place + chance.randrange(4)] = [chance.randrange(8) for _ in range(chance.randrange(4))]

    held(sequence, reference)
    closely = align_closely(np.array(sequence, np.int64), np.array(reference, np.int64))
    assert_covers(closely, sequence, reference)


def test_a_changed_type_is_reported_once_without_its_consequences() -> None:
    """A rank whose batches have another type from the fifth step on, which compiles before it transfers them."""
    put, read = "PJRT_Client_BufferFromHostBuffer", "PJRT_Buffer_ToHostBuffer"
    tokens = [
        *(_token(2, put, "F32[8,32]"), _token(2, EXECUTE, "", "augment-F32"), _token(2, read, "1024 bytes")),
        *(_token(3, put, "F32[8,32]"), _token(3, put, "F32[8,4]"), _token(4, EXECUTE, "", "train-F32")),
        *(_token(2, put, "F16[8,32]"), _token(2, EXECUTE, "", "augment-F16"), _token(2, read, "512 bytes")),
        *(_token(3, put, "F16[8,32]"), _token(4, EXECUTE, "", "train-F16")),
        *(_token(2, "PJRT_Client_Compile", "", "augment-F16"), _token(4, "PJRT_Client_Compile", "", "train-F16")),
    ]
    usual, other = [0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 4, 10]
    sequence = [*usual * 5, 11, *other[:-1], 12, other[-1], *other * 14]

    compared = SequenceComparer(tokens).compare(np.array(sequence, np.int64), np.array(usual * 20, np.int64))

    assert {(each.kind, each.token) for each in compared.differences} == {(Kind.SHAPE, 6)}
    assert [each.other_start for each in compared.differences] == [6 * step for step in range(5, 20)]


def _token(line: int, function: str, shape: str, program: str = "") -> CallToken:
    return CallToken("/train.py", line, f"train.py:{line}", function, shape, program)
