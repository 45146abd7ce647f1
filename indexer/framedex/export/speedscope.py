"""speedscope format (https://www.speedscope.app/file-format-schema.json): sampled profiles of each thread."""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any

from framedex.base.version import VERSION
from framedex.export.formats import Weight
from framedex.export.samples import read_samples

if TYPE_CHECKING:
    from framedex.export.content import ExportContent, ExportedFrame
    from framedex.export.samples import Sample

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"
_UNITS = {Weight.TIME: "nanoseconds", Weight.CALLS: "none", Weight.BYTES: "bytes"}


def write(content: ExportContent, file: IO[bytes], weight: Weight) -> None:
    """Write one profile per thread and weight with a nonzero total; the given weight comes first."""
    threads: dict[int, list[Sample]] = {}
    for sample in read_samples(content):
        threads.setdefault(sample.kind.thread, []).append(sample)
    busiest = sorted(
        threads.values(), key=lambda thread_samples: -sum(weight.select(each.weights) for each in thread_samples)
    )
    profiles = [
        (each, thread_samples)
        for each in sorted(Weight, key=lambda other: other is not weight)
        for thread_samples in busiest
        if _sum_weights(thread_samples, each)
    ]
    indices: dict[int, int] = {}
    text = json.dumps({"$schema": _SCHEMA, "exporter": f"framedex {VERSION}", "name": _profile_name(content)})
    file.write(text.removesuffix("}").encode() + b', "activeProfileIndex": 0, "profiles": [')
    for number, (each, thread_samples) in enumerate(profiles):
        profile = json.dumps(_build_profile(content, indices, each, thread_samples))
        file.write((",\n" if number else "\n").encode() + profile.encode())
    frames = [json.dumps(_build_frame(content.step(number))) for number in indices]
    file.write(b'],\n"shared": {"frames": [\n' + ",\n".join(frames).encode() + b"]}}\n")


def _profile_name(content: ExportContent) -> str:
    return ", ".join(capture.command for capture in content.captures)


def _sum_weights(thread_samples: list[Sample], weight: Weight) -> int:
    return sum(weight.select(each.weights) for each in thread_samples)


def _build_profile(
    content: ExportContent, indices: dict[int, int], weight: Weight, thread_samples: list[Sample]
) -> dict[str, Any]:
    weighted = [(each.kind, weight.select(each.weights)) for each in thread_samples if weight.select(each.weights)]
    thread = content.thread(thread_samples[0].kind.thread)
    capture = f" of capture {thread.capture}" if len(content.captures) > 1 else ""
    return {
        "type": "sampled",
        "name": f"{weight}, {thread.label}{capture}",
        "unit": _UNITS[weight],
        "startValue": 0,
        "endValue": sum(value for _, value in weighted),
        "samples": [
            [indices.setdefault(number, len(indices)) for number in content.steps(kind)] for kind, _ in weighted
        ],
        "weights": [value for _, value in weighted],
    }


def _build_frame(step: ExportedFrame) -> dict[str, Any]:
    frame: dict[str, Any] = {"name": step.name}
    if step.path:
        frame |= {"file": step.url or step.path, "line": step.line}
    elif step.module:
        frame["file"] = step.module
    return frame
