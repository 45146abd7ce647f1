"""Matching the lines of two recordings: by location, by text, and by called functions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from framedex.diff.alignment import LineTexts, align_lines
from framedex.model import Location, LocationEvidence, PythonLine, Staleness

PUT, RUN = frozenset({"PJRT_Client_BufferFromHostBuffer"}), frozenset({"PJRT_LoadedExecutable_Execute"})


def line(number: int, function: str = "main", path: str = "/a/train.py", stale: Staleness | None = None) -> PythonLine:
    return PythonLine(function, Location(path, number, LocationEvidence.EXACT, stale=stale))


def pairs(
    before: Mapping[PythonLine, frozenset[str]], after: Mapping[PythonLine, frozenset[str]], **texts: str
) -> set[tuple[int | None, int | None]]:
    """The numbers of paired lines. Texts are given by path and number: `a3` is line 3 of a file below /a."""
    found = align_lines(before, after, lambda at: texts.get(f"{at.path.split('/')[1]}{at.line}", ""))
    return {(_number(one), _number(other)) for one, other in found}


def _number(line: PythonLine | None) -> int | None:
    return None if line is None else line.location.line


def test_lines_at_the_same_location_match() -> None:
    assert pairs({line(3): PUT, line(5): RUN}, {line(3): RUN, line(7): PUT}) == {(3, 3), (5, None), (None, 7)}


def test_equal_text_in_another_checkout_matches() -> None:
    before = {line(3): PUT, line(5): PUT}
    after = {line(13, path="/b/train.py"): PUT, line(15, path="/b/train.py"): PUT, line(11, path="/b/train.py"): PUT}

    found = pairs(before, after, a3="put(x)", a5="put(y)", b11="put(w)", b13="put(x)", b15="put(y)")

    assert found == {(3, 13), (5, 15), (None, 11)}


def test_lines_without_text_match_by_called_functions_in_order() -> None:
    gone = Staleness.UNKNOWN
    before = {line(3, stale=gone): PUT, line(4, stale=gone): RUN, line(5, stale=gone): PUT}
    after = {line(13): PUT, line(14): RUN, line(15): PUT}

    assert pairs(before, after) == {(3, 13), (4, 14), (5, 15)}


def test_the_number_of_a_deleted_line_is_ignored() -> None:
    assert pairs({line(3, stale=Staleness.GONE): PUT}, {line(3): RUN, line(4): PUT}) == {(3, 4), (None, 3)}


def test_the_only_unmatched_line_of_a_function_matches_if_most_called_functions_agree() -> None:
    rewritten = PUT | {"PJRT_Event_Await", "PJRT_Buffer_Device"}

    assert pairs({line(3, "put", stale=Staleness.GONE): rewritten}, {line(9, "put"): rewritten | RUN}) == {(3, 9)}
    assert pairs({line(3, "put", stale=Staleness.GONE): PUT}, {line(9, "put"): RUN}) == {(3, None), (None, 9)}


def test_a_renamed_function_keeps_its_lines_by_text() -> None:
    found = pairs(
        {line(3, "old", path="/a/x.py"): PUT}, {line(8, "new", path="/b/y.py"): RUN}, a3="put(x)", b8="put(x)"
    )

    assert found == {(3, 8)}


def test_swapped_recordings_give_swapped_pairs() -> None:
    one = {line(3): PUT, line(5, stale=Staleness.GONE): RUN, line(9, "other"): PUT}
    other = {line(4): PUT, line(6): RUN, line(7): RUN}

    assert {(after, before) for before, after in pairs(one, other)} == pairs(other, one)


@pytest.mark.parametrize("number", [0, 4, 1 << 40])
def test_only_existing_lines_have_texts(tmp_path: Path, number: int) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"one\r\n  two \xff\nthree")
    texts = LineTexts()

    assert texts(Location(str(file), 2, LocationEvidence.EXACT)) == "two \ufffd"
    assert texts(Location(str(file), number, LocationEvidence.EXACT)) == ""
    assert (
        texts(Location(str(tmp_path), 1, LocationEvidence.EXACT))
        == texts(Location("xla@abc:a.cc", 1, LocationEvidence.EXACT))
        == ""
    )
