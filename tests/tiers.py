"""Which tests `make test` leaves to `make test-all`: those marked exhaustive.

    @pytest.mark.exhaustive                     the whole test, with all its parameters
    @pytest.mark.exhaustive(keep=["ring"])      all parameters but the one with the id `ring`

A behaviour that README.md or docs/ name keeps a test in `make test`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import pytest

OPTION = "--skip-exhaustive"


def exhaustive_unless(values: Iterable[object], kept: object) -> list[object]:
    """Parameters of a test or fixture; all are exhaustive except the value `kept`."""
    return [pytest.param(value, marks=() if value == kept else pytest.mark.exhaustive) for value in values]


def deselect_exhaustive(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Remove the exhaustive tests from `items`, and report them to pytest as deselected.

    Raises UsageError if `keep` names an id that its test does not have, where all ids of a test are collected.
    """
    is_partial = config.getoption("lf", False) or any("::" in argument for argument in config.args)
    if not is_partial:
        _check_kept_ids(items)
    exhaustive = [item for item in items if _is_exhaustive(item)]
    if exhaustive:
        config.hook.pytest_deselected(items=exhaustive)
        left_out = set(exhaustive)
        items[:] = [item for item in items if item not in left_out]


def _is_exhaustive(item: pytest.Item) -> bool:
    return any(_parameters(item) not in _kept(marker) for marker in item.iter_markers("exhaustive"))


def _check_kept_ids(items: Iterable[pytest.Item]) -> None:
    wanted: dict[str, set[str]] = defaultdict(set)
    found: dict[str, set[str]] = defaultdict(set)
    for item in items:
        for marker in item.iter_markers("exhaustive"):
            test = item.nodeid.removesuffix(f"[{_parameters(item)}]")
            wanted[test] |= set(_kept(marker))
            found[test].add(_parameters(item))
    for test, ids in wanted.items():
        if missing := sorted(ids - found[test]):
            raise pytest.UsageError(f"{test} has no parameters {missing}, which its mark exhaustive(keep=...) names")


def _parameters(item: pytest.Item) -> str:
    return item.callspec.id if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ""


def _kept(marker: pytest.Mark) -> Iterable[str]:
    kept: Iterable[str] = marker.kwargs.get("keep", ())
    return kept
