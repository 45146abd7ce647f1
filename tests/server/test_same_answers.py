"""A path means the same file on the command line, in the server and in a text, whatever its origin."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from pygls.uris import to_fs_path

from framedex.commands.main import cli
from framedex.path_resolution.precedence import PathResolver
from framedex.settings import Settings
from framedex.text_stacks.model import StackFormat, TextFrame, TextLocation
from framedex.text_stacks.source_lookup.resolve import Resolver
from tests.server.lsp_requests import Connect, definition_links, send_request, to_json

FILES = (
    *("here.cc", "sub/a.cc", "home/home.cc", "xla/xla/shape.cc", "xla/only.cc", "xla/hlo.proto", "one/twice/same.cc"),
    *("two/twice/same.cc", "site/jax/_src/api.py", "mapped/a.cc", "mapped/deep/b.cc", "deeper/b.cc", "literal/c.cc"),
    *("ruled/c.cc", "third_party/eigen/d.cc", "eigen/d.cc", "dots..cc", "spaced name.cc", "ünï.cc"),
)

SETTINGS = """
sources = ["xla", "one", "two", "site"]
path-map = [
  {{ from = "/their/src", to = "mapped" }},
  {{ from = "/their/src/deep", to = "deeper" }},
  {{ from = "{root}/literal", to = "ruled" }},
  {{ from = "third_party/eigen", to = "eigen" }},
]
"""

# `{root}` is the folder of the project, the working folder of all parts.
MEANT = {
    # The path itself.
    "here.cc": ["here.cc"],
    "./here.cc": ["here.cc"],
    "sub/../here.cc": ["here.cc"],
    "{root}/here.cc": ["here.cc"],
    "{root}//sub/./a.cc": ["sub/a.cc"],
    "spaced name.cc": ["spaced name.cc"],
    " here.cc ": ["here.cc"],
    "dots..cc": ["dots..cc"],
    "ünï.cc": ["ünï.cc"],
    "link.cc": ["here.cc"],
    "~/home.cc": ["home/home.cc"],
    # Paths that are not local files.
    "~nobody-of-this-name/home.cc": [],
    "dangling.cc": [],
    "pipe.cc": [],
    "sub": [],
    "{root}": [],
    "/dev/null": [],
    "nothing.cc": [],
    "he\0re.cc": [],
    "he\ud800re.cc": [],
    "here.cc" * 500: [],
    "<string>": [],
    "C:\\src\\xla\\shape.cc": [],
    "xla@5a9e73cbd929:xla/gone.cc": [],
    # A compiler's working folder is not ours.
    "/proc/self/cwd/here.cc": [],
    "//proc/self/cwd/here.cc": [],
    "/proc/self/../self/cwd/here.cc": [],
    "/proc/self/root{root}/here.cc": [],
    "/proc/self/cwd/xla/shape.cc": ["xla/xla/shape.cc"],
    "/proc/self/cwd/external/xla/xla/shape.cc": ["xla/xla/shape.cc"],
    # Rules: the longest one applies, even before an existing file.
    "/their/src/a.cc": ["mapped/a.cc"],
    "/their/src/deep/b.cc": ["deeper/b.cc"],
    "/their/src/gone.cc": [],
    "{root}/literal/c.cc": ["ruled/c.cc"],
    "third_party/eigen/d.cc": ["eigen/d.cc"],
    "/proc/self/cwd/third_party/eigen/d.cc": ["eigen/d.cc"],
    # Path suffixes.
    "external/xla/xla/shape.cc": ["xla/xla/shape.cc"],
    "bazel-out/k8-opt/bin/external/xla/xla/shape.cc": ["xla/xla/shape.cc"],
    "bazel-out/k8-opt/bin/xla/hlo.pb.h": [],
    "/build/of/another/machine/xla/shape.cc": ["xla/xla/shape.cc"],
    "/opt/venv/lib/python3.12/site-packages/jax/_src/api.py": ["site/jax/_src/api.py"],
    "/elsewhere/shape.cc": [],
    "only.cc": ["xla/only.cc"],
    "/build/twice/same.cc": ["one/twice/same.cc", "two/twice/same.cc"],
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with sources and rules as the working folder, and an editor that logs opened files."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("def f(): pass\n" if name.endswith(".py") else "// one\n// two\n")
    (tmp_path / "link.cc").symlink_to("here.cc")
    (tmp_path / "dangling.cc").symlink_to("nowhere.cc")
    os.mkfifo(tmp_path / "pipe.cc")
    (tmp_path / "framedex.toml").write_text(SETTINGS.format(root=tmp_path))
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\nprintf "%s" "$1" > {tmp_path / "opened"}\n')
    editor.chmod(0o755)
    monkeypatch.setenv("FRAMEDEX_EDITOR", f"{editor} {{file}}")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def relative(root: Path, paths: list[str]) -> list[str]:
    return sorted(os.path.relpath(os.path.realpath(path), root) for path in paths)


def opened(root: Path, path: str) -> list[str]:
    """The files that `framedex open` opens, or else lists."""
    (root / "opened").unlink(missing_ok=True)
    result = CliRunner().invoke(cli, ["open", "--", f"{path}:1"])
    if result.exit_code == 0:
        return relative(root, [(root / "opened").read_text()])
    assert (result.exit_code, (root / "opened").exists()) == (1, False)
    listed = "".join(line.removeprefix("  ") for line in result.stderr.split("\n")[1:-2])
    return relative(root, [f"{each}cc" for each in listed.split("cc:1")[:-1]]) if "Several" in result.stderr else []


def resolved(root: Path, path: str) -> list[str]:
    """The resolver's location for a frame with this path."""
    settings, problems = Settings.load(root)
    assert problems == []
    frame = TextFrame(StackFormat.PLAIN, 0, 0, 0, 0, place=TextLocation(path, 1))
    found = Resolver(None, PathResolver(settings.path_map, settings.sources, [root])).find(frame)
    return relative(root, [place.path for place in (found.location, *found.candidates) if place is not None])


