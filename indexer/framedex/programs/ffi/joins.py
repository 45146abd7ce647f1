"""Join the runs of FFI handlers in a capture to their call sites, using the descriptions in the capture.

The program numbers every custom call that XLA instantiates. Each run records this number. The capture maps the number
to a custom call of a compiled program (docs/reference/capture-format.md, docs/how-to/ffi-kernels.md). Malformed content
never raises.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from framedex.model import Capture, Function, SiteEvidence
from framedex.programs.ffi.model import UnknownTarget

BOUNDARY = "ffi"
_STAGES = ("instantiate", "prepare", "initialize")
_TRUNCATED_END = "..."

PlainFrame = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class Target:
    """A registration of a handler; `registered_at` is its Python stack, innermost first."""

    name: str
    platform: str
    api_version: int
    stages: tuple[str, ...]
    is_wrapped: bool
    registered_at: tuple[PlainFrame, ...]


@dataclass(frozen=True, slots=True)
class Site:
    """A call site of a custom call, with its Python stack, innermost first.

    `key` is the same in every capture. `user_frame` is the index of the innermost frame outside JAX. With
    `from_metadata` the stack comes from the compiled program, which has no JAX frames.
    """

    key: str
    target: str
    frames: tuple[PlainFrame, ...]
    user_frame: int
    from_metadata: bool


@dataclass(frozen=True, slots=True)
class RunJoin:
    """The keys of the possible sites of a run: a single one unless `how` is ambiguous."""

    how: SiteEvidence
    sites: tuple[str, ...]


class RunJoins:
    """Maps handler runs to sites, by function and arguments."""

    def __init__(
        self,
        functions: Sequence[tuple[str, str] | None] = (),
        by_number: Mapping[int, Sequence[_Instance]] | None = None,
        by_target: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """`functions` are target and stage of each function of the capture, None if it is not a handler."""
        self._functions = functions
        self._by_number = by_number or {}
        self._by_target = by_target or {}

    def join(self, function: int, arguments: str) -> RunJoin | None:
        """Return the join of a call, given the index of its function in the capture; None if the origin is unknown."""
        split = self._functions[function] if function < len(self._functions) else None
        return (
            None if split is None else _join_run(split, _parse_arguments(arguments), self._by_number, self._by_target)
        )


@dataclass(frozen=True, slots=True)
class FfiJoins:
    """The FFI data of a capture."""

    targets: tuple[Target, ...] = ()
    sites: Mapping[str, Site] = field(default_factory=dict)
    runs: RunJoins = field(default_factory=RunJoins)
    problems: tuple[UnknownTarget, ...] = ()


def parse_ffi_joins(capture: Capture) -> FfiJoins:
    """Parse the descriptions of a capture that join its runs."""
    described: dict[str, list[dict[str, Any]]] = {}
    for description in capture.descriptions:
        described.setdefault(description.kind, []).append(description.content)
    sites = {site.key: site for site in map(_parse_site, described.get("ffi_site", ())) if site.frames}
    instances = list(map(_parse_instance, described.get("ffi_instance", ())))
    for instance in instances:
        if instance.metadata_site is not None:
            sites.setdefault(instance.metadata_site.key, instance.metadata_site)
    targets = tuple(map(_parse_target, described.get("ffi_target", ())))
    return FfiJoins(
        targets=targets,
        sites=sites,
        runs=_build_run_joins(capture.functions, instances, sites, [target.name for target in targets]),
        problems=tuple(map(_parse_unknown_target, described.get("ffi_problem", ()))),
    )


def find_metadata_site_keys(descriptions: Iterable[tuple[str, str]]) -> list[str | None]:
    """Return the site key in the metadata of each described custom call; None if it has none.

    `descriptions` are kinds and their JSON, as in shared files.
    """
    instances = (_parse_instance(json.loads(text)) for kind, text in descriptions if kind == "ffi_instance")
    return [instance.metadata_site.key if instance.metadata_site is not None else None for instance in instances]


def split_function(name: str, targets: Sequence[str] = ()) -> tuple[str, str]:
    """Split a function of the boundary into target and stage.

    `counter.instantiate` has the stage `instantiate`, and `counter` the stage `execute`.
    """
    target, _, stage = name.rpartition(".")
    is_other_stage = stage in _STAGES and target and name not in targets
    return (target, stage) if is_other_stage else (name, "execute")


@dataclass(frozen=True, slots=True)
class _Instance:
    number: int | None  # None: before the typed API, all custom calls of a target are one
    how: str
    target: str
    site: str | None
    operands: str
    results: str
    metadata_site: Site | None

    def fits(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the known shapes of a run agree with those of this custom call."""
        return _shapes_agree(arguments.get("arguments"), self.operands) and _shapes_agree(
            arguments.get("results"), self.results
        )


def _shapes_agree(recorded: object, described: str) -> bool:
    if not isinstance(recorded, str) or recorded == described:
        return True
    return recorded.endswith(_TRUNCATED_END) and described.startswith(recorded.removesuffix(_TRUNCATED_END))


