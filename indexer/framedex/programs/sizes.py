"""Sizes of program arguments and results on a device, and donated arguments whose memory no result can reuse.

JAX marks a donated argument with the result that gets its memory (`tf.aliasing_output`), or leaves the choice to XLA
(`jax.buffer_donor`). XLA takes a result of the same size. A donated argument for which JAX itself finds no result has
neither mark; JAX's note lists it.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

# Limited to realistic counts and lengths of numbers: a damaged capture may contain anything.
_NUMBERS = r"\d{1,18}(?:,\d{1,18}){0,63}"
_TYPE = re.compile(rf"(?:bool|(?:bfloat|float|u?int|complex)(\d{{1,4}})(?:_\w*)?)\[((?:{_NUMBERS})?)\]")
_TILES = re.compile(rf"\{{devices=\[({_NUMBERS})\]")


def compute_size_on_device(result: Mapping[str, Any], signature: Mapping[str, Any]) -> int:
    """Return the bytes of a result on one device, without padding of the device's layout; -1 if unknown.

    Both arguments are as stored in the index (`model.Signature`).
    """
    array = _parse_array_type(result["type"])
    if array is None:
        return -1
    bytes_each, lengths = array
    parts = _count_parts(result["attributes"], signature, len(lengths))
    if parts is None:
        return -1
    return bytes_each * math.prod(-(-length // part) for length, part in zip(lengths, parts, strict=True))


def may_have_size(kind: str, partitions: str, size: int) -> bool:
    """Return whether a result of this type and of unknown sharding can have this size on a device.

    With an unknown sharding, all parts have equal sizes. `partitions` is as in `model.Signature`.
    """
    array = _parse_array_type(kind)
    if array is None:
        return True
    bytes_each, lengths = array
    whole = bytes_each * math.prod(lengths)
    return size <= whole and (not partitions.isdecimal() or size * int(partitions) >= whole)


def _parse_array_type(kind: str) -> tuple[int, list[int]] | None:
    """Return the size of an element in bytes and the lengths of the dimensions; None if the type does not have them."""
    found = _TYPE.fullmatch(kind)
    bits = int(found[1] or 8) if found else 0
    if found is None or bits % 8:  # numbers of less than a byte may be packed
        return None
    return bits // 8, [int(length) for length in found[2].split(",") if length]


def _count_parts(attributes: Mapping[str, str], signature: Mapping[str, Any], rank: int) -> list[int] | None:
    """Return the number of parts of each dimension; None if unknown."""
    if signature["partitions"] in ("", "1") or not rank:
        return [1] * rank
    if (sharding := attributes.get("sdy.sharding")) is not None:
        return _parse_shardy_sharding(sharding, signature.get("mesh", {}), rank)
    if (sharding := attributes.get("mhlo.sharding")) is not None:
        return _parse_hlo_sharding(sharding, rank)
    return None  # the compiler chooses


def _parse_hlo_sharding(sharding: str, rank: int) -> list[int] | None:
    """Return the parts of XLA's notation: `{replicated}`, `{devices=[2,1,2]<=[4] last_tile_dim_replicate}`."""
    if sharding == "{replicated}" or sharding.startswith("{maximal"):
        return [1] * rank
    found = _TILES.match(sharding)
    parts = [int(part) for part in found[1].split(",")] if found else []
    is_plain = len(parts) == rank or ("last_tile_dim" in sharding and len(parts) >= rank)
    return [max(part, 1) for part in parts[:rank]] if found and is_plain else None


def _parse_shardy_sharding(sharding: str, mesh: Mapping[str, int], rank: int) -> list[int] | None:
    """Return the parts of the notation in `model.Signature`: `P('x', None, ('y', 'z'))`."""
    if not sharding.startswith("P("):
        return None
    try:
        dimensions = ast.literal_eval(f"[{sharding.removeprefix('P(').removesuffix(')')}]")
        axes = [each if isinstance(each, tuple) else () if each is None else (each,) for each in dimensions]
        parts = [math.prod(mesh[axis] for axis in each) for each in axes]
    except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError):
        return None
    return parts + [1] * (rank - len(parts)) if len(parts) <= rank and all(part > 0 for part in parts) else None


_ALIAS, _DONOR, _MEMORY = "tf.aliasing_output", "jax.buffer_donor", "mhlo.memory_kind"


class UnusedDonation(NamedTuple):
    """A donated argument whose memory no result reuses: its index, its bytes on a device (-1: unknown), and why."""

    argument: int
    size: int
    reason: str


