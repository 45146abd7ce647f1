"""Differences between a compilation and the previous one of the same function: program, options and JAX's notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

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


class _Subject(NamedTuple):
    """The subject of a change, as `what` and `parameter` of `Change` name it."""

    what: str
    parameter: str = ""


Step = tuple[Cause, _Subject, str, str]
"""(cause, subject, old value, new value); both values are empty if unknown."""


_AS_BEFORE = _Subject("arguments as before")  # if no argument changed according to JAX
_NO_SUBJECT = _Subject("")
_NUMBER = _Subject("number of arguments")
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
    subject = _AS_BEFORE if before.noted is not None and after.noted is not None else _NO_SUBJECT
    return list(_of_content(before.signature, after.signature, subject)) or [(Cause.SAME, subject, "", "")]


def changes(found: Iterable[tuple[list[Step], int]]) -> tuple[Change, ...]:
    """Return the changes over several compilations with their values, most frequent first."""
    values: dict[tuple[Cause, _Subject], dict[str, None]] = {}
    times: Counter[tuple[Cause, _Subject]] = Counter()
    for each, count in found:
        for cause, subject, old, new in each:
            times[cause, subject] += count
            values.setdefault((cause, subject), {}).update(dict.fromkeys(value for value in (old, new) if value))
    return tuple(
        Change(cause, subject.what, _told(list(values[cause, subject])), subject.parameter)
        for (cause, subject), _ in times.most_common()
    )


def _argument(place: int, name: str) -> _Subject:
    """Return the subject of a change of the array argument at a 0-based position; `name` is empty if unknown."""
    if name:
        return _Subject(f"argument {place} ({name})", name)
    return _Subject(f"argument {place}", f"array argument {place + 1}")


def _told(values: list[str]) -> tuple[str, ...]:
    return tuple(values if len(values) <= MOST_VALUES else [*values[: MOST_VALUES - 1], values[-1]])


def _of_arguments(before: Signature, after: Signature) -> Iterator[Step]:
    if len(before.arguments) != len(after.arguments):
        yield Cause.ARGUMENTS, _NUMBER, str(len(before.arguments)), str(len(after.arguments))
        return
    if (before.partitions, before.replicas) != (after.partitions, after.replicas):
        yield Cause.SHARDING, _Subject("devices"), _devices(before), _devices(after)
    for place, (old, new) in enumerate(zip(before.arguments, after.arguments, strict=True)):
        if old.name != new.name and old.name and new.name:
            yield Cause.ARGUMENTS, _argument(place, ""), old.name, new.name
        yield from _of_parameter(_argument(place, new.name), old, new)


def _of_content(before: Signature, after: Signature, subject: _Subject) -> Iterator[Step]:
    """Yield differences between programs with equal arguments; `subject` is that of a code change."""
    for place, (old, new) in enumerate(zip(before.results, after.results, strict=False)):
        result = _Subject(f"result {place}")
        yield from _of_attributes(result, old, new)
        if old.type != new.type:
            yield Cause.CODE, result, old.type, new.type
            return
    gone, new_ones = Counter(before.constants), Counter(after.constants)
    gone, new_ones = gone - new_ones, new_ones - gone
    if before.code != after.code:
        yield Cause.CODE, subject, "", ""
    elif gone or new_ones:
        yield Cause.CONSTANTS, _Subject("constants"), ", ".join(gone.elements()), ", ".join(new_ones.elements())


def _of_parameter(subject: _Subject, old: Parameter, new: Parameter) -> Iterator[Step]:
    if old.type != new.type:
        yield _of_types(subject, old, new)
    yield from _of_attributes(subject, old, new)


def _of_types(subject: _Subject, old: Parameter | NotedArgument, new: Parameter | NotedArgument) -> Step:
    of_old, of_new = old.type.partition("[")[0], new.type.partition("[")[0]
    return (Cause.SHAPE if of_old == of_new else Cause.DTYPE), subject, old.type, new.type


def _of_notes(before: Compiled, after: Compiled) -> Iterator[Step]:
    """Yield differences in JAX's notes that the two programs, if both are known, do not already show."""
    assert before.noted is not None and after.noted is not None
    old_ones, new_ones = before.noted.arguments, after.noted.arguments
    used, told = _in_programs(before.signature, after.signature)
    has_programs = before.signature is not None and after.signature is not None
    if len(old_ones) == len(new_ones):
        for place, (old, new) in enumerate(zip(old_ones, new_ones, strict=True)):
            subject = _argument(used.get(new.name, place), new.name)
            if has_programs and used and new.name and new.name not in used:
                subject = _Subject(f"unused argument {new.name}")
            if old.type == new.type and old.is_weak != new.is_weak:
                yield Cause.WEAK_TYPE, subject, _weak(old), _weak(new)
            elif old.type != new.type and new.name not in told:
                yield _of_types(subject, old, new)
    elif not has_programs:
        yield Cause.ARGUMENTS, _NUMBER, str(len(old_ones)), str(len(new_ones))
    old_values, new_values = dict(before.noted.statics), dict(after.noted.statics)
    for name in dict.fromkeys((*old_values, *new_values)):
        was, now = old_values.get(name, _NOT_GIVEN), new_values.get(name, _NOT_GIVEN)
        if was != now:
            yield Cause.STATIC, _Subject(name), was, now


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
            yield Cause.OPTIONS, _Subject(name), was, now


def _of_attributes(subject: _Subject, old: Parameter, new: Parameter) -> Iterator[Step]:
    told = {}
    for key in (*old.attributes, *new.attributes):
        cause = _ABOUT.get(key)
        if cause is not None and old.attributes.get(key) != new.attributes.get(key):
            told[cause] = (_said(cause, old), _said(cause, new))
    for cause, (was, now) in told.items():
        if was != now:
            yield cause, subject, was, now


def _said(cause: Cause, parameter: Parameter) -> str:
    """Return the value of a parameter's attributes for one cause."""
    said = [value for key, value in parameter.attributes.items() if _ABOUT.get(key) is cause]
    if cause is Cause.DONATION:
        return "donated" if said else _NONE[cause]
    return ", ".join(said) or _NONE[cause]


def _devices(signature: Signature) -> str:
    replicas = "" if signature.replicas in ("", "1") else f" x {signature.replicas} replicas"
    return f"{signature.partitions or '?'}{replicas}"
