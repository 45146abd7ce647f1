from collections.abc import Sequence
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

Module = tuple[str, int, int, bytes, str, tuple[int, int, int, int]]

class Definitions(TypedDict):
    modules: list[Module]
    codes: list[tuple[str, str, int, bytes]]
    frames: list[tuple[bool, int, int, int, bool]]
    stacks: list[tuple[tuple[int, ...], tuple[int, ...], str, bool]]
    functions: list[tuple[str, str]]
    threads: list[tuple[int, str]]
    descriptions: list[tuple[str, str]]
    stops: Stops
    problems: list[str]

def start(captures: bytes) -> str: ...
def stop() -> str: ...
def current_capture() -> str: ...

Integers = npt.NDArray[np.int64]

class Totals(TypedDict):
    kind: Integers
    calls: Integers
    duration: Integers
    own_duration: Integers
    longest: Integers
    longest_call: Integers
    first_call: Integers
    latest_call: Integers

class Batch(TypedDict):
    first: int
    kinds: list[tuple[int, int, int, int]]
    arguments: list[str]
    kind: Integers
    inside: Integers
    start: Integers
    duration: Integers
    argument: Integers
    totals: Totals
    samples: Integers
    spans: Integers
    durations: Integers

class CallStream:
    calls: int
    damaged: int
    def __init__(self, folder: bytes, began: int, first_id: int) -> None: ...
    def definitions(self) -> Definitions: ...
    def next(self, most: int) -> Batch: ...

NULL: int

def table_image(columns: Sequence[Integers]) -> bytes: ...
def read_modules(folder: bytes) -> list[Module]: ...
def count_records(folder: bytes) -> Counts: ...
def fingerprint(path: bytes) -> str: ...
