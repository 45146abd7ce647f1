"""The cache of parsed lines: by their form, their context, and the bytes that a note needs."""

from __future__ import annotations

import re

import pytest

from framedex_native._scanner import LineMemory, LineScanner, sibling_of

FRAME = b"#2 0x00007ffe12ab in spin_12 () from /lib/a.so"
NAME = [(21, 28)]


@pytest.fixture
def memory() -> LineMemory:
    """A cache that was given an open stack with its reader, and a frame in it."""
    found = LineMemory(LineScanner([b"#"], []))
    found.read(found.add_situation(True), 0)
    found.keep(0, FRAME, by_form=True, next=0, has_frame=True, counted=NAME, names=NAME, paths=[])
    return found


def is_known(memory: LineMemory, line: bytes) -> bool:
    return memory.follow(line, 0, 0, {})[1] is None


@pytest.mark.parametrize(
    "line",
    [
        FRAME.replace(b"7ffe12ab", b"5601c0de"),
        FRAME.replace(b"#2", b"#9"),
    ],
)
def test_a_line_of_a_known_form_gets_the_note_of_its_relevant_bytes(memory: LineMemory, line: bytes) -> None:
    memory.keep_note(0, FRAME, b" -> here")
    assert memory.follow(line + b"\r\n", 0, 0, {}) == (line + b" -> here\r\n", None)


@pytest.mark.parametrize(
    "line",
    [
        FRAME.replace(b"#2", b"#0"),
        FRAME.replace(b"#2", b"#12"),
        FRAME.replace(b"() from", b"() at"),
        FRAME.replace(b"spin_12", b"span_12"),
        FRAME.replace(b"spin_12", "spin_é".encode()),
    ],
)
def test_a_line_of_another_form_is_unknown(memory: LineMemory, line: bytes) -> None:
    memory.keep_note(0, FRAME, b" -> here")
    assert not is_known(memory, line)


def test_a_line_without_a_form_is_cached_verbatim() -> None:
    memory = LineMemory(LineScanner([b"#"], []))
    memory.read(memory.add_situation(True), 0)
    memory.keep(0, FRAME, by_form=False, next=0, has_frame=False, counted=[], names=[], paths=[])
    assert is_known(memory, FRAME)
    assert not is_known(memory, FRAME.replace(b"#2", b"#3"))


@pytest.mark.parametrize(
    ("name", "is_told"),
    [
        (b"spin_99", True),
        (b"spin_34", False),
        (b"operator", False),
        (b"x34_exec", False),
        (b"_ZN1aIiE", False),
    ],
)
def test_only_possibly_known_names_are_looked_up(memory: LineMemory, name: bytes, is_told: bool) -> None:
    line = FRAME.replace(b"spin_12", name)
    assert not is_known(memory, FRAME)
    columns = [(21, 21 + len(name))]
    memory.keep(0, line, by_form=False, next=0, has_frame=True, counted=columns, names=columns, paths=[])
    memory.set_known_names(["a::spin_34", "operator+"])
    assert is_known(memory, line) is is_told


@pytest.mark.parametrize(
    ("name", "is_told"),
    [
        (b"_ZN3foo3barEi", True),
        (b"_ZNK3foo3barEv", True),
        (b"_Z3barv", True),
        (b"_ZN3foo4spinEi", False),
        (b"_ZN3foo3barIiEEvT_", False),
        (b"_ZN3fooplERKS_", False),
        (b"_ZN99foo3barEi", False),
        (b"_ZN3foo3bar", False),
    ],
)
def test_plain_mangled_names_are_parsed(name: bytes, is_told: bool) -> None:
    memory = LineMemory(LineScanner([b"#"], []))
    memory.read(memory.add_situation(True), 0)
    memory.set_known_names(["spin", "operator+"])
    columns = [(0, len(name))]
    memory.keep(0, name, by_form=False, next=0, has_frame=False, counted=columns, names=columns, paths=[])
    assert is_known(memory, name) is is_told


def test_a_lost_path_needs_no_lookup(memory: LineMemory) -> None:
    line = b"#1 f /gone/a.cc:12"
    memory.keep(0, line, by_form=True, next=0, has_frame=True, counted=[(5, 18)], names=[(3, 4)], paths=[(5, 15)])
    memory.set_known_names([])
    assert not is_known(memory, line)
    memory.add_missing_path(b"/gone/a.cc")
    assert is_known(memory, line)
    memory.set_known_names([])
    assert not is_known(memory, line)


def test_the_last_followed_frame_is_returned(memory: LineMemory) -> None:
    memory.set_known_names([])
    assert memory.followed_frame is None
    memory.follow(FRAME + b"\n\n" + FRAME.replace(b"#2", b"#3"), 0, 0, {})
    assert memory.followed_frame == (0, 2, FRAME.replace(b"#2", b"#3"))
    assert memory.number == 2


def test_a_line_seen_once_is_not_cached(memory: LineMemory) -> None:
    first, again = (memory.follow(b"other\n", 0, 0, {})[1] for _ in range(2))
    assert first is not None and again is not None
    assert (first[5], again[5]) == (False, True)


@pytest.mark.parametrize(
    "line",
    [
        b"    @     0x7fab21806cfe  (unknown)",
        b"==2451==    at 0x4BA8B3F: clone (clone.S:76)",
        b"000055d0c0ffee01 main.cc:112 h0123456789abcdef",
        b"xla::Some_Name<int>::Do1(Foo::Bar const&) 10:09:59",
    ],
)
def test_a_sibling_line_has_its_words_in_the_same_columns(line: bytes) -> None:
    sibling = sibling_of(line)
    assert sibling != line
    assert len(sibling) == len(line)
    assert re.sub(rb"\w", b"", sibling) == re.sub(rb"\w", b"", line)
    assert sibling_of(b"#0 in f at line 1 of 00 operator new") == b"#0 in f at line 1 of 00 operator new"
