"""The output of all verbs: errors and notes to stderr, results to stdout as text or one JSON document."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice, pairwise
from textwrap import indent
from typing import Any, NoReturn

import click

from framedex.base.errors import FramedexError
from framedex.commands.output.proposals import note_line
from framedex.commands.output.terminal import Line, Span, Terminal, paint, replace_unsupported_links, standard_output

_GAP = re.compile(r"(?<=\S) {2,}")
_CONTINUATION_INDENT = 4
_LABEL = 14


def fit_line(line: Line, terminal: Terminal) -> Iterator[Line]:
    """Break a line so that it fits the terminal, if words and paths allow; without a terminal it stays whole."""
    line = replace_unsupported_links(line, terminal)
    width = terminal.width
    if width is None or _measure_line(line) <= width:
        yield line
        return
    line = _with_short_paths(line, width, terminal)
    if _measure_line(line) <= width:
        yield line
    else:
        yield from _break_line(line, width)


def _measure_line(line: Line) -> int:
    return len("".join(span.text for span in line).rstrip(" "))


def _with_short_paths(line: Line, width: int, terminal: Terminal) -> Line:
    """The line with its paths shortened to `…/` and as many of the last folders as fit."""
    spans = list(line)
    for index, span in enumerate(spans):
        too_long = _measure_line(tuple(spans)) - width
        if too_long > 0 and (span.can_shorten or terminal.supports(span.link)):
            spans[index] = replace(span, text=_shorten_path(span.text, len(span.text) - too_long))
    return tuple(spans)


def _shorten_path(path: str, width: int) -> str:
    """The path without as many first folders as needed. Its last name stays whole, even if it exceeds the width."""
    parts = path.split("/")
    for first in range(2, len(parts)):
        shorter = "/".join(("…", *parts[first:]))
        if len(shorter) <= width or first == len(parts) - 1:
            return shorter
    return path


def _break_line(line: Line, width: int) -> Iterator[Line]:
    parts = _split_breakable_parts(line)
    indent = _compute_continuation_indent(parts, width)
    row: list[Span] = []
    for part in parts:
        is_text = all(span.link is None for span in part)
        if (
            row
            and _measure_line((*row, *part)) > width
            and not (is_text and _measure_line(_strip_part(part)) > width - indent)
        ):
            yield tuple(row)
            row = [Span(" " * indent), *_strip_part(part)]
        else:
            row.extend(part)
        while _measure_line(tuple(row)) > width and (split := _split_words(tuple(row), width, indent)):
            yield split[0]
            row = list(split[1])
    if row:
        yield tuple(row)


def _compute_continuation_indent(parts: Sequence[Line], width: int) -> int:
    """The indentation of continuation lines: under the text after a short label, otherwise deeper than the line."""
    first = "".join(span.text for span in parts[0])
    if len(parts) > 1 and len(first) < _LABEL:  # the first part is a label, or a number of calls
        second = "".join(span.text for span in parts[1])
        gap = len(first) - len(first.rstrip(" ")) + len(second) - len(second.lstrip(" "))
        return min(len(first.rstrip(" ")) + gap, width // 2)
    return min(len(first) - len(first.lstrip(" ")) + _CONTINUATION_INDENT, width // 2)


def _split_breakable_parts(line: Line) -> list[Line]:
    """The pieces of a line between possible breaks, each with the gap before it."""
    parts: list[list[Span]] = [[]]
    for span in line:
        starts = [0, *(match.start() for match in _GAP.finditer(span.text)), len(span.text)]
        for begin, end in pairwise(starts):
            piece = replace(span, text=span.text[begin:end])
            before = "".join(each.text for each in parts[-1])
            if before.strip() and (piece.text.startswith("  ") or before.endswith("  ")):
                parts.append([])
            parts[-1].append(piece)
    return [tuple(part) for part in parts]


def _strip_part(part: Line) -> Line:
    first, *rest = part
    return (replace(first, text=first.text.lstrip(" ")), *rest)


def _split_words(row: Line, width: int, indent: int) -> tuple[Line, Line] | None:
    """Split a row at the last blank within the width, otherwise at the first blank after it; None without a blank.

    Blanks within links and proposed commands do not count.
    """
    position = 0
    best: tuple[int, int] | None = None
    seen_text = False
    for index, span in enumerate(row):
        for offset, character in enumerate(span.text):
            if (
                character == " "
                and seen_text
                and span.link is None
                and not span.is_unbreakable
                and (best is None or position <= width)
            ):
                best = index, offset
            seen_text = seen_text or character != " "
            position += 1
    if best is None:
        return None
    index, offset = best
    before = (*row[:index], replace(row[index], text=row[index].text[:offset]))
    after = _strip_part((replace(row[index], text=row[index].text[offset:]), *row[index + 1 :]))
    return before, (Span(" " * indent), *after)


_LINES_PER_WRITE = 4_096  # lines

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


def print_error(error: FramedexError) -> None:
    """Print an error and its remedy."""
    for number, line in enumerate(error.message.split("\n")):
        _print_note(f"  {line}" if number else f"framedex: {line}")
    for line in error.remedy.split("\n") if error.remedy else ():
        _print_note(f"  {line}")


def note(text: str) -> None:
    """Print a remark that is not part of the result."""
    _print_note(text)


def exit_nothing_found(text: str) -> NoReturn:
    """Print a note about an empty result, and exit with status 1, as grep does."""
    note(text)
    raise click.exceptions.Exit(1)


def _print_note(text: str) -> None:
    terminal = Terminal.detect(sys.stderr.isatty(), os.environ)
    for row in fit_line(note_line(text), terminal):
        with suppress(OSError):  # the disk is full, or stderr is closed: there is no other channel
            click.echo(paint(row, Terminal(colors=False, links=False)), err=True)


def print_lines(lines: Iterable[Line]) -> None:
    """Print result lines, fitted to the terminal, with colours and links if supported."""
    terminal = Terminal.of_stdout()
    # Characters that the encoding of stdout lacks become escapes, not a traceback.
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    rows = (f"{paint(row, terminal)}\n" for line in lines for row in fit_line(line, terminal))
    while piece := "".join(islice(rows, _LINES_PER_WRITE)):
        click.echo(piece.encode(encoding, "backslashreplace").decode(encoding), nl=False, color=True)


def print_json(document: Any) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(document, indent=2), standard_output())


def print_json_list(document: dict[str, Any], name: str, items: Iterable[Any]) -> None:
    """Print one JSON document whose last value is a list; its items are printed as they arrive."""
    text = json.dumps(document | {name: []}, indent=2)
    click.echo(text.removesuffix("]\n}"), standard_output(), nl=False)
    separator, end = "\n", "]\n}"
    for item in items:
        click.echo(separator + indent(json.dumps(item, indent=2), " " * 4), standard_output(), nl=False)
        separator, end = ",\n", "\n  ]\n}"
    click.echo(end, standard_output())
