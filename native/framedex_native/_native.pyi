from typing import TypedDict

import numpy as np
import numpy.typing as npt

METADATA_FILE: str
FORMAT: str
FORMAT_VERSIONS: tuple[int, ...]
PROCESS_STREAM: str
STREAM_SUFFIX: str
RING_SUFFIX: str
STREAM_HEADER_SIZE: int
SEGMENT_SIZE: int
MAGIC: bytes
STOP_REASONS: dict[str, int]

class Stops(TypedDict):
    reasons: int
    missing_calls: int
    threads: int

class Counts(TypedDict):
    threads: int
    calls: int
    stacks: int
    verified: int
    different: int
    stopped: bool
    stops: Stops

class Calls(TypedDict):
    thread: npt.NDArray[np.uint32]
    function: npt.NDArray[np.uint32]
    stack: npt.NDArray[np.uint32]
    start: npt.NDArray[np.int64]
    duration: npt.NDArray[np.int64]
    error: npt.NDArray[np.int32]
    arguments: list[str]

Module = tuple[str, int, int, bytes, str, tuple[int, int, int, int]]

class Capture(TypedDict):
    modules: list[Module]
    codes: list[tuple[str, str, int, bytes]]
    frames: list[tuple[bool, int, int, int, bool]]
    stacks: list[tuple[tuple[int, ...], tuple[int, ...], str, bool]]
    functions: list[tuple[str, str]]
    threads: list[tuple[int, str]]
    calls: Calls
    descriptions: list[tuple[str, str]]
    stops: Stops
    problems: list[str]

def start(captures: bytes) -> str: ...
def stop() -> str: ...
def current_capture() -> str: ...
def read_capture(folder: bytes) -> Capture: ...
def read_modules(folder: bytes) -> list[Module]: ...
def count_records(folder: bytes) -> Counts: ...
def fingerprint(path: bytes) -> str: ...
