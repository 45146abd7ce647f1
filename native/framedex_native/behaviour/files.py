"""Behaviours that are written in a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType

from .behaviours import Behaviour, collected


class BehaviourFileError(Exception):
    """A file cannot be taken for one of behaviours; the text says why."""


def run_file(path: str | os.PathLike[str]) -> list[Behaviour]:
    """Run a file once, as a module of its own, with its folder on the path meanwhile. The behaviours that it put on.

    Raises BehaviourFileError where it cannot be read or has none. What it raises goes through, and nothing of it stays.
    """
    file = Path(path).absolute()
    try:
        source = file.read_bytes()
    except OSError as error:
        raise BehaviourFileError(f"{file} cannot be read: {error.strerror}") from None
    module = ModuleType(f"framedex_behaviour_{file.stem}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module
    with collected() as found:
        sys.path.insert(0, str(file.parent))
        try:
            exec(compile(source, str(file), "exec"), module.__dict__)
        except BaseException:
            _remove(found)
            sys.modules.pop(module.__name__, None)
            raise
        finally:
            with suppress(ValueError):  # the file may have taken it away itself
                sys.path.remove(str(file.parent))
    if not found:
        raise BehaviourFileError(f'{file} has no behaviour: put @on("PJRT_...") above a function of it')
    return found


@contextmanager
def active(*files: str | os.PathLike[str]) -> Iterator[list[Behaviour]]:
    """Have the behaviours of these files stand for as long as the block lasts, and those that are put on within it.

    Raises as `run_file` does.
    """
    with collected() as found:
        try:
            for file in files:
                run_file(file)
            yield found
        finally:
            _remove(found)


def _remove(behaviours: list[Behaviour]) -> None:
    for behaviour in behaviours:
        behaviour.remove()
