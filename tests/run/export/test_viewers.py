"""Exports of a real program in viewers: they load the exports and show the recorded calls."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.indexer.export.exporting import export
from tests.indexer.export.truth import calls_of, sums
from tests.run.costs.trained import PROGRAM, index_of_training, line_of
from tests.run.export.firefox import firefox_profiler
from tests.run.export.viewers import ARE_HERE, EDITORS, VIEWERS, asked, perfetto, speedscope

if TYPE_CHECKING:
    from playwright.sync_api import Browser

AFTER_PAINT = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
pytestmark = pytest.mark.skipif(not ARE_HERE, reason="no viewers of exports; `make test-editors` sets them up")

_READ_PPROF = """
const { Profile } = require("pprof-format"), zlib = require("zlib"), fs = require("fs");
const profile = Profile.decode(zlib.gunzipSync(fs.readFileSync(process.argv[1])));
const texts = profile.stringTable.strings;
const sums = profile.sampleType.map((type, at) =>
    [texts[Number(type.type)], profile.sample.reduce((sum, each) => sum + Number(each.value[at]), 0)]);
console.log(JSON.stringify({ sums, functions: profile.function.map(each => texts[Number(each.name)]) }));
"""

_READ_SCIP = """
const { scip } = require("@sourcegraph/scip-typescript/dist/src/scip.js"), fs = require("fs");
const index = scip.Index.deserializeBinary(fs.readFileSync(process.argv[1])).toObject();
console.log(JSON.stringify(index));
"""


def test_perfetto_has_every_call(browser: Browser, tmp_path: Path) -> None:
    trace = tmp_path / "train.pftrace"
    export(index_of_training(), "perfetto", trace)
    calls = calls_of(index_of_training())
    with perfetto(browser, trace) as page:
        assert asked(page, "SELECT count(*), sum(dur) FROM slice WHERE dur >= 0 AND category <> ''") == [
            [len(calls), sum(call.duration for call in calls)]
        ]
        nested = sum(len(call.children) for call in calls)
        assert asked(page, "SELECT count(*) FROM slice WHERE parent_id IS NOT NULL") == [[nested]] != [[0]]
        assert {name for (name,) in asked(page, "SELECT DISTINCT name FROM thread WHERE tid > 0")} >= {
            call.thread for call in calls
        }
        step = f"training.py:{line_of('params = step(')} PJRT_LoadedExecutable_Execute"
        assert asked(page, f"SELECT count(*) FROM slice WHERE name = '{step}'") == [[30]]
        # Callstacks of track events are newer than this engine, which reports that; all else must be correct.
        amiss = "SELECT DISTINCT name FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0"
        assert asked(page, amiss) in ([], [["unknown_extension_fields"]])


@pytest.mark.parametrize("form", ["speedscope", "pprof", "collapsed"])
def test_speedscope_finds_the_line_and_the_runtime(browser: Browser, form: str, tmp_path: Path) -> None:
    profile = tmp_path / {"speedscope": "train.speedscope.json", "pprof": "train.pb.gz", "collapsed": "train.txt"}[form]
    export(index_of_training(), form, profile)
    with speedscope(browser, profile) as page:
        page.get_by_text("Sandwich").click()
        page.get_by_text("Symbol Name").wait_for()
        page.evaluate(AFTER_PAINT)  # only then does the view accept keys
        page.keyboard.press("Control+f")
        for name in ("PJRT_Client_Compile", "xla::PjRtCApiClient::CompileAndLoad", "cache_miss"):
            page.locator("input:not([type])").fill(name)
            page.locator("tr:visible", has_text=name).first.wait_for()


def test_firefox_has_every_call(tmp_path: Path) -> None:
    profile = tmp_path / "train.json"
    export(index_of_training(), "firefox", profile)
    calls = calls_of(index_of_training())
    with firefox_profiler(profile, tmp_path) as ask:
        (process,) = ask("profile", "info", "--all")["processes"]
        assert {thread["name"] for thread in process["threads"]} == {call.thread for call in calls}
        for thread in process["threads"]:
            of_thread = ("--thread", thread["threadHandle"])
            mine = [call for call in calls if call.thread == thread["name"]]
            assert ask("thread", "info", *of_thread)["markerCount"] == len(mine)
            functions = ask("thread", "functions", *of_thread)["functions"]
            found = {each["name"]: round(each["selfSamples"] * 1e6) for each in functions if each["selfSamples"]}
            assert found == sums(mine, "time", key=lambda call: call.function)
        assert ask("counter", "list")["counters"]


def test_another_pprof_reader_has_the_same_sums(tmp_path: Path) -> None:
    profile = tmp_path / "train.pb.gz"
    export(index_of_training(), "pprof", profile)
    found = _read(_READ_PPROF, profile)
    calls = calls_of(index_of_training())
    assert found["sums"] == [
        ["time", sum(max(call.own, 0) for call in calls)],
        ["calls", len(calls)],
        ["bytes", sum(call.bytes for call in calls)],
    ]
    assert set(found["functions"]) == {name for call in calls for name, *_ in call.stack}


def test_another_scip_reader_finds_the_callers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROGRAM.parent)
    export(index_of_training(), "scip", tmp_path / "index.scip")
    found = _read(_READ_SCIP, tmp_path / "index.scip")
    assert found["metadata"]["project_root"] == PROGRAM.parent.as_uri()
    (document,) = found["documents"]
    execute = "framedex . . . pjrt/PJRT_LoadedExecutable_Execute()."
    lines = {each["range"][0] + 1 for each in document["occurrences"] if each["symbol"] == execute}
    assert line_of("params = step(") in lines
    assert execute in {each["symbol"] for each in found["external_symbols"]}


def _read(script: str, file: Path) -> Any:
    """The output of a Node script that reads a file."""
    command = [str(EDITORS / "bin" / "node"), "-e", script, str(file)]
    done = subprocess.run(command, cwd=VIEWERS, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