def _build_run_joins(
    functions: Sequence[Function], instances: Sequence[_Instance], sites: Mapping[str, Site], targets: Sequence[str]
) -> RunJoins:
    by_number: dict[int, list[_Instance]] = {}
    by_target: dict[str, list[str]] = {}
    for instance in instances:
        if instance.number is not None:
            by_number.setdefault(instance.number, []).append(instance)
        elif instance.site is not None:
            by_target.setdefault(instance.target, []).append(instance.site)
    for site in sites.values():
        if not site.from_metadata:
            by_target.setdefault(site.target, []).append(site.key)
    handlers = [
        split_function(function.name, targets) if function.boundary == BOUNDARY else None for function in functions
    ]
    return RunJoins(handlers, by_number, by_target)


def _join_run(
    function: tuple[str, str],
    arguments: Mapping[str, Any],
    by_number: Mapping[int, Sequence[_Instance]],
    by_target: Mapping[str, Sequence[str]],
) -> RunJoin | None:
    target, stage = function
    number = arguments.get("instance")
    described = by_number.get(number, ()) if isinstance(number, int) else ()
    if not described:
        # A site that the run itself names was certain at run time, even if the capture does not describe the site.
        named = arguments.get("site")
        return (
            _build_join(SiteEvidence.EXACT, [named])
            if isinstance(named, str)
            else _build_join(SiteEvidence.SINGLE, by_target.get(target, ()))
        )
    certain = [instance for instance in described if instance.how == "exact"]
    if certain:
        last = certain[-1]
        is_sure = stage != "execute" or last.fits(arguments)
        return _build_join(SiteEvidence.EXACT if is_sure else SiteEvidence.AMBIGUOUS, [last.site] if last.site else [])
    candidates = [instance for instance in described if stage != "execute" or instance.fits(arguments)]
    return _build_join(SiteEvidence.SINGLE, [each.site for each in candidates or described if each.site])


def _build_join(how: SiteEvidence, sites: Sequence[str]) -> RunJoin | None:
    distinct = tuple(dict.fromkeys(sites))
    if not distinct:
        return None
    return RunJoin(how if len(distinct) == 1 else SiteEvidence.AMBIGUOUS, distinct)


def _parse_instance(content: Mapping[str, Any]) -> _Instance:
    number, site = content.get("instance"), content.get("site")
    target = str(content.get("target"))
    metadata_site = _parse_metadata_site(site, target, _parse_frames(content.get("frames")))
    return _Instance(
        number=number if isinstance(number, int) else None,
        how=str(content.get("join")),
        target=target,
        site=site if isinstance(site, str) else metadata_site.key if metadata_site else None,
        operands=str(content.get("operands", "")),
        results=str(content.get("results", "")),
        metadata_site=metadata_site,
    )


def _parse_metadata_site(key: object, target: str, frames: tuple[PlainFrame, ...]) -> Site | None:
    """Return the site in the metadata of the compiled program, the only one for JAX's own calls and exported programs.

    If another process created the site, this one is used until a capture of that process has the whole stack.
    """
    if not frames:
        return None
    digest = hashlib.blake2b(repr((target, frames)).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return Site(key if isinstance(key, str) else f"hlo:{digest}", target, frames, 0, from_metadata=True)


def _parse_site(content: Mapping[str, Any]) -> Site:
    frames = _parse_frames(content.get("frames"))
    user_frame = content.get("user_frame")
    is_index = isinstance(user_frame, int) and 0 <= user_frame < len(frames)
    return Site(
        key=str(content.get("site")),
        target=str(content.get("target")),
        frames=frames,
        user_frame=user_frame if is_index and isinstance(user_frame, int) else 0,
        from_metadata=False,
    )


def _parse_target(content: Mapping[str, Any]) -> Target:
    version = content.get("api_version")
    return Target(
        name=str(content.get("target")),
        platform=str(content.get("platform")),
        api_version=version if isinstance(version, int) else 1,
        stages=_parse_strings(content.get("stages")),
        is_wrapped=content.get("is_wrapped") is not False,
        registered_at=_parse_frames(content.get("registered_at")),
    )


def _parse_unknown_target(content: Mapping[str, Any]) -> UnknownTarget:
    return UnknownTarget(
        target=str(content.get("target")),
        platform=str(content.get("platform")),
        registered_for=_parse_strings(content.get("registered_for")),
        sites=_parse_strings(content.get("sites")),
        message=str(content.get("message", "")),
    )


def _parse_strings(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _parse_frames(value: object) -> tuple[PlainFrame, ...]:
    found: list[PlainFrame] = []
    for frame in value if isinstance(value, list) else ():
        match frame:
            case [str(file), int(line), str(function)]:
                found.append((file, line, function))
    return tuple(found)


def _parse_arguments(arguments: str) -> Mapping[str, Any]:
    try:
        decoded = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return decoded if isinstance(decoded, dict) else {}
