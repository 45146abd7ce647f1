"""The stacks of all threads of a process."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from framedex.live.model import Python
from framedex.live.native.image import ProcessImage, StopTimeoutError
from framedex.live.native.merging import MergedStack, find_python, merge
from framedex.live.native.modules import Modules
from framedex.live.native.unwinding import NativeStack, Unwinder
from framedex.live.python_frames import PythonReader
from framedex.live.runtime import MappedBinary, Runtime, UnknownRuntimeError, is_python_binary


@dataclass(frozen=True, slots=True)
class ThreadStack:
    """The stack of a thread."""

    tid: int
    native: NativeStack
    merged: MergedStack
    has_gil: bool


@dataclass(frozen=True, slots=True)
class ProcessStacks:
    """The stacks of all threads of a process, in the order of its image.

    `python_version` is empty if there is no Python, or none that is readable. `problems` are sentences on what is
    missing.
    """

    image: ProcessImage
    python_version: str
    threads: tuple[ThreadStack, ...]
    problems: tuple[str, ...]


def read_stacks(
    image: ProcessImage, executable: Path | None = None, resume: Callable[[], None] = lambda: None
) -> ProcessStacks:
    """The stacks of a process. `executable` is the file of its program here, by default the path in the process.

    `resume` is called as soon as only the image and files are needed.
    """
    modules = Modules(image, executable)
    python, problem = _read_python(image, modules)
    resume()
    unwinder = Unwinder(modules)
    threads = []
    for thread in image.threads:
        native = unwinder.walk(thread.registers)
        of_python = find_python(native, python.threads, thread.tid) if python is not None else None
        has_gil = of_python is not None and of_python.has_gil
        threads.append(ThreadStack(thread.tid, native, merge(native, of_python), has_gil))
    version = f"3.{python.minor}" if python is not None else ""
    problems = tuple(filter(None, (image.problem, problem, *modules.problems)))
    return ProcessStacks(image, version, tuple(threads), problems)


def _read_python(image: ProcessImage, modules: Modules) -> tuple[Python | None, str]:
    """The Python of a process, and the reason if it is not readable."""
    has_python = any(is_python_binary(each.path) for each in image.mappings)
    try:
        runtime = Runtime.find(modules, _find_python_binaries(image, modules))
        return PythonReader(modules, runtime, "").read(), ""
    except UnknownRuntimeError as error:
        return None, f"Python frames are not readable: {error}." if has_python else ""
    except (OSError, StopTimeoutError) as error:
        return None, f"Python frames are not readable: {error}."
    except (LookupError, ValueError, OverflowError, struct.error):  # of structures in a damaged core
        return None, "Python frames are not readable: its structures are damaged."


def _find_python_binaries(image: ProcessImage, modules: Modules) -> Iterator[MappedBinary]:
    for path in dict.fromkeys(each.path for each in image.mappings):
        if path == image.program or is_python_binary(path):
            module = modules.module(path)
            if module is not None and module.elf is not None:
                yield MappedBinary(path, module.base, module.file)
