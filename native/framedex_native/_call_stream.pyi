from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

NONE: int

_Integers = NDArray[np.int64]
_Naturals = NDArray[np.uint64]
_Bytes = NDArray[np.uint8]
_Field = tuple[str, str, str, bool]

class ObjectColumns(TypedDict):
    object: _Naturals
    type: _Bytes
    number: _Integers
    address: _Naturals
    born: _Integers
    created_call: _Integers
    first_call: _Naturals
    last_call: _Naturals
    uses: _Naturals
    destroyed_call: _Integers
    deleted_call: _Integers
    owner: _Integers
    size: _Integers
    is_foreign: _Bytes

class ViolationColumns(TypedDict):
    kind: list[str]
    object: _Naturals
    call: _Naturals
    earlier_call: _Integers

class NumberColumns(TypedDict):
    object: _Naturals
    number: _Integers

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

def read_whole_capture(folder: bytes, started_clock_ns: int) -> tuple[list[tuple[str, list[str]]], CallColumns]: ...
