"""The checks of a program, each with its own report: a failing one does not stop the others.

A program decorates functions with `@check` and ends with `finish()`, which runs them in order and prints a JSON line
for each. The line has its name, the traceback of its failure, the skip reason or null, and the outcome.
"""

import faulthandler
import json
import sys
import traceback

import numpy as np

LIMIT = 300  # timeout in seconds for one check, which normally takes one or two: a hang ends it with every stack
CHECKS = []


class SkippedError(Exception):
    """This check does not apply to this jaxlib or device."""


def check(function):
    """Register a function as a check."""
    CHECKS.append(function)
    return function


def finish():
    """Run the checks, or those named on the command line."""
    for function in CHECKS:
        if len(sys.argv) == 1 or function.__name__ in sys.argv[1:]:
            faulthandler.dump_traceback_later(LIMIT, exit=True)
            print(json.dumps([function.__name__, *_outcome(function)]), flush=True)
    faulthandler.cancel_dump_traceback_later()


def close(result, want, tolerance=1e-5):
    """Assert that an array has the expected shape and, up to the tolerance, the expected values."""
    result, want = np.asarray(result), np.asarray(want)
    assert result.shape == want.shape, (result.shape, want.shape)
    # NumPy compares neither the small types nor arrays with them.
    wide = np.complex128 if "c" in (result.dtype.kind, want.dtype.kind) else np.float64
    np.testing.assert_allclose(result.astype(wide), want.astype(wide), rtol=tolerance, atol=tolerance)


def same(result, want):
    """Assert that an array has the expected type, shape and bytes."""
    result, want = np.asarray(result), np.asarray(want)
    assert (result.dtype, result.shape) == (want.dtype, want.shape), (result.dtype, result.shape)
    if result.dtype.name in ("int2", "int4", "uint2", "uint4"):
        # The unused bits of the value's byte are undefined.
        result, want = result.astype(np.int8), want.astype(np.int8)
    assert result.tobytes() == want.tobytes(), (result, want)


def raises(kind, function, *words):
    """Assert that a call raises this exception with these words in its message."""
    try:
        function()
    except kind as error:
        missing = [word for word in words if word not in str(error)]
        assert not missing, (missing, str(error))
    else:
        raise AssertionError(f"{kind.__name__} was not raised")


def _outcome(function):
    try:
        function()
    except SkippedError as reason:
        return [str(reason), "skipped"]
    except BaseException:
        return [traceback.format_exc(), "failed"]
    return [None, "passed"]
