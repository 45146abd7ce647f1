"""Parser of IPython and Jupyter tracebacks: frames of cells, and of files with an arrow at their line.

Source: IPython/core/ultratb.py. Since 8.0 the frame's head has the line (`File x.py:12, in f(x)`,
`Cell In[3], line 2`). Before, only an arrow in the lines below marks it. A cell is not a file: such a frame has no
location.
"""

from __future__ import annotations

from dataclasses import replace

from framedex.model import Language
from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, Part, PartKind, Piece, Place, TextFrame
from framedex.text_stacks.text.margins import Margin
from framedex.text_stacks.text.spans import matched

_HEADING = compiled_on_use(r"(?P<title>[A-Za-z_][\w.]*) +Traceback \(most recent call last\)$")
_HEAD = compiled_on_use(
    r"(?:^|(?<=[\s\]:>|)]))"
    r"(?:Cell In ?\[|Input In ?\[|<ipython-input-|File (?=[^\s\"'])|(?=~|/|[A-Za-z]:\\|[\w-]+/\S+\.pyx in ))"
)
_FUNCTION = r"(?P<function><cell line: \d+>|<\w+>|[\w.][\w.<>]*)(?:\(.*)?"
_CELL = compiled_on_use(
    r"(?P<label>Cell In ?\[\d*\], line \d{1,9}|Input In ?\[\d*\]|<ipython-input-[\w-]{1,99}>"
    r"|\S[^:]*\.ipynb Cell \d+(?: line \d+)?(?= in ))"
    rf"(?:,? in {_FUNCTION})?$"
)
_FILE = compiled_on_use(
    rf"File (?P<path>(?:[/~]|[A-Za-z]:[\\/]).*?|<[^<>]+>|[^\s:]+):(?P<line>\d{{1,9}})(?:, in {_FUNCTION})?$"
)
_OLD_FILE = compiled_on_use(rf"(?P<path>(?:[/~]|[A-Za-z]:\\|[\w-]+/)\S*\.\w{{1,4}}) in {_FUNCTION}$")
_ARROW = compiled_on_use(r"-+> ?(?P<line>\d{1,9})(?!\d)")
_SOURCE = compiled_on_use(r"-+> ?\d|\s*\d{1,9}(?!\S)|\s*\(\.\.\.\)|\s{4}|-{20,}$")
_EXCEPTION = compiled_on_use(r"[A-Za-z_][\w.]*(?::|$)")


class IPythonText:
    """Parser of tracebacks of every IPython version; one object per text."""

    is_seldom = True
    remembers = ("_margin", "_path")
    triggers = (
        *("Cell In[", "Cell In [", "Input In[", "Input In [", "<ipython-input-", "Traceback (most recent call last)"),
        *("File /", "File ~", "File <", "File C:\\", "File c:\\"),
    )

    def __init__(self) -> None:
        self._margin = Margin()
        self._path = ""  # of the last frame, if an arrow below will mark its line

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return a heading, a frame, or the exception below the frames."""
        text = line.rstrip()
        if text.endswith("Traceback (most recent call last)"):
            heading = _HEADING.search(text)
            if heading is not None:
                self._margin = Margin(line[: heading.start()])
                return Piece(Format.IPYTHON, begins=heading["title"], innermost_first=False)
        head = _HEAD.search(text) if inside or " In" in text or "File " in text or "<ipython" in text else None
        frame = self._frame(number, text, head.start(), inside) if head is not None else None
        if frame is not None:
            return Piece(Format.IPYTHON, (frame,), innermost_first=False)
        start = self._margin.behind(text) if inside else None
        if start is not None and _EXCEPTION.match(text, start):
            return Piece(Format.IPYTHON, ends=text[start:])
        return None

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return the last frame with the line marked by an arrow."""
        start = self._margin.behind(line) if self._path else None
        arrow = _ARROW.match(line, start) if start is not None else None
        if arrow is None:
            return None
        part = Part(PartKind.LINE, number, *arrow.span("line"))
        place = Place(self._path, int(arrow["line"])) if int(arrow["line"]) else None
        self._path = ""
        return replace(frame, last_line=number, end=arrow.end(), parts=(*frame.parts, part), place=place)

    def belongs(self, line: str) -> bool:
        """Whether the line is a source line."""
        start = self._margin.behind(line)
        return start is not None and _SOURCE.match(line, start) is not None

    def _frame(self, number: int, text: str, start: int, inside: bool) -> TextFrame | None:
        match = _CELL.match(text, start)
        if match is None:
            match = _FILE.match(text, start)
            if match is not None and not inside and match["path"][0] not in "/~<" and match["path"][1:2] != ":":
                return None
        old = _OLD_FILE.match(text, start) if match is None and inside else None
        match = match or old
        if match is None:
            return None
        self._path = old["path"] if old is not None else ""
        if not inside:
            self._margin = Margin(text[:start])
        label = match.groupdict().get("label")
        return matched(Format.IPYTHON, number, match, Language.PYTHON, labels=(label,) if label else ())
