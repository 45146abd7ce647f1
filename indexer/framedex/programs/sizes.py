"""How many bytes a device has of a program's result, as its type and its sharding tell."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping
from typing import Any

# Of no more numbers, and no longer ones, than are real: a damaged capture may tell anything.
_NUMBERS = r"\d{1,18}(?:,\d{1,18}){0,63}"
_TYPE = re.compile(rf"(?:bool|(?:bfloat|float|u?int|complex)(\d{{1,4}})(?:_\w*)?)\[((?:{_NUMBERS})?)\]")
_TILES = re.compile(rf"\{{devices=\[({_NUMBERS})\]")


def size_on_device(result: Mapping[str, Any], signature: Mapping[str, Any]) -> int:
    """Bytes of a result on one device, without what the device's layout adds; -1 where nothing tells.

    Both are as the index has them (`model.Signature`).
    """
    array = _array(result["type"])
    if array is None:
        return -1
    bytes_each, lengths = array
    parts = _parts(result["attributes"], signature, len(lengths))
    if parts is None:
        return -1
    return bytes_each * math.prod(-(-length // part) for length, part in zip(lengths, parts, strict=True))


def may_have_size(result: Mapping[str, Any], signature: Mapping[str, Any], size: int) -> bool:
    """Whether a result can have as many bytes on a device; of an unknown sharding, all parts are of one size."""
    known, array = size_on_device(result, signature), _array(result["type"])
    if known >= 0 or array is None or size < 0:
        return size < 0 or known in (-1, size)
    bytes_each, lengths = array
    whole, partitions = bytes_each * math.prod(lengths), signature["partitions"]
    return size <= whole and (not partitions.isdecimal() or size * int(partitions) >= whole)


def _array(kind: str) -> tuple[int, list[int]] | None:
    """Bytes of an element and the lengths of the dimensions of a type; None where it does not tell them."""
    found = _TYPE.fullmatch(kind)
    bits = int(found[1] or 8) if found else 0
    if found is None or bits % 8:  # numbers of less than a byte are packed, or are not
        return None
    return bits // 8, [int(length) for length in found[2].split(",") if length]


def _parts(attributes: Mapping[str, str], signature: Mapping[str, Any], rank: int) -> list[int] | None:
    """Into how many parts each dimension is cut; None where nothing tells."""
    if signature["partitions"] in ("", "1") or not rank:
        return [1] * rank
    if (sharding := attributes.get("sdy.sharding")) is not None:
        return _of_shardy(sharding, signature.get("mesh", {}), rank)
    if (sharding := attributes.get("mhlo.sharding")) is not None:
        return _of_hlo(sharding, rank)
    return None  # the compiler chooses


def _of_hlo(sharding: str, rank: int) -> list[int] | None:
    """As XLA writes it: `{replicated}`, `{devices=[2,1,2]<=[4] last_tile_dim_replicate}`."""
    if sharding == "{replicated}" or sharding.startswith("{maximal"):
        return [1] * rank
    found = _TILES.match(sharding)
    parts = [int(part) for part in found[1].split(",")] if found else []
    is_plain = len(parts) == rank or ("last_tile_dim" in sharding and len(parts) >= rank)
    return [max(part, 1) for part in parts[:rank]] if found and is_plain else None


def _of_shardy(sharding: str, mesh: Mapping[str, int], rank: int) -> list[int] | None:
    """As `model.Signature` has it: `P('x', None, ('y', 'z'))`."""
    if not sharding.startswith("P("):
        return None
    try:
        dimensions = ast.literal_eval(f"[{sharding.removeprefix('P(').removesuffix(')')}]")
        axes = [each if isinstance(each, tuple) else () if each is None else (each,) for each in dimensions]
        parts = [math.prod(mesh[axis] for axis in each) for each in axes]
    except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError):
        return None
    return parts + [1] * (rank - len(parts)) if len(parts) <= rank and all(part > 0 for part in parts) else None
