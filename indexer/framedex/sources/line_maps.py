"""Map lines of an old text to a new one, with a diff based on unique lines that is fast for files of any size.

Patience diff (Bram Cohen) matches lines that appear exactly once in both texts, in their longest common order. It
repeats this between the matches. Small ranges are compared by difflib.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

_MAX_DIFFLIB_PAIRS = 1 << 10  # pairs of lines; difflib compares ranges with fewer pairs
_MIN_LINE_LENGTH = 6  # characters; shorter lines (`else:`, `})`) are not matched out of order
_WINDOW_SIZES = (1, 3, 9)  # consecutive lines, tried in turn if single lines are not unique


@dataclass(frozen=True, slots=True)
class MovedLine:
    """A 1-based line of the other text; `is_gone`: the line no longer exists, and `line` is its expected position."""

    line: int
    is_gone: bool


@dataclass(frozen=True, slots=True)
class EqualBlock:
    """A run of equal lines: 0-based starts in the old and new text, and its length."""

    old: int
    new: int
    size: int


class LineMap:
    """A two-way mapping between the lines of an old and a new text. Lines are 1-based."""

    def __init__(
        self, blocks: Sequence[EqualBlock], old_size: int, new_size: int, moved: Mapping[int, int] | None = None
    ) -> None:
        """`blocks` are in order; sizes are numbers of lines. `moved` maps old to new lines outside that order."""
        self._moved = moved or {}
        self._moved_back = {new: old for old, new in self._moved.items()}
        self._old = [block.old for block in blocks]
        self._new = [block.new for block in blocks]
        self._lengths = [block.size for block in blocks]
        self._old_size, self._new_size = old_size, new_size

    def new_line(self, line: int) -> int | None:
        """The new number of an old line; None if it no longer exists."""
        moved = self.map_to_new(line)
        return None if moved.is_gone else moved.line

    def old_line(self, line: int) -> int | None:
        """The old number of a new line; None if it did not exist."""
        moved = self.map_to_old(line)
        return None if moved.is_gone else moved.line

    def map_to_new(self, line: int) -> MovedLine:
        """The position of an old line in the new text."""
        if line in self._moved:
            return MovedLine(self._moved[line], is_gone=False)
        found = _map_line(line, self._old, self._new, self._lengths, self._new_size)
        return MovedLine(found.line, found.is_gone or found.line in self._moved_back)

    def map_to_old(self, line: int) -> MovedLine:
        """The position of a new line in the old text; `is_gone`: it did not exist."""
        if line in self._moved_back:
            return MovedLine(self._moved_back[line], is_gone=False)
        found = _map_line(line, self._new, self._old, self._lengths, self._old_size)
        return MovedLine(found.line, found.is_gone or found.line in self._moved)


EMPTY_MAP = LineMap((), 0, 0)
"""The map between texts without a common line, for example if only one text is known."""


def map_lines(old: str, new: str) -> LineMap:
    """Compare two texts line by line, ignoring leading and trailing whitespace: indentation does not change a line."""
    before, after = split_lines(old), split_lines(new)
    blocks = _merge_blocks(_match_in_order(before, after))
    moved = _match_out_of_order(blocks, before, after)
    if moved:
        moved = _match_bodies(moved, blocks, _IndentedLines(old, before), _IndentedLines(new, after))
    return LineMap(blocks, len(before), len(after), moved)


class _IndentedLines:
    """The stripped lines of a text, with their indentation."""

    def __init__(self, text: str, lines: Sequence[str]) -> None:
        self.lines = lines
        self._indents = [len(line) - len(line.lstrip()) for line in _split_lines(text)]

    def body(self, line: int) -> tuple[int, int]:
        """The 0-based range of the lines indented below a 1-based line."""
        end = line
        while end < len(self.lines) and (not self.lines[end] or self._indents[end] > self._indents[line - 1]):
            end += 1
        return line, end


def _match_bodies(
    moved: Mapping[int, int], blocks: Iterable[EqualBlock], old: _IndentedLines, new: _IndentedLines
) -> dict[int, int]:
    """Add the lines indented below uniquely matched lines, for functions that swapped places.

    Otherwise their lines would be matched with equal lines of other functions. Inner functions have priority.
    """
    found = dict(moved)
    taken = set(moved.values())
    followed = {block.old + i + 1: block.new + i + 1 for block in blocks for i in range(block.size)} | found
    once_old, once_new = _find_unique(old.lines, 1), _find_unique(new.lines, 1)
    headers = [(old.body(index + 1), index + 1) for line, index in once_old.items() if line in once_new and line[0]]
    for (begin, end), line in sorted(headers, key=lambda header: header[0][1] - header[0][0]):
        if line not in followed or begin == end:
            continue
        new_begin, new_end = new.body(followed[line])
        if all(
            new_begin < followed.get(inner, 0) <= new_end for inner in range(begin + 1, end + 1) if old.lines[inner - 1]
        ):
            continue
        for block in _match_in_order(old.lines[begin:end], new.lines[new_begin:new_end]):
            for offset in range(block.size):
                inner, inner_now = begin + block.old + offset + 1, new_begin + block.new + offset + 1
                if inner not in found and inner_now not in taken:
                    found[inner] = inner_now
                    taken.add(inner_now)
    return found


def _match_out_of_order(blocks: Iterable[EqualBlock], old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """The 1-based lines that appear exactly once in both texts but in another order: old to new."""
    matched = {index for block in blocks for index in range(block.old, block.old + block.size)}
    old_once, new_once = _find_unique(old, 1), _find_unique(new, 1)
    return {
        index + 1: new_once[line] + 1
        for line, index in old_once.items()
        if index not in matched and line in new_once and len(line[0]) >= _MIN_LINE_LENGTH
    }


def _map_line(line: int, here: Sequence[int], there: Sequence[int], lengths: Sequence[int], size: int) -> MovedLine:
    """The position of a line in the other text, of `size` lines; `here` and `there` are the starts of equal runs."""
    index = line - 1
    following = bisect_right(here, index)
    begin, offset = 0, index
    if following:
        start, other, length = here[following - 1], there[following - 1], lengths[following - 1]
        if index < start + length:
            return MovedLine(index - start + other + 1, is_gone=False)
        begin, offset = other + length, index - start - length
    end = there[following] if following < len(there) else size
    return MovedLine(_find_nearest_line(offset, begin, end, size), is_gone=True)


def _find_nearest_line(offset: int, begin: int, end: int, size: int) -> int:
    """The line at an offset in the text between two blocks, or the line after an empty gap."""
    index = min(begin + offset, end - 1) if begin < end else begin
    return max(1, min(index + 1, size))


def split_lines(text: str) -> list[str]:
    """The stripped lines of a text."""
    return [line.strip() for line in _split_lines(text)]


def _split_lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _match_in_order(old: Sequence[str], new: Sequence[str]) -> list[EqualBlock]:
    """The equal lines, in order. Pending ranges are in a list, in place of recursion."""
    found: list[EqualBlock] = []
    pending = [(0, len(old), 0, len(new))]
    while pending:
        old_start, old_end, new_start, new_end = pending.pop()
        head = _common_prefix_length(old[old_start:old_end], new[new_start:new_end])
        found.append(EqualBlock(old_start, new_start, head))
        old_start, new_start = old_start + head, new_start + head
        tail = _common_prefix_length(old[old_start:old_end][::-1], new[new_start:new_end][::-1])
        old_end, new_end = old_end - tail, new_end - tail
        found.append(EqualBlock(old_end, new_end, tail))
        left, right = old[old_start:old_end], new[new_start:new_end]
        if not left or not right:
            continue
        if len(left) * len(right) <= _MAX_DIFFLIB_PAIRS:
            matcher = SequenceMatcher(None, left, right, autojunk=False)
            found += [EqualBlock(old_start + i, new_start + j, size) for i, j, size in matcher.get_matching_blocks()]
        elif anchors := next(filter(None, (_find_anchors(left, right, span) for span in _WINDOW_SIZES)), None):
            # Each range begins with its anchor, so its comparison matches the anchor first.
            for (i, j), (next_i, next_j) in pairwise([(0, 0), *anchors, (len(left), len(right))]):
                pending.append((old_start + i, old_start + next_i, new_start + j, new_start + next_j))
    return sorted((block for block in found if block.size), key=lambda block: block.old)


def _common_prefix_length(left: Sequence[str], right: Sequence[str]) -> int:
    """The number of equal lines at the start."""
    pairs = zip(left, right, strict=False)
    return next((number for number, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))


def _find_anchors(old: Sequence[str], new: Sequence[str], span: int) -> list[tuple[int, int]]:
    """The starts of `span` lines that appear exactly once in both texts, as index pairs: the longest common order.

    Only the first of consecutive pairs is returned.
    """
    once_old, once_new = _find_unique(old, span), _find_unique(new, span)
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


def _find_unique(lines: Sequence[str], span: int) -> dict[tuple[str, ...], int]:
    windows = list(zip(*(lines[offset:] for offset in range(span)), strict=False))
    counts = Counter(windows)
    return {window: index for index, window in enumerate(windows) if counts[window] == 1}


def _merge_blocks(blocks: Sequence[EqualBlock]) -> list[EqualBlock]:
    """Merge adjacent blocks."""
    joined: list[EqualBlock] = []
    for block in blocks:
        last = joined[-1] if joined else None
        if last and last.old + last.size == block.old and last.new + last.size == block.new:
            joined[-1] = EqualBlock(last.old, last.new, last.size + block.size)
        else:
            joined.append(block)
    return joined
