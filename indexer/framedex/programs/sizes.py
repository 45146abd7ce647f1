"""Sizes of program arguments and results on a device, and donated arguments whose memory no result can reuse.

JAX marks a donated argument with the result that gets its memory (`tf.aliasing_output`), or leaves the choice to XLA
(`jax.buffer_donor`). XLA takes a result of the same size. An argument that JAX itself gives up has neither mark; the
note lists it.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

# Limited to realistic counts and lengths of numbers: a damaged capture may contain anything.
_NUMBERS = r"\d{1,18}(?:,\d{1,18}){0,63}"
_TYPE = re.compile(rf"(?:bool|(?:bfloat|float|u?int|complex)(\d{{1,4}})(?:_\w*)?)\[((?:{_NUMBERS})?)\]")
_TILES = re.compile(rf"\{{devices=\[({_NUMBERS})\]")


def size_on_device(result: Mapping[str, Any], signature: Mapping[str, Any]) -> int:
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
    """Return bytes of an element and lengths of the dimensions of a type; None if they are not in the type."""
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


_ALIAS, _DONOR = "tf.aliasing_output", "jax.buffer_donor"


def find_unused_donations(signature: Mapping[str, Any], noted: Collection[int] = ()) -> Iterator[tuple[int, int]]:
    """Yield the indices of donated arguments that no result can reuse, with their bytes on a device (-1: unknown).

    `signature` is as stored in the index (`model.Signature`). `noted` are the indices of donated arguments in JAX's
    note. An argument of unknown size counts as one that fits, and so does a result that may have the size of the
    argument.
    """
    arguments, results = signature["arguments"], signature["results"]
    aliased = {text for each in arguments if (text := each["attributes"].get(_ALIAS)) is not None}
    unaliased_results = [each for n, each in enumerate(results) if str(n) not in aliased]
    sizes = [(size_on_device(each, signature), each["type"]) for each in unaliased_results]
    free = Counter(size for size, _ in sizes if size >= 0)
    unknown = {kind for size, kind in sizes if size < 0}
    for place, each in enumerate(arguments):
        is_donor = _DONOR in each["attributes"]
        if _ALIAS in each["attributes"] or not (is_donor or place in noted):
            continue
        size = size_on_device(each, signature)
        if is_donor and free[size] > 0:
            free[size] -= 1
        elif not is_donor or (
            size >= 0 and not any(may_have_size(kind, signature["partitions"], size) for kind in unknown)
        ):
            yield place, size


def find_reusable_arguments(signature: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the names of arguments that are not donated although a result could reuse them, with their bytes.

    An argument without a name is counted from 1 (`array argument 1`). Each result is used once.
    """
    arguments, results = signature["arguments"], signature["results"]
    aliased = {text for each in arguments if (text := each["attributes"].get(_ALIAS)) is not None}
    free = Counter(
        (each["type"], size_on_device(each, signature)) for n, each in enumerate(results) if str(n) not in aliased
    )
    for donor in (each for each in arguments if _DONOR in each["attributes"]):
        free[donor["type"], size_on_device(donor, signature)] -= 1
    for place, each in enumerate(arguments):
        size = size_on_device(each, signature)
        is_donated = _ALIAS in each["attributes"] or _DONOR in each["attributes"]
        if not is_donated and size > 0 and free[each["type"], size] > 0:
            free[each["type"], size] -= 1
            yield each["name"] or f"array argument {place + 1}", size
