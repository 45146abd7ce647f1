"""An annotated log: for any block sizes, the output is the same bytes with the same notes, without delay."""

from __future__ import annotations

import random
import re
import tracemalloc
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from framedex.text_stacks import read
from framedex.text_stacks.lines import MAX_LINE_LENGTH, create_readers
from framedex.text_stacks.model import TextFrame
from framedex.text_stacks.stream import AnnotatedLog
from tests.crash_corpus import corpus

SAMPLES = sorted(
    path
    for path in (Path(__file__).parents[2] / "fixtures" / "stacks").glob("*.*")
    if path.suffix in {".txt", ".json", ".mlir"}
)
OPEN, CLOSE = "⟦".encode(), "⟧".encode()


@dataclass
class Names:
    """Annotates each frame with its function, or its location: `⟦main⟧`. Nothing is cached before a first lookup."""

    seen: list[tuple[TextFrame, ...]] = field(default_factory=list)

    def cached_note(self, frames: Sequence[TextFrame], callee_frame: TextFrame | None = None) -> bytes | None:
        return None

    def find_note(self, frames: Sequence[TextFrame], callee_frame: TextFrame | None = None) -> bytes:
        self.seen.append(tuple(frames))
        return b"".join(OPEN + _name(frame).encode("utf-8", "surrogateescape") + CLOSE for frame in frames)


def _name(frame: TextFrame) -> str:
    return f"{frame.place.path}:{frame.place.line}" if frame.place and frame.place.line else frame.function


def annotate_blocks(blocks: Iterable[bytes]) -> bytes:
    log = AnnotatedLog(Names())
    return b"".join([*(piece for block in blocks for piece in log.annotate(block)), *log.finish()])


def bare(content: bytes) -> bytes:
    """The log without notes."""
    pieces = content.split(OPEN)
    return pieces[0] + b"".join(piece.partition(CLOSE)[2] for piece in pieces[1:])


def split_randomly(content: bytes, chance: random.Random, longest: int) -> list[bytes]:
    blocks, position = [], 0
    while position < len(content):
        length = chance.randint(1, longest)
        blocks.append(content[position : position + length])
        position += length
    return blocks


@pytest.mark.exhaustive(keep=["gdb.txt", "py-spy.json", "stablehlo.mlir"])
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_block_boundaries_make_no_difference(sample: Path) -> None:
    content = sample.read_bytes()
    whole = annotate_blocks([content])
    assert whole.count(OPEN) > 0
    assert bare(whole) == content
    assert annotate_blocks(content[i : i + 1] for i in range(len(content))) == whole
    assert annotate_blocks(split_randomly(content, random.Random(1), 50)) == whole
    with_returns = content.replace(b"\n", b"\r\n")
    assert annotate_blocks([with_returns]) == whole.replace(b"\n", b"\r\n")
    assert annotate_blocks(with_returns[i : i + 1] for i in range(len(with_returns))) == whole.replace(b"\n", b"\r\n")


def test_every_frame_of_a_whole_text_gets_a_note() -> None:
    assert {sample.name: missed for sample in SAMPLES if (missed := _missed_frames(sample))} == {}


def _missed_frames(sample: Path) -> set[str]:
    """Frames found in the whole text but not annotated in the stream."""
    text = sample.read_text(encoding="utf-8")
    names = Names()
    assert list(AnnotatedLog(names).annotate(text.encode()))
    found = {_name(frame) for frames in names.seen for frame in frames}
    # MLIR's aliases are at the end of the text.
    expected = {_name(frame) for frame in read(text).frames() if frame.place is not None and "#loc" not in text}
    return expected - found


