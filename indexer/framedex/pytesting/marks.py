"""Parse `@pytest.mark.framedex`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from framedex.budgets.model import Budget
from framedex.budgets.reading import budgets_named
from framedex.errors import FramedexError

if TYPE_CHECKING:
    import pytest

_REMEDY = "Write it like @pytest.mark.framedex(compiles=1, implicit_transfers=0, memory='2GiB')."


@dataclass(frozen=True, slots=True)
class Asked:
    """The budgets of a test, and whether to clear JAX's compilation caches before its body."""

    budgets: tuple[Budget, ...]
    clear_caches: bool = False


def asked_of(item: pytest.Item) -> Asked | None:
    """The budgets in the marks of a test; its own marks override those of its class and module.

    None without a mark. Raises FramedexError if a mark is malformed.
    """
    marks = list(item.iter_markers("framedex"))
    if not marks:
        return None
    values: dict[str, object] = {}
    for mark in reversed(marks):
        if mark.args:
            raise FramedexError(
                f"@pytest.mark.framedex takes no {mark.args[0]!r}: its budgets have names.",
                _REMEDY,
            )
        values |= mark.kwargs
    clear_caches = bool(values.pop("clear_caches", False))
    if not values:
        raise FramedexError("@pytest.mark.framedex names no budget.", _REMEDY)
    return Asked(budgets_named(values), clear_caches)
