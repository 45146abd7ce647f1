"""The line of Python that led to a call: the one place that a user of the program recognises."""

from __future__ import annotations

import re
from collections.abc import Iterable

from framedex.index.rows import IN_JSON, Reader, location, placeholders
from framedex.model import PythonLine

# Where installed packages and the standard library are, and what is in no file at all.
_INSTALLED = re.compile(r"/(?:site|dist)-packages/|/lib(?:64)?/python3\.|^<")


def is_installed(path: str) -> bool:
    """Whether a Python file is of an installed package or the standard library, or none at all."""
    return _INSTALLED.search(path) is not None


def python_lines(reader: Reader, stacks: Iterable[int]) -> dict[int, PythonLine]:
    """For each stack with Python the innermost frame of the program itself, else the innermost of all."""
    rows = reader.rows(
        "WITH RECURSIVE up(stack, node) AS ("
        f" SELECT id, coalesce(nullif(site_leaf, 0), nullif(python_leaf, 0), leaf) FROM stacks WHERE id {IN_JSON}"
        " UNION ALL SELECT up.stack, n.parent FROM up JOIN nodes n ON n.id = up.node WHERE n.parent"
        ") SELECT up.stack, fn.name, f.path, fr.line, fr.how FROM up JOIN nodes n ON n.id = up.node"
        " JOIN frames fr ON fr.id = n.frame JOIN functions fn ON fn.id = fr.function AND fn.language = 'python'"
        " JOIN files f ON f.id = fr.file ORDER BY up.stack, n.depth DESC",
        placeholders(sorted(set(stacks))),
    )
    found: dict[int, PythonLine] = {}
    own: set[int] = set()
    for stack, function, path, line, how in rows:
        place = location(path, line, how)
        is_own = not is_installed(path)
        if place is not None and stack not in own and (stack not in found or is_own):
            found[stack] = PythonLine(function, place)
            own.update({stack} if is_own else ())
    return found
