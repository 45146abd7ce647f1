"""Compare a compilation with the previous one of the same function: program, options and JAX's notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from framedex.model import ChangeCause, CompileChange, CompileNote, NoteArgument, Parameter, Signature
from framedex.model.costs import SAME_KEYS

MAX_VALUES = 50
"""Limit of reported values per change: the first ones and the last."""

# The cause of a recompilation by the JAX attribute that changed.
_CAUSE_OF_ATTRIBUTE = {
    "mhlo.sharding": ChangeCause.SHARDING,
    "sdy.sharding": ChangeCause.SHARDING,
    "tf.aliasing_output": ChangeCause.DONATION,
    "jax.buffer_donor": ChangeCause.DONATION,
    "mhlo.layout_mode": ChangeCause.LAYOUT,
    "mhlo.memory_kind": ChangeCause.LAYOUT,
}
_DEFAULT_TEXTS = {ChangeCause.SHARDING: "unspecified", ChangeCause.DONATION: "kept", ChangeCause.LAYOUT: "default"}


class _ChangeSubject(NamedTuple):
    """The subject of a change: `what` and `parameter` of `CompileChange`."""

    what: str
    parameter: str = ""


Difference = tuple[ChangeCause, _ChangeSubject, str, str]
"""(cause, subject, old value, new value); both values are empty if unknown."""


_SAME_ARGUMENTS = _ChangeSubject("same arguments")  # if no argument changed according to JAX
_SAME_KEYS = _ChangeSubject(SAME_KEYS)  # if all that JAX's cache compares is known
_NO_SUBJECT = _ChangeSubject("")
_COTANGENT = " of the backward pass"
_NUMBER = _ChangeSubject("number of arguments")
_CALL_STRUCTURE = _ChangeSubject("the structure of the call")
_NOT_GIVEN, _NOT_SET = "not given", "not set"
_DERIVED_OPTIONS = {  # options that JAX derives from the program
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
class CompilationFacts:
    """The data of a compilation; None marks unknown parts."""

    signature: Signature | None
    note: CompileNote | None
    options: Mapping[str, str] | None


def compare_compilations(before: CompilationFacts, after: CompilationFacts) -> list[Difference]:
    """Return the differences: `ChangeCause.SAME` if there are none, an empty list if too little is known."""
    if _is_other_derivative(before, after):
        return [(ChangeCause.DERIVATIVE, _NO_SUBJECT, "", "")]
    found: list[Difference] = []
    if before.signature is not None and after.signature is not None:
        found += _compare_arguments(before.signature, after.signature)
    if before.note is not None and after.note is not None:
        found += _compare_notes(before, after)
        if not any(cause is ChangeCause.DONATION for cause, *_ in found):
            found += _compare_donations(before.note, after.note)
    if before.options is not None and after.options is not None:
        found += _compare_options(before.options, after.options)
    # Arguments that are passed in another way have a structure of their own; it matters only if nothing else differs.
    found = [each for each in found if each[1] != _CALL_STRUCTURE] or found
    if found or before.signature is None or after.signature is None:
        return found
    if before.note is None or after.note is None:
        subject = _NO_SUBJECT
    else:
        subject = _SAME_ARGUMENTS if before.note.keys is None or after.note.keys is None else _SAME_KEYS
    if cotangents := list(_compare_cotangents(before, after)):
        return cotangents
    return list(_compare_contents(before.signature, after.signature, subject)) or [(ChangeCause.SAME, subject, "", "")]


def has_other_arguments(found: Iterable[Difference]) -> bool:
    """Return whether the arguments were not compared: their number differs, or they are those of a derivative."""
    return any(subject == _NUMBER or cause is ChangeCause.DERIVATIVE for cause, subject, _, _ in found)


def _is_other_derivative(before: CompilationFacts, after: CompilationFacts) -> bool:
    """Return whether the programs are of different passes of a derivative, or only one is of a derivative.

    JAX names the arguments of a function, but not those of programs that it derives from its trace. It names the
    results of a backward pass, but not those of a forward pass.
    """
    notes = before.note, after.note
    forms = {(len(note.arguments), any(each.name for each in note.arguments)) for note in notes if note is not None}
    if None in notes or all(is_named or not count for count, is_named in forms):
        return False
    if before.signature is None or after.signature is None:
        return len(forms) > 1
    results = {tuple(result.name for result in each.results) for each in (before.signature, after.signature)}
    return len(forms) > 1 or len(results) > 1


def _compare_cotangents(before: CompilationFacts, after: CompilationFacts) -> Iterator[Difference]:
    """Yield the results of a backward pass whose types changed: each cotangent has the type of an argument."""
    for known in (before, after):
        if known.note is None or known.signature is None or not known.note.arguments:
            return
        is_named = any(argument.name for argument in known.note.arguments)
        if is_named or not all(result.name.startswith("result") for result in known.signature.results):
            return
    assert before.signature is not None and after.signature is not None
    for place, (old, new) in enumerate(zip(before.signature.results, after.signature.results, strict=False)):
        if old.type != new.type:
            yield _compare_types(_ChangeSubject(f"result {place}{_COTANGENT}"), old, new)


def _merge_cotangents(found: list[tuple[list[Difference], int]]) -> Iterator[tuple[list[Difference], int]]:
    """Drop the types of cotangents that the arguments of another pass explain."""
    explained = {
        (cause, old, new)
        for differences, _ in found
        for cause, subject, old, new in differences
        if not subject.what.endswith(_COTANGENT)
    }
    for differences, count in found:
        kept = [
            each
            for each in differences
            if not each[1].what.endswith(_COTANGENT) or (each[0], *each[2:]) not in explained
        ]
        yield kept, count


def summarize_changes(found: Iterable[tuple[list[Difference], int]]) -> tuple[CompileChange, ...]:
    """Merge the differences of several compilations into changes with their values, most frequent first."""
    found = list(_merge_cotangents(list(found)))
    values: dict[tuple[ChangeCause, _ChangeSubject], dict[str, None]] = {}
    times: Counter[tuple[ChangeCause, _ChangeSubject]] = Counter()
    for each, count in found:
        for cause, subject, old, new in each:
            times[cause, subject] += count
            values.setdefault((cause, subject), {}).update(dict.fromkeys(value for value in (old, new) if value))
    return tuple(
        CompileChange(cause, subject.what, _limit_values(list(values[cause, subject])), subject.parameter)
        for (cause, subject), _ in times.most_common()
    )


def _argument_subject(position: int, name: str) -> _ChangeSubject:
    """Return the subject of a change of the array argument at a 0-based position; `name` is empty if unknown."""
    if name:
        return _ChangeSubject(f"argument {position} ({name})", name)
    return _ChangeSubject(f"argument {position}", f"array argument {position + 1}")


def _limit_values(values: list[str]) -> tuple[str, ...]:
    return tuple(values if len(values) <= MAX_VALUES else [*values[: MAX_VALUES - 1], values[-1]])


def _compare_arguments(before: Signature, after: Signature) -> Iterator[Difference]:
    if len(before.arguments) != len(after.arguments):
        yield ChangeCause.ARGUMENTS, _NUMBER, str(len(before.arguments)), str(len(after.arguments))
        return
    if (before.partitions, before.replicas) != (after.partitions, after.replicas):
        yield ChangeCause.SHARDING, _ChangeSubject("devices"), _format_devices(before), _format_devices(after)
    for place, (old, new) in enumerate(zip(before.arguments, after.arguments, strict=True)):
        if old.name != new.name and old.name and new.name:
            yield ChangeCause.ARGUMENTS, _argument_subject(place, ""), old.name, new.name
        yield from _compare_parameters(_argument_subject(place, new.name), old, new)


def _compare_contents(before: Signature, after: Signature, subject: _ChangeSubject) -> Iterator[Difference]:
    """Yield differences between programs with equal arguments; `subject` is the subject of a code change."""
    for place, (old, new) in enumerate(zip(before.results, after.results, strict=False)):
        result = _ChangeSubject(f"result {place}")
        attributes = list(_compare_attributes(result, old, new))
        yield from attributes
        if attributes:
            return
        if old.type != new.type:
            yield ChangeCause.CODE, result, old.type, new.type
            return
    gone, new_ones = Counter(before.constants), Counter(after.constants)
    gone, new_ones = gone - new_ones, new_ones - gone
    if before.code != after.code:
        yield ChangeCause.CODE, subject, "", ""
    elif gone or new_ones:
        yield (
            ChangeCause.CONSTANTS,
            _ChangeSubject("constants"),
            ", ".join(gone.elements()),
            ", ".join(new_ones.elements()),
        )
    elif before.object_ids != after.object_ids:
        yield ChangeCause.OBJECT_ID, _NO_SUBJECT, "", ""


def _compare_parameters(subject: _ChangeSubject, old: Parameter, new: Parameter) -> Iterator[Difference]:
    if old.type != new.type:
        yield _compare_types(subject, old, new)
    yield from _compare_attributes(subject, old, new)


def _compare_types(subject: _ChangeSubject, old: Parameter | NoteArgument, new: Parameter | NoteArgument) -> Difference:
    of_old, of_new = old.type.partition("[")[0], new.type.partition("[")[0]
    return (ChangeCause.SHAPE if of_old == of_new else ChangeCause.DTYPE), subject, old.type, new.type


def _compare_notes(before: CompilationFacts, after: CompilationFacts) -> Iterator[Difference]:
    """Yield differences in JAX's notes that the two programs do not already show."""
    assert before.note is not None and after.note is not None
    old_ones, new_ones = before.note.arguments, after.note.arguments
    used, shown = _read_program_arguments(before.signature, after.signature)
    has_programs = before.signature is not None and after.signature is not None
    if len(old_ones) == len(new_ones):
        for place, (old, new) in enumerate(zip(old_ones, new_ones, strict=True)):
            subject = _argument_subject(used.get(new.name, place), new.name)
            if has_programs and used and new.name and new.name not in used:
                subject = _ChangeSubject(f"unused argument {new.name}")
            if old.type == new.type and old.is_weak != new.is_weak:
                yield ChangeCause.WEAK_TYPE, subject, _format_type(old), _format_type(new)
            elif old.type != new.type and new.name not in shown:
                yield _compare_types(subject, old, new)
    elif not has_programs:
        yield ChangeCause.ARGUMENTS, _NUMBER, str(len(old_ones)), str(len(new_ones))
    old_values, new_values = dict(before.note.statics), dict(after.note.statics)
    parts = list(_compare_keys(before.note.keys or (), after.note.keys or (), "static argument"))
    for name in dict.fromkeys((*old_values, *new_values)):
        was, now = old_values.get(name, _NOT_GIVEN), new_values.get(name, _NOT_GIVEN)
        if was != now and not any(subject.startswith(name) for subject, _, _ in parts):
            yield ChangeCause.STATIC, _ChangeSubject(name), was, now
    yield from ((ChangeCause.STATIC, _ChangeSubject(subject), was, now) for subject, was, now in parts)
    if before.note.keys is not None and after.note.keys is not None:
        yield from _compare_traces(before.note, after.note, has_new_types=bool(shown))


