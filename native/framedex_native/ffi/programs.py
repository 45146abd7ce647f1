"""Joins FFI instances to the custom calls of their compiled program, and so to their sites.

XLA instantiates a program's custom calls one after another on one thread, in execution order. The instances that appear
during a compilation or load are therefore the program's custom calls, in order. Where XLA compiles on a thread of its
own (jaxlib 0.10), instances of a concurrently compiled program may match too. All matches are then marked ambiguous,
until another join leaves only one.
"""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .hlo import CustomCall, read_program
from .library import Instance, Library
from .registrations import Registrations
from .sites import FRONTEND_ATTRIBUTE, Sites
from .stacks import UserFrames

_LOADING_METHODS = ("compile_and_load", "deserialize_executable")
_NOT_REGISTERED = re.compile(
    r"No (?:FFI handler registered for|registered implementation for untyped custom call to) (\S+?)"
    r" (?:on a platform|on platform|for) (\w+)"
)
_SITE = re.compile(rf'{FRONTEND_ATTRIBUTE} = "(0x[0-9a-f]+)"')
# As native/ffi writes them: `eps=f32(0.5)`, `n=3`, `mode="fast"`.
_ATTRIBUTE = re.compile(r'(\w+)=(?:[a-z]\w*\()?("[^"\\]*"|[-\w.+]+)\)?(?=,|$)')
# Callbacks as native/ffi/instances.h describes them: the recorded name, empty for unrecorded callbacks.
_CALLBACK = re.compile(r'\bframedex_callback = "([^"]*)"')
_MLIR_ATTRIBUTE = re.compile(r'(\w+) = ("[^"\\]*"|[-\w.+]+ : )')


def observe_programs(client_type: Any, programs: Programs) -> None:
    """Observe every program that a client (`jaxlib.xla_client.Client`) compiles or loads."""
    for method in _LOADING_METHODS:
        load = getattr(client_type, method, None)
        if load is not None:
            setattr(client_type, method, _joining_load(load, programs))


def _joining_load(load: Any, programs: Programs) -> Any:
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


@dataclass
class _Join:
    """The custom calls of a compiled program, and the instance sequences that match them."""

    program: str
    calls: Sequence[CustomCall]
    runs: Sequence[Sequence[Instance]]

    def numbers(self) -> frozenset[int]:
        """The numbers of the instances."""
        return frozenset(instance.number for run in self.runs for instance in run)

    def sites(self) -> tuple[str | None, ...]:
        """The sites of the custom calls, in order."""
        return tuple(call.frontend_attributes.get(FRONTEND_ATTRIBUTE) for call in self.calls)


