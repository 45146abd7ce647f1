"""`framedex ffi`, and output of other verbs on handler runs, for real recordings."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.base.plaintext import quote_shell_word
from framedex.commands.main import cli
from tests.ffi_running import CPU, EXAMPLES, run_ffi
from tests.indexed_ffi import IndexedRun, indexed, line_of, make_index
from tests.indexer.recorded import Project
from tests.running import PROGRAMS

EXAMPLE = EXAMPLES / "ffi_examples.py"
RMS_NORM = EXAMPLES / "rms_norm.cc"
CALL = line_of(EXAMPLE, 'jax.ffi.ffi_call("rms_norm", ')


@pytest.fixture(scope="module")
def calls() -> IndexedRun:
    """Every example handler called once or a few times."""
    return indexed("ffi_calls.py")


@pytest.fixture(scope="module")
def missing() -> IndexedRun:
    """Targets called in every wrong way."""
    return indexed("ffi_missing.py")


def section(run: IndexedRun, target: str) -> str:
    """The overview's row of one target."""
    parts = run.invoke("ffi").stdout.split("\n\n")
    return next(part for part in parts if part.startswith(f"{target}  "))


def test_the_overview_has_handlers_sites_counts_and_times(calls: IndexedRun) -> None:
    text = section(calls, "rms_norm")
    assert "4 runs" in text.splitlines()[0] and "median" in text and "p99" in text
    assert f"{RMS_NORM}:{line_of(RMS_NORM, 'ffi::Error rms_norm(')}" in text
    assert f"registered  for cpu at {EXAMPLE}:" in text
    call = f"{EXAMPLE}:{CALL} in rms_norm"
    assert f"{call}, from {calls.program}:{calls.run.result['rms_norm']} in <module>" in text


def test_uncalled_targets_are_counted_and_listed_on_request(calls: IndexedRun) -> None:
    short, whole = calls.invoke("ffi"), calls.invoke("ffi", "--all")
    assert "lapack_dgeqrf_ffi" not in short.stdout
    assert "--all" in short.stderr
    assert "lapack_dgeqrf_ffi  never run" in whole.stdout


def test_the_detail_view_has_stages_signature_stacks_shapes_and_attributes(calls: IndexedRun) -> None:
    text = calls.invoke("ffi", "fail").stdout
    assert "takes  (f32) -> (f32), attributes (string)" in text
    assert "instantiate  (anonymous namespace)::fail_to_instantiate" in text
    assert '(f32[4,8]) -> (f32[4,8])  how="exception"  1 error' in text
    assert f"P fail      {EXAMPLE}:" in text
    assert "! the handler threw this" in text


def test_a_unique_substring_selects_the_target(calls: IndexedRun) -> None:
    assert calls.invoke("ffi", "pivots").stdout.count("lu_pivots_to_permutation  2 runs") == 1
    several = calls.invoke("ffi", "rms_norm_")
    assert several.exit_code == 1 and "rms_norm_forward" in several.stderr
    unknown = calls.invoke("ffi", "no such target")
    assert unknown.exit_code == 1 and "--all" in unknown.stderr


def test_the_json_document_has_all_data(calls: IndexedRun) -> None:
    (target,) = calls.read("ffi", "rms_norm_backward")["targets"]
    assert target["registrations"][0]["platform"] == "cpu"
    assert target["handlers"][0]["signature"]["arguments"] == ["f32", "f32", "f32"]
    (site,) = target["sites"]
    assert (site["how"], site["totals"]["runs"]) == ("exact", 1)
    assert site["site"]["frames"][-1]["function"]["name"] == "ffi_call.<locals>.wrapped"


def test_an_unregistered_target_is_explained_with_its_line(missing: IndexedRun) -> None:
    text = section(missing, "nowhere")
    assert f"called at {missing.program}:{missing.run.result['nowhere']}" in text
    assert "register_ffi_target('nowhere', ..., platform='cpu')" in text


def test_a_target_registered_for_another_platform_is_explained(missing: IndexedRun) -> None:
    text = section(missing, "elsewhere")
    assert f"called at {missing.program}:{missing.run.result['elsewhere']}" in text
    assert "registered for CUDA, but the program was compiled for cpu" in text


def test_calls_that_violate_the_handler_signature_are_explained(missing: IndexedRun) -> None:
    text = section(missing, "rms_norm")
    lines = missing.run.result
    for name, said in (
        ("too many", "It takes 1 argument; the call passes 2. The handler takes (f32) -> (f32), attributes (f32)."),
        ("wrong attribute", "The handler has no attribute 'epsilon'; at that position it takes 'eps'"),
        ("wrong attribute type", "Attribute eps is f64; the handler takes f32."),
        ("wrong attribute type", "Pass eps=np.float32(...)."),
        ("wrong attribute kind", "Attribute eps is an array; the handler takes a scalar."),
        ("wrong attribute kind", "Pass a scalar"),
        ("wrong dtype", "Argument 0 is s32[2,4]; the handler takes f32."),
    ):
        after = text.partition(f"called at {missing.program}:{lines[name]}")[2]
        assert said in after.split("\n  ! ")[0], name