def _compare_donations(before: CompileNote, after: CompileNote) -> Iterator[Difference]:
    """Yield the arguments that only one call donated. The program shows a donation only if a result can use it."""
    for place in sorted({*before.donated} ^ {*after.donated}):
        if place < len(after.arguments):
            was, now = ("donated" if place in note.donated else "kept" for note in (before, after))
            yield ChangeCause.DONATION, _argument_subject(place, after.arguments[place].name), was, now


def _compare_traces(before: CompileNote, after: CompileNote, *, has_new_types: bool) -> Iterator[Difference]:
    """Yield differences in the facts that JAX's tracing cache compares besides types and static arguments.

    If arguments have new types (`has_new_types`), these explain changed parameters of a primitive.
    """
    old, new = before.keys or (), after.keys or ()
    for subject, was, now in _compare_keys(old, new, "structure"):
        yield ChangeCause.ARGUMENTS, _ChangeSubject(f"the structure of {subject}"), was, now
    for subject, was, now in _compare_keys(old, new, "container"):
        if _NOT_GIVEN not in (was, now):  # otherwise the number or the names of arguments differ too
            yield ChangeCause.ARGUMENTS, _ChangeSubject(f"the structure of {subject}"), was, now
    for subject, was, now in _compare_keys(old, new, "static data"):
        yield ChangeCause.STATIC_DATA, _ChangeSubject(subject), was, now
    usual = dict(_group_values_by_subject(new, "usual setting")) | dict(_group_values_by_subject(old, "usual setting"))
    for subject, was, now in _compare_keys(old, new, "setting"):
        first = usual.get(subject, _NOT_SET)
        old_value, new_value = (first if value is _NOT_GIVEN else value for value in (was, now))
        yield ChangeCause.SETTING, _ChangeSubject(subject), old_value, new_value
    if before.defined != after.defined:
        yield (
            ChangeCause.FUNCTION,
            _ChangeSubject(after.function),
            _format_definition(before),
            _format_definition(after),
        )
    else:
        for subject, was, now in _compare_keys(old, new, "function"):
            name = subject or after.function or now.partition(" #")[0]
            yield ChangeCause.FUNCTION, _ChangeSubject(name), was, now
    if not has_new_types:
        for subject, was, now in _compare_keys(old, new, "parameter"):
            yield ChangeCause.PARAMETER, _ChangeSubject(subject), was, now


