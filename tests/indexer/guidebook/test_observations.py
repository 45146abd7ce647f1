"""The observations of a real program match its index, call by call."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from importlib import metadata

import pytest

from framedex.guidebook.observation_files import format_observations
from framedex.index import Index
from framedex.model import CallFilter, CallRow
from framedex.model.guidebook import NameCount, PathNode
from framedex.programs.objects import ObjectRole, find_boundary_function
from framedex.programs.objects.table import iterate_objects, parse_address
from tests.indexer.guidebook.observed import ObservedProgram, observed_program
from tests.running import PROGRAMS

PUT = "PJRT_Client_BufferFromHostBuffer"


@pytest.fixture(scope="module")
def program() -> ObservedProgram:
    return observed_program()


@pytest.fixture(scope="module")
def calls(program: ObservedProgram) -> list[CallRow]:
    with Index.open(program.index) as index:
        return index.calls.with_object_names(index.calls.find(CallFilter()))


def counts(counted: tuple[NameCount, ...]) -> dict[str, int]:
    return {each.name: each.count for each in counted}


def test_a_run_names_its_framework_and_plugin(program: ObservedProgram, calls: list[CallRow]) -> None:
    (run,) = program.observations.runs

    assert (run.framework, run.framework_version) == ("jax", metadata.version("jax"))
    assert (run.plugin, run.api) == ("the mock TPU", "0.114")
    assert run.title == "guidebook_steps.py"
    assert run.calls == len(calls)
    assert run.left_out == ""
    assert {"jax", "jaxlib", "cpython"} <= dict(run.versions).keys()


def test_every_function_has_the_calls_errors_and_threads_of_the_index(
    program: ObservedProgram, calls: list[CallRow]
) -> None:
    by_function = Counter(call.function for call in calls)

    assert {each.function: each.calls for each in program.observations.functions} == by_function
    for each in program.observations.functions:
        own = [call for call in calls if call.function == each.function]
        assert sum(error.calls for error in each.errors) == sum(call.error > 0 for call in own)
        assert sum(counts(each.threads).values()) == len(own)
        assert each.longest == max(call.duration for call in own)


def test_call_orders_are_per_thread_and_outside_all_other_calls(program: ObservedProgram, calls: list[CallRow]) -> None:
    following: Counter[tuple[str, str]] = Counter()
    last: dict[int, str] = {}
    for call in sorted(calls, key=lambda each: each.id):
        if call.parent is None:
            if call.tid in last:
                following[last[call.tid], call.function] += 1
            last[call.tid] = call.function
    names = {call.id: call.function for call in calls}
    inside = Counter((names[call.parent], call.function) for call in calls if call.parent is not None)

    for each in program.observations.functions:
        name = each.function
        assert counts(each.before) == {a: count for (a, b), count in following.items() if b == name}
        assert counts(each.after) == {b: count for (a, b), count in following.items() if a == name}
        assert counts(each.inside) == {a: count for (a, b), count in inside.items() if b == name}
    assert inside


def test_life_cycles_of_objects_match_the_calls(program: ObservedProgram, calls: list[CallRow]) -> None:
    used: Counter[tuple[str, str]] = Counter()
    for call in calls:
        for known in find_boundary_function(call.function).inputs:
            if known.role is ObjectRole.USES:
                given = any(map(parse_address, iterate_objects(known, call.arguments.get(known.name))))
                used[call.function, known.type] += given
    with closing(sqlite3.connect(program.index)) as connection:
        made = connection.execute(
            "SELECT t.name, count(*) FROM object_rows o JOIN object_types t ON t.id = o.type GROUP BY 1"
        )
        objects = dict(made.fetchall())

    for each in program.observations.functions:
        assert counts(each.uses) == {
            kind: count for (name, kind), count in used.items() if name == each.function and count
        }
    assert {life.type: life.objects for life in program.observations.objects} == objects
    (buffers,) = (life for life in program.observations.objects if life.type == "buffer")
    assert sum(counts(buffers.made).values()) == buffers.objects
    assert sum(counts(buffers.destroyed).values()) == buffers.objects - buffers.left
    assert counts(program.function("PJRT_Buffer_Destroy").ends) == {"buffer": buffers.objects - buffers.left}


def test_the_stack_paths_of_a_function_have_all_its_calls(program: ObservedProgram) -> None:
    for each in program.observations.functions:
        if each.paths:
            assert sum(path.calls for path in each.paths) == each.calls
            assert each.omitted_calls == 0
    paths = {path[0].place.text: path for path in paths_from(program.function(PUT).paths)}
    path = paths[f"guidebook_steps.py:{line_of('array = jax.device_put')}"]
    assert [step.language for step in (path[0], path[-1])] == ["python", "native"]
    assert PUT not in [step.function for step in path]


def test_every_public_frame_links_to_its_source_at_a_commit(program: ObservedProgram) -> None:
    places = {step.place for each in program.observations.functions for path in paths_from(each.paths) for step in path}
    of_jax = [place for place in places if place.text.startswith("jax/")]

    assert of_jax
    for place in of_jax:
        path, _, line = place.text.rpartition(":")
        assert place.url is not None
        assert place.url.startswith("https://github.com/jax-ml/jax/blob/")
        assert place.url.endswith(f"/{path}#L{line}")


def test_observations_have_no_path_of_this_machine(program: ObservedProgram) -> None:
    text = format_observations(program.observations)

    for folder in (program.index.parent, PROGRAMS, PROGRAMS.home()):
        assert str(folder) not in text


def test_an_error_has_its_message(program: ObservedProgram) -> None:
    (error,) = [error for each in program.observations.functions for error in each.errors]

    assert error.code == "RESOURCE_EXHAUSTED"
    assert "memory" in error.message


def test_examples_have_values_in_struct_order(program: ObservedProgram) -> None:
    example, scalar = program.function(PUT).examples

    values = dict(example.arguments)
    assert list(values)[:4] == ["client", "data", "type", "dims"]
    assert (values["dims"], values["bytes"], values["buffer"]) == ("[8]", "32 B", "buffer#1")
    assert dict(scalar.arguments)["dims"] == "[]"
    assert example.line is not None
    assert example.line.text == f"guidebook_steps.py:{line_of('array = jax.device_put')}"


def test_a_task_has_the_calls_below_the_lines_of_each_step(program: ObservedProgram) -> None:
    (task,) = program.observations.tasks
    steps = {step.title: step for step in task.steps}
    called = {title: [call.function for call in step.calls if call.depth == 0] for title, step in steps.items()}

    assert (task.name, task.title) == ("guidebook_steps", "What happens on a put and a fetch")
    assert steps["Put an array"].text == "Its bytes are copied.\n\nThen they are there."
    assert PUT in called["Put an array"]
    assert "PJRT_Buffer_ToHostBuffer" in called["Fetch the result"]
    assert called["Run a program in a loop"].count("PJRT_LoadedExecutable_Execute") == 3
    assert any(call.error for call in steps["Ask for more than there is"].calls)
    assert called["Say nothing to the runtime"] == []
    assert "PJRT_Client_Destroy" in called["The program ends"]
    assert steps["The program ends"].code == ""
    first = next(call for call in steps["Put an array"].calls if call.function == PUT)
    assert first.path[0].place.text.startswith("guidebook_steps.py:")
    inside = next(call for call in steps["Put an array"].calls if call.function == "DeviceMemory::Allocate")
    assert inside.depth == 1


def test_a_stack_path_in_a_step_begins_at_the_steps_line(program: ObservedProgram) -> None:
    (task,) = program.observations.tasks
    (step,) = (step for step in task.steps if step.title == "Run a program in a loop")
    line = line_of("array = twice(array)")

    assert {call.path[0].place.text for call in step.calls if call.path} >= {f"guidebook_steps.py:{line}"}


def paths_from(nodes: tuple[PathNode, ...]) -> Iterator[tuple[PathNode, ...]]:
    """Each path from a root to a leaf."""
    for node in nodes:
        if not node.callees:
            yield (node,)
        for inner in paths_from(node.callees):
            yield (node, *inner)


def line_of(text: str) -> int:
    lines = (PROGRAMS / "guidebook_steps.py").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)
