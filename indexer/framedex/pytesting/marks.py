"""What `@pytest.mark.framedex` and `recorded(...)` ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framedex.budgets.model import Budget, Subject
from framedex.budgets.reading import budget_of_memory, budgets_of
from framedex.errors import FramedexError
from framedex.nearest import nearest

if TYPE_CHECKING:
    import pytest

_COUNTS = {"compiles": Subject.COMPILES, "implicit_transfers": Subject.IMPLICIT_TRANSFERS}
_KNOWN = (*_COUNTS, "memory", "clear_caches")


@dataclass(frozen=True, slots=True)
class Asked:
    """The budgets of a test, and whether JAX is to forget what it has compiled before the body runs."""

    budgets: tuple[Budget, ...]
    clear_caches: bool = False


def asked_of(item: pytest.Item) -> Asked | None:
    """What the marks of a test ask for, those of the test itself before those of its class and module; None: nothing.

    Raises FramedexError where a mark cannot be understood.
    """
    marks = list(item.iter_markers("framedex"))
    if not marks:
        return None
    values: dict[str, object] = {}
    for mark in reversed(marks):
        if mark.args:
            raise FramedexError(
                f"@pytest.mark.framedex takes no {mark.args[0]!r}: its budgets have names.",
                "Write it like @pytest.mark.framedex(compiles=1, implicit_transfers=0, memory='2GiB').",
            )
        values |= mark.kwargs
    if not values.keys() - {"clear_caches"}:
        raise FramedexError(
            "@pytest.mark.framedex names no budget.",
            "Write it like @pytest.mark.framedex(compiles=1, implicit_transfers=0, memory='2GiB').",
        )
    return Asked(budgets_named(values), clear_caches=bool(values.get("clear_caches", False)))


def budgets_named(values: Mapping[str, object]) -> tuple[Budget, ...]:
    """The budgets of keywords; None is none. Raises FramedexError where one cannot be understood."""
    for name in values:
        if name not in _KNOWN:
            near = nearest(name, _KNOWN)
            raise FramedexError(
                f"framedex knows no budget {name!r}.",
                f"Did you mean {near}?" if near else f"There are {_listed(_KNOWN)}.",
            )
    found: list[Budget] = []
    try:
        for name, subject in _COUNTS.items():
            if values.get(name) is not None:
                found += budgets_of(subject, values[name])
        if values.get("memory") is not None:
            found.append(budget_of_memory(values["memory"]))
    except ValueError as error:
        raise FramedexError(f"A budget cannot be understood: {error}.") from None
    return tuple(found)


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
