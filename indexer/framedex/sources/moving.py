"""Lines of an old text in a new one: a diff that keeps to unique lines, so that it is quick on files of any size.

Patience diff (Bram Cohen): lines that both texts have exactly once are matched in their longest common order, and from
each of them on the same is done again; small pieces are left to difflib.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

_SMALL = 1 << 10  # pairs of lines that difflib may compare
_SHORTEST = 6  # characters: shorter lines (`else:`, `})`) are not followed out of order
_SPANS = (1, 3, 9)  # lines that stand together, tried in turn where single ones are not unique


@dataclass(frozen=True, slots=True)
class MovedLine:
    """The 1-based line of the other text; `is_gone`: it is not there any more, and this is where it would be."""

    line: int
    is_gone: bool


@dataclass(frozen=True, slots=True)
class Block:
    """Equal lines: 0-based starts in the old and the new text, and how many."""

    old: int
    new: int
    size: int


class LineMap:
    """Which line of a new text each line of an old one is, and back. Lines are 1-based."""

    def __init__(
        self, blocks: Sequence[Block], old_size: int, new_size: int, moved: Mapping[int, int] | None = None
    ) -> None:
        """`blocks` in order; the sizes are numbers of lines. `moved` leads from old to new lines out of that order."""
        self._moved = moved or {}
        self._moved_back = {new: old for old, new in self._moved.items()}
        self._old = [block.old for block in blocks]
        self._new = [block.new for block in blocks]
        self._lengths = [block.size for block in blocks]
        self._old_size, self._new_size = old_size, new_size

    def new_line(self, line: int) -> int | None:
        """The number of an old line in the new text; None if it is not there any more."""
        moved = self.forward(line)
        return None if moved.is_gone else moved.line

    def old_line(self, line: int) -> int | None:
        """The number of a new line in the old text; None if it was not there."""
        moved = self.backward(line)
        return None if moved.is_gone else moved.line

    def forward(self, line: int) -> MovedLine:
        """Where a line of the old text is in the new one."""
        if line in self._moved:
            return MovedLine(self._moved[line], is_gone=False)
        found = _moved(line, self._old, self._new, self._lengths, self._new_size)
        return MovedLine(found.line, found.is_gone or found.line in self._moved_back)

    def backward(self, line: int) -> MovedLine:
        """Where a line of the new text was in the old one; `is_gone`: it was not there."""
        if line in self._moved_back:
            return MovedLine(self._moved_back[line], is_gone=False)
        found = _moved(line, self._new, self._old, self._lengths, self._old_size)
        return MovedLine(found.line, found.is_gone or found.line in self._moved)


NOTHING_IN_COMMON = LineMap((), 0, 0)
"""The map between texts of which only one is known: no line of one is in the other."""


def map_lines(old: str, new: str) -> LineMap:
    """Compare two texts line by line, without the blanks around lines: indented code still is the same code."""
    before, after = text_lines(old), text_lines(new)
    blocks = _joined(_matches(before, after))
    moved = _out_of_order(blocks, before, after)
    if moved:
        moved = _with_bodies(moved, blocks, _Indented(old, before), _Indented(new, after))
    return LineMap(blocks, len(before), len(after), moved)


class _Indented:
    """The stripped lines of a text, with how far each is indented."""

    def __init__(self, text: str, lines: Sequence[str]) -> None:
        self.lines = lines
        self._indents = [len(line) - len(line.lstrip()) for line in _split(text)]

    def body(self, line: int) -> tuple[int, int]:
        """The 0-based range of the lines that are indented below a 1-based line."""
        end = line
        while end < len(self.lines) and (not self.lines[end] or self._indents[end] > self._indents[line - 1]):
            end += 1
        return line, end


def _with_bodies(moved: Mapping[int, int], blocks: Iterable[Block], old: _Indented, new: _Indented) -> dict[int, int]:
    """The same with what is indented below lines that are known once: functions that changed places keep equal lines
    apart. The innermost of them count first."""
    found = dict(moved)
    taken = set(moved.values())
    followed = {block.old + i + 1: block.new + i + 1 for block in blocks for i in range(block.size)} | found
    once_old, once_new = _unique(old.lines, 1), _unique(new.lines, 1)
    headers = [(old.body(index + 1), index + 1) for line, index in once_old.items() if line in once_new and line[0]]
    for (begin, end), line in sorted(headers, key=lambda header: header[0][1] - header[0][0]):
        if line not in followed or begin == end:
            continue
        new_begin, new_end = new.body(followed[line])
        if all(
            new_begin < followed.get(inner, 0) <= new_end for inner in range(begin + 1, end + 1) if old.lines[inner - 1]
        ):
            continue
        for block in _matches(old.lines[begin:end], new.lines[new_begin:new_end]):
            for offset in range(block.size):
                inner, inner_now = begin + block.old + offset + 1, new_begin + block.new + offset + 1
                if inner not in found and inner_now not in taken:
                    found[inner] = inner_now
                    taken.add(inner_now)
    return found


def _out_of_order(blocks: Iterable[Block], old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """The 1-based lines that both texts have exactly once, but not in the same order: from old to new."""
    matched = {index for block in blocks for index in range(block.old, block.old + block.size)}
    old_once, new_once = _unique(old, 1), _unique(new, 1)
    return {
        index + 1: new_once[line] + 1
        for line, index in old_once.items()
        if index not in matched and line in new_once and len(line[0]) >= _SHORTEST
    }


def _moved(line: int, here: Sequence[int], there: Sequence[int], lengths: Sequence[int], size: int) -> MovedLine:
    """Where a line is in the other text, of `size` lines; `here` and `there` are where runs of equal lines begin."""
    index = line - 1
    following = bisect_right(here, index)
    begin, offset = 0, index
    if following:
        start, other, length = here[following - 1], there[following - 1], lengths[following - 1]
        if index < start + length:
            return MovedLine(index - start + other + 1, is_gone=False)
        begin, offset = other + length, index - start - length
    end = there[following] if following < len(there) else size
    return MovedLine(_nearest(offset, begin, end, size), is_gone=True)


def _nearest(offset: int, begin: int, end: int, size: int) -> int:
    """The line at an offset in what now stands between two blocks, or the one after it where nothing does."""
    index = min(begin + offset, end - 1) if begin < end else begin
    return max(1, min(index + 1, size))


def text_lines(text: str) -> list[str]:
    """The lines of a text without the blanks around them."""
    return [line.strip() for line in _split(text)]


def _split(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _matches(old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """The equal lines, in order. A list of what is still to be compared stands in for recursion."""
    found: list[Block] = []
    pending = [(0, len(old), 0, len(new))]
    while pending:
        old_start, old_end, new_start, new_end = pending.pop()
        head = _common(old[old_start:old_end], new[new_start:new_end])
        found.append(Block(old_start, new_start, head))
        old_start, new_start = old_start + head, new_start + head
        tail = _common(old[old_start:old_end][::-1], new[new_start:new_end][::-1])
        old_end, new_end = old_end - tail, new_end - tail
        found.append(Block(old_end, new_end, tail))
        left, right = old[old_start:old_end], new[new_start:new_end]
        if not left or not right:
            continue
        if len(left) * len(right) <= _SMALL:
            matcher = SequenceMatcher(None, left, right, autojunk=False)
            found += [Block(old_start + i, new_start + j, size) for i, j, size in matcher.get_matching_blocks()]
        elif anchors := next(filter(None, (_anchors(left, right, span) for span in _SPANS)), None):
            # A piece begins with its anchor, which its own comparison finds first.
            for (i, j), (next_i, next_j) in pairwise([(0, 0), *anchors, (len(left), len(right))]):
                pending.append((old_start + i, old_start + next_i, new_start + j, new_start + next_j))
    return sorted((block for block in found if block.size), key=lambda block: block.old)


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    """How many lines are equal from the beginning on."""
    pairs = zip(left, right, strict=False)
    return next((number for number, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))


def _anchors(old: Sequence[str], new: Sequence[str], span: int) -> list[tuple[int, int]]:
    """Where `span` lines begin that both have exactly once, as pairs of indices: the longest run in both's order.

    Of those that follow each other the first is enough.
    """
    once_old, once_new = _unique(old, span), _unique(new, span)
    pairs = [(index, once_new[lines]) for lines, index in once_old.items() if lines in once_new]
    # Patience sorting: `tops` are the lowest ends of runs by their length, `previous` links each pair to its run.
    tops: list[int] = []
    top_pairs: list[int] = []
    previous: list[int] = []
    for number, (_, position) in enumerate(pairs):
        pile = bisect_left(tops, position)
        previous.append(top_pairs[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [position]
        top_pairs[pile : pile + 1] = [number]
    run = []
    number = top_pairs[-1] if top_pairs else -1
    while number >= 0:
        run.append(pairs[number])
        number = previous[number]
    return [(i, j) for (i, j), before in pairwise([*run, (-1, -1)]) if before != (i - 1, j - 1)][::-1]


def _unique(lines: Sequence[str], span: int) -> dict[tuple[str, ...], int]:
    windows = list(zip(*(lines[offset:] for offset in range(span)), strict=False))
    counts = Counter(windows)
    return {window: index for index, window in enumerate(windows) if counts[window] == 1}


def _joined(blocks: Sequence[Block]) -> list[Block]:
    """The same with blocks that touch made one."""
    joined: list[Block] = []
    for block in blocks:
        last = joined[-1] if joined else None
        if last and last.old + last.size == block.old and last.new + last.size == block.new:
            joined[-1] = Block(last.old, last.new, last.size + block.size)
        else:
            joined.append(block)
    return joined