PIECES = [
    *(b"\n", b"\r", b"\r\n", b"\0", b"\xff\xfe", b"\x1b[31m", b"\x1b[0m", b"\x1b]8;;file:///a\x1b\\", b"\x1b", b" "),
    *(b"#0 ", b"0x1 ", b"in main () ", b"at a.c:4", b"(/lib/x.so+0x12)", b"*** SIGSEGV ", b"    @  0x12  112  f::g()"),
    *(b'  File "/a.py", line 3, in f', b"(most recent call last):", b"a/b.cc:12:3", b"x.py:1", b"\x1b[35ma.py\x1b[m:7"),
    *(b'Thread 1 (idle): "x"', b"    f (a.py:3)", b'"frames": [', b'loc("a":1:2)', b"HloModule m,"),
    *(b'metadata={source_file="a" source_line=3}', b"\xe2\x80\xae", b"\xf0\x9f\x9a\x80", b"plain text of a log "),
]


@pytest.mark.exhaustive(keep=["0", "1"])
@pytest.mark.parametrize("seed", range(60))
def test_all_other_bytes_are_unchanged(seed: int) -> None:
    chance = random.Random(seed)
    content = b"".join(chance.choices([*PIECES, chance.randbytes(20)], k=300))
    whole = annotate_blocks([content])
    assert bare(whole) == content
    assert annotate_blocks(split_randomly(content, chance, 7)) == whole
    assert annotate_blocks(split_randomly(content, chance, 200)) == whole


def test_a_note_precedes_the_line_break() -> None:
    assert annotate_blocks([b"a.cc:1\nb.cc:2\r\nc.cc:3"]) == (
        "a.cc:1⟦a.cc:1⟧\nb.cc:2⟦b.cc:2⟧\r\nc.cc:3⟦c.cc:3⟧".encode()
    )


def test_an_incomplete_line_appears_at_once() -> None:
    log = AnnotatedLog(Names())
    assert [list(log.annotate(piece)) for piece in (b"\r 10%", b"\r 20%\r", b" 30%", b"\nGo on? [y/n] ")] == [
        [b"\r 10%"], [b"\r 20%\r"], [b" 30%"], [b"\n", b"Go on? [y/n] "],
    ]  # fmt: skip
    assert b"".join(log.annotate(b"see a.c")) == b"see a.c"
    assert b"".join(log.annotate(b"c:12\r")) == b"c:12"  # the carriage return may be half of a line break
    assert b"".join(log.annotate(b"\nx")) == "⟦a.cc:12⟧\r\nx".encode()


def test_a_line_appears_before_its_locations_are_searched() -> None:
    names = Names()
    pieces = AnnotatedLog(names).annotate(b"one\ntwo a.cc:1\nthree\n")
    assert next(pieces) == b"one\ntwo a.cc:1"
    assert names.seen == []
    assert b"".join(pieces) == "⟦a.cc:1⟧\nthree\n".encode()


def test_text_overwritten_by_a_terminal_is_not_read() -> None:
    assert annotate_blocks([b"old.cc:1\rnew.cc:2\n"]) == "old.cc:1\rnew.cc:2⟦new.cc:2⟧\n".encode()
    assert annotate_blocks([b"old.cc:1\r\r\n"]) == b"old.cc:1\r\r\n"


def test_colours_do_not_hide_a_frame() -> None:
    line = b'  File \x1b[35m"/a.py"\x1b[0m, line \x1b[35m3\x1b[0m, in \x1b[35mf\x1b[0m\n'
    assert annotate_blocks([line]) == line[:-1] + "⟦/a.py:3⟧\n".encode()
    assert annotate_blocks([b"\x1b[1m\x1b[Ka.cc:3:4:\x1b[m\x1b[K error\n"]).endswith("⟦a.cc:3⟧\n".encode())


def test_a_wrapped_gdb_frame_has_its_note_on_the_most_informative_line() -> None:
    text = b"#1  0x0000555 in f (argument=1,\n    other=2) at a.cc:12\n#2  0x0000556 in main ()\n"
    assert (
        annotate_blocks([text])
        == (
            "#1  0x0000555 in f (argument=1,\n    other=2) at a.cc:12⟦a.cc:12⟧\n#2  0x0000556 in main ()⟦main⟧\n"
        ).encode()
    )


