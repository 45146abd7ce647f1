"""The JSON document of a report.

```
{"plugin", "api": "0.115", "platform", "extensions": [name], "counts": {status: int}, "functions": {"called": int,
"missing": [name]}, "levels": [{"jax", "programs": int, "needed": int, "missing": {function: {"problem", "programs":
int}}}], "checks": [{"name", "rule", "functions": [name], "status", "detail", "seconds", "signal", "stack":
[{"function", "binary", "address": int}], "output"}]}
```
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from framedex.plugins.conformance.levels import judge_levels
from framedex.plugins.conformance.model import Report


def report_document(report: Report) -> dict[str, Any]:
    """The JSON document of a report."""
    outcomes = report.outcomes()
    return {
        "plugin": report.plugin,
        "api": "{}.{}".format(*report.version),
        "platform": report.platform,
        "extensions": list(report.extensions),
        "counts": {status.value: count for status, count in report.counts().items()},
        "functions": {
            "called": sum("OK" in codes for codes in outcomes.values()),
            "missing": sorted(
                report.missing.keys() | {name for name, codes in outcomes.items() if codes == {"UNIMPLEMENTED"}}
            ),
        },
        "levels": [
            {
                "jax": level.jax,
                "programs": level.programs,
                "needed": level.needed,
                "missing": {
                    name: {"problem": problem, "programs": programs}
                    for name, (problem, programs) in level.missing.items()
                },
            }
            for level in judge_levels(report)
        ],
        "checks": [
            {
                "name": result.check.name,
                "rule": result.check.rule,
                "functions": list(result.check.covers),
                "status": result.status.value,
                "detail": result.detail,
                "seconds": round(result.seconds, 3),
                "signal": result.signal,
                "stack": [asdict(frame) for frame in result.stack],
                "output": result.output,
            }
            for result in report.results
        ],
    }
