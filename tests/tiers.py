"""Which tests `make test` leaves to `make test-all`: those marked exhaustive.

    @pytest.mark.exhaustive                     the whole test, with all its parameters
    @pytest.mark.exhaustive(keep=["ring"])      all parameters but the one with the id `ring`

A behaviour that README.md or docs/ name keeps a test in `make test`.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from _pytest.mark.structures import ParameterSet

OPTION = "--skip-exhaustive"


def exhaustive_unless(values: Iterable[str], kept: str) -> list[ParameterSet]:
    """Parameters of a test or fixture; all are exhaustive except the value `kept`."""
    return [pytest.param(value, marks=() if value == kept else pytest.mark.exhaustive) for value in values]


def deselect_exhaustive(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Remove the exhaustive tests from `items`, and report them to pytest as deselected."""
    exhaustive = [item for item in items if _is_exhaustive(item)]
    if exhaustive:
        config.hook.pytest_deselected(items=exhaustive)
        left_out = set(exhaustive)
        items[:] = [item for item in items if item not in left_out]


def _is_exhaustive(item: pytest.Item) -> bool:
    parameters = item.callspec.id if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ""
    return any(parameters not in marker.kwargs.get("keep", ()) for marker in item.iter_markers("exhaustive"))
