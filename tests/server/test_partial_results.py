"""Long lists are sent in parts if the client requests that."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from framedex.index import Store
from framedex.ingest import SilentProgress, find_sources
from framedex_server.answers.session import PARTIAL_RESULT_ITEMS
from tests.server.raw_client import RawClient
from tests.server.recording import Recording


@pytest.fixture
def client() -> Iterator[RawClient]:
    with RawClient() as started:
        yield started


def test_partial_symbols_equal_complete_ones(client: RawClient, recording: Recording) -> None:
    functions = "".join(f"void wanted_{number}() {{}}\n" for number in range(2 * PARTIAL_RESULT_ITEMS + 1))
    (recording.root / "many.cc").write_text(functions)
    with Store(recording.index) as store:
        with store.transaction():
            store.sources.add_root(str(recording.root))
        find_sources(store, SilentProgress())
    client.initialize(recording.root)
    whole = client.request("workspace/symbol", {"query": "wanted_"}, 1)["result"]
    assert len(whole) > PARTIAL_RESULT_ITEMS

    client.send({"id": 2, "method": "workspace/symbol", "params": {"query": "wanted_", "partialResultToken": "parts"}})
    parts = []
    while (message := client.receive()).get("id") != 2:
        if message.get("method") == "$/progress":
            assert message["params"]["token"] == "parts"
            assert len(message["params"]["value"]) <= PARTIAL_RESULT_ITEMS
            parts += message["params"]["value"]
    assert message["result"] == []
    assert parts == whole
