"""Runs the files of FRAMEDEX_BEHAVIOUR in the Python that hosts `libtpu.so`.

`libtpu.so` loads this module from its own folder under a private name. For those files `framedex_native.behaviour` is
the package around this module, even if the environment has another framedex or none.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType

_PACKAGE = "framedex_native"
_BEHAVIOUR = "framedex_native.behaviour"
_HERE = Path(__file__).parents[1]


def load(files: str, library: str) -> str:
    """Run files, separated by `os.pathsep`, and return an error message, or an empty string for success.

    `library` is the path of the calling libtpu.so.
    """
    behaviour = _import_behaviour()
    behaviour.layer.use(library)
    for file in files.split(os.pathsep):
        try:
            behaviour.files.run_file(file)
        except behaviour.files.BehaviourFileError as error:
            return str(error)
        except Exception:
            return f"the behaviours of {file} cannot be run:\n{_format_failure(file)}"
        except SystemExit as error:
            return f"the behaviours of {file} end the program ({error.code})"
    return ""


def _format_failure(file: str) -> str:
    """Format the current exception from the file's own frame on; without frames if the file does not compile."""
    error = sys.exc_info()[1]
    assert error is not None
    path = os.fspath(Path(file).absolute())
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != path:
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace)).rstrip()


def _import_behaviour() -> ModuleType:
    """Import the package around this one as `framedex_native.behaviour`."""
    found = sys.modules.get(_BEHAVIOUR)
    if found is None:
        package = _import_package()
        spec = importlib.util.spec_from_file_location(
            _BEHAVIOUR, _HERE / "__init__.py", submodule_search_locations=[str(_HERE)]
        )
        assert spec is not None and spec.loader is not None
        found = importlib.util.module_from_spec(spec)
        sys.modules[_BEHAVIOUR] = found
        spec.loader.exec_module(found)
        package.behaviour = found  # type: ignore[attr-defined]
    return found


def _import_package() -> ModuleType:
    """Import the environment's `framedex_native`, or create one with only the modules next to `libtpu.so`."""
    try:
        return importlib.import_module(_PACKAGE)
    except ImportError:
        package = ModuleType(_PACKAGE)
        package.__path__ = [str(_HERE.parent)]
        sys.modules[_PACKAGE] = package
        return package