def find_unused_donations(
    signature: Mapping[str, Any], noted: Collection[int] = (), reused: int | None = None
) -> Iterator[UnusedDonation]:
    """Yield the donated arguments whose memory no result reuses.

    `signature` is as stored in the index (`model.Signature`). `noted` are the indices of donated arguments in JAX's
    note. `reused` are the bytes of arguments that the plug-in reports as reused; None: unknown. An argument of unknown
    size counts as fitting, and so does a result that may have the size of the argument.
    """
    arguments = signature["arguments"]
    sizes = {
        place: compute_size_on_device(each, signature)
        for place, each in enumerate(arguments)
        if _ALIAS in each["attributes"] or _DONOR in each["attributes"] or place in noted
    }
    unused = list(_find_arguments_without_result(signature, sizes))
    if reused is not None and min(sizes.values(), default=-1) >= 0:
        missing = sum(sizes.values()) - reused - sum(sizes[place] for place in unused)
        rest = sizes.keys() - set(unused)
        for place in sorted(rest, key=lambda place: (_has_equal_result(signature, place), place)):
            if 0 < sizes[place] <= missing:
                missing -= sizes[place]
                unused.append(place)
    for place in sorted(unused):
        yield UnusedDonation(place, sizes[place], _explain_unused_donation(signature, place, sizes[place]))


def _find_arguments_without_result(signature: Mapping[str, Any], sizes: Mapping[int, int]) -> Iterator[int]:
    """Yield the donated arguments for which no result of their size is left."""
    arguments, results = signature["arguments"], signature["results"]
    aliased = {text for each in arguments if (text := each["attributes"].get(_ALIAS)) is not None}
    unaliased = [
        (compute_size_on_device(each, signature), each) for n, each in enumerate(results) if str(n) not in aliased
    ]
    free = Counter(size for size, _ in unaliased if size >= 0)
    unknown = {each["type"] for size, each in unaliased if size < 0}
    for place, size in sizes.items():
        attributes = arguments[place]["attributes"]
        if _ALIAS in attributes:
            continue
        if _DONOR in attributes and free[size] > 0:
            free[size] -= 1
        elif _DONOR not in attributes or (
            size >= 0 and not any(may_have_size(kind, signature["partitions"], size) for kind in unknown)
        ):
            yield place


def _may_fit(result: Mapping[str, Any], signature: Mapping[str, Any], size: int) -> bool:
    """Return whether a result has this size on a device, or may have it because its sharding is unknown."""
    known = compute_size_on_device(result, signature)
    return known == size if known >= 0 else may_have_size(result["type"], signature["partitions"], size)


def _has_equal_result(signature: Mapping[str, Any], place: int) -> bool:
    """Return whether a result has the type and the kind of memory of an argument."""
    argument = signature["arguments"][place]
    return any(
        each["type"] == argument["type"] and each["attributes"].get(_MEMORY) == argument["attributes"].get(_MEMORY)
        for each in signature["results"]
    )


def _explain_unused_donation(signature: Mapping[str, Any], place: int, size: int) -> str:
    """Return the reason why no result reuses the memory of a donated argument."""
    kind, results = signature["arguments"][place]["type"], signature["results"]
    of_type = [each for each in results if each["type"] == kind]
    if of_type and not _has_equal_result(signature, place):
        return f"the result of its type is in {of_type[0]['attributes'].get(_MEMORY, 'another memory')}"
    if size < 0:
        return "no result has its type and sharding"
    if of_type:
        is_split = any(0 <= compute_size_on_device(each, signature) != size for each in of_type)
        return (
            "the result of its type has another sharding"
            if is_split
            else "other arguments already reuse the results of its type"
        )
    of_size = [each["type"] for each in results if _may_fit(each, signature, size)]
    return f"the result of its size has another type, {of_size[0]}" if of_size else "no other result has its size"


def find_reusable_arguments(signature: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the names of arguments that are not donated although a result could reuse them, with their bytes.

    An argument without a name is counted from 1 (`array argument 1`). Each result is used once.
    """
    arguments, results = signature["arguments"], signature["results"]
    aliased = {text for each in arguments if (text := each["attributes"].get(_ALIAS)) is not None}
    free = Counter(
        (each["type"], compute_size_on_device(each, signature))
        for n, each in enumerate(results)
        if str(n) not in aliased
    )
    for donor in (each for each in arguments if _DONOR in each["attributes"]):
        free[donor["type"], compute_size_on_device(donor, signature)] -= 1
    for place, each in enumerate(arguments):
        size = compute_size_on_device(each, signature)
        is_donated = _ALIAS in each["attributes"] or _DONOR in each["attributes"]
        if not is_donated and size > 0 and free[each["type"], size] > 0:
            free[each["type"], size] -= 1
            yield each["name"] or f"array argument {place + 1}", size
