from typing import Literal, TypedDict

METADATA_FILE: str
PROGRAMS: str
SOURCES: str
BUFFERS: str
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
    queries: int
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
OpenFrame = tuple[Literal["python", "native"], str, str, int, str, int]
OpenCall = tuple[str, int, int, tuple[OpenFrame, ...], int]
ThreadCalls = tuple[int, str, int, int, tuple[OpenCall, ...], tuple[OpenCall, ...], int]

def start(captures: bytes) -> str: ...
def stop() -> str: ...
def current_capture() -> str: ...
def read_modules(folder: bytes) -> list[Module]: ...
def was_stopped(folder: bytes) -> bool: ...
def count_records(folder: bytes) -> Counts: ...
def read_open_calls(folder: bytes) -> list[ThreadCalls]: ...
def read_invocations(folder: bytes) -> list[tuple[int, int, int, int, int]]: ...
def content_name(content: bytes) -> str: ...
def fingerprint(path: bytes) -> str: ...
