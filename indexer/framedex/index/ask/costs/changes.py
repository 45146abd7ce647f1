"""What is other in a program than in the one that the same function was compiled to before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from framedex.model import Cause, Change, Parameter, Signature

MOST_VALUES = 50
"""Values of a change that are told: the first."""

# What JAX writes onto arguments and results, by what it is about.
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
"""A cause, what it is of, and what that was before and after; both are empty where they are not known."""


def steps(before: Signature, after: Signature) -> list[Step]:
    """What is other; where nothing is, that it is the same program."""
    return list(_of_arguments(before, after)) or list(_of_content(before, after)) or [(Cause.SAME, "", "", "")]


def changes(found: Iterable[list[Step]]) -> tuple[Change, ...]:
    """What several compilations differ in, what did most often first."""
    values: dict[tuple[Cause, str], dict[str, None]] = {}
    times: Counter[tuple[Cause, str]] = Counter()
    for each in found:
        for cause, what, old, new in each:
            times[cause, what] += 1
            values.setdefault((cause, what), {}).update(dict.fromkeys(value for value in (old, new) if value))
    return tuple(Change(*key, tuple(values[key])[:MOST_VALUES]) for key, _ in times.most_common())


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


def _of_content(before: Signature, after: Signature) -> Iterator[Step]:
    """What is other in programs whose arguments are the same."""
    for place, (old, new) in enumerate(zip(before.results, after.results, strict=False)):
        yield from _of_attributes(f"result {place}", old, new)
        if old.type != new.type:
            yield Cause.CODE, f"result {place}", old.type, new.type
            return
    gone, new_ones = Counter(before.constants), Counter(after.constants)
    gone, new_ones = gone - new_ones, new_ones - gone
    if before.code != after.code:
        yield Cause.CODE, "", "", ""
    elif gone or new_ones:
        yield Cause.CONSTANTS, "constants", ", ".join(gone.elements()), ", ".join(new_ones.elements())


def _of_parameter(name: str, old: Parameter, new: Parameter) -> Iterator[Step]:
    if old.type != new.type:
        of_old, of_new = old.type.partition("[")[0], new.type.partition("[")[0]
        yield (Cause.SHAPE if of_old == of_new else Cause.DTYPE), name, old.type, new.type
    yield from _of_attributes(name, old, new)


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
    """What its attributes say of it."""
    said = [value for key, value in parameter.attributes.items() if _ABOUT.get(key) is cause]
    if cause is Cause.DONATION:
        return "donated" if said else _NONE[cause]
    return ", ".join(said) or _NONE[cause]


def _devices(signature: Signature) -> str:
    replicas = "" if signature.replicas in ("", "1") else f" x {signature.replicas} replicas"
    return f"{signature.partitions or '?'}{replicas}"
