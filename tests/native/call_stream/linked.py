"""Causal links as C++ finds them, for comparison with Python's."""

from __future__ import annotations

import numpy as np

from framedex.captures import CaptureStream
from framedex.captures.reader import object_table
from framedex.model import Capture, LinkEvidence, PythonFrame
from framedex_native import _call_stream
from framedex_native._call_stream import StackTables
from tests.native.call_stream.encoded import Encoded
from tests.oracle.causal_links import CausalLink


def linking(capture: Capture, encoded: Encoded) -> _call_stream.CausalLinks:
    """The link finder of a capture, before its first call."""
    links = _call_stream.CausalLinks(object_table(), stack_tables(capture), bool(capture.metadata.selected_by))
    for name, values in encoded.functions:
        links.add_function(name, values)
    for thread in threads_with_python(capture):
        links.add_python_thread(thread)
    return links


def linked(capture: Capture, encoded: Encoded, batch: int = 1 << 62) -> tuple[CausalLink, ...]:
    """The links of a capture's calls in Python's order, taken after this many calls each."""
    links = linking(capture, encoded)
    found: list[CausalLink] = []
    for begin in range(0, len(encoded.calls), batch):
        links.add(encoded.calls, begin, begin + batch)
        found += taken(links)
    links.finish()
    found += taken(links)
    return tuple(sorted(found, key=lambda link: (link.call, link.thread)))


def taken(links: _call_stream.CausalLinks) -> list[CausalLink]:
    """The links decided since the last call of this method."""
    rows, chains = links.take_links(), links.chains
    columns = (rows["call"].tolist(), rows["thread"].tolist(), rows["chain"].tolist(), rows["how"])
    return [
        CausalLink(call, thread, tuple(chains[chain]), LinkEvidence(how))
        for call, thread, chain, how in zip(*columns, strict=True)
    ]


def stack_tables(capture: Capture) -> StackTables:
    """The frames and stacks of a capture that matter for links."""
    tables = StackTables()
    for frame in capture.frames:
        tables.add_frame(isinstance(frame, PythonFrame))
    for stack in capture.stacks:
        tables.add_stack(stack.frames, stack.python, str(stack.outcome), stack.is_truncated)
    return tables


def threads_with_python(capture: Capture) -> list[int]:
    """The threads that have a call with a Python stack."""
    has_python = [
        any(isinstance(capture.frames[frame], PythonFrame) for frame in stack.python or stack.frames)
        for stack in capture.stacks
    ]
    threads = capture.calls.thread[np.array(has_python or [False], np.bool_)[capture.calls.stack]]
    return [int(thread) for thread in np.unique(threads)]


def streamed_links(stream: CaptureStream, at_once: int) -> tuple[CausalLink, ...]:
    """The links of a capture from its stream, this many calls at a time."""
    chains: list[tuple[int, ...]] = []
    found: list[CausalLink] = []
    while stream.row < stream.calls:
        batch = stream.next(at_once)
        chains += batch.chains
        found += [
            CausalLink(call, thread, chains[chain], list(LinkEvidence)[how])
            for call, thread, chain, how in batch.links.tolist()
        ]
    return tuple(sorted(found, key=lambda link: (link.call, link.thread)))
