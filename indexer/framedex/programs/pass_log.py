"""The time that XLA's passes took, from the log that XLA writes with `TF_CPP_VMODULE=hlo_pass_pipeline=1`.

Sources: xla/hlo/pass/hlo_pass_pipeline.cc and XLA's scoped logging timer. Each pass has a line at its start and at its
end. A nested pipeline is also a pass, and its time includes that of its passes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from framedex.base.lazy import compile_on_use

_LINE = compile_on_use(r"(?:[ \d](?P<thread>\d{1,12}) )?[\w/]{0,200}hlo_pass_pipeline\.cc:\d+\](?P<text>.*)")
_PIPELINE = compile_on_use(r" Running HLO pass pipeline on module (?P<module>\S{1,1000}): ")
_BEGIN = compile_on_use(r"   HLO pass (?P<name>\S{1,200})$")
_END = compile_on_use(r" HLO pass: (?P<name>\S{1,200}) time: [^(]{1,50}\((?P<microseconds>\d{1,15}) us\)")
_MAX_DEPTH = 100
_NS_PER_US = 1_000


@dataclass(frozen=True, slots=True)
class TimedPass:
    """A pass over a module: how often it ran, and its own time in ns, without the passes inside it."""

    name: str
    count: int
    duration: int


@dataclass(frozen=True, slots=True)
class ModulePasses:
    """The passes over all modules of one name, such as `jit_step`, the longest first."""

    module: str
    passes: tuple[TimedPass, ...]

    @property
    def duration(self) -> int:
        """The time of all passes in ns."""
        return sum(each.duration for each in self.passes)


@dataclass(slots=True)
class _Thread:
    """The state of a thread that compiles: its module, and for each running pass the time of the passes inside."""

    module: str = ""
    inner: list[int] = field(default_factory=list)


def read_pass_log(lines: Iterable[str]) -> list[ModulePasses]:
    """Return the passes of each module in a log, the module with the most time first."""
    counts: Counter[tuple[str, str]] = Counter()
    durations: Counter[tuple[str, str]] = Counter()
    for module, name, duration in _read_passes(lines):
        counts[module, name] += 1
        durations[module, name] += duration
    by_module: dict[str, list[TimedPass]] = {}
    for (module, name), duration in durations.most_common():
        by_module.setdefault(module, []).append(TimedPass(name, counts[module, name], duration))
    found = [ModulePasses(module, tuple(passes)) for module, passes in by_module.items()]
    return sorted(found, key=lambda each: -each.duration)


def _read_passes(lines: Iterable[str]) -> Iterator[tuple[str, str, int]]:
    """Yield module, name and own time of each pass that ended."""
    threads: dict[str, _Thread] = {}
    for line in lines:
        if (match := _LINE.search(line)) is None:
            continue
        thread, text = threads.setdefault(match["thread"] or "", _Thread()), match["text"].rstrip()
        if (pipeline := _PIPELINE.match(text)) is not None:
            thread.module = pipeline["module"]
        elif _BEGIN.match(text) is not None:
            del thread.inner[_MAX_DEPTH:]
            thread.inner.append(0)
        elif (end := _END.match(text)) is not None:
            duration = int(end["microseconds"]) * _NS_PER_US
            inside = thread.inner.pop() if thread.inner else 0
            if thread.inner:
                thread.inner[-1] += duration
            yield thread.module, end["name"], max(duration - inside, 0)
