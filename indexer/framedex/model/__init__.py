"""The vocabulary that every room of framedex shares: what a capture holds, and what the index answers."""

from typing import TYPE_CHECKING

from framedex.lazy import exports_of_any

if TYPE_CHECKING:
    from framedex.model.capture import (
        BinaryId,
        BinaryState,
        Calls,
        Capture,
        CodeObject,
        Description,
        Function,
        Module,
        NativeFrame,
        PythonFrame,
        Stack,
        Thread,
    )
    from framedex.model.checks import Check, Finding, Severity
    from framedex.model.contents import BoundaryTotals, FlameGraph, FlameKind, FlameNode
    from framedex.model.lines import (
        BoundaryEnd,
        Edge,
        FileTrouble,
        FunctionMark,
        LineMark,
        LineSummary,
        LinkedCalls,
        Road,
        StackHit,
        StaticCall,
        Step,
    )
    from framedex.model.metadata import Launch, Metadata
    from framedex.model.missing import MergeOutcome, StopReason, Stops
    from framedex.model.places import How, Join, Language, LinkHow, Location, Role, Stale, is_local
    from framedex.model.rows import (
        CallFilter,
        CallRow,
        CaptureRow,
        FrameRow,
        FunctionRow,
        FunctionTotals,
        ObjectRow,
        PythonLine,
    )
    from framedex.model.sources import (
        GENERATING,
        CallSite,
        Definition,
        DefinitionRow,
        ExtractedFile,
        FileState,
        FoundSymbol,
        SourceFile,
        SourceHealth,
        SourceMapInfo,
        SourceProblem,
        SourceRoot,
        SourceTotals,
    )
    from framedex.model.symbols import NativeSymbol
    from framedex.model.traces import Dispatch, FfiSite, Origin, Section, SectionKind, Trace

__all__ = [
    "GENERATING",
    "BinaryId",
    "BinaryState",
    "BoundaryEnd",
    "BoundaryTotals",
    "CallFilter",
    "CallRow",
    "CallSite",
    "Calls",
    "Capture",
    "CaptureRow",
    "Check",
    "CodeObject",
    "Definition",
    "DefinitionRow",
    "Description",
    "Dispatch",
    "Edge",
    "ExtractedFile",
    "FfiSite",
    "FileState",
    "FileTrouble",
    "Finding",
    "FlameGraph",
    "FlameKind",
    "FlameNode",
    "FoundSymbol",
    "FrameRow",
    "Function",
    "FunctionMark",
    "FunctionRow",
    "FunctionTotals",
    "How",
    "Join",
    "Language",
    "Launch",
    "LineMark",
    "LineSummary",
    "LinkHow",
    "LinkedCalls",
    "Location",
    "MergeOutcome",
    "Metadata",
    "Module",
    "NativeFrame",
    "NativeSymbol",
    "ObjectRow",
    "Origin",
    "PythonFrame",
    "PythonLine",
    "Road",
    "Role",
    "Section",
    "SectionKind",
    "Severity",
    "SourceFile",
    "SourceHealth",
    "SourceMapInfo",
    "SourceProblem",
    "SourceRoot",
    "SourceTotals",
    "Stack",
    "StackHit",
    "Stale",
    "StaticCall",
    "Step",
    "StopReason",
    "Stops",
    "Thread",
    "Trace",
    "is_local",
]

# Making these dataclasses takes a fifth of a short command's time; what every command needs is in the first modules.
__getattr__ = exports_of_any(
    __name__,
    __all__,
    ("places", "missing", "symbols", "sources", "rows", "traces", "lines", "contents", "checks", "metadata", "capture"),
)
