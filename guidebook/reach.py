"""Tells which functions the captures of the guidebook do not have: python -m guidebook.reach [FOLDER]

For each table: how many of its functions were called, and the names of the others.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from framedex.captures import capture_folders, read_capture
from framedex.guidebook.described import described
from guidebook.record import CAPTURES


def main(folder: Path = CAPTURES) -> int:
    """Prints a paragraph for each table. The status is 1 where there are no captures."""
    captures = [capture for program in folder.glob("*/*") for capture in capture_folders(program)]
    if not captures:
        print(f"guidebook: no captures in {folder}. Record them: make guidebook-captures", file=sys.stderr)
        return 1
    called = functions_of(captures)
    tables: dict[str, dict[str, bool]] = {}
    for function in described():
        tables.setdefault(f"{function.table} ({function.kind.value})", {})[function.name] = function.name in called
    for table, functions in tables.items():
        missing = [name for name, is_called in functions.items() if not is_called]
        print(f"{table}: {len(functions) - len(missing)} of {len(functions)}")
        if missing:
            print("  not called: " + ", ".join(missing))
    return 0


def functions_of(captures: Iterable[Path]) -> set[str]:
    """The functions that any of these captures has a call of."""
    found: set[str] = set()
    for path in captures:
        capture = read_capture(path)
        found.update(capture.functions[index].name for index in set(capture.calls.function.tolist()))
    return found


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
