"""Parsers of Python tracebacks that a tool reformats: IPython and Jupyter, rich, and pytest.

Sources:
- IPython/core/ultratb.py. Since 8.0 the frame's head has the line (`File x.py:12, in f(x)`, `Cell In[3], line 2`).
  Before, only an arrow in the lines below marks it. A cell is not a file: such a frame has no location.
- rich/traceback.py. A frame is `path:line in function`, or `in function:line` for code without a file. A narrow box
  wraps it, within the path or after it. Exception groups are nested boxes.
- _pytest/_code/code.py (ReprFileLocation, ReprEntry, ReprFuncArgs). `--tb=short` prints locations with the function,
  `--tb=long` below its source. `--tb=native` prints Python's own form, `--tb=line` only locations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from framedex.base.lazy import compile_on_use
from framedex.model import Language
from framedex.text_stacks.frames import Margin, build_frame
from framedex.text_stacks.model import ParsedLine, PartKind, StackFormat, TextFrame, TextLocation, TextPart
from framedex.text_stacks.readers.locations import LocationsInText

_HEADING = compile_on_use(r"(?P<title>[A-Za-z_][\w.]*) +Traceback \(most recent call last\)$")
_HEAD = compile_on_use(
    r"(?:^|(?<=[\s\]:>|)]))"
    r"(?:Cell In ?\[|Input In ?\[|<ipython-input-|File (?=[^\s\"'])|(?=~|/|[A-Za-z]:\\|[\w-]+/\S+\.pyx in ))"
)
_FUNCTION = r"(?P<function><cell line: \d+>|<\w+>|[\w.][\w.<>]*)(?:\(.*)?"
_CELL = compile_on_use(
    r"(?P<label>Cell In ?\[\d*\], line \d{1,9}|Input In ?\[\d*\]|<ipython-input-[\w-]{1,99}>"
    r"|\S[^:]*\.ipynb Cell \d+(?: line \d+)?(?= in ))"
    rf"(?:,? in {_FUNCTION})?$"
)
_FILE = compile_on_use(
    rf"File (?P<path>(?:[/~]|[A-Za-z]:[\\/]).*?|<[^<>]+>|[^\s:]+):(?P<line>\d{{1,9}})(?:, in {_FUNCTION})?$"
)
_OLD_FILE = compile_on_use(rf"(?P<path>(?:[/~]|[A-Za-z]:\\|[\w-]+/)\S*\.\w{{1,4}}) in {_FUNCTION}$")
_ARROW = compile_on_use(r"-+> ?(?P<line>\d{1,9})(?!\d)")
_SOURCE = compile_on_use(r"-+> ?\d|\s*\d{1,9}(?!\S)|\s*\(\.\.\.\)|\s{4}|-{20,}$")
_EXCEPTION = compile_on_use(r"[A-Za-z_][\w.]*(?::|$)")


class IPythonText:
    """Parser of tracebacks of every IPython version; one object per text."""

    is_rare = True
    state_attributes = ("_margin", "_path")
    triggers = (
        *("Cell In[", "Cell In [", "Input In[", "Input In [", "<ipython-input-", "Traceback (most recent call last)"),
        *("File /", "File ~", "File <", "File C:\\", "File c:\\"),
    )

    def __init__(self) -> None:
        self._margin = Margin()
        self._path = ""  # of the last frame, if an arrow below will mark its line

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return a heading, a frame, or the exception below the frames."""
        text = line.rstrip()
        if text.endswith("Traceback (most recent call last)"):
            heading = _HEADING.search(text)
            if heading is not None:
                self._margin = Margin(line[: heading.start()])
                return ParsedLine(StackFormat.IPYTHON, opening_title=heading["title"], innermost_first=False)
        head = _HEAD.search(text) if is_in_stack or " In" in text or "File " in text or "<ipython" in text else None
        frame = self._parse_frame(number, text, head.start(), is_in_stack) if head is not None else None
        if frame is not None:
            return ParsedLine(StackFormat.IPYTHON, (frame,), innermost_first=False)
        start = self._margin.column_after(text) if is_in_stack else None
        if start is not None and _EXCEPTION.match(text, start):
            return ParsedLine(StackFormat.IPYTHON, closing_title=text[start:])
        return None

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return the last frame with the line marked by an arrow."""
        start = self._margin.column_after(line) if self._path else None
        arrow = _ARROW.match(line, start) if start is not None else None
        if arrow is None:
            return None
        part = TextPart(PartKind.LINE, number, *arrow.span("line"))
        place = TextLocation(self._path, int(arrow["line"])) if int(arrow["line"]) else None
        self._path = ""
        return replace(frame, last_line=number, end=arrow.end(), parts=(*frame.parts, part), place=place)

    def belongs_to_stack(self, line: str) -> bool:
        """Whether the line is a source line."""
        start = self._margin.column_after(line)
        return start is not None and _SOURCE.match(line, start) is not None

    def _parse_frame(self, number: int, text: str, start: int, is_in_stack: bool) -> TextFrame | None:
        match = _CELL.match(text, start)
        if match is None:
            match = _FILE.match(text, start)
            if match is not None and not is_in_stack and match["path"][0] not in "/~<" and match["path"][1:2] != ":":
                return None
        old = _OLD_FILE.match(text, start) if match is None and is_in_stack else None
        match = match or old
        if match is None:
            return None
        self._path = old["path"] if old is not None else ""
        if not is_in_stack:
            self._margin = Margin(text[:start])
        label = match.groupdict().get("label")
        return build_frame(StackFormat.IPYTHON, number, match, Language.PYTHON, labels=(label,) if label else ())


_RICH_HEADING = compile_on_use(r"[╭┌+][─-]{2,} (?P<title>Traceback \(most recent call last\)) [─-]{2,}[╮┐+]")
_ROW = compile_on_use(r"[│|] (?=\S)")
_FRAME = compile_on_use(r"(?P<path>(?:[/~]|[A-Za-z]:[\\/]).*):(?P<line>\d{1,9}) in (?P<function>\S.*)$")
_NO_FILE = compile_on_use(r"in (?P<function>\S.*):(?P<line>\d{1,9})$")
_CUT_BEFORE_NAME = compile_on_use(r":\d{1,9} in$")
_PATH_START = compile_on_use(r"[/~]|[A-Za-z]:[\\/]")
_BORDERS = " \t│|"
_MAX_WRAPPED_ROWS = 16


class RichBoxes:
    """Parser of traceback boxes; one object per text."""

    is_rare = True
    state_attributes = ("_margin", "_rows", "_first")
    triggers = ("Traceback (most recent call last) ─", "Traceback (most recent call last) -")

    def __init__(self) -> None:
        self._margin = Margin()
        self._rows: tuple[str, ...] = ()  # the rows of an incomplete frame
        self._first = 0  # the line of the first row

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return the top of a box, a frame, or the exception below the box."""
        if "(most recent call last) " in line:
            heading = _RICH_HEADING.search(line)
            if heading is not None:
                self._margin = Margin(line[: heading.start()])
                self._rows = ()
                return ParsedLine(StackFormat.RICH, opening_title=heading["title"], innermost_first=False)
        start = self._margin.column_after(line) if is_in_stack else None
        if start is None:
            return None
        row = _ROW.match(line, start)
        text = line[row.end() if row is not None else start :].rstrip().rstrip(_BORDERS)
        if row is not None:
            frame = self._parse_frame(number, text, row.end())
            return ParsedLine(StackFormat.RICH, (frame,), innermost_first=False) if frame is not None else None
        self._rows = ()
        return ParsedLine(StackFormat.RICH, closing_title=text) if _EXCEPTION.match(text) else None

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame is parsed at its last row."""
        return None

    def belongs_to_stack(self, line: str) -> bool:
        """Whether the line is another row of the box."""
        start = self._margin.column_after(line)
        return start is not None and line[start : start + 1] in tuple("│|╭╰┌└+")

    def _parse_frame(self, number: int, text: str, shift: int) -> TextFrame | None:
        rows = self._rows
        first = self._first if rows else number
        self._rows, self._first = (), 0
        frame = _parse_box_frame(number, text, shift, rows)
        if frame is not None:
            return replace(frame, first_line=first, start=shift)
        is_begun = bool(rows) or _PATH_START.match(text) is not None
        if is_begun and len(rows) < _MAX_WRAPPED_ROWS:
            self._rows, self._first = (*rows, text), first
        return None


def _parse_box_frame(number: int, text: str, shift: int, before: Sequence[str]) -> TextFrame | None:
    """Return the frame that ends on a row; `before` are its earlier rows."""
    whole = "".join(before)
    # Words are wrapped at blanks, paths anywhere.
    is_word = bool(before) and (text.startswith("in ") or _CUT_BEFORE_NAME.search(before[-1]) is not None)
    whole += f" {text}" if is_word else text
    match = _FRAME.match(whole) or (_NO_FILE.match(whole) if not before else None)
    if match is None:
        return None
    frame = build_frame(StackFormat.RICH, number, match, Language.PYTHON, shift=shift)
    if not before:
        return frame
    # Only the pieces on the last row become parts.
    moved = len(whole) - len(text)
    parts = tuple(
        replace(part, start=part.start - moved, end=part.end - moved)
        for part in frame.parts
        if part.start - moved >= shift
    )
    return replace(frame, parts=parts, end=shift + len(text))


_PYTEST_HEADING = compile_on_use(r"(?<!_)_+ (?P<title>[^_\s].*\S|_\w.*) _+$")
_LINE_START = r"(?:^|(?<=[\s\]:>|)]))"
_PATH = _LINE_START + r"(?P<path>(?:[A-Za-z]:)?[^\s:\[\]()|\"'<>]+|<[^<>:]+>):(?P<line>\d{1,9}):"
_SHORT_FRAME = compile_on_use(_PATH + r" in (?P<function><\w+>|[\w.]+)$")
_LONG = compile_on_use(_PATH + r"(?: (?:[A-Za-z_][\w.]*\.)?[A-Z]\w*)?$")
_DEFINITION = compile_on_use(r"(?:>  )? +(?:async )?def (?P<function>\w+)\b")
_RULE = compile_on_use(r"(?:=+ .* =+|-+ Captured .* -+)$")


class PytestText:
    """Parser of failure sections; one object per text."""

    is_rare = True
    state_attributes = ("_margin", "_function")
    triggers = ("____ ", ": in ")

    def __init__(self) -> None:
        self._margin = Margin()
        self._places = LocationsInText()
        self._function = ""  # the function whose source precedes the next location

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return the heading of a test, or a location with its function."""
        text = line.rstrip()
        if text.endswith(" _") or text.endswith("__"):
            return self._parse_heading(line, text, is_in_stack)
        frames: tuple[TextFrame, ...] = ()
        if ": in " in text and (match := _SHORT_FRAME.search(text)) is not None:
            frames = (build_frame(StackFormat.PYTEST, number, match, Language.PYTHON),)
        elif is_in_stack and (start := self._margin.column_after(text)) is not None:
            match = _LONG.match(text, start)
            if match is None:
                return self._parse_locations(number, line)
            frames = (
                replace(build_frame(StackFormat.PYTEST, number, match, Language.PYTHON), function=self._function),
            )
        if not frames:
            return None
        self._function = ""
        if not is_in_stack:
            self._margin = Margin(line[: frames[0].start])
        return ParsedLine(StackFormat.PYTEST, frames, innermost_first=False)

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a location has one line."""
        return None

    def belongs_to_stack(self, line: str) -> bool:
        """Whether the line is a source line, an argument, or part of the exception."""
        start = self._margin.column_after(line)
        if start is None or _RULE.match(line.rstrip(), start) is not None:
            return False
        definition = _DEFINITION.match(line, start) if not self._function else None
        if definition is not None:
            self._function = definition["function"]
        return True

    def _parse_locations(self, number: int, line: str) -> ParsedLine | None:
        """Return the locations in the exception's text, which may have any form."""
        found = self._places.parse_line(number, line, is_in_stack=True)
        return ParsedLine(StackFormat.PYTEST, found.frames, innermost_first=False) if found is not None else None

    def _parse_heading(self, line: str, text: str, is_in_stack: bool) -> ParsedLine | None:
        """Return the name of a test between rules; None for the separator of two frames."""
        start = self._margin.column_after(line) if is_in_stack else None
        if start is not None and text.startswith("_ _ ", start):
            self._function = ""
            return None
        heading = _PYTEST_HEADING.search(text)
        if heading is None or (start is not None and heading.start() != start):
            return None
        self._margin = Margin(line[: heading.start()])
        self._function = ""
        return ParsedLine(StackFormat.PYTEST, opening_title=heading["title"], innermost_first=False)