def explained(root: Path, log: Path) -> dict[int, list[str]]:
    """The locations by `framedex explain` for a log's frames, by line."""
    result = CliRunner().invoke(cli, ["explain", "--json", str(log)])
    frames = [frame for stack in json.loads(result.stdout)["stacks"] for frame in stack["frames"]]
    located = {frame["line"]: [frame["location"], *frame["candidates"]] for frame in frames}
    return {line: relative(root, [each["path"] for each in found if each]) for line, found in located.items()}


@pytest.mark.asyncio
@pytest.mark.exhaustive(keep=["True"])
@pytest.mark.parametrize("is_indexed", [False, True])
async def test_a_path_means_the_same_file_in_all_requests(root: Path, connect: Connect, is_indexed: bool) -> None:
    if is_indexed:
        assert CliRunner().invoke(cli, ["index"]).exit_code == 0
    meant = {path.format(root=root): expected for path, expected in MEANT.items()}
    paths = list(meant)
    log = root / "stacks.fdtrace"
    texts = [path if path.isprintable() and path.strip() == path else "-" for path in paths]
    tracebacks = (f'Traceback (most recent call last):\n  File "{text}", line 1, in f\nE: e\n\n' for text in texts)
    log.write_text("".join(tracebacks))
    lines = {path: 4 * number + 2 for number, path in enumerate(paths) if texts[number] != "-"}
    client = await connect(root)

    async def of_request(path: str) -> list[str]:
        answer = to_json(await send_request(client, "resolveFrame", {"path": path, "line": 1}))
        return relative(root, [to_fs_path(each["uri"]) or "" for each in answer["locations"]])

    async def of_definition(line: int) -> list[str]:
        found = await definition_links(client, log, line)
        return relative(root, [to_fs_path(each.target_uri) or "" for each in found])

    by_line = explained(root, log)
    answers = {
        "open": {path: opened(root, path) for path in paths},
        "framedex/resolveFrame": {path: await of_request(path) for path in paths},
        "explain": {path: by_line.get(line, []) for path, line in lines.items()},
        "definition": {path: await of_definition(line) for path, line in lines.items()},
        "Resolver": {path: resolved(root, path) for path in paths} if not is_indexed else {},
    }
    wrong = {
        (who, path): (found, meant[path])
        for who, all_found in answers.items()
        for path, found in all_found.items()
        if found != meant[path]
    }
    assert wrong == {}
