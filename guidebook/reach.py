"""Report the API functions that no capture of the guidebook calls: python -m guidebook.reach [FOLDER]

For each table: the number of called functions, and the names of the others.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from framedex.captures import capture_folders, read_capture
from framedex.guidebook.api_functions import read_api_functions
from guidebook.record import CAPTURES


def main(folder: Path = CAPTURES) -> int:
    """Print a paragraph for each table. Return the exit status, which is 1 if there are no captures."""
    captures = [capture for program in folder.glob("*/*") for capture in capture_folders(program)]
    if not captures:
        print(f"guidebook: no captures in {folder}. Record them: make guidebook-captures", file=sys.stderr)
        return 1
    called = called_functions(captures)
    tables: dict[str, dict[str, bool]] = {}
    for function in read_api_functions():
        tables.setdefault(f"{function.table} ({function.kind.value})", {})[function.name] = function.name in called
    for table, functions in tables.items():
        missing = [name for name, is_called in functions.items() if not is_called]
        print(f"{table}: {len(functions) - len(missing)} of {len(functions)}")
        if missing:
            print("  not called: " + ", ".join(missing))
    return 0


def called_functions(captures: Iterable[Path]) -> set[str]:
    """Return the functions that any of these captures calls."""
    found: set[str] = set()
    for path in captures:
        capture = read_capture(path)
        found.update(capture.functions[index].name for index in set(capture.calls.function.tolist()))
    return found


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
