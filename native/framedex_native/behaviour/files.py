"""Loading of behaviour files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType

from .behaviours import Behaviour, collect_attached


class BehaviourFileError(Exception):
    """A file cannot be loaded as a behaviour file; the text says why."""


def run_file(path: str | os.PathLike[str]) -> list[Behaviour]:
    """Execute a behaviour file as a module and return the behaviours that it attached.

    The file's folder is on `sys.path` during execution. Raises BehaviourFileError if the file cannot be read or
    attaches no behaviour. Passes on exceptions of the file after removing its behaviours.
    """
    file = Path(path).absolute()
    try:
        source = file.read_bytes()
    except OSError as error:
        raise BehaviourFileError(f"{file} cannot be read: {error.strerror}") from None
    module = ModuleType(f"framedex_behaviour_{file.stem}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module
    with collect_attached() as found:
        sys.path.insert(0, str(file.parent))
        try:
            exec(compile(source, str(file), "exec"), module.__dict__)
        except BaseException:
            _remove(found)
            sys.modules.pop(module.__name__, None)
            raise
        finally:
            with suppress(ValueError):  # the file may have removed it itself
                sys.path.remove(str(file.parent))
    if not found:
        raise BehaviourFileError(f'{file} has no behaviour: decorate a function in it with @on("PJRT_...")')
    return found


@contextmanager
def active(*files: str | os.PathLike[str]) -> Iterator[list[Behaviour]]:
    """Activate the behaviours of these files, and those attached within the block, until the block ends.

    Raises as `run_file` does.
    """
    with collect_attached() as found:
        try:
            for file in files:
                run_file(file)
            yield found
        finally:
            _remove(found)


def _remove(behaviours: list[Behaviour]) -> None:
    for behaviour in behaviours:
        behaviour.remove()
