"""The programs that the ranks of a job compiled, compared by their content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.fleet.running.states import RankState

_MAX_NAMES = 3  # of a rank


def find_different_programs(ranks: Sequence[RankState]) -> dict[int, tuple[str, ...]]:
    """The programs that only a minority of the ranks compiled, by rank: at most `_MAX_NAMES` names, sorted.

    Only ranks that also lack a program of most ranks are included. The names are JAX's, such as `jit_step`.
    """
    from framedex.captures.stored_files import list_stored_programs

    files = {each.rank: list_stored_programs(each.capture) for each in ranks}
    counts = Counter(name for names in files.values() for name in names)
    common = {name for name, count in counts.items() if 2 * count > len(ranks)}
    found = {}
    for each in ranks:
        own = files[each.rank] - common
        if own and not common <= files[each.rank]:
            found[each.rank] = tuple(_name_programs(each.capture, own))[:_MAX_NAMES]
    return found


def _name_programs(capture: Path, files: Iterable[str]) -> list[str]:
    from framedex.captures.stored_files import read_stored_program
    from framedex.programs.bytecode import read_bytecode

    contents = (read_stored_program(capture, file) for file in files)
    return sorted({read_bytecode(content).name for content in contents if content is not None} - {""})
