"""The functions that each JAX release needs, and which of them a plug-in lacks.

`needed_functions.json` comes from recordings of JAX programs: `python -m guidebook.needed_functions` writes it.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framedex.plugins.conformance import abi
from framedex.plugins.conformance.model import Report


@dataclass(frozen=True, slots=True)
class Level:
    """A JAX release: the number of functions that its programs call, and the functions that the plug-in lacks.

    `missing` gives by function its problem, and the number of `programs` that need it.
    """

    jax: str
    programs: int
    needed: int
    missing: dict[str, tuple[str, int]]


def judge_levels(report: Report) -> list[Level]:
    """The level of a plug-in for each recorded JAX release, oldest first."""
    outcomes = report.outcomes()
    found = []
    for jax, release in _releases().items():
        needed = {name: count for name, count in release["functions"].items() if _is_called_by_jax(report, name)}
        missing = {
            name: (problem, programs)
            for name, programs in needed.items()
            if (problem := _find_problem(name, report, outcomes.get(name, set())))
        }
        found.append(Level(jax, release["programs"], len(needed), missing))
    return found


def _is_called_by_jax(report: Report, name: str) -> bool:
    """Whether JAX calls this function of the plug-in. JAX calls functions only of extensions that exist."""
    if name in abi.functions():
        return True
    owners = [
        each for each, table in abi.read_extensions().items() if name in {f.name for f in table.functions.values()}
    ]
    return any(owner in report.extensions for owner in owners)


def _find_problem(name: str, report: Report, codes: set[str]) -> str:
    """The reason why a function cannot be used; empty if it can, or if no check called it."""
    return report.missing.get(name) or ("UNIMPLEMENTED" if codes == {"UNIMPLEMENTED"} else "")


@functools.cache
def _releases() -> dict[str, Any]:
    releases: dict[str, Any] = json.loads(Path(__file__).with_name("needed_functions.json").read_bytes())["releases"]
    return releases