def test_crash_frames_belong_to_the_binaries_of_the_preceding_link() -> None:
    names = Names()
    link = b"https://symbolize.stripped_domain/r/?trace=7f12&map=" + b"ab" * 10 + b":7f00-7fff\n"
    list(AnnotatedLog(names).annotate(link + b"    @     0x7f34  (unknown)  (unknown)\n"))
    (frame,) = names.seen[-1]
    assert (frame.build_id, frame.offset, frame.call_address) == ("ab" * 10, 0x34, 0x7F33)


def test_an_overlong_line_is_skipped_in_any_blocks() -> None:
    long = b"a.cc:1 " * (4 * MAX_LINE_LENGTH)
    content = long + b"\n" + b"b.cc:2\n" + long + b"\rc.cc:3\n" + "é".encode() * (MAX_LINE_LENGTH + 1) + b" d.cc:4\n"
    expected = content.replace(b"b.cc:2", "b.cc:2⟦b.cc:2⟧".encode()).replace(b"c.cc:3", "c.cc:3⟦c.cc:3⟧".encode())
    assert annotate_blocks([content]) == expected
    assert annotate_blocks(split_randomly(content, random.Random(2), 100_000)) == expected


@pytest.mark.exhaustive(keep=["plain text without an end ", "#%d  0x1 in f (\\n"])
@pytest.mark.parametrize(
    "unit",
    [
        b"plain text without an end ",
        b"\rprogress ",
        b"/a/%d.cc:1\n",
        b'  File "/a/%d.py", line 1, in f\n',
        b"#%d  0x1 in f (\n",
        b'HloModule m\nFileNames\n%d "' + b"a" * 200 + b'"\n',
        b'  "frames": [\n        "name": "f%d",\n        "filename": "a",\n        "filename": "a",\n',
        b"https://a/?trace=1&map=%d" + b"0" * 16 + b":1-2\n",
    ],
)
def test_memory_does_not_grow_with_the_log(unit: bytes) -> None:
    class NoNotes(Names):
        def find_note(self, frames: Sequence[TextFrame], callee_frame: TextFrame | None = None) -> bytes:
            return b""

    log = AnnotatedLog(NoNotes())

    def feed(first: int, blocks: int) -> int:
        for block in range(first, first + blocks):
            lines = (unit % (block * 100 + i) if b"%d" in unit else unit for i in range(100))
            for _ in log.annotate(b"".join(lines)):
                pass
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        feed(0, 20)
        before = feed(20, 20)
        assert feed(40, 100) - before < 12 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.exhaustive(keep=["0"])
@pytest.mark.parametrize("seed", range(8))
def test_cached_lines_change_no_note(seed: int) -> None:
    chance = random.Random(seed)
    texts = [text.text.encode() for text in corpus()] + [path.read_bytes() for path in SAMPLES]
    chosen = chance.sample(texts, 30)
    log = b"".join(with_other_digits(text, chance) for _ in range(4) for text in chosen)
    remembering, forgetful = AnnotatedLog(DetailedNotes()), AnnotatedLog(DetailedNotes(), cache_bytes=-1)
    assert b"".join([*remembering.annotate(log), *remembering.finish()]) == b"".join(
        [*forgetful.annotate(log), *forgetful.finish()]
    )


class DetailedNotes(Names):
    """Annotates each frame with all its text data."""

    def find_note(self, frames: Sequence[TextFrame], callee_frame: TextFrame | None = None) -> bytes:
        return OPEN + repr([_frame_details(frame) for frame in frames]).encode("utf-8", "backslashreplace") + CLOSE


def _frame_details(frame: TextFrame) -> object:
    return frame.format, frame.function, frame.place, frame.module, frame.offset, frame.language, frame.build_id


def with_other_digits(text: bytes, chance: random.Random) -> bytes:
    return re.sub(rb"\d", lambda digit: b"%d" % chance.randrange(10) if chance.random() < 0.2 else digit[0], text)


def test_a_reader_reports_its_whole_cache() -> None:
    # Tables whose columns have separators; and cells without a line.
    others = {"_texts", "_rows", "_aliases", "_known", "_places"}
    for reader in create_readers():
        assert vars(reader).keys() - others <= {*reader.state_attributes}, reader
        assert all(hash(vars(reader)[name]) is not None for name in reader.state_attributes)