_Keys = tuple[tuple[str, str, str], ...]


def _compare_keys(before: _Keys, after: _Keys, kind: str) -> Iterator[tuple[str, str, str]]:
    """Yield the subjects of one kind whose values differ, with both values."""
    old, new = dict(_group_values_by_subject(before, kind)), dict(_group_values_by_subject(after, kind))
    for subject in dict.fromkeys((*old, *new)):
        was, now = old.get(subject, _NOT_GIVEN), new.get(subject, _NOT_GIVEN)
        if was != now:
            yield subject, was, now


def _group_values_by_subject(keys: _Keys, kind: str) -> Iterator[tuple[str, str]]:
    return ((subject, value) for known, subject, value in keys if known == kind)


def _format_definition(noted: CompileNote) -> str:
    return f"{noted.function} at {noted.defined}"


def _read_program_arguments(before: Signature | None, after: Signature | None) -> tuple[dict[str, int], set[str]]:
    """Return argument positions by name, and the names of arguments whose change the programs show."""
    if before is None or after is None:
        return {}, set()
    pairs = list(zip(before.arguments, after.arguments, strict=False))
    is_told = len(before.arguments) != len(after.arguments)
    shown = {new.name for old, new in pairs if is_told or old.type != new.type}
    return {new.name: place for place, new in enumerate(after.arguments) if new.name}, shown


