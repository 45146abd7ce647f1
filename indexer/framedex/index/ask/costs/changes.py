"""Differences between a compilation and the previous one of the same function: program, options and JAX's notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from framedex.model import Cause, Change, Noted, NotedArgument, Parameter, Signature

MOST_VALUES = 50
"""Limit of reported values per change: the first ones and the last."""

# JAX's attributes of arguments and results, and the cause that each stands for.
_ABOUT = {
    "mhlo.sharding": Cause.SHARDING,
    "sdy.sharding": Cause.SHARDING,
    "tf.aliasing_output": Cause.DONATION,
    "jax.buffer_donor": Cause.DONATION,
    "mhlo.layout_mode": Cause.LAYOUT,
    "mhlo.memory_kind": Cause.LAYOUT,
}
_NONE = {Cause.SHARDING: "not said", Cause.DONATION: "kept", Cause.LAYOUT: "default"}

Step = tuple[Cause, str, str, str]
"""(cause, subject, old value, new value); both values are empty if unknown."""


_AS_BEFORE = "arguments as before"  # the subject of a change if no argument changed according to JAX
_NOT_GIVEN, _NOT_SET = "not given", "not set"
_DERIVED = {  # options that JAX derives from the program
    "allow_spmd_sharding_propagation_to_output",
    "allow_spmd_sharding_propagation_to_parameters",
    "num_partitions",
    "num_replicas",
    "parameter_is_tupled_arguments",
    "use_auto_spmd_partitioning",
    "use_spmd_partitioning",
    "xla_detailed_logging",
}
_ASSIGNMENT = "device_assignment"


@dataclass(frozen=True, slots=True)
class Compiled:
    """The data of a compilation; None marks unknown parts."""

    signature: Signature | None
    noted: Noted | None
    options: Mapping[str, str] | None


def steps(before: Compiled, after: Compiled) -> list[Step]:
    """Return the differences: `Cause.SAME` if there are none, an empty list if too little is known."""
    found: list[Step] = []
    if before.signature is not None and after.signature is not None:
        found += _of_arguments(before.signature, after.signature)
    if before.noted is not None and after.noted is not None:
        found += _of_notes(before, after)
    if before.options is not None and after.options is not None:
        found += _of_options(before.options, after.options)
    if found or before.signature is None or after.signature is None:
        return found
    what = _AS_BEFORE if before.noted is not None and after.noted is not None else ""
    return list(_of_content(before.signature, after.signature, what)) or [(Cause.SAME, what, "", "")]


def changes(found: Iterable[tuple[list[Step], int]]) -> tuple[Change, ...]:
    """Return the changes over several compilations with their values, most frequent first."""
    values: dict[tuple[Cause, str], dict[str, None]] = {}
    times: Counter[tuple[Cause, str]] = Counter()
    for each, count in found:
        for cause, what, old, new in each:
            times[cause, what] += count
            values.setdefault((cause, what), {}).update(dict.fromkeys(value for value in (old, new) if value))
    return tuple(Change(*key, _told(list(values[key]))) for key, _ in times.most_common())


def _told(values: list[str]) -> tuple[str, ...]:
    return tuple(values if len(values) <= MOST_VALUES else [*values[: MOST_VALUES - 1], values[-1]])


def _of_arguments(before: Signature, after: Signature) -> Iterator[Step]:
    if len(before.arguments) != len(after.arguments):
        yield Cause.ARGUMENTS, "number of arguments", str(len(before.arguments)), str(len(after.arguments))
        return
    if (before.partitions, before.replicas) != (after.partitions, after.replicas):
        yield Cause.SHARDING, "devices", _devices(before), _devices(after)
    for place, (old, new) in enumerate(zip(before.arguments, after.arguments, strict=True)):
        name = f"argument {place}" + (f" ({new.name})" if new.name else "")
        if old.name != new.name and old.name and new.name:
            yield Cause.ARGUMENTS, f"argument {place}", old.name, new.name
        yield from _of_parameter(name, old, new)


def _of_content(before: Signature, after: Signature, what: str) -> Iterator[Step]:
    """Yield differences between programs with equal arguments; `what` is the subject of a code change."""
    for place, (old, new) in enumerate(zip(before.results, after.results, strict=False)):
        yield from _of_attributes(f"result {place}", old, new)
        if old.type != new.type:
            yield Cause.CODE, f"result {place}", old.type, new.type
            return
    gone, new_ones = Counter(before.constants), Counter(after.constants)
    gone, new_ones = gone - new_ones, new_ones - gone
    if before.code != after.code:
        yield Cause.CODE, what, "", ""
    elif gone or new_ones:
        yield Cause.CONSTANTS, "constants", ", ".join(gone.elements()), ", ".join(new_ones.elements())


def _of_parameter(name: str, old: Parameter, new: Parameter) -> Iterator[Step]:
    if old.type != new.type:
        yield _of_types(name, old, new)
    yield from _of_attributes(name, old, new)


def _of_types(name: str, old: Parameter | NotedArgument, new: Parameter | NotedArgument) -> Step:
    of_old, of_new = old.type.partition("[")[0], new.type.partition("[")[0]
    return (Cause.SHAPE if of_old == of_new else Cause.DTYPE), name, old.type, new.type


def _of_notes(before: Compiled, after: Compiled) -> Iterator[Step]:
    """Yield differences in JAX's notes that the two programs, if both are known, do not already show."""
    assert before.noted is not None and after.noted is not None
    old_ones, new_ones = before.noted.arguments, after.noted.arguments
    used, told = _in_programs(before.signature, after.signature)
    has_programs = before.signature is not None and after.signature is not None
    if len(old_ones) == len(new_ones):
        for place, (old, new) in enumerate(zip(old_ones, new_ones, strict=True)):
            name = f"argument {used.get(new.name, place)}" + (f" ({new.name})" if new.name else "")
            if has_programs and used and new.name and new.name not in used:
                name = f"unused argument {new.name}"
            if old.type == new.type and old.is_weak != new.is_weak:
                yield Cause.WEAK_TYPE, name, _weak(old), _weak(new)
            elif old.type != new.type and new.name not in told:
                yield _of_types(name, old, new)
    elif not has_programs:
        yield Cause.ARGUMENTS, "number of arguments", str(len(old_ones)), str(len(new_ones))
    old_values, new_values = dict(before.noted.statics), dict(after.noted.statics)
    for name in dict.fromkeys((*old_values, *new_values)):
        was, now = old_values.get(name, _NOT_GIVEN), new_values.get(name, _NOT_GIVEN)
        if was != now:
            yield Cause.STATIC, name, was, now


