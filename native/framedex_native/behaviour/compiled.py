"""Properties of compiled programs, read from the runtime."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from framedex_native.ffi import protobuf
from framedex_native.ffi.donations import donations

from .element_types import dtype_of
from .errors import Failed
from .handles import Handle
from .table_calls import call_table

if TYPE_CHECKING:
    import numpy

_HLO, _HLO_WITH_CONFIG, _MODULE = "hlo", "hlo_with_config", 1


@dataclass(frozen=True, slots=True)
class Result:
    """A program's result on each device: element type, dimensions and memory kind, "" for the default one."""

    element: str
    dims: tuple[int, ...]
    memory_kind: str

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """NumPy's element type. Raises TypeError if NumPy has no matching type."""
        return dtype_of(self.element)

    def __str__(self) -> str:
        return f"{self.element}[{','.join(map(str, self.dims))}]"


def name_of(loaded: Handle) -> str:
    """The name of a loaded program, such as `jit_f`. Raises Failed."""
    with _executable_of(loaded) as executable:
        name: str = call_table("PJRT_Executable_Name", executable=executable).executable_name
        return name


def count_of_results(loaded: Handle) -> int:
    """The number of results that a loaded program has on each device. Raises Failed."""
    with _executable_of(loaded) as executable:
        count: int = call_table("PJRT_Executable_NumOutputs", executable=executable).num_outputs
        return count


def results_of(loaded: Handle) -> tuple[Result, ...]:
    """The results of a loaded program. Raises Failed if the plug-in does not report them."""
    with _executable_of(loaded) as executable:
        elements = call_table("PJRT_Executable_OutputElementTypes", executable=executable).output_types
        dims = call_table("PJRT_Executable_OutputDimensions", executable=executable).dims
        kinds = _memory_kinds(executable) or ("",) * len(elements)
        return tuple(map(Result, elements, dims, kinds))


def donated_parameters(loaded: Handle) -> frozenset[int]:
    """The numbers of the parameters that a loaded program donates, from its compiled module."""
    with _executable_of(loaded) as executable:
        try:
            queried = call_table("PJRT_Executable_OptimizedProgram", executable=executable, program={}).program
            room = bytes(queried.code_size)
            program = call_table(
                "PJRT_Executable_OptimizedProgram", executable=executable, program={"code": room}
            ).program
        except Failed:  # plug-ins without this function do not donate
            return frozenset()
        modules = [program.code] if program.format == _HLO else []
        if program.format == _HLO_WITH_CONFIG:
            modules = [each for number, each, _ in protobuf.fields(program.code) if number == _MODULE]
        return frozenset(parameter for module in modules for parameter, _ in donations(module))


@contextmanager
def _executable_of(loaded: Handle) -> Iterator[Handle]:
    executable = call_table("PJRT_LoadedExecutable_GetExecutable", loaded_executable=loaded).executable
    try:
        yield executable
    finally:
        call_table("PJRT_Executable_Destroy", executable=executable)


def _memory_kinds(executable: Handle) -> tuple[str, ...]:
    try:
        kinds: tuple[str, ...] = call_table("PJRT_Executable_OutputMemoryKinds", executable=executable).memory_kinds
    except Failed:  # some plug-ins have only one kind of memory
        return ()
    return kinds
