"""Joins the instances of FFI targets to the custom calls of the program that was compiled, and so to their sites.

XLA instantiates the custom calls of a program one after the other, on one thread, in the order in which the compiled
module runs them. The instances that appear while a program is compiled or loaded are therefore its custom calls, in
order. Where other programs with the same targets are compiled at the same time, more than one run of instances fits;
these are marked ambiguous, with every site that they may come from.
"""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from .hlo import CustomCall, read_program
from .library import Instance, Library
from .registrations import Registrations
from .sites import FRONTEND_ATTRIBUTE, Sites
from .stacks import UserFrames, line_of

_LOADING_METHODS = ("compile_and_load", "deserialize_executable")
_NOT_REGISTERED = re.compile(
    r"No (?:FFI handler registered for|registered implementation for untyped custom call to) (\S+?)"
    r" (?:on a platform|on platform|for) (\w+)"
)
_SITE = re.compile(rf'{FRONTEND_ATTRIBUTE} = "(0x[0-9a-f]+)"')


def follow_programs(client_type: Any, programs: Programs) -> None:
    """Look at every program that a client (`jaxlib.xla_client.Client`) compiles or loads."""
    for method in _LOADING_METHODS:
        load = getattr(client_type, method, None)
        if load is not None:
            setattr(client_type, method, _followed(load, programs))


def _followed(load: Any, programs: Programs) -> Any:
    @functools.wraps(load)
    def load_and_join(*args: Any, **kwargs: Any) -> Any:
        mark = programs.mark()
        try:
            executable = load(*args, **kwargs)
        except Exception as error:
            programs.explain(error, args, kwargs)
            raise
        programs.join(mark, executable)
        return executable

    return load_and_join


class Programs:
    """The programs that were compiled, as far as they call FFI targets."""

    def __init__(
        self, library: Library, sites: Sites, registrations: Registrations, user_frames: UserFrames
    ) -> None:
        """Joins are written through `library`."""
        self._library = library
        self._sites = sites
        self._registrations = registrations
        self._user_frames = user_frames
        self._lock = threading.Lock()
        self._candidates: dict[int, set[str]] = {}
        self._explained: set[tuple[Any, ...]] = set()

    def mark(self) -> int:
        """What tells the instances of now from those that come."""
        return self._library.last_instance()

    def join(self, mark: int, executable: Any) -> None:
        """Join the instances that were made after `mark` to the program's custom calls. Never raises."""
        try:
            instances = self._library.instances_after(mark)
            if instances:
                for module in executable.hlo_modules():
                    self._join_module(module.as_serialized_hlo_module_proto(), instances)
        except Exception:  # the program has to go on; its runs are without a site then
            return

    def _join_module(self, module: bytes, instances: Sequence[Instance]) -> None:
        program = read_program(module)
        targets = {instance.target.decode("utf-8", "surrogateescape") for instance in instances}
        calls = [call for call in program.custom_calls if call.target in targets]
        runs = list(_fitting_runs([call.target for call in calls], instances))
        for run in runs:
            for instance, call in zip(run, calls, strict=True):
                self._describe(program.name, instance, call, is_exact=len(runs) == 1)

    def _describe(self, program: str, instance: Instance, call: CustomCall, *, is_exact: bool) -> None:
        site = call.frontend_attributes.get(FRONTEND_ATTRIBUTE, "")
        line = self._line(site, call)
        with self._lock:
            candidates = self._candidates.setdefault(instance.id, set())
            candidates.add(site or repr(call.frames))
            is_exact = is_exact or (len(candidates) == 1 and bool(site))
        number = int(site, 16) if site and is_exact else 0
        self._library.join(instance.id, number, line if is_exact else f"one of several lines, such as {line}")
        self._library.describe(
            "ffi_instance",
            {
                "instance": instance.id,
                "target": call.target,
                "site": site or None,
                "join": "exact" if is_exact else "ambiguous",
                "program": program,
                "instruction": call.instruction,
                "op_name": call.op_name,
                "operands": ", ".join(call.operands),
                "results": call.results,
                "frames": call.frames,
            },
        )

    def _line(self, site: str, call: CustomCall) -> str:
        if site:
            return self._sites.line(site)
        if call.frames:
            return line_of(call.frames[self._user_frames.first(call.frames)])
        return call.op_name or call.instruction

    def explain(self, error: Exception, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Write down which lines called a target that XLA does not know. Never raises."""
        try:
            match = _NOT_REGISTERED.search(str(error))
            if match is None:
                return
            target, platform = match[1], match[2]
            sites = [site for argument in (*args, *kwargs.values()) for site in _sites_of(target, argument)]
            key = (target, platform, *sites)
            if key in self._explained:
                return
            self._explained.add(key)
            self._library.start_recording()
            self._library.describe(
                "ffi_problem",
                {
                    "kind": "not_registered",
                    "target": target,
                    "platform": platform,
                    "registered_for": self._registrations.platforms.get(target, []),
                    "sites": sites,
                    "message": str(error),
                },
            )
        except Exception:  # what is raised is the program's own error
            return


def _fitting_runs(targets: Sequence[str], instances: Sequence[Instance]) -> Iterator[list[Instance]]:
    """Every run of consecutive instances of one thread that are of these targets, in this order."""
    threads: dict[int, list[Instance]] = {}
    for instance in instances:
        threads.setdefault(instance.thread, []).append(instance)
    for made in threads.values():
        names = [instance.target.decode("utf-8", "surrogateescape") for instance in made]
        for start in range(len(made) - len(targets) + 1):
            if targets and names[start : start + len(targets)] == list(targets):
                yield made[start : start + len(targets)]


def _sites_of(target: str, module: Any) -> Iterator[str]:
    """The sites of a target's custom calls in a module that was to be compiled."""
    operation = getattr(module, "operation", None)
    text = operation.get_asm(large_elements_limit=16) if operation is not None else ""
    for line in text.splitlines():
        if f"@{target}(" in line and (match := _SITE.search(line)):
            yield match[1]