def _in_programs(before: Signature | None, after: Signature | None) -> tuple[dict[str, int], set[str]]:
    """Return argument positions by name, and the names whose change the programs themselves show."""
    if before is None or after is None:
        return {}, set()
    pairs = list(zip(before.arguments, after.arguments, strict=False))
    is_told = len(before.arguments) != len(after.arguments)
    told = {new.name for old, new in pairs if is_told or old.type != new.type}
    return {new.name: place for place, new in enumerate(after.arguments) if new.name}, told


def _weak(argument: NotedArgument) -> str:
    return f"{'weak ' if argument.is_weak else ''}{argument.type}"


def _of_options(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Step]:
    """Yield differences in the requested options."""
    if before is after:
        return
    for name in dict.fromkeys((*before, *after)):
        was, now = before.get(name, _NOT_SET), after.get(name, _NOT_SET)
        is_for_others = name == _ASSIGNMENT and was.count(",") != now.count(",")  # reported as a device count
        if was != now and name not in _DERIVED and not is_for_others:
            yield Cause.OPTIONS, name, was, now


def _of_attributes(name: str, old: Parameter, new: Parameter) -> Iterator[Step]:
    told = {}
    for key in (*old.attributes, *new.attributes):
        cause = _ABOUT.get(key)
        if cause is not None and old.attributes.get(key) != new.attributes.get(key):
            told[cause] = (_said(cause, old), _said(cause, new))
    for cause, (was, now) in told.items():
        if was != now:
            yield cause, name, was, now


def _said(cause: Cause, parameter: Parameter) -> str:
    """Return the value of a parameter's attributes for one cause."""
    said = [value for key, value in parameter.attributes.items() if _ABOUT.get(key) is cause]
    if cause is Cause.DONATION:
        return "donated" if said else _NONE[cause]
    return ", ".join(said) or _NONE[cause]


def _devices(signature: Signature) -> str:
    replicas = "" if signature.replicas in ("", "1") else f" x {signature.replicas} replicas"
    return f"{signature.partitions or '?'}{replicas}"