class Programs:
    """The compiled programs that call FFI targets."""

    def __init__(self, library: Library, sites: Sites, registrations: Registrations, user_frames: UserFrames) -> None:
        """Write joins through `library`."""
        self._library = library
        self._sites = sites
        self._registrations = registrations
        self._user_frames = user_frames
        self._lock = threading.Lock()
        self._ambiguous: list[_Join] = []
        self._explained: set[tuple[str, ...]] = set()
        self._untyped: set[tuple[object, ...]] = set()

    def mark(self) -> int:
        """The newest instance number, which separates existing instances from later ones."""
        return self._library.last_instance()

    def join(self, mark: int, executable: Any) -> None:
        """Join the instances created after `mark` to the program's custom calls. Never raises."""
        try:
            instances = self._library.instances_after(mark)
            if instances or self._registrations.untyped:
                for module in executable.hlo_modules():
                    self._join_module(module.as_serialized_hlo_module_proto(), instances)
        except Exception:  # the program must continue, with runs without a site
            return

    def _join_module(self, module: bytes, instances: Sequence[Instance]) -> None:
        program = read_program(module)
        for call in program.custom_calls:
            if call.target in self._registrations.untyped:
                self._describe_untyped(program.name, call)
        # Instances on this thread belong to this program. Other threads matter only if this thread has none.
        own = [instance for instance in instances if instance.thread == threading.get_native_id()]
        targets = {instance.target for instance in instances}
        calls = [call for call in program.custom_calls if call.target in targets]
        runs = list(_fitting_runs(calls, own or instances))
        with self._lock:
            self._resolve(_Join(program.name, calls, runs))

    def _resolve(self, join: _Join) -> None:
        """Write a join. It is certain if one sequence matches, or if all matching sequences have the same sites."""
        if len(join.runs) == 1:
            self._write_join(join)
        elif join.runs:
            self._ambiguous.append(join)
            rivals = [other for other in self._ambiguous if other.numbers() == join.numbers()]
            if len(rivals) == len(join.runs) and len({rival.sites() for rival in rivals}) == 1:
                self._ambiguous = [other for other in self._ambiguous if other not in rivals]
                self._write_join(join)
            else:
                self._write(join, "ambiguous")

    def _write_join(self, join: _Join) -> None:
        """Write a certain join, and remove its instances from the ambiguous joins."""
        self._write(join, "exact")
        taken = join.numbers()
        for other in list(self._ambiguous):
            left = [run for run in other.runs if not any(instance.number in taken for instance in run)]
            if len(left) < len(other.runs):
                self._ambiguous.remove(other)
                self._resolve(_Join(other.program, other.calls, left))

    def _write(self, join: _Join, how: str) -> None:
        for run in join.runs:
            for instance, call in zip(run, join.calls, strict=True):
                site = call.frontend_attributes.get(FRONTEND_ATTRIBUTE)
                line = self._line(site, call)
                is_certain = how == "exact"
                number = int(site, 16) if site and is_certain else 0
                text = line if is_certain else f"one of several lines, such as {line}"
                self._library.join(instance.number, number, text, is_certain=is_certain)
                self._describe(how, join.program, instance.number, call)

    def _describe_untyped(self, program: str, call: CustomCall) -> None:
        """Describe an untyped custom call once, by target: XLA creates no instances of untyped calls."""
        key = (call.target, call.frontend_attributes.get(FRONTEND_ATTRIBUTE), *call.frames)
        with self._lock:
            is_new = key not in self._untyped
            self._untyped.add(key)
        if is_new:
            self._describe("by_target", program, None, call)

    def _describe(self, how: str, program: str, instance: int | None, call: CustomCall) -> None:
        callback = _CALLBACK.search(call.attributes)
        if callback is not None and not callback[1]:
            return
        self._library.describe(
            "ffi_instance",
            {
                "instance": instance,
                "join": how,
                "program": program,
                "instruction": call.instruction,
                "target": call.target if callback is None else callback[1],
                "site": call.frontend_attributes.get(FRONTEND_ATTRIBUTE),
                "op_name": call.op_name,
                "operands": ", ".join(call.operands),
                "results": call.results,
                "frames": call.frames,
            },
        )

    def _line(self, site: str | None, call: CustomCall) -> str:
        if site:
            return self._sites.line(site)
        return self._user_frames.line(call.frames) or call.op_name or call.instruction

    def explain(self, error: Exception, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Record the lines that call a target unknown to XLA. Never raises."""
        try:
            match = _NOT_REGISTERED.search(str(error))
            if match is None:
                return
            target, platform = match[1], match[2]
            sites = [site for argument in (*args, *kwargs.values()) for site in _sites_in(argument, target)]
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
        except Exception:  # the program must receive its own error
            return


def _fitting_runs(calls: Sequence[CustomCall], instances: Sequence[Instance]) -> Iterator[Sequence[Instance]]:
    """Yield every sequence of consecutive instances on one thread that matches these calls in order."""
    threads: dict[int, list[Instance]] = {}
    for instance in instances:
        threads.setdefault(instance.thread, []).append(instance)
    for made in threads.values():
        for start in range(len(made) - len(calls) + 1):
            run = made[start : start + len(calls)]
            if run and all(map(_may_be, run, calls)):
                yield run


def _may_be(instance: Instance, call: CustomCall) -> bool:
    """Whether the targets match, and all attributes that both texts show in comparable form are equal."""
    if instance.target != call.target:
        return False
    ours = dict(_ATTRIBUTE.findall(instance.attributes))
    theirs = dict(_MLIR_ATTRIBUTE.findall(call.attributes))
    return all(_value(ours[name]) == _value(theirs[name].removesuffix(" : ")) for name in ours.keys() & theirs.keys())


def _value(text: str) -> str:
    try:
        return f"{float(text):g}"
    except ValueError:
        return text


def _sites_in(module: Any, target: str) -> Iterator[str]:
    """The sites of a target's custom calls in a module that failed to compile."""
    operation = getattr(module, "operation", None)
    text = operation.get_asm(large_elements_limit=16) if operation is not None else ""
    for line in text.splitlines():
        if f"@{target}(" in line and (match := _SITE.search(line)):
            yield match[1]
