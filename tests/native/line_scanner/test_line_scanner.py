"""Which lines contain a needle, and which needles decide: compared with checking each line separately."""

from __future__ import annotations

import random
import re

import pytest

from framedex_native._scanner import LineMemory, LineScanner

NEEDLES = [b"#1", b"@ ", b"aba", b"abab", b"bb:", b"loc("]
WORD_NEEDLES = [b".c:", b".cc:", b"a.c"]
ALPHABET = [
    b"a",
    b"b",
    b"b",
    b"c",
    b".",
    b":",
    b" ",
    b"#",
    b"1",
    b"@",
    b"\t",
    b"loc(",
    b"\x1b[31m",
    b"\x1b",
    b"\r",
    b"\n",
]

Line = tuple[int, int, int, tuple[bytes, ...] | None]


def expected(text: bytes) -> list[Line]:
    found: list[Line] = []
    begin = 0
    for line in re.findall(rb"[^\n]*\n|[^\n]+", text):
        bare = re.sub(rb"\x1b(?:\[[ -?]*[@-~]?)?", b"", line)
        if any(needle in bare for needle in (*NEEDLES, *WORD_NEEDLES)):
            body = re.sub(rb"\r?\n$", b"", line)
            is_decided = not any(needle in bare for needle in NEEDLES) and b"\x1b" not in body and b"\r" not in body
            words = tuple(word for word in re.split(rb"[ \t]+", body) if any(each in word for each in WORD_NEEDLES))
            found.append((begin, begin + len(body), begin + len(line), words if is_decided else None))
        begin += len(line)
    return found


def test_lines_with_a_needle_are_found() -> None:
    for seed in range(200):
        chance = random.Random(seed)
        text = b"".join(chance.choices(ALPHABET, k=chance.randrange(400)))
        assert [line[:4] for line in LineScanner(NEEDLES, WORD_NEEDLES).scan(text)] == expected(text), seed


def test_lines_are_skipped_while_notes_of_their_words_are_known() -> None:
    memory = LineMemory(LineScanner([], [b".c:"]))
    memory.read(memory.add_situation(False), 0)
    text = b"nothing\nx.c:1\ny.c:1 z.c:1\ny.c:1\nrest"
    answers = {(b"x.c:1",): b" X", (b"y.c:1", b"z.c:1"): b""}
    noted, unknown = memory.follow(text, 0, 0, answers)
    assert noted == b"nothing\nx.c:1 X\ny.c:1 z.c:1\n"
    assert unknown is not None
    assert unknown[:4] == (26, 31, 32, (b"y.c:1",))
    assert memory.follow(text, 32, 31, answers) == (b"\nrest", None)


def test_overlong_or_too_many_words_do_not_decide() -> None:
    scanner = LineScanner([], [b".c:"])
    assert [line[3] for line in scanner.scan(b"x" * 5000 + b".c:1\n" + b"x.c:1 " * 65 + b"\n")] == [None, None]


@pytest.mark.parametrize("needle", [b"", b"a\n", b"\x1b[0m"])
def test_unsearchable_needles_are_refused(needle: bytes) -> None:
    with pytest.raises(ValueError, match="a needle must not be empty"):
        LineScanner([needle], [])
