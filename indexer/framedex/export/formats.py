"""The formats by name, and the weights of their samples.

Each format has a function `write(content, file, weight)`. A format with several tables has `write(content, files)`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.totals import CallWeights


class Weight(StrEnum):
    """A weight of stacks: time, calls or bytes."""

    TIME = "time"  # ns in its calls, without nested calls, which have their own stacks
    CALLS = "calls"
    BYTES = "bytes"  # size of the objects that the calls created

    @property
    def unit(self) -> str:
        """The unit, as pprof names it."""
        return {Weight.TIME: "nanoseconds", Weight.CALLS: "count", Weight.BYTES: "bytes"}[self]

    def select(self, weights: CallWeights) -> int:
        """Return this weight out of all `weights`; at least 0, even if clocks of threads disagree."""
        return max({Weight.TIME: weights.time, Weight.CALLS: weights.calls, Weight.BYTES: weights.bytes}[self], 0)


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its module, its readers, and whether its values have a weight.

    A format with `tables` is a folder with one file per table. Its writer gets the files by table name. `function` is
    the name of the writer in its module.
    """

    module: str
    readers: str
    is_weighed: bool = False
    tables: tuple[str, ...] = ()
    function: str = "write"

    def writer(self) -> Callable[..., None]:
        """Return the function that writes the format. Raises FramedexError if a required library is not installed."""
        write: Callable[..., None]
        write = getattr(importlib.import_module(f"framedex.export.{self.module}"), self.function)
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
    "csv": Format("call_tables", "pandas, DuckDB, spreadsheets", function="write_csv"),
    "jsonl": Format("call_tables", "jq, pandas, DuckDB", function="write_json_lines"),
}
