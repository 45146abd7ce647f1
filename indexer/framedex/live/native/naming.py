"""Functions and source lines of native frames, by the machinery for stack traces in texts (`text_stacks/`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import chain

from framedex.live.native.stacks import ProcessStacks
from framedex.live.native.unwinding import NativeFrame
from framedex.model import Language
from framedex.text_stacks.model import StackFormat, TextFrame, TextLocation
from framedex.text_stacks.source_lookup.frame_context import FoundFrame
from framedex.text_stacks.source_lookup.resolve import Resolver

NamedFrames = dict[NativeFrame, tuple[FoundFrame, ...]]
"""The functions at each native frame: the compiled one last, before it those inlined there, innermost first."""


def name_frames(stacks: ProcessStacks, resolver: Resolver) -> NamedFrames:
    """The functions of all native frames. Raises FramedexError if the index is damaged."""
    texts_of = cache(lambda frame: tuple(_build_text_frames(frame)))  # threads of a pool have the same frames
    texts = {
        frame: texts_of(replace(frame, stack_pointer=0)) for thread in stacks.threads for frame in thread.native.frames
    }
    resolver.set_program(*chain.from_iterable(texts.values()))
    named: NamedFrames = {}
    found: dict[tuple[TextFrame, TextFrame | None], FoundFrame] = {}
    for thread in stacks.threads:
        frames = thread.native.frames
        resolver.set_stack((text, "") for frame in frames for text in texts[frame])
        callee: TextFrame | None = None
        for frame in frames:
            callee = callee if frame.is_return_address else None
            keys = []
            for text in texts[frame]:
                key = text, callee
                if key not in found:
                    found[key] = resolver.find(text, callee_frame=callee)
                keys.append(key)
                callee = text
            named[frame] = tuple(found[key] for key in keys)
    return named


def _build_text_frames(frame: NativeFrame) -> Iterator[TextFrame]:
    """The frame as a debugger prints it: with debug information, a line for each function inlined there."""
    module = frame.module
    text = TextFrame(
        StackFormat.GDB,
        *(0, 0, 0, 0),
        language=Language.NATIVE,
        address=frame.address,
        is_return_address=frame.is_return_address,
    )
    if module is None or frame.position is None:
        yield replace(text, module=module.path if module is not None else "")
        return
    text = replace(text, module=str(module.file), offset=frame.position, build_id=module.build_id)
    symbols = module.binary.resolve([frame.position - frame.is_return_address])[0]
    if not symbols or symbols[0].path is None:
        yield replace(text, function=symbols[-1].symbol) if symbols and module.is_without_file else text
        return
    for symbol in symbols:
        place = TextLocation(symbol.path, symbol.line, function=symbol.name) if symbol.path and symbol.line else None
        yield replace(text, function=symbol.name, place=place)
