"""Enables FFI tracing in programs that do not import framedex: `framedex run` puts this folder on PYTHONPATH.

Python imports `sitecustomize` at startup. This one runs and then imports the program's own `sitecustomize`, if there is
one. Only the environment still shows it. Every Python that the program starts runs it too, so it imports little.
"""

# ruff: noqa: PTH100, PTH118, PTH120

import sys


def _install() -> None:
    import importlib.util
    import os

    if os.environ.get("FRAMEDEX_FFI") == "0":
        return
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    # A private name: the environment may have another framedex, or one for another Python.
    name = "framedex_ffi"
    spec = importlib.util.spec_from_file_location(name, os.path.join(package, "__init__.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    module.install()


def _record_boundaries() -> None:
    """Record the functions of libraries that the user named: see native/boundary.

    Only the first process reports functions that it did not find. Its child processes inherit the mark.
    """
    import os

    if os.environ.get("FRAMEDEX_BOUNDARIES"):
        import ctypes

        mark = "FRAMEDEX_BOUNDARIES_OF"
        is_first = os.environ.setdefault(mark, str(os.getpid())) == str(os.getpid())
        folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        library = ctypes.CDLL(os.path.join(folder, "libframedex_boundary.so"))
        library.framedex_boundary_install(ctypes.c_bool(is_first))


def _uncover_next_sitecustomize() -> None:
    """Remove this module from the path and sys.modules, so that the next `sitecustomize` is found."""
    import os

    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != here]
    sys.path_importer_cache.pop(here, None)
    del sys.modules["sitecustomize"]


try:
    _install()
except Exception as error:
    print(f"framedex: FFI handlers are not recorded: {error!r}", file=sys.stderr)
try:
    _record_boundaries()
except Exception as error:
    print(f"framedex: the functions of --boundary are not recorded: {error!r}", file=sys.stderr)
_uncover_next_sitecustomize()
import sitecustomize  # type: ignore[import-not-found] # noqa: E402, F401 - Python handles an ImportError
