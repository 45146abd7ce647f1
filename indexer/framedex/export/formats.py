"""The formats by their names, each in a module of its own with `write(content, file, weight)`.

One of several tables has `write(content, files)`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its module, what reads it, and whether what it has is weighed.

    One with `tables` is a folder with a file for each, and takes these by their names in place of a file.
    """

    module: str
    readers: str
    is_weighed: bool = False
    tables: tuple[str, ...] = ()

    def writer(self) -> Callable[..., None]:
        """What writes it. Raises FramedexError where it needs a library that is not installed."""
        write: Callable[..., None]
        write = importlib.import_module(f"framedex.export.{self.module}").write
        return write


FORMATS = {
    "perfetto": Format("perfetto", "ui.perfetto.dev"),
    "firefox": Format("firefox", "profiler.firefox.com"),
    "pprof": Format("pprof", "pprof, speedscope, Pyroscope, Parca", is_weighed=True),
    "speedscope": Format("speedscope", "speedscope.app", is_weighed=True),
    "collapsed": Format("collapsed", "flamegraph.pl, inferno, speedscope", is_weighed=True),
    "otlp": Format("otlp", "collectors of OpenTelemetry, Pyroscope, Elastic", is_weighed=True),
    "scip": Format("scip", "Sourcegraph, `scip` and other static tools"),
    "parquet": Format("parquet", "DuckDB, pandas, Polars, Spark", tables=("calls", "stacks", "frames")),
    "csv": Format("csvtable", "pandas, DuckDB, spreadsheets"),
    "jsonl": Format("jsonl", "jq, pandas, DuckDB"),
}
