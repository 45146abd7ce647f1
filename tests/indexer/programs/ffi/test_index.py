"""Recorded runs of real handlers in the index: joined to their lines, and shown by queries about them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from framedex.index import Index, Store
from framedex.ingest import CaptureFrameNamer
from framedex.model import Capture, SiteEvidence
from tests.ffi_running import CPU, EXAMPLES, FfiRun, run_ffi
from tests.indexed_ffi import IndexedRun, indexed, line_of, site_lines
from tests.indexer.unplaced import index_without_sources
from tests.oracle.whole_captures import add_capture
from tests.tiers import exhaustive_unless

EXAMPLE = EXAMPLES / "ffi_examples.py"
RMS_NORM = EXAMPLES / "rms_norm.cc"


@pytest.fixture(scope="module", params=exhaustive_unless(["cpu", "tpu"], "cpu"))
def calls(request: pytest.FixtureRequest) -> IndexedRun:
    """Every example handler called once or a few times."""
    return indexed("ffi_calls.py", request.param)


def test_a_target_has_its_handler_and_the_written_function(calls: IndexedRun) -> None:
    (handler,) = calls.target("rms_norm").handlers
    assert (handler.stage, handler.function.name) == ("execute", "RmsNorm")
    assert handler.location is not None
    assert (handler.location.path, handler.location.line) == (str(RMS_NORM), line_of(RMS_NORM, "    RmsNorm,") - 1)
    assert handler.implementation is not None and handler.implementation.location is not None
    assert handler.implementation.name.endswith("::rms_norm")
    assert handler.implementation.location.line == line_of(RMS_NORM, "ffi::Error rms_norm(")
    assert handler.signature is not None
    assert (handler.signature.arguments, handler.signature.attributes) == (("f32",), ("f32",))


def test_both_stages_of_a_stateful_target_have_handlers(calls: IndexedRun) -> None:
    target = calls.target("counter")
    assert [(each.stage, each.function.name) for each in target.handlers] == [
        ("execute", "CounterExecute"),
        ("instantiate", "CounterInstantiate"),
    ]
    assert target.totals.runs == 3


def test_sites_are_program_lines(calls: IndexedRun) -> None:
    line = line_of(EXAMPLE, 'jax.ffi.ffi_call("rms_norm", ')
    found = [site_lines(totals.site) for totals in calls.target("rms_norm").sites]
    assert {lines[0] for lines in found} == {(EXAMPLE.name, line)}
    assert (calls.program.name, calls.run.result["rms_norm"]) in [lines[-1] for lines in found]
    assert {totals.how for totals in calls.target("rms_norm").sites} == {SiteEvidence.EXACT}
    assert calls.target("rms_norm").unjoined == 0


def test_a_site_has_its_whole_stack(calls: IndexedRun) -> None:
    (totals,) = calls.target("rms_norm_forward").sites
    names = [frame.function.name for frame in totals.site.frames]
    assert (names[0], names[-1]) == ("<module>", "ffi_call.<locals>.wrapped")
    assert "_flatten_fwd" in names


def test_an_untyped_target_is_joined_to_its_only_site(calls: IndexedRun) -> None:
    (totals,) = calls.target("add_one_untyped").sites
    assert totals.how is SiteEvidence.SINGLE
    assert site_lines(totals.site)[0][0] == EXAMPLE.name
    assert calls.target("add_one_untyped").registrations[0].api_version == 0


def test_registrations_are_program_lines(calls: IndexedRun) -> None:
    registrations = {each.platform: each for each in calls.target("rms_norm").registrations}
    assert "Host" in registrations
    for registration in registrations.values():
        assert registration.line is not None
        assert registration.line.location.line == line_of(EXAMPLE, "register_ffi_target(name, handlers")


def test_jaxlib_handlers_have_the_line_that_led_to_them() -> None:
    run = indexed("ffi_calls.py")
    target = run.target("lapack_spotrf_ffi")
    (totals,) = target.sites
    assert totals.site.from_metadata
    assert site_lines(totals.site)[-1] == (run.program.name, run.run.result["lapack"])
    assert target.registrations[0].line is None
    (handler,) = target.handlers
    assert handler.signature is not None
    assert (handler.signature.arguments, handler.signature.results) == (("f32",), ("f32", "s32"))
    assert handler.implementation is not None and "CholeskyFactorization" in handler.implementation.name


def test_shapes_attributes_and_errors(calls: IndexedRun) -> None:
    target = calls.target("fail")
    assert [(each.attributes, each.errors) for each in target.shapes if each.stage == "execute"] == [
        ('how="error"', 1),
        ('how="exception"', 1),
        ('how="number"', 1),
    ]
    assert (target.totals.runs, target.totals.errors) == (3, 3)
    assert [each.message for each in target.troubles][:2] == ["the handler does not want to", "the handler threw this"]
    for trouble in target.troubles:
        assert [site_lines(site)[0] for site in trouble.sites] == [
            (EXAMPLE.name, line_of(EXAMPLE, 'jax.ffi.ffi_call("fail"'))
        ]
        assert trouble.explanation == ""


def test_every_line_of_a_site_stack_includes_its_runs(calls: IndexedRun) -> None:
    with calls.open() as index:
        (totals,) = calls.target("rms_norm_forward").sites
        for frame in totals.site.frames:
            if frame.location is not None:
                summary = index.line(frame.location.path, frame.location.line).summary()
                assert summary is not None
                assert "rms_norm_forward" in [name for name, _, _ in summary.boundaries]


def test_a_run_counts_once_for_a_line_on_both_of_its_stacks(calls: IndexedRun) -> None:
    with calls.open() as index:
        summary = index.line(str(calls.program), calls.run.result["rms_norm"]).summary()
    assert summary is not None
    assert {name: count for name, count, _ in summary.boundaries}["rms_norm"] == 1


def test_callers_and_callees_cross_from_python_into_the_handler(calls: IndexedRun) -> None:
    with calls.open() as index:
        (handler,) = [each for each in index.functions.find("RmsNorm") if each.name == "RmsNorm"]
        (caller,) = [edge for edge in index.functions.callers(handler.id) if edge.caller.language == "python"]
        assert caller.caller.name == "rms_norm"
        assert [site.line for site in caller.sites] == [line_of(EXAMPLE, 'jax.ffi.ffi_call("rms_norm", ')]
        assert "RmsNorm" in [edge.callee.name for edge in index.functions.callees(caller.caller.id)]


def test_the_handler_is_shown_as_the_written_function(calls: IndexedRun) -> None:
    with calls.open() as index:
        found = index.functions.find("(anonymous namespace)::scale_later")
        assert [each.name for each in found] == ["ScaleLater"]
        assert "scale_later" in [edge.caller.name for edge in index.functions.callers(found[0].id)]


def test_a_function_on_walked_and_site_stacks_is_one_function(calls: IndexedRun) -> None:
    """A decorated function on walked stacks and on those of sites is one function, at its def."""
    with calls.open() as index:
        found = [each for each in index.functions.find("rms_norm") if each.location and each.name == "rms_norm"]
    assert len([each for each in found if each.module == str(EXAMPLE)]) == 1
    assert found[0].location is not None
    assert found[0].location.line == line_of(EXAMPLE, "def rms_norm(")


def test_the_trace_of_a_run_has_its_call_site(calls: IndexedRun) -> None:
    with calls.open() as index:
        call = index.calls.latest("rms_norm_backward")
        assert call is not None
        trace = index.calls.trace(call.id)
    assert trace is not None and trace.origin is not None
    assert trace.frames[-1].function.name == "RmsNormBackward"
    assert trace.origin.how is SiteEvidence.EXACT
    assert site_lines(trace.origin.sites[0])[0] == (EXAMPLE.name, line_of(EXAMPLE, 'ffi_call("rms_norm_backward"'))


def test_an_instantiation_is_joined(calls: IndexedRun) -> None:
    with calls.open() as index:
        call = index.calls.latest("counter.instantiate")
        assert call is not None
        trace = index.calls.trace(call.id)
    assert trace is not None and trace.origin is not None
    assert site_lines(trace.origin.sites[0])[0][0] == EXAMPLE.name


def test_calls_that_differ_only_in_line_are_distinguished() -> None:
    run = indexed("ffi_twins.py")
    lines, _ = run.run.result["in one program"]
    with run.open() as index:
        for line in lines:
            summary = index.line(str(run.program), line).summary()
            assert summary is not None
            assert [count for name, count, _ in summary.boundaries if name == "rms_norm"] == [1]


def test_an_ambiguous_run_lists_candidates_and_counts_for_no_line(tmp_path: Path) -> None:
    """If an instance could belong to two programs, both lines are shown as candidates."""
    run = indexed("ffi_twins.py")
    first, second = run.run.result["in a scan"][0][:2]  # lines with no other runs than those of their site
    path = tmp_path / "index.db"
    with Store(path) as store:
        add_capture(store, _with_open_instance(run.run, first, second), CaptureFrameNamer())
    with Index.open(path) as index:
        (target,) = [each for each in index.ffi.targets() if each.name == "rms_norm"]
        candidates = [totals for totals in target.sites if totals.how is SiteEvidence.AMBIGUOUS]
        assert {site_lines(totals.site)[0][1] for totals in candidates} == {first, second}
        call = candidates[0].latest_call
        assert call is not None
        for line, runs in ((first, None), (second, 2)):
            summary = index.line(str(run.program), line).summary()
            boundaries = {} if summary is None else {name: count for name, count, _ in summary.boundaries}
            assert boundaries.get("rms_norm") == runs
    text = CliRunner().invoke(cli, ["--index", str(path), "trace", str(call)]).stdout
    assert text.count("possibly called from the ffi_call at") == 2
    assert text.count("[ambiguous]") == 2


def _with_open_instance(run: FfiRun, certain: int, other: int) -> Capture:
    """The capture, changed so that the instance of one line may belong to another line, too."""
    sites = {site["frames"][site["user_frame"]][1]: key for key, site in run.sites.items()}
    descriptions = []
    for each in run.recorded.descriptions:
        if each.kind == "ffi_instance" and each.content["site"] == sites[certain]:
            for site in (sites[certain], sites[other]):
                descriptions.append(replace(each, content=each.content | {"join": "ambiguous", "site": site}))
        else:
            descriptions.append(each)
    return replace(run.recorded, descriptions=tuple(descriptions))


def test_a_site_of_another_process_is_found_in_its_capture(tmp_path: Path) -> None:
    """If one process saved a program and another ran it, the runs have the whole stack of the first."""
    saved = run_ffi("ffi_saved.py", "save", str(tmp_path / "program"), folder=tmp_path, **CPU)
    line = saved.result
    folder = tmp_path / "other"
    folder.mkdir()
    ran = run_ffi("ffi_saved.py", "run", str(tmp_path / "program"), folder=folder, **CPU)
    assert ran.result == line
    assert not ran.sites, "the process that runs the program has met no ffi_call"
    index_path = index_without_sources(tmp_path / "index.db", *ran.captures)
    with Index.open(index_path) as index:
        call = index.calls.latest("rms_norm")
        assert call is not None
        alone = index.calls.trace(call.id)
    assert alone is not None and alone.origin is not None
    assert alone.origin.how is SiteEvidence.EXACT
    assert alone.origin.sites[0].from_metadata, "all that is known is what the compiled program tells"
    assert ("ffi_saved.py", line) in site_lines(alone.origin.sites[0])

    index_without_sources(index_path, *saved.captures)
    with Index.open(index_path) as index:
        together = index.calls.trace(call.id)
        program = Path(__file__).parents[3] / "programs" / "ffi_saved.py"
        summary = index.line(str(program), line).summary()
    assert together is not None and together.origin is not None
    assert ("ffi_saved.py", line) in site_lines(together.origin.sites[0])
    assert "_flatten_fun_nokwargs" in [frame.function.name for frame in together.origin.sites[0].frames]
    assert summary is not None and summary.boundaries[0][:2] == ("rms_norm", 2)
