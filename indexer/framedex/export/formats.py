"""The formats by name, each in its own module with `write(content, file, weight)`.

A format with several tables has `write(content, files)`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its module, its readers, and whether its values have a weight.

    A format with `tables` is a folder with one file per table. Its `write` gets the files by table name.
    """

    module: str
    readers: str
    is_weighed: bool = False
    tables: tuple[str, ...] = ()

    def writer(self) -> Callable[..., None]:
        """Return the format's `write` function. Raises FramedexError if a required library is not installed."""
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
