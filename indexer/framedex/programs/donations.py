"""Donated arguments of a compiled program whose memory no result can reuse.

JAX marks an argument with the result that gets its memory (`tf.aliasing_output`), or leaves the choice to XLA
(`jax.buffer_donor`). XLA takes a result of the same size. An argument that JAX itself gives up has neither mark; the
note lists it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from framedex.programs.sizes import may_have_size, size_on_device

_ALIAS, _DONOR = "tf.aliasing_output", "jax.buffer_donor"


def unused_donations(signature: Mapping[str, Any], noted: Collection[int] = ()) -> Iterator[tuple[int, int]]:
    """Yield the indices of donated arguments that no result can reuse, with their bytes on a device (-1: unknown).

    `signature` is as stored in the index (`model.Signature`). `noted` are the indices of donated arguments in JAX's
    note. An argument of unknown size counts as one that fits, and so does a result that may have the size of the
    argument.
    """
    arguments, results = signature["arguments"], signature["results"]
    aliased = {text for each in arguments if (text := each["attributes"].get(_ALIAS)) is not None}
    left = [each for n, each in enumerate(results) if str(n) not in aliased]
    sizes = [(size_on_device(each, signature), each["type"]) for each in left]
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
