"""An HTML page of a report: one file without scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from framedex.plugins.conformance.junit import format_stack_texts
from framedex.plugins.conformance.levels import judge_levels
from framedex.plugins.conformance.model import CheckResult, Report

_STYLE = """body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; padding: .2em .8em .2em 0; vertical-align: top; }
tr { border-bottom: 1px solid #8884; } pre { overflow: auto; } .fail, .crash, .hang { color: #c22; font-weight: 600; }
.pass { color: #282; } .unsupported, .skipped { color: #888; } @media (prefers-color-scheme: dark)
{ body { background: #181818; color: #ddd; } }"""


def build_page(report: Report) -> str:
    """The page: the plug-in, the level for each JAX release, the failures, then all checks."""
    name = escape(Path(report.plugin).name)
    counts = ", ".join(f"{count} {status.value}" for status, count in report.counts().items() if count)
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Conformance of {name}</title><style>{_STYLE}</style>",
        f"<h1>Conformance of {name}</h1><p>PJRT C API {report.version[0]}.{report.version[1]}.",
        f"Platform: {escape(report.platform or 'none')}. Extensions: {escape(', '.join(report.extensions) or 'none')}.",
        f"<p>{counts}<h2>JAX releases</h2><table><tr><th>JAX<th>needed functions<th>missing",
    ]
    for level in judge_levels(report):
        missing = ", ".join(f"{escape(each)} ({problem})" for each, (problem, _) in level.missing.items()) or "none"
        parts.append(f"<tr><td>{escape(level.jax)}<td>{level.needed}<td>{missing}")
    failed = report.failed
    parts += ["</table><h2>Failures</h2><table>", *_render_rows(failed), "</table>" if failed else "</table><p>None."]
    parts += ["<h2>All checks</h2><table>", *_render_rows(report.results), "</table></html>"]
    return "\n".join(parts) + "\n"


def _render_rows(results: Sequence[CheckResult]) -> Iterator[str]:
    for result in results:
        stack = "\n".join(format_stack_texts(result))
        more = f"<pre>{escape(stack)}\n{escape(result.output)}</pre>" if stack or result.output else ""
        yield (
            f"<tr><td class={result.status.value}>{result.status.value}<td><code>{escape(result.check.name)}</code>"
            f"<td>{escape(result.check.rule)}<br>{escape(result.detail)}{more}"
        )
