"""Runtime calls below a line of the program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.guidebook.observed import Passed
    from framedex.model.rows import PythonLine


@dataclass(frozen=True, slots=True)
class BelowLine:
    """Calls of one runtime function from one line, all along the same stack path.

    `line` is the innermost line of the program itself (None: no Python is known). `way` has the frames from it to the
    call, outermost first, the function itself last. `duration` is in ns, without the recorded calls inside. `least` is
    the duration if each call were as fast as the fastest tenth of them.
    """

    line: PythonLine | None
    function: str
    way: tuple[Passed, ...]
    calls: int
    duration: int
    least: int
