"""Write the docstrings of Python files for the prose linter: scripts/docstrings.py TARGET FOLDER...

`TARGET/path/of/file.py.md` has each docstring on its own lines of the Python file, so findings have the right line.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

_MARKS = re.compile(r'^r?"""|"""$')
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstring_lines(source: str) -> list[str]:
    """One line per line of `source`: the text of docstrings without indentation, else empty."""
    written = source.splitlines()
    kept = [""] * len(written)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node) is not None:
            literal = node.body[0]
            for number in range(literal.lineno - 1, literal.end_lineno or literal.lineno):
                kept[number] = _MARKS.sub("", written[number].strip())
    return kept


def main(target: Path, folders: list[Path]) -> None:
    """Write the Markdown files, and remove those of Python files that are gone."""
    written = set()
    for file in (file for folder in folders for file in sorted(folder.rglob("*.py"))):
        page = target / f"{file}.md"
        text = "\n".join(docstring_lines(file.read_text(encoding="utf-8"))) + "\n"
        written.add(page)
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text, encoding="utf-8")
    for page in target.rglob("*.py.md"):
        if page not in written:
            page.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(each) for each in sys.argv[2:]])
