"""The data of all pages: observations by function and by run, and the addresses of pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from framedex.guidebook.site import addresses
from framedex.model.guidebook import (
    FunctionDescription,
    Kind,
    LifeCycle,
    NameCount,
    Observations,
    ObservedFunction,
    Run,
)


@dataclass(frozen=True, slots=True)
class Setup:
    """A framework and a plug-in with their versions: the set-up that several runs share."""

    framework: str
    version: str
    plugin: str
    api: str

    @property
    def framework_name(self) -> str:
        """The name of the framework with its version."""
        return f"{self.framework} {self.version}".strip()


class GuidebookData:
    """Observations and descriptions, indexed for the pages of one site."""

    def __init__(self, title: str, observations: Observations, described: Sequence[FunctionDescription]) -> None:
        self.title = title
        self.observations = observations
        self.described = tuple(described)
        self.runs = {run.key: run for run in observations.runs}
        self.setups = tuple(dict.fromkeys(run_setup(run) for run in observations.runs))
        self._observed: dict[str, list[ObservedFunction]] = defaultdict(list)
        for observed in observations.functions:
            self._observed[observed.function].append(observed)
        self._described = {each.name: each for each in described}
        names = list(dict.fromkeys([*self._described, *self._observed]))
        pages = addresses.make_unique(addresses.function_page(name) for name in names)
        self.function_pages = dict(zip(names, pages, strict=True))
        self._cycles: dict[str, list[LifeCycle]] = defaultdict(list)
        for cycle in observations.objects:
            self._cycles[cycle.type].append(cycle)
        types = addresses.make_unique(addresses.object_page(name) for name in self._cycles)
        self.object_pages = dict(zip(self._cycles, types, strict=True))
        tasks = addresses.make_unique(addresses.task_page(task.name) for task in observations.tasks)
        self.task_pages = dict(zip(observations.tasks, tasks, strict=True))

    def find_observations(self, function: str) -> list[ObservedFunction]:
        """Return the observations of a function by run, most calls first."""
        return sorted(self._observed.get(function, []), key=lambda each: -each.calls)

    def calls(self, function: str) -> int:
        """Return the number of calls of a function in all runs."""
        return sum(each.calls for each in self._observed.get(function, []))

    def count_calls_in(self, function: str, setup: Setup) -> int:
        """Return the number of calls of a function in the runs of a set-up."""
        return sum(each.calls for each in self._observed.get(function, []) if run_setup(self.runs[each.run]) == setup)

    def called_by_frameworks(self, kind: Kind) -> list[NameCount]:
        """Return the number of functions of a kind that each framework calls, largest first."""
        called: dict[str, set[str]] = defaultdict(set)
        for each in self.described:
            if each.kind == kind:
                for observed in self._observed.get(each.name, []):
                    called[self.runs[observed.run].framework].add(each.name)
        counts = [NameCount(framework, len(names)) for framework, names in called.items()]
        return sorted(counts, key=lambda each: (-each.count, each.name))

    def description(self, function: str) -> FunctionDescription | None:
        """Return the ABI description of a function; None if it has none."""
        return self._described.get(function)

    def functions_without_description(self) -> list[str]:
        """Return the called functions that have no description."""
        return [name for name in self._observed if name not in self._described]

    def cycles(self, type_name: str) -> list[LifeCycle]:
        """Return the observations of an object type by run, most objects first."""
        return sorted(self._cycles.get(type_name, []), key=lambda each: -each.objects)

    def types(self) -> list[str]:
        """Return the object types, sorted by name."""
        return sorted(self._cycles)


def run_setup(run: Run) -> Setup:
    """Return the set-up of a run."""
    return Setup(run.framework, run.framework_version, run.plugin, run.api)


def sum_counts(counts: Iterable[Sequence[NameCount]]) -> list[NameCount]:
    """Return the sums of several counts by name, largest first."""
    sums: dict[str, int] = defaultdict(int)
    for counted in counts:
        for each in counted:
            sums[each.name] += each.count
    return [NameCount(name, count) for name, count in sorted(sums.items(), key=lambda item: (-item[1], item[0]))]
