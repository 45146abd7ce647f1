"""Run a Python target under atheris, with libFuzzer's options: `python -m tests.fuzz.libfuzzer TARGET OPTION...`"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from types import FunctionType

import atheris

from tests.fuzz.corpus_archive import CorpusError, read_inputs
from tests.fuzz.targets import PROGRAM_VARIABLE, Target, load

_OURS = ("framedex", "fuzzed_mock_tpu")


def main(name: str, options: list[str]) -> None:
    """Instrument our modules and fuzz."""
    target = load(name)
    _warm_up(target, name)
    _clear_caches()
    _instrument()
    atheris.Setup([os.environ.get(PROGRAM_VARIABLE, name), f"-max_len={target.MAX_SIZE}", *options], target.run)
    atheris.Fuzz()


def _warm_up(target: Target, name: str) -> None:
    """Import lazily imported modules before the instrumentation."""
    try:
        inputs = read_inputs(name)
    except CorpusError as error:
        sys.exit(f"fuzz: {error}")
    for data in inputs.values():
        with suppress(Exception):  # the fuzzer reports it
            target.run(data)


def _clear_caches() -> None:
    """Clear our caches: a cached result would hide the code that an archived input covers."""
    for found in gc.get_objects():
        if hasattr(type(found), "cache_clear") and (found.__module__ or "").startswith(_OURS):
            found.cache_clear()


def _instrument() -> None:
    """Instrument the functions of our modules: atheris's import hook does not see an editable installation."""
    functions = [found for found in gc.get_objects() if isinstance(found, FunctionType)]
    for function in functions:
        if (function.__module__ or "").startswith(_OURS):
            atheris.instrument_func(function)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
