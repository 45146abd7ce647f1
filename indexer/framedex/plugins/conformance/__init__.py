"""The conformance kit: checks of a PJRT plug-in against the C API's header, without JAX.

A check is a small function with its rule as docstring. It runs in a process of its own, forked before the plug-in is
loaded. A crash or a hang is therefore a result, with its native stack. A missing function is not a failure.

Start at:

- `checks/`: the checks, one module per group
- `model.py`: checks and results
- `runner.py`, then `sandbox.py`: the processes of a run
- `plugin.py`, then `client.py`: calls of a plug-in, and a small client
- `abi.py`: the structs of the C API, from `api.json`
- `levels.py`: the functions that each JAX release needs, from recordings
- `recordings.py`: recordings as checks, replayed with `plugins/replay/`
- `documents.py`, `junit.py`, `page.py`: results as JSON, JUnit and HTML
"""

from typing import TYPE_CHECKING

from framedex.base.lazy import export_lazily

if TYPE_CHECKING:
    from framedex.plugins.conformance.model import CheckResult, Report
    from framedex.plugins.conformance.runner import Settings, run_checks

__all__ = ["CheckResult", "Report", "Settings", "run_checks"]

__getattr__ = export_lazily(__name__, {"model": ("CheckResult", "Report"), "runner": ("Settings", "run_checks")})
