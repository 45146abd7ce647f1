"""The temporaries of a program at its peak, and the changes that would lower it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from framedex.index.file.paths import is_user_file
from framedex.index.read.rows import Reader
from framedex.model import LocationEvidence, MemorySaving, ProgramPeak, PythonLine, TemporaryBuffer
from framedex.model.programs import compute_share_by_line
from framedex.programs.sizes import find_reusable_arguments

MAX_SAVINGS = 3
"""The maximum number of reported changes."""

_MIN_SHARE = 0.02  # of the peak: smaller savings are not reported
_RECOMPUTED = re.compile(r"\b(?:checkpoint|remat)")  # marks the names of ops that are already rematerialized
_DIMENSIONS = re.compile(r"\[(\d+(?:,\d+)*)\]")


def read_program_peak(reader: Reader, compile_call: int) -> ProgramPeak | None:
    """Return the temporaries of the program of a compilation; None if its sizes are unknown."""
    row = reader.row(
        "SELECT x.program, x.sizes, x.memory, coalesce(p.function, json_extract(n.text, '$.function'), ''), p.signature"
        " FROM compilations x LEFT JOIN programs p ON p.id = x.program LEFT JOIN compile_texts n ON n.id = x.noted"
        " WHERE x.call = ? AND x.sizes IS NOT NULL",
        compile_call,
    )
    if row is None:
        return None
    program, sizes, memory, function, signature = row
    known = (function, compile_call, tuple(json.loads(sizes).items()))
    inside = reader.row("SELECT is_exact, peak, peak_step, steps, over_time FROM program_memory WHERE id = ?", memory)
    if inside is None or not inside[1]:  # a program without temporaries
        return ProgramPeak(*known)
    is_exact, peak, peak_step, steps, over_time = inside
    buffers = tuple(_read_buffers(reader, memory))
    points = tuple((step, alive) for step, alive in json.loads(over_time))
    savings = _find_savings(
        buffers, peak, peak_step, json.loads(signature or "null"), has_backward_pass=_has_backward_pass(reader, program)
    )
    top = sorted(savings, key=lambda saving: -saving.size)[:MAX_SAVINGS]
    return ProgramPeak(*known, bool(is_exact), peak, peak_step, steps, points, buffers, tuple(top))


def _read_buffers(reader: Reader, memory: int) -> Iterator[TemporaryBuffer]:
    rows = reader.rows(
        "SELECT l.buffer, l.is_fused, l.op, fr.function, f.path, fr.line, v.modified, v.size, v.blob"
        " FROM program_buffer_lines l LEFT JOIN program_frames fr ON fr.id = l.frame"
        " LEFT JOIN files f ON f.id = fr.file LEFT JOIN file_versions v ON v.id = fr.version"
        " WHERE l.memory = ? ORDER BY l.buffer, l.is_fused, l.position",
        memory,
    )
    stacks: dict[int, list[PythonLine]] = {}
    fused: dict[int, list[tuple[str, PythonLine | None]]] = {}
    for buffer, is_fused, op, function, path, line, *state in rows:
        location = reader.build_location(path, line, LocationEvidence.EXACT, *state)
        python_line = None if location is None else PythonLine(function, location)
        if is_fused:
            fused.setdefault(buffer, []).append((op, python_line))
        elif python_line is not None:
            stacks.setdefault(buffer, []).append(python_line)
    query = (
        "SELECT number, instruction, opcode, op, shape, size, first, last, last_instruction, is_near"
        " FROM program_buffers WHERE memory = ? ORDER BY number"
    )
    for number, *figures, is_near in reader.rows(query, memory):
        stack = tuple(stacks.get(number, ()))
        own = (each for each in stack if is_user_file(each.location.path))
        line = next(own, stack[0] if stack else None)
        ops = tuple(fused.get(number, ()))
        shares = compute_share_by_line(Counter(line for _, line in ops))
        lines: tuple[Any, ...] = (bool(is_near), line, stack, ops, shares if len(shares) > 1 else ())
        yield TemporaryBuffer(*figures, *lines)


# Changes that lower the peak


def _has_backward_pass(reader: Reader, program: int | None) -> bool:
    """Return whether a program has ops of a transposed function, as `jax.grad` makes them."""
    query = (
        "SELECT 1 FROM program_lines l JOIN program_ops o ON o.id = l.op"
        " WHERE l.program = ? AND instr(o.name, 'transpose(') LIMIT 1"
    )
    return reader.row(query, program) is not None


def _find_savings(
    buffers: Sequence[TemporaryBuffer],
    peak: int,
    peak_step: int,
    signature: Mapping[str, Any] | None,
    *,
    has_backward_pass: bool,
) -> Iterator[MemorySaving]:
    """Yield the changes that save a noticeable part of the peak."""
    found = [*_recompute(buffers, peak_step)] if has_backward_pass else []
    if signature is not None:
        found += (MemorySaving("donate", name, size) for name, size in find_reusable_arguments(signature))
        found += _halve_dimension(buffers, signature)
    yield from (saving for saving in found if saving.size >= max(peak * _MIN_SHARE, 1))


def _recompute(buffers: Sequence[TemporaryBuffer], peak_step: int) -> Iterator[MemorySaving]:
    """Yield the lines whose values are kept for the backward pass, and the memory that rematerializing them saves.

    The backward pass of an op needs its value. So only ops that repeat, such as once per layer, save memory: all values
    but one. A loop stacks the values of its iterations in one buffer.
    """
    kept: dict[PythonLine, dict[tuple[str, str], list[int]]] = {}
    for buffer in buffers:
        is_kept = buffer.first < peak_step < buffer.last and _RECOMPUTED.search(buffer.op) is None
        if is_kept and buffer.line is not None and not buffer.is_near:
            kept.setdefault(buffer.line, {}).setdefault((buffer.op, buffer.shape), []).append(buffer.size)
    for line, ops in kept.items():
        saved = sum(
            sum(sizes) if "while/body" in op or op.endswith("/while") else sum(sizes) - max(sizes)
            for (op, _), sizes in ops.items()
        )
        yield MemorySaving("remat", "", saved, line)


def _halve_dimension(buffers: Sequence[TemporaryBuffer], signature: Mapping[str, Any]) -> Iterator[MemorySaving]:
    """Yield the leading dimension of arguments, such as the batch size, that saves the most memory if halved.

    Its size must identify it: inner dimensions of arguments have other sizes, and so have all dimensions of weights and
    states. Weights and states are the arguments with the type of a result.
    """
    results = {each["type"] for each in signature["results"]}
    dimensions = {each["type"]: _parse_dimensions(each["type"]) for each in signature["arguments"]}
    inner = {length for lengths in dimensions.values() for length in lengths[1:]}
    inner |= {length for kind, lengths in dimensions.items() if kind in results for length in lengths}
    leading = {
        lengths[0]
        for kind, lengths in dimensions.items()
        if len(lengths) > 1 and lengths[0] > 1 and kind not in results
    }
    savings = []
    for dimension in leading - inner:
        sizes = (
            buffer.size
            for buffer in buffers
            if (first := next(iter(_parse_dimensions(buffer.shape)), 0)) == dimension
            or (first and first % dimension == 0 and first not in inner and first not in leading)
        )
        savings.append(MemorySaving("batch", str(dimension), sum(sizes) // 2))
    yield from sorted(savings, key=lambda saving: -saving.size)[:1]


def _parse_dimensions(shape: str) -> list[int]:
    match = _DIMENSIONS.search(shape)
    return [int(length) for length in match[1].split(",")] if match else []
