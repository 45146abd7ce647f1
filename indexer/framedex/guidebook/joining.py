"""Join observations from several captures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from framedex.model.guidebook.observed import Observations


def joined(several: Sequence[Observations]) -> Observations:
    """Return all observations as one. Runs with the same key get a number appended."""
    used: Counter[str] = Counter()
    found = [_renamed(each, used) for each in several]
    return Observations(
        tuple(run for each in found for run in each.runs),
        tuple(function for each in found for function in each.functions),
        tuple(life for each in found for life in each.objects),
        tuple(task for each in found for task in each.tasks),
    )


def free_key(key: str, used: Counter[str]) -> str:
    """Return the key, with a number appended if it is already used, and mark it as used."""
    used[key] += 1
    if used[key] == 1:
        return key
    return free_key(f"{key}-{used[key]}", used)


def _renamed(observations: Observations, used: Counter[str]) -> Observations:
    keys = {run.key: free_key(run.key, used) for run in observations.runs}
    if all(old == new for old, new in keys.items()):
        return observations
    return Observations(
        tuple(replace(run, key=keys[run.key]) for run in observations.runs),
        tuple(replace(each, run=keys[each.run]) for each in observations.functions),
        tuple(replace(each, run=keys[each.run]) for each in observations.objects),
        tuple(replace(each, run=keys[each.run]) for each in observations.tasks),
    )