def _format_type(argument: NoteArgument) -> str:
    return f"{'weak ' if argument.is_weak else ''}{argument.type}"


def _compare_options(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Difference]:
    """Yield differences in the requested options."""
    if before is after:
        return
    for name in dict.fromkeys((*before, *after)):
        was, now = before.get(name, _NOT_SET), after.get(name, _NOT_SET)
        is_for_others = name == _ASSIGNMENT and was.count(",") != now.count(",")  # reported as a device count
        if was != now and name not in _DERIVED_OPTIONS and not is_for_others:
            yield ChangeCause.OPTIONS, _ChangeSubject(name), was, now


def _compare_attributes(subject: _ChangeSubject, old: Parameter, new: Parameter) -> Iterator[Difference]:
    shown = {}
    for key in (*old.attributes, *new.attributes):
        cause = _CAUSE_OF_ATTRIBUTE.get(key)
        if cause is not None and old.attributes.get(key) != new.attributes.get(key):
            shown[cause] = (_format_attributes(cause, old), _format_attributes(cause, new))
    for cause, (was, now) in shown.items():
        if was != now:
            yield cause, subject, was, now


def _format_attributes(cause: ChangeCause, parameter: Parameter) -> str:
    """Return the value of a parameter's attributes for one cause."""
    values = [value for key, value in parameter.attributes.items() if _CAUSE_OF_ATTRIBUTE.get(key) is cause]
    if cause is ChangeCause.DONATION:
        return "donated" if values else _DEFAULT_TEXTS[cause]
    return ", ".join(values) or _DEFAULT_TEXTS[cause]


def _format_devices(signature: Signature) -> str:
    replicas = "" if signature.replicas in ("", "1") else f" x {signature.replicas} replicas"
    return f"{signature.partitions or '?'}{replicas}"
