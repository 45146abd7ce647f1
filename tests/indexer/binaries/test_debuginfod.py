"""Debug files come from the servers in the environment, and no response of a server can do harm."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from framedex.base.progress import SilentProgress
from framedex.binaries import Binary
from framedex.binaries.debuginfod import Debuginfod, configure_debuginfod
from tests.indexer.answering import Answering, Started
from tests.indexer.binaries.conftest import compiled
from tests.indexer.binaries.test_binary import address_of

BUILD_ID = "0123456789abcdef"
FUNCTION = "shop::Till::ring(int)"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, source: Path) -> Path:
    """A library with its debug information."""
    return compiled(source, "served.so", "-g", "-O2", "-shared", "-fPIC", f"-Wl,--build-id=0x{BUILD_ID}")


@pytest.fixture(scope="module")
def debug_file(whole: Path) -> bytes:
    """The server's files for it."""
    path = whole.with_name("served.debug")
    subprocess.run(["objcopy", "--only-keep-debug", whole, path], check=True)
    return path.read_bytes()


@pytest.fixture
def stripped(whole: Path, tmp_path: Path) -> Path:
    """The library as installed."""
    path = tmp_path / "libshop.so.1"
    subprocess.run(["objcopy", "--strip-all", whole, path], check=True)
    return path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of the test."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("DEBUGINFOD_CACHE_PATH", str(folder))
    return folder


def make_client(*addresses: str, **variables: str) -> Debuginfod:
    found = configure_debuginfod({"DEBUGINFOD_URLS": " ".join(addresses), **variables}, SilentProgress())
    assert found is not None
    return found


def fetch_debug_file(debuginfod: Debuginfod) -> None:
    debuginfod.fetch(BUILD_ID, "libshop.so.1")


def files_in(cache: Path) -> list[str]:
    return sorted(str(path.relative_to(cache)) for path in cache.rglob("*") if path.is_file())


def answer_not_found(request: Answering) -> None:
    request.send_error(404)


def test_a_fetched_debug_file_has_names_and_lines(
    started: Started, cache: Path, whole: Path, stripped: Path, debug_file: bytes
) -> None:
    start, _ = address_of(whole, FUNCTION)
    server = started(lambda request: request.give(debug_file))
    assert Binary.open(stripped).missing_debug_file == BUILD_ID
    debuginfod = make_client(f"{server.address}/")

    fetch_debug_file(debuginfod)

    assert server.asked == [f"/buildid/{BUILD_ID}/debuginfo"]
    assert files_in(cache) == [f"{BUILD_ID}/debuginfo"]
    assert debuginfod.problems == [] and debuginfod.downloads == {f"{server.address}/": ["libshop.so.1"]}
    assert Binary.open(stripped).missing_debug_file is None
    assert Binary.open(stripped).resolve([start]) == Binary.open(whole).resolve([start])


def test_servers_are_queried_in_order_until_one_has_the_file(started: Started, cache: Path, debug_file: bytes) -> None:
    without, having, spare = started(answer_not_found), started(lambda r: r.give(debug_file)), started(answer_not_found)

    fetch_debug_file(make_client(without.address, "ima:enforcing", "ftp://127.0.0.1:9/", having.address, spare.address))

    assert [len(server.asked) for server in (without, having, spare)] == [1, 1, 0]
    assert files_in(cache) == [f"{BUILD_ID}/debuginfo"]


def test_a_missing_debug_file_is_cached_for_a_while(started: Started, cache: Path) -> None:
    """After a 404, no request is repeated before the cache's expiry time."""
    server = started(answer_not_found)
    debuginfod = make_client(server.address)

    fetch_debug_file(debuginfod)
    fetch_debug_file(make_client(server.address))

    assert len(server.asked) == 1 and debuginfod.problems == []
    kept = cache / BUILD_ID / "debuginfo"
    assert kept.stat().st_size == 0
    os.utime(kept, (time.time() - 700, time.time() - 700))
    fetch_debug_file(make_client(server.address))
    assert len(server.asked) == 2
    (cache / "cache_miss_s").write_text("0")
    fetch_debug_file(make_client(server.address))
    assert len(server.asked) == 3


def hang(request: Answering) -> None:
    request.server.is_over.wait()


def hang_during_response(request: Answering) -> None:
    request.give(b"\x7fELF", 1 << 20)
    request.server.is_over.wait()


def answer_slowly(request: Answering) -> None:
    request.give(b"", 1 << 20)
    while not request.server.is_over.wait(0.1):
        try:
            request.wfile.write(b"x")
        except OSError:
            return


def endless_redirect(request: Answering) -> None:
    request.send_response(302)
    request.send_header("Location", request.path)
    request.end_headers()


def redirect_out_of_the_web(request: Answering) -> None:
    request.send_response(302)
    request.send_header("Location", "ftp://127.0.0.1/debuginfo")
    request.end_headers()


