"""Donated arguments of a compiled program whose memory no result can have.

JAX writes onto an argument which result gets its memory (`tf.aliasing_output`), or leaves the choice to XLA
(`jax.buffer_donor`), which takes a result of as many bytes. What JAX gives up itself has neither; the note has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from framedex.programs.sizes import size_on_device

_ALIAS, _DONOR = "tf.aliasing_output", "jax.buffer_donor"


def unused_donations(signature: Mapping[str, Any], noted: Collection[int] = ()) -> Iterator[tuple[int, int]]:
    """The places of donated arguments that no result can reuse, each with its bytes on a device (-1: not known).

    `signature` is as the index has it (`model.Signature`), `noted` are the donated places that JAX knew. An argument
    or a result whose size nothing tells counts as one that fits.
    """
    arguments, results = signature["arguments"], signature["results"]
    aliased = {text for each in arguments if (text := each["attributes"].get(_ALIAS)) is not None}
    free = Counter(size_on_device(each, signature) for n, each in enumerate(results) if str(n) not in aliased)
    for place, each in enumerate(arguments):
        is_donor = _DONOR in each["attributes"]
        if _ALIAS in each["attributes"] or not (is_donor or place in noted):
            continue
        size = size_on_device(each, signature)
        if is_donor and (size < 0 or free[-1] or free[size]):
            free[size] -= 1
            continue
        yield place, size
