"""Compilations as text for verbs and editors: functions, reasons of recompilations, cache misses, collectives.

Each text covers one row or all rows of a line. Names in it are raw: callers apply `printable`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.model import ChangeCause
from framedex.model.costs import SAME_KEYS, SAME_PASS, UNSPECIFIED_SHARDING

if TYPE_CHECKING:
    from framedex.model import CacheMiss, Collective, CompileChange, Compiles

_MAX_FUNCTIONS = 2
_MAX_VALUES = 6
_CAUSES_WITHOUT_PREFIX = (ChangeCause.SHAPE, ChangeCause.DTYPE, ChangeCause.ARGUMENTS, ChangeCause.CONSTANTS)
_CAUSE_PREFIXES = {
    ChangeCause.STATIC: "static argument ",
    ChangeCause.STATIC_DATA: "static data ",
    ChangeCause.PARAMETER: "parameter ",
    ChangeCause.SETTING: "JAX setting ",
    ChangeCause.OPTIONS: "compile option ",
}
_CAUSES_WITH_TYPES = (ChangeCause.SHAPE, ChangeCause.DTYPE, ChangeCause.CODE)
_OBJECT_ID = (
    "the id of a Python object in the code, as custom_partitioning writes it: no other process can load this program"
    " from JAX's persistent cache"
)
_DERIVATIVE = "another pass of a derivative: JAX compiles a function, its forward pass and its backward pass separately"
_WITHOUT_VALUES = {
    ChangeCause.OBJECT_ID: _OBJECT_ID,
    ChangeCause.DERIVATIVE: _DERIVATIVE,
    ChangeCause.SAME: (
        "recompiled an identical program: a new `jit` wrapper (a lambda in a loop?), a cleared cache, or a"
        " change that the program does not show (a weak type, a static argument, an unused argument)"
    ),
    ChangeCause.CODE: (
        "other code for arguments of the same types: a static argument, a weak type, a value from outside the"
        " function, or another function of this name"
    ),
}
_WITH_KNOWN_ARGUMENTS = {
    ChangeCause.SAME: (
        "recompiled an identical program: a new `jit` wrapper (a lambda in a loop?), a cleared cache, or a"
        " changed JAX setting"
    ),
    ChangeCause.CODE: (
        "other code for the same arguments: a value from outside the function, a changed JAX setting, or"
        " another function of this name"
    ),
}
_WITH_KNOWN_KEYS = {
    ChangeCause.SAME: (
        "recompiled an identical program of the same function and settings: a cleared or full cache,"
        " `jax.jit` with other options, or unequal static arguments with equal hashes"
    ),
    ChangeCause.CODE: (
        "other code of the same function for the same arguments: a value from outside the function changed"
    ),
}
_EQUAL_PASS = (
    "recompiled an identical program: JAX compiles the passes of a derivative again for new types of the function's"
    " arguments, or its cache was cleared or full"
)
_ONE_FUNCTION = "define a function once and pass the same object"
_ONE_OBJECT = "objects that are not equal compile again: keep one object, or define `__eq__` and `__hash__`"
_FUNCTION_PREFIXES = ("<lambda>", "partial(")
_NUMBER = re.compile(r"-?\d[\w.+-]*")
_OBJECT_NUMBER = re.compile(r" #[0-9a-f]{6}(?=[,)}\]]|$)")  # of `native/framedex_native/ffi/statics.py`
_CONSTANTS, _ARGUMENTS = "constants", "arguments"  # plural subjects
_TYPE = re.compile(r"(?P<dtype>\w+)\[(?P<shape>\d+(?:,\d+)*)\]")
_PARAMETER_PREFIXES = ("argument ", "unused argument ", "result ")
_REASONS = {
    ChangeCause.SAME: "an identical program",
    ChangeCause.CODE: "other code",
    ChangeCause.OBJECT_ID: _OBJECT_ID,
    ChangeCause.DERIVATIVE: "another pass of a derivative",
}


def format_compiles_kind(row: Compiles) -> str:
    """The function, which distinguishes the rows of a line."""
    return row.function or "function not known"


def format_compiles(rows: Sequence[Compiles]) -> str:
    """Summary of compilations: `compiled 19 times, 1.4 s: shape of x, float32[1..19]`."""
    compiled, loads = sum(row.compiles for row in rows), sum(row.loads for row in rows)
    functions = {row.function for row in rows if row.function}
    of = f", {words.count(len(functions), 'function')}" if len(functions) > 1 else ""
    parts = []
    failed = sum(row.failed for row in rows)
    of += f", {failed:,} failed" if failed else ""
    if compiled:
        total = words.format_duration(sum(row.total_duration for row in rows))
        parts.append(f"compiled {words.format_times(compiled)}{of}, {total}")
    if loads:
        total = words.format_duration(sum(row.load_duration for row in rows))
        parts.append(f"loaded {words.format_times(loads)} from a cache, {total}")
    why = words.join_names(format_reason_with_types(change) for row in rows for change in row.changes)
    return "; ".join(parts) + (f": {why}" if why else "")


def format_compiles_details(rows: Sequence[Compiles]) -> list[str]:
    """The failures of each function, the reasons for its recompilations, and missing data."""
    found = []
    for row in rows:
        of = f"{row.function}: " if row.function else ""
        found += [f"{of}{format_failures(row)}"] if row.failed else []
        found += [f"{of}{format_change_with_advice(change)}" for change in merge_equal_changes(row.changes)]
        found += [f"{of}{text}" for text in format_cache_miss_texts(row)]
        found += [f"{of}{format_collective(each)}" for each in row.collectives if not each.is_requested]
        found += [f"{of}incomplete compilation data: {row.problem}"] if row.problem else []
    return found


def _format_subject(change: CompileChange) -> str:
    """The changed item; an array argument has its name in the program: `x`, `params[0]["w"]`."""
    return change.parameter.replace("'", '"') or change.what


def merge_equal_changes(changes: Sequence[CompileChange]) -> list[CompileChange]:
    """The changes, with one for all arguments that had the same values."""
    groups: dict[tuple[object, ...], list[CompileChange]] = {}
    for change in changes:
        is_argument = bool(change.parameter and change.values)
        groups.setdefault((change.cause, change.values, "" if is_argument else change.what), []).append(change)
    return [
        group[0] if len(group) == 1 else replace(group[0], what=_ARGUMENTS, parameter=_join_parameters(group))
        for group in groups.values()
    ]


def _join_parameters(changes: Sequence[CompileChange]) -> str:
    return words.join_names(change.parameter for change in changes)


def format_reason_with_types(change: CompileChange) -> str:
    """Describe a change in a few words, with the types of a parameter: `shape of x, float32[4..7, 8]`."""
    types = _fold_types(change.values) if change.parameter else None
    return f"{format_reason(change)}{f', {types.text}' if types else ''}"


def format_change_with_advice(change: CompileChange) -> str:
    """Describe what changed to trigger a recompilation, and how to avoid it.

    For example `x was float32[4,8], [7,8]; pad or bucket dimension 0`.
    """
    advice = _find_advice(change)
    return f"{format_change(change)}; {advice}" if advice else format_change(change)


_OF_JAX = " of JAX"  # the suffix that framedex_native/ffi/trace_keys.py adds to the names of functions that JAX creates


def _find_advice(change: CompileChange) -> str:
    if change.cause is ChangeCause.FUNCTION and any(
        value.partition(" #")[0].endswith(_OF_JAX) for value in change.values
    ):
        return "JAX creates it for each call outside of `jax.jit`: call it in a jitted function"
    if change.cause is ChangeCause.FUNCTION:
        return _ONE_FUNCTION
    if change.cause is ChangeCause.CONSTANTS:
        return "pass values from outside the function as arguments"
    if change.cause is ChangeCause.SHAPE and (types := _fold_types(change.values)) is not None:
        return f"pad or bucket dimension {types.varying_dimensions[0]}" if len(types.varying_dimensions) == 1 else ""
    if change.cause is ChangeCause.DTYPE and len({value.partition("[")[2] for value in change.values}) == 1:
        return "pass one dtype"
    if change.cause is ChangeCause.SHARDING and change.parameter and UNSPECIFIED_SHARDING in change.values:
        return "place it with `jax.device_put` before the first call"
    if change.cause in (ChangeCause.STATIC, ChangeCause.STATIC_DATA):
        return _find_static_advice(change.values)
    return ""


def _find_static_advice(values: Sequence[str]) -> str:
    """The advice for a static argument or static data with these values."""
    numbered = [_OBJECT_NUMBER.sub("", each) for each in dict.fromkeys(values) if _OBJECT_NUMBER.search(each)]
    if any(value.startswith(_FUNCTION_PREFIXES) or ".<locals>." in value for value in numbered):
        return _ONE_FUNCTION
    if len(set(numbered)) < len(numbered):
        return _ONE_OBJECT
    if all(map(_NUMBER.fullmatch, values)):
        return "each new value compiles: pass it as an array, or reuse few values"
    return "each new value compiles: reuse few values"


@dataclass(frozen=True, slots=True)
class _MergedTypes:
    """Several types of a parameter merged into one, and the indexes of the varying dimensions."""

    text: str
    varying_dimensions: tuple[int, ...]


def _fold_types(values: Sequence[str]) -> _MergedTypes | None:
    """Merge `float32[4,8]` and `float32[7,8]` into `float32[4..7, 8]`; None unless dtype and rank are equal."""
    parsed = [found for value in values if (found := _TYPE.fullmatch(value)) is not None]
    shapes = [found["shape"].split(",") for found in parsed]
    if len(parsed) != len(values) or len({found["dtype"] for found in parsed}) != 1 or len({*map(len, shapes)}) != 1:
        return None
    sizes = [sorted({int(size) for size in of_dimension}) for of_dimension in zip(*shapes, strict=True)]
    varying = tuple(dimension for dimension, several in enumerate(sizes) if len(several) > 1)
    shown = ", ".join(str(several[0]) if len(several) == 1 else f"{several[0]}..{several[-1]}" for several in sizes)
    return _MergedTypes(f"{parsed[0]['dtype']}[{shown}]", varying) if varying else None


_KEY_PARTS = {
    "computation": "program",
    "jax_lib version": "version of jaxlib",
    "backend version": "version of the platform",
    "XLA flags": "XLA flags",
    "compile_options": "compile options",
    "accelerator_config": "devices",
    "compression": "compression of the cache",
    "custom_hook": "value of JAX's hook for cache keys",
}
_MAX_MISSES = 3


def format_cache_miss_texts(row: Compiles) -> list[str]:
    """Sentences about the misses of the persistent cache, one for each kind: the latest miss, and their number."""
    kinds: dict[tuple[object, ...], list[CacheMiss]] = {}
    for miss in row.cache_misses:
        kinds.setdefault((miss.parts, miss.changes, miss.minimum_s), []).append(miss)
    texts = [_format_cache_miss_text(misses[-1], len(misses)) for misses in kinds.values()]
    return texts[-_MAX_MISSES:]


def _format_cache_miss_text(miss: CacheMiss, number: int) -> str:
    missed = "cache miss" if number == 1 else f"{number:,} cache misses"
    earlier = f"call {miss.earlier_call} of {PurePath(miss.earlier_path).name}"
    if miss.parts:
        parts = " and ".join(_KEY_PARTS.get(part, part) for part in miss.parts)
        changes = "; ".join(map(format_change, merge_equal_changes(miss.changes)))
        return f"{missed}: different {parts} than in {earlier}{f' ({changes})' if changes else ''}"
    if miss.minimum_s is not None:
        setting = "jax_persistent_cache_min_compile_time_secs"
        return f"{missed}: {earlier} was not stored, it compiled in less than {miss.minimum_s:g} s ({setting})"
    return f"{missed}: same key as {earlier}, but its entry was removed or is in another folder"


def format_collective(collective: Collective) -> str:
    """One kind of collective: `2 all-gathers inserted by the compiler for dot: f32[4,8], 128 B on each device`."""
    number = words.count(collective.count, collective.opcode)
    origin = "" if collective.is_requested else " inserted by the compiler"
    names = words.join_names(_find_origins(collective.op))
    of = f" for {names}" if names else ""
    devices = f" between {collective.devices} devices" if collective.devices else ""
    loop = ", in a loop" if collective.is_repeated else ""
    return (
        f"{number}{origin}{of}: {collective.shape}, {words.format_size(collective.size)} on each device{devices}{loop}"
    )


_MERGED_OPS = re.compile(r"(?P<scope>(?:.*?/)?)\((?P<ops>.+:.+)\)")


def _find_origins(op: str) -> Iterator[str]:
    """The primitives or arguments that a collective moves; XLA joins those of merged ones: `jit(f)/(dot:jvp()/sum)`."""
    merged = _MERGED_OPS.fullmatch(op)
    for each in merged["ops"].split(":") if merged else (op,):
        scope, _, primitive = each.rpartition("/")
        if primitive:
            yield primitive if scope or merged else f"argument {primitive}"


def format_failures(row: Compiles) -> str:
    """The number of failed compilations: `2 of 19 failed`."""
    made = row.compiles + row.loads
    if made == row.failed:
        return "failed" if made == 1 else f"all {made:,} failed"
    return f"{row.failed:,} of {made:,} failed"


def format_compiles_total(rows: Sequence[Compiles]) -> str:
    """Totals of compilations: `22 compiles, 417 ms; 3 loads from a cache, 8 ms`."""
    compiled, loads = sum(row.compiles for row in rows), sum(row.loads for row in rows)
    parts = [f"{words.count(compiled, 'compile')}, {words.format_duration(sum(row.total_duration for row in rows))}"]
    if loads:
        load_duration = words.format_duration(sum(row.load_duration for row in rows))
        parts.append(f"{words.count(loads, 'load')} from a cache, {load_duration}")
    return "; ".join(parts)


def format_change(change: CompileChange) -> str:
    """A change as a sentence: `x was float32[1], [2], ... [19]`."""
    if not change.values:
        texts = _WITH_KNOWN_ARGUMENTS if change.what else _WITHOUT_VALUES
        if change.what == SAME_PASS:
            return _EQUAL_PASS
        if change.what == SAME_KEYS:
            texts = _WITH_KNOWN_KEYS
        return texts.get(change.cause, change.what or change.cause.value)
    values = _drop_repeated_dtypes(change.values) if change.cause in _CAUSES_WITH_TYPES else list(change.values)
    if change.cause is ChangeCause.FUNCTION:
        return _format_function_change(change)
    if change.cause in (ChangeCause.STATIC, ChangeCause.STATIC_DATA):
        values = _merge_equal_texts(values)
    if len(values) > _MAX_VALUES:
        values = [*values[: _MAX_VALUES // 2], "...", values[-1]]
    named = "" if change.cause in _CAUSES_WITHOUT_PREFIX else f"{change.cause.value}: "
    about = _CAUSE_PREFIXES.get(change.cause, named)
    verb = "were" if change.what in (_CONSTANTS, _ARGUMENTS) else "was"
    return f"{about}{_format_subject(change)} {verb} {', '.join(values)}".replace(", ...,", ", ...")


def _merge_equal_texts(values: Sequence[str]) -> list[str]:
    """The values, with one for all objects that differ only in their numbers: `several unequal Config(width=2)`."""
    texts = [_OBJECT_NUMBER.sub("", value) for value in values]
    merged = (
        f"several unequal {text}" if texts.count(text) > 1 else value for text, value in zip(texts, values, strict=True)
    )
    return list(dict.fromkeys(merged))


def _format_function_change(change: CompileChange) -> str:
    """The functions that differ: `<lambda> is a new function object`."""
    traced = re.findall(r"[^(),]*\S at [^\s,)]+:\d+", ", ".join(change.values))
    named = map(str.strip, traced) if traced else (re.sub(r" #\w+", "", value) for value in change.values)
    names = list(dict.fromkeys(named))
    if not any(" #" in value for value in change.values):
        return f"another function of this name: {', '.join(names[:_MAX_VALUES])}"
    verb = "is a new function object" if len(names) == 1 else "are new function objects"
    return f"{' and '.join(names[:_MAX_FUNCTIONS])} {verb}, which JAX has not traced before"


def format_reason(change: CompileChange) -> str:
    """A change in a few words: `shape of x`."""
    name = _format_subject(change)
    if change.cause in _CAUSE_PREFIXES:
        return _CAUSE_PREFIXES[change.cause] + name
    if change.cause is ChangeCause.ARGUMENTS or change.cause.value == change.what:
        return name
    if change.cause is not ChangeCause.CODE and change.what.startswith(_PARAMETER_PREFIXES):
        return f"{change.cause.value} of {name}"
    return _REASONS.get(change.cause) or f"{change.cause.value}: {name}"


def format_program_change(function: str, change: CompileChange) -> str:
    """A difference between two compilations of a function: `step: shape of x float32[8] -> float32[16]`."""
    if len(change.values) != 2:
        return f"{function}: {format_change(change) if change.values else format_reason(change)}"
    what = f", {_format_subject(change)}" if change.cause is ChangeCause.CODE else ""
    return f"{function}: {format_reason(change)}{what} {' -> '.join(change.values)}"


def _drop_repeated_dtypes(values: Sequence[str]) -> list[str]:
    """The types in order, each without its dtype if it repeats the previous one."""
    found, before = [], ""
    for value in values:
        dtype, bracket, shape = value.partition("[")
        found.append(f"[{shape}" if bracket and dtype == before and shape != "]" else value)
        before = dtype
    return found