@pytest.mark.exhaustive(keep=["garbage", "error", "hangs during response"])
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda request: request.give(b"<html>no such thing</html>"), "not the debug information of this binary"),
        (lambda request: request.give(b""), "not the debug information of this binary"),
        (lambda request: request.give(b"\x7fELF" + bytes(5000), 1 << 20), "sent 5,004 of 1,048,576 bytes"),
        (lambda request: request.send_error(503), "it answered 503"),
        (lambda request: request.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n"), "SSH-2.0"),
        (hang, "silent or slow for 1 s"),
        (hang_during_response, "silent or slow for 1 s"),
        (answer_slowly, "silent or slow for 1 s"),
        (endless_redirect, "it answered 302"),
        (redirect_out_of_the_web, "it redirects to ftp://127.0.0.1/debuginfo"),
    ],
    ids=[
        "garbage",
        "empty",
        "truncated",
        "error",
        "no HTTP",
        "hangs",
        "hangs during response",
        "trickles",
        "redirects",
        "to file",
    ],
)
def test_a_failing_server_is_reported_once_and_not_queried_again(
    answer: Callable[[Answering], None], message: str, started: Started, cache: Path, stripped: Path, debug_file: bytes
) -> None:
    """After a failing server, the next one supplies the debug file, and the failure is not cached."""
    failing, working = started(answer), started(lambda request: request.give(debug_file))
    debuginfod = make_client(failing.address, working.address, DEBUGINFOD_TIMEOUT="1")

    fetch_debug_file(debuginfod)
    asked = len(failing.asked)
    debuginfod.fetch("fedcba9876543210", "other.so")

    (problem,) = [each for each in debuginfod.problems if failing.address in each]
    assert message in problem and "libshop.so.1" in problem
    assert len(failing.asked) == asked
    assert files_in(cache) == [f"{BUILD_ID}/debuginfo"]
    assert Binary.open(stripped).missing_debug_file is None


def test_an_unreachable_server_is_reported(cache: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
        debuginfod = make_client(address)
        fetch_debug_file(debuginfod)

    (problem,) = debuginfod.problems
    assert address in problem and "cannot be reached" in problem
    assert files_in(cache) == []


def test_the_debug_file_of_another_build_is_rejected(
    started: Started, cache: Path, source: Path, tmp_path: Path
) -> None:
    other = compiled(source, "other.so", "-g", "-shared", "-fPIC", "-Wl,--build-id=0xffffffffffffffff").read_bytes()
    debuginfod = make_client(started(lambda request: request.give(other)).address)

    fetch_debug_file(debuginfod)

    assert len(debuginfod.problems) == 1 and files_in(cache) == []


@pytest.mark.parametrize("has_declared_size", [True, False])
def test_a_file_over_the_size_limit_is_skipped(
    has_declared_size: bool, started: Started, cache: Path, debug_file: bytes
) -> None:
    """A size limit (DEBUGINFOD_MAXSIZE), with or without a size from the server; other files are still requested."""

    def answer(request: Answering) -> None:
        if has_declared_size:
            request.give(debug_file)
        else:
            request.send_response(200)
            request.end_headers()
            request.wfile.write(debug_file)

    server = started(answer)
    debuginfod = make_client(server.address, DEBUGINFOD_MAXSIZE="2000")

    fetch_debug_file(debuginfod)
    debuginfod.fetch("fedcba9876543210", "other.so")

    assert len(debuginfod.problems) == 2 and "2,000" in debuginfod.problems[0]
    assert len(server.asked) == 2 and files_in(cache) == []


def test_redirects_to_web_addresses_are_followed(started: Started, cache: Path, debug_file: bytes) -> None:
    having = started(lambda request: request.give(debug_file))

    def elsewhere(request: Answering) -> None:
        request.send_response(302)
        request.send_header("Location", f"{having.address}/mirror")
        request.end_headers()

    fetch_debug_file(make_client(started(elsewhere).address))

    assert having.asked == ["/mirror"] and files_in(cache) == [f"{BUILD_ID}/debuginfo"]


def test_a_malformed_build_id_is_not_queried(started: Started, cache: Path) -> None:
    server = started(answer_not_found)
    for name in ("", "..", "../../x", "0123", "0123456789abcdeg"):
        make_client(server.address).fetch(name, "odd.so")
    assert server.asked == []


@pytest.mark.parametrize("named", [None, "", "   ", "ima:enforcing", "ftp://127.0.0.1:9/", "file:///srv"])
def test_without_configured_servers_nothing_is_queried(named: str | None, cache: Path) -> None:
    assert configure_debuginfod({} if named is None else {"DEBUGINFOD_URLS": named}, SilentProgress()) is None


def test_an_unwritable_cache_is_reported(started: Started, cache: Path, debug_file: bytes) -> None:
    cache.write_text("no folder")
    debuginfod = make_client(started(lambda request: request.give(debug_file)).address)

    fetch_debug_file(debuginfod)

    assert len(debuginfod.problems) == 1 and "Not a directory" in debuginfod.problems[0]
