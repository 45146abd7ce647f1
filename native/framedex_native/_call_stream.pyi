from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from framedex_native._native import Module, Stops

NONE: int
NULL: int

Integers = NDArray[np.int64]

_Naturals = NDArray[np.uint64]
_Bytes = NDArray[np.uint8]
_Field = tuple[str, str, str, bool]

class ObjectTable:
    def __init__(self) -> None: ...
    def add_function(
        self,
        name: str,
        inputs: Sequence[_Field],
        results: Sequence[_Field],
        reads: bool,
        sized: Sequence[str],
        takes_callback: bool,
        identifies: str,
        tells_deleted: str,
    ) -> None: ...
    @property
    def types(self) -> list[str]: ...

class Definitions(TypedDict):
    modules: list[Module]
    codes: list[tuple[str, str, int, bytes]]
    frames: list[tuple[bool, int, int, int, bool]]
    functions: list[tuple[str, str]]
    threads: list[tuple[int, str]]
    descriptions: list[tuple[str, str]]
    stops: Stops
    problems: list[str]

class Stacks(TypedDict):
    frames: Integers
    sizes: Integers
    outcomes: list[str]
    is_truncated: Integers

class Totals(TypedDict):
    kind: Integers
    calls: Integers
    duration: Integers
    own_duration: Integers
    longest: Integers
    longest_call: Integers
    first_call: Integers
    latest_call: Integers

class Objects(TypedDict):
    place: Integers
    type: Integers
    number: Integers
    address: Integers
    born: Integers
    created_call: Integers
    first_call: Integers
    last_call: Integers
    deleted_call: Integers
    destroyed_call: Integers
    uses: Integers
    client: Integers
    size: Integers
    created_kind: Integers

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
    changed: Integers
    objects: Objects
    violations: Integers
    numbers: Integers
    chains: list[list[int]]
    links: Integers

class CallStream:
    calls: int
    damaged: int
    size_of_definitions: int
    stack_count: int
    stops: Stops
    problems: list[str]
    object_types: list[str]
    def __init__(
        self, folder: bytes, began: int, table: ObjectTable, lacks_calls: bool, is_followed: bool = False
    ) -> None: ...
    def extend(self) -> bool: ...
    def definitions(self) -> Definitions: ...
    def stacks(self, begin: int, end: int) -> Stacks: ...
    def callbacks(self) -> Integers: ...
    def next(self, most: int, until: int = ...) -> Batch: ...

class StackTree:
    def __init__(self, parents: Integers, frames: Integers) -> None: ...
    def intern(self, parent: int, frame: int) -> int: ...
    def intern_chains(self, chains: Integers, sizes: Integers, logical: Integers, ends: Integers) -> Integers: ...
    def take_unwritten(self) -> tuple[Integers, Integers]: ...

def table_image(columns: Sequence[Integers]) -> bytes: ...

# The parts of the stream, to use separately with hand-written calls: for tests and benchmarks.

class CallColumns:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def add(
        self,
        thread: int,
        function: int,
        stack: int,
        start: int,
        duration: int,
        error: int,
        values: bytes,
        results: bytes,
    ) -> None: ...
    def finish(self) -> None: ...

class ObjectColumns(TypedDict):
    object: _Naturals
    type: _Bytes
    number: Integers
    address: _Naturals
    born: Integers
    created_call: Integers
    first_call: _Naturals
    last_call: _Naturals
    uses: _Naturals
    destroyed_call: Integers
    deleted_call: Integers
    owner: Integers
    size: Integers
    is_foreign: _Bytes

class ViolationColumns(TypedDict):
    kind: list[str]
    object: _Naturals
    call: _Naturals
    earlier_call: Integers

class NumberColumns(TypedDict):
    object: _Naturals
    number: Integers

class Lifetimes:
    def __init__(self, table: ObjectTable) -> None: ...
    def add_function(self, name: str, value_names: Sequence[str]) -> None: ...
    def add(self, calls: CallColumns, begin: int, end: int) -> None: ...
    def returned(self, calls: CallColumns, row: int) -> None: ...
    def finish(self) -> None: ...
    def take_objects(self) -> ObjectColumns: ...
    def take_violations(self) -> ViolationColumns: ...
    def take_numbers(self) -> NumberColumns: ...

class LinkColumns(TypedDict):
    call: _Naturals
    thread: NDArray[np.uint32]
    chain: NDArray[np.uint32]
    how: list[str]

class StackTables:
    def __init__(self) -> None: ...
    def add_frame(self, is_python: bool) -> None: ...
    def add_stack(self, frames: Sequence[int], python: Sequence[int], outcome: str, is_truncated: bool) -> None: ...

class CausalLinks:
    def __init__(self, table: ObjectTable, stacks: StackTables, lacks_calls: bool) -> None: ...
    def add_function(self, name: str, value_names: Sequence[str]) -> None: ...
    def add_python_thread(self, thread: int) -> None: ...
    def add(self, calls: CallColumns, begin: int, end: int) -> None: ...
    def returned(self, calls: CallColumns, row: int) -> None: ...
    def finish(self) -> None: ...
    def take_links(self) -> LinkColumns: ...
    @property
    def chains(self) -> list[list[int]]: ...
