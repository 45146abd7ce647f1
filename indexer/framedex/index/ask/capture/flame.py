"""The stacks of a capture as a flame graph: functions below their callers, with calls and time.

A call's time counts where its stack ends. Boundary calls nested in it have stacks of their own, so their time is
subtracted. The times of a node's callees thus never exceed its own. A graph of one boundary function has the whole time
of its calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from framedex.index.ask.capture.contents import CaptureTree, StackEnd, read_capture_tree, read_nested_durations
from framedex.index.read.rows import read_frames_by_id
from framedex.index.read.subjects import CaptureQuery
from framedex.model import FlameGraph, FlameKind, FlameNode, FrameRole, FrameRow, Language

MAX_NODES = 4000
"""The number of nodes that a screen can show and a page can draw at once."""

MIN_SHARE = 0.0005
"""The share of all calls, or of all time, below which functions are merged into `others`."""

_KINDS = {Language.PYTHON: FlameKind.PYTHON, Language.NATIVE: FlameKind.NATIVE}


def build_flame_graph(
    subject: CaptureQuery, boundary: int | None = None, *, with_glue: bool = True, max_nodes: int = MAX_NODES
) -> FlameGraph:
    """Return the flame graph of the capture, or of the calls of one `boundary` function (its id).

    At most `max_nodes` nodes are kept, the largest shares of calls or time first. Without glue, interpreter and glue
    frames are skipped.
    """
    reader, capture = subject.reader, subject.capture
    tree = read_capture_tree(reader, capture)
    ends = [end for end in tree.ends if boundary is None or end.boundary == boundary]
    nested = read_nested_durations(reader, capture) if boundary is None else {}
    names: dict[int, str] = dict(reader.rows("SELECT id, name FROM boundaries"))
    builder = _GraphBuilder(tree, read_frames_by_id(reader, {frame for _, _, frame in tree.nodes}), with_glue)
    builder.add([end for end in ends if not end.python_leaf], nested, names, builder.root)
    unmerged = [end for end in ends if end.python_leaf]
    if unmerged:
        get_callee = builder.root.get_callee(
            ("unmerged",), FlameKind.UNMERGED, "native stacks that could not be merged"
        )
        builder.add(unmerged, nested, names, get_callee)
    return _prune(builder, max_nodes)


@dataclass(slots=True, eq=False)
class _Node:
    """A node under construction; `frames` has the time spent in and below each of its frames."""

    kind: FlameKind
    name: str
    caller: _Node | None
    calls: int = 0
    duration: int = 0
    frames: Counter[int] = field(default_factory=Counter)
    callees: dict[tuple[object, ...], _Node] = field(default_factory=dict)

    def get_callee(self, key: tuple[object, ...], kind: FlameKind, name: str) -> _Node:
        """Return the callee with this key, creating it if necessary."""
        found = self.callees.get(key)
        if found is None:
            found = self.callees[key] = _Node(kind, name, self)
        return found

    def add_calls(self, calls: int, duration: int) -> None:
        """Add calls and duration (ns) to this node and all its callers."""
        current: _Node | None = self
        while current is not None:
            current.calls += calls
            current.duration += duration
            current = current.caller


class _GraphBuilder:
    """The graph under construction."""

    def __init__(self, tree: CaptureTree, frames: dict[int, FrameRow], with_glue: bool) -> None:
        self.root = _Node(FlameKind.OTHERS, "", None)
        self.frames = frames
        self.hidden: set[int] = set()
        self._tree = tree
        self._parents = {node: parent for node, parent, _ in tree.nodes}
        self._frame_of = {node: frame for node, _, frame in tree.nodes}
        self._with_glue = with_glue

    def add(
        self, ends: Iterable[StackEnd], nested: dict[tuple[int, int], int], names: dict[int, str], root: _Node
    ) -> None:
        """Add the stacks with these ends below `root`."""
        placed: dict[int, _Node] = {0: root}
        spent: Counter[int] = Counter()
        for end in ends:
            duration = max(end.duration - nested.get((end.stack, end.boundary), 0), 0)
            leaf, name = self._find_or_add_node(end.leaf, placed), names[end.boundary]
            if leaf.kind is FlameKind.NATIVE and leaf.name == name:
                leaf.kind = FlameKind.BOUNDARY
            elif leaf.kind is not FlameKind.BOUNDARY or leaf.name != name:
                leaf = leaf.get_callee(("boundary", end.boundary), FlameKind.BOUNDARY, name)
            leaf.add_calls(end.calls, duration)
            spent[end.leaf] += duration + 1  # + 1 ranks frames of stacks without measured time
        for node, parent, frame in reversed(self._tree.nodes):
            spent[parent] += spent[node]
            if node in placed and self._is_shown(frame):
                placed[node].frames[frame] += spent[node]

    def _find_or_add_node(self, node: int, placed: dict[int, _Node]) -> _Node:
        """Return the graph node for a tree node, creating it and its callers if necessary."""
        missing = []
        while node not in placed:
            missing.append(node)
            node = self._parents[node]
        current = placed[node]
        for each in reversed(missing):
            frame = self._frame_of[each]
            if self._is_shown(frame):
                function = self.frames[frame].function
                current = current.get_callee((function.id,), _KINDS[function.language], function.name)
            else:
                self.hidden.add(frame)
            placed[each] = current
        return current

    def _is_shown(self, frame: int) -> bool:
        return self._with_glue or self.frames[frame].function.role is FrameRole.CODE


def _prune(builder: _GraphBuilder, max_nodes: int) -> FlameGraph:
    """Return the graph with its largest nodes; the other callees of each node are merged into one."""
    root = builder.root
    shown_ids = {id(root)} | {id(node) for node in _find_largest(root, max_nodes)}
    nodes: list[FlameNode] = []
    merged = 0
    pending: list[tuple[_Node, int]] = [(root, -1)]
    while pending:
        node, position = pending.pop()
        callees = sorted(node.callees.values(), key=lambda each: (-each.duration, -each.calls, each.name))
        for callee in (each for each in callees if id(each) in shown_ids):
            pending.append((callee, len(nodes)))
            nodes.append(_build_node(builder, callee, position))
        small = [each for each in callees if id(each) not in shown_ids]
        if small:
            functions = sum(1 for each in small for _ in _iter_nodes(each))
            merged += functions
            calls, duration = sum(each.calls for each in small), sum(each.duration for each in small)
            nodes.append(FlameNode(position, FlameKind.OTHERS, "", calls, duration, None, None, functions))
    return FlameGraph(root.calls, root.duration, len(builder.hidden), merged, tuple(nodes))


def _build_node(builder: _GraphBuilder, node: _Node, parent: int) -> FlameNode:
    frame = builder.frames[max(node.frames, key=lambda each: (node.frames[each], -each))] if node.frames else None
    location = frame.location if frame is not None else None
    number = frame.id if frame is not None else None
    return FlameNode(parent, node.kind, node.name, node.calls, node.duration, number, location, 0)


def _find_largest(root: _Node, max_nodes: int) -> Sequence[_Node]:
    """Return the nodes with the largest share of calls or time; a caller precedes its callees."""
    shares = [
        (max(node.calls / max(root.calls, 1), node.duration / max(root.duration, 1)), node)
        for node in _iter_nodes(root)
        if node is not root
    ]
    large = [(share, node) for share, node in shares if share >= MIN_SHARE]
    large.sort(key=lambda each: -each[0])  # stable: a caller stays before a callee with the same share
    return [node for _, node in large[:max_nodes]]


def _iter_nodes(root: _Node) -> Iterable[_Node]:
    """Yield a node and all nodes below it, callers before their callees."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(node.callees.values())
