"""Observations of two runs for test sites: plain ones, and hostile names and texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from framedex.guidebook.api_functions import read_api_functions, read_api_releases
from framedex.guidebook.site.writer import write_site
from framedex.model.guidebook import (
    DisplayedLocation,
    Example,
    FunctionDescription,
    LifeCycle,
    NameCount,
    Observations,
    ObservedError,
    ObservedFunction,
    PathNode,
    Run,
    Step,
    StepCall,
    Task,
)
from tests.once import made_once

REPOSITORY = Path(__file__).parents[4]
TITLE = "Guidebook of tests & trials"
PUT = "PJRT_Client_BufferFromHostBuffer"
FETCH = "PJRT_Buffer_ToHostBuffer"
SILENT = "PJRT_Client_DmaMap"
OWNED = "PJRT_Memory_FunctionTable.set_user_data"
LINKING = "PJRT_Event_Destroy"  # its note names other functions
HOSTILE = '</title><script>alert(1)</script><b title="{{ 7*7 }}">[x](javascript:alert(2))\n`__init__`'
"""Names, paths and messages that a capture may contain."""

_RUNS = (
    Run("jax-a", "put.py", "jax", "0.12.0", "the mock TPU", "0.112", (("jaxlib", "0.12.0"),), 40, ""),
    Run("jax-b", "put.py", "jax", "0.10.2", HOSTILE, "0.106", (("xla", HOSTILE),), 3, HOSTILE),
)


SIZES = ("few", "all")


def functions(size: str) -> Sequence[FunctionDescription]:
    """All functions, or a few of each table."""
    if size == "all":
        return read_api_functions()
    few: list[FunctionDescription] = []
    tables: Counter[str] = Counter()
    for each in read_api_functions():
        table = each.name.rpartition("_FunctionTable.")[0]
        tables[table] += 1
        if tables[table] <= 3 or each.name in (PUT, FETCH, SILENT, OWNED, LINKING):
            few.append(each)
    return few


def built_site(size: str = "all") -> Path:
    """The site of the small observations with these functions and the project's documentation; read-only."""
    return made_once(f"guidebook-site-{size}", partial(_build, size=size))


def _build(folder: Path, size: str) -> Path:
    site = folder / "site"
    write_site(
        observations(), functions(size), site, title=TITLE, releases=read_api_releases(), documentation=REPOSITORY
    )
    return site


def observations() -> Observations:
    """Two runs, with a task each."""
    return Observations(
        _RUNS,
        (_observed("jax-a", PUT, 12), _observed("jax-a", FETCH, 4), _observed("jax-b", PUT, 2), _hostile()),
        (
            LifeCycle("jax-a", "buffer", 16, (NameCount(PUT, 12),), (NameCount(FETCH, 4),), (), (), 2),
            LifeCycle("jax-b", HOSTILE, 1, (NameCount(HOSTILE, 1),), (), (), (NameCount(PUT, 1),), 0),
        ),
        (_task("jax-a", (PUT, FETCH)), _task("jax-b", (PUT,))),
    )


def path_of(*functions: str, calls: int = 1) -> PathNode:
    """A stack path without branches, outermost frame first; names with a colon are native."""
    inner: tuple[PathNode, ...] = ()
    for function in reversed(functions):
        language = "native" if "::" in function else "python"
        inner = (
            PathNode(
                function,
                language,
                DisplayedLocation("jax/api.py:12", "https://example.org/api.py#L12", "single"),
                calls,
                0,
                inner,
            ),
        )
    return inner[0]


def _observed(run: str, function: str, calls: int) -> ObservedFunction:
    branches = (path_of("device_put", "xla::Put", calls=calls - 1), path_of("asarray", calls=1))
    root = PathNode("<module>", "python", DisplayedLocation("put.py:3", None, "exact"), calls, 18, branches)
    return ObservedFunction(
        *(run, function, "pjrt", calls, 1200, 5000, 90_000),
        lines=((DisplayedLocation("put.py:3", None, "exact"), calls),),
        paths=(root,),
        omitted_calls=1,
        examples=(Example((("client", "client#1"), ("type", "F32")), DisplayedLocation("put.py:3", None, "exact")),),
        errors=(ObservedError("RESOURCE_EXHAUSTED", "no\nroom", 1),),
        before=(NameCount(FETCH, 3), NameCount(HOSTILE, 1)),
        after=(NameCount(SILENT, 2),),
        inside=(NameCount(FETCH, 1),),
        makes=(NameCount("buffer", calls),),
        uses=(NameCount("client", calls),),
        ends=(),
        threads=(NameCount("main", calls),),
    )


def _hostile() -> ObservedFunction:
    place = DisplayedLocation(HOSTILE, "javascript:alert(3)", HOSTILE)
    return ObservedFunction(
        *("jax-b", HOSTILE, HOSTILE, 1, None, None, None),
        lines=((place, 1),),
        paths=(PathNode(HOSTILE * 400, HOSTILE, place, 1, 2, ()),),
        omitted_calls=0,
        examples=(Example(((HOSTILE, HOSTILE * 50),), place),),
        errors=(ObservedError(HOSTILE, HOSTILE * 50, 1),),
        before=(NameCount(HOSTILE, 1),),
        after=(NameCount(HOSTILE, 1),),
        inside=(NameCount(HOSTILE, 1),),
        makes=(NameCount(HOSTILE, 1),),
        uses=(),
        ends=(),
        threads=(NameCount(HOSTILE, 1),),
    )


def _task(run: str, functions: tuple[str, ...]) -> Task:
    calls = [
        StepCall(function, 0, "main", 10, HOSTILE if function == FETCH else "", (path_of("<module>", "xla::Put"),), 2)
        for function in functions
    ]
    calls.append(StepCall(SILENT, 7, HOSTILE, None, "", (), 0))
    return Task(
        *(run, "put", "What happens on `jax.device_put`", f"A text with {HOSTILE}\n\n- {PUT}\n- `{PUT}`"),
        steps=(Step("Put", "See https://example.org/put.", f"x = '''{HOSTILE}'''", tuple(calls), 3),),
    )
