"""What lies below a line of the program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.guidebook.observed import Passed
    from framedex.model.rows import PythonLine


@dataclass(frozen=True, slots=True)
class BelowLine:
    """Calls of one function of the runtime that a line led to, all by one way.

    `line` is the innermost of the program itself (None: no Python is known). `way` are the frames from it to the call,
    outermost first, the function itself the last. `duration` in ns, without the recorded calls inside; `least` is
    what it were if each call had been as quick as the quickest tenth of them.
    """

    line: PythonLine | None
    function: str
    way: tuple[Passed, ...]
    calls: int
    duration: int
    least: int