def test_runs_with_attributes_of_different_types_are_separate(missing: IndexedRun) -> None:
    """1 as f32 (the handler's type) prints like 1 as f64 or in an array: only the type is wrong."""
    lines = [line.split() for line in missing.invoke("ffi", "rms_norm").stdout.splitlines()]
    given = {line[4]: line[0] for line in lines if line[1:4] == ["(f32[2,4])", "->", "(f32[2,4])"]}
    assert given == {"eps=f64(1)": "1", "eps=s64[1,2]": "1", "epsilon=f32(1)": "1"}


def test_calls_are_readable_and_lead_to_their_line(calls: IndexedRun) -> None:
    text = calls.invoke("calls", "--function", "rms_norm,rms_norm_forward", "--stack", "line").stdout
    assert "rms_norm(f32[4,8], eps=f32(1e-05)) -> f32[4,8]" in text
    assert "rms_norm_forward(f32[4,8], eps=f32(1e-05)) -> f32[4,8], f32[4]" in text
    assert f"{EXAMPLE}:{CALL} in rms_norm" in text
    assert "scale_later(f32[4,8], factor=f32(2)) -> f32[4,8] later" in calls.invoke("calls").stdout


def test_the_trace_of_a_run_ends_with_its_ffi_call(calls: IndexedRun) -> None:
    lines = calls.invoke("trace", "rms_norm_backward").stdout.splitlines()
    handler = next(number for number, line in enumerate(lines) if "N RmsNormBackward" in line)
    assert lines[handler + 1] == ""
    line = line_of(EXAMPLE, 'ffi_call("rms_norm_backward"')
    where = f"{EXAMPLE}:{line} in _rms_norm_backward"
    assert lines[handler + 2] == f"called from the ffi_call at {where} [exact]"
    assert lines[-1] == "    … 1 glue frame"
    assert lines[-2].split()[:2] == ["P", "_rms_norm_backward"]


def test_an_uncertain_join_says_so(calls: IndexedRun) -> None:
    assert "[single: the only possible one]" in calls.invoke("trace", "add_one_untyped").stdout
    assert calls.read("trace", "add_one_untyped")["origin"]["how"] == "single"


def test_the_trace_document_contains_the_ffi_call(calls: IndexedRun, tmp_path: Path) -> None:
    document = tmp_path / "run.fdtrace"
    assert calls.invoke("trace", "scale_later", "-o", str(document)).exit_code == 0
    text = document.read_text()
    assert "ffi_call [exact], most recent call last:" in text
    assert f"scale_later at {EXAMPLE}:" in text.partition("ffi_call [exact]")[2]


def test_where_counts_the_ffi_runs_of_a_line(calls: IndexedRun) -> None:
    summary = calls.read("where", f"{EXAMPLE}:{CALL}")["summary"]
    assert {each["function"]: each["calls"] for each in summary["boundaries"]} == {"rms_norm": 4}


def test_a_recording_without_ffi_says_so(project: Project) -> None:
    project.ingest().close()
    result = CliRunner().invoke(cli, ["--index", str(project.index), "ffi"])
    assert result.exit_code == 0
    assert "called no FFI targets" in result.stderr


def test_a_crash_in_a_handler_leads_to_its_recorded_call(tmp_path: Path) -> None:
    ended = run_ffi("ffi_crash.py", "segfault", folder=tmp_path, **CPU)
    crashed = IndexedRun(PROGRAMS / "ffi_crash.py", ended, make_index(tmp_path, *ended.captures))
    report = tmp_path / "stderr.txt"
    report.write_text(ended.stderr)
    shown = crashed.invoke("explain", str(report)).stdout
    call = crashed.read("check")["findings"][0]["call"]
    recorded = f'recorded as call {call}, (f32[2,2]) -> (f32[2,2])  how="segfault"'
    typed = f"framedex --index {quote_shell_word(str(crashed.index))}"
    assert f"{recorded}: `{typed} trace {call}`" in shown

    report.write_text(ended.stderr.replace("ffi_crash.py:", "other.py:"))
    shown = crashed.invoke("explain", str(report)).stdout
    assert f"the call is not in the index; `{typed} ffi fail` shows other calls of this target" in shown

    report.write_text(ended.stderr.replace("'fail'", "'unknown'"))
    assert f"the call is not in the index: run `{typed} index`" in crashed.invoke("explain", str(report)).stdout


def test_lines_of_the_recorded_release_are_doubtful_for_a_text_of_another(calls: IndexedRun, tmp_path: Path) -> None:
    text = tmp_path / "crash.txt"
    frame = "    @ 0x1234  12  xla::cpu::CustomCallThunk::CallTypedFFI()\n"

    text.write_text(frame)
    own = calls.invoke("explain", str(text))
    assert "custom_call_thunk.cc#L" in own.stdout and "doubtful" not in own.stdout
    assert "(of the latest recording)" in own.stderr

    text.write_text(f"jaxlib==0.4.20\n{frame}")
    other = calls.invoke("explain", str(text))
    assert "custom_call_thunk.cc#L" in other.stdout and "[doubtful" in other.stdout
    assert "(of the latest recording)" not in other.stderr

    site = tmp_path / "lib" / "python3.11" / "site-packages"
    (site / "jaxlib-0.4.20.dist-info").mkdir(parents=True)
    text.write_text(f'{frame}\n  File "{site}/jax/_src/api.py", line 5, in jit\n')
    other = calls.invoke("explain", str(text))
    assert "custom_call_thunk.cc#L" in other.stdout and "[doubtful" in other.stdout
    assert "Sources of XLA and JAX frames" not in other.stderr
