"""Parser of Python files with the line in brackets: pdb, ipdb, the `trace` module, and numba.

Sources: CPython's Lib/bdb.py (format_stack_entry), Lib/pdb.py, Lib/trace.py; numba/core/errors.py and ir.py (Loc).
"""

from __future__ import annotations

from framedex.model import Language
from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, Piece, TextFrame
from framedex.text_stacks.text.spans import matched

_BEGINS = r"(?:^|(?<=[\s\]:>|)]))"
_PATH = r"(?P<path>(?:[A-Za-z]:)?[^\s:()\[\]|<>\"']+\.pyx?|<\w+>)\((?P<line>\d{1,9})\)"
_PDB = compiled_on_use(_BEGINS + r"(?:> +)?" + _PATH + r"(?P<function><\w+>|[\w.]+)\(\)(?:->.*)?$")
_TRACED = compiled_on_use(_BEGINS + _PATH + r": ")
_NUMBA = compiled_on_use(r" at (?P<path>(?:[/.<]|[A-Za-z]:\\).*) \((?P<line>\d{1,9})\)$")
_MODULE = compiled_on_use(r"(?:^|\s)--- modulename: [\w.]+, funcname: [\w.<>]+$")
_BELONGS = compiled_on_use(r"\s*(?:-> |\(\(?Pdb\)+ |ipdb> )|\s*(?:-+> ?)?\d+ ")


class PythonDebuggers:
    """Parser of all four; one object per text."""

    is_seldom = True
    remembers = ()
    triggers = (".py(", ".pyx(", "<string>(", "<stdin>(", "During: ", " --- modulename: ")

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return a frame of a debugger, a traced line, or the location of a numba error."""
        text = line.rstrip()
        if "(" not in text:
            heading = _MODULE.search(text) if "--- modulename: " in text and not inside else None
            return Piece(Format.PYTHON_TRACE, begins=heading[0].strip(" -")) if heading is not None else None
        form, match = Format.PDB, None
        if "During: " in text:
            start = text.rfind(" at ")
            form, match = Format.NUMBA, _NUMBA.match(text, start) if start >= 0 else None
        elif ")" in text:
            match = _PDB.search(text) if "()" in text else None
            if match is None and inside and "): " in text:
                form, match = Format.PYTHON_TRACE, _TRACED.search(text)
        if match is None:
            return None
        return Piece(form, (matched(form, number, match, Language.PYTHON),), innermost_first=False)

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line."""
        return None

    def belongs(self, line: str) -> bool:
        """Whether the line is a debugger's source line or prompt, or the heading of a function."""
        return _BELONGS.match(line) is not None or ("--- modulename: " in line and _MODULE.search(line) is not None)
