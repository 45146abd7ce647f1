"""A real client, with the capabilities of real editors, connected to a real server process."""

from __future__ import annotations

import copy
import functools
import os
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import pytest
import pytest_asyncio
from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from pytest_lsp.client import register_lsp_features

from tests import fork_server
from tests.server.listening import Listening, listen_on_port
from tests.server.lsp_requests import Connect
from tests.server.recording import Recording, record

SERVER = (sys.executable, "-m", "framedex_server")


# Generating the converter of the protocol's classes takes longer than most tests.
converter = functools.cache(default_converter)
capabilities_of = functools.cache(client_capabilities)


def make_client() -> LanguageClient:
    """Create a client of pytest-lsp that shares its converter with all others."""
    client = LanguageClient(converter_factory=converter)
    register_lsp_features(client)
    return client


async def start_own(command: tuple[str, ...], arguments: tuple[str, ...]) -> LanguageClient:
    """Start a server over stdio, with a client."""
    client = await ClientServerConfig([*command, *arguments], make_client).start()
    assert isinstance(client, LanguageClient)
    return client


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    """The recorded program, with its index, in its own folder."""
    return record(tmp_path)


@dataclass(frozen=True)
class SharedServer:
    """A server for all tests that need no command line, environment or folder of their own."""

    listening: Listening
    environment: Mapping[str, str]
    folder: Path
    log: TextIO

    def suits(self, command: tuple[str, ...], arguments: tuple[str, ...]) -> bool:
        """Whether a server that starts now with this command line would be the same."""
        is_plain = (command, arguments) == (SERVER, ()) and not fork_server.own_start.is_set()
        return is_plain and (self.environment, self.folder) == (_environment(), Path.cwd())


@pytest.fixture(scope="session")
def shared_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SharedServer | None]:
    """The shared server. Without fork servers (`make test-all`) it is None: each client starts a server over stdio."""
    if not request.config.getoption(fork_server.OPTION):
        yield None
        return
    environment, folder = _environment(), Path.cwd()
    home = tmp_path_factory.mktemp("shared-server")
    with listen_on_port(home, environment) as listening, listening.log.open() as log:
        yield SharedServer(listening, environment, folder, log)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


@pytest_asyncio.fixture
async def connect(shared_server: SharedServer | None) -> AsyncIterator[Connect]:
    """Connects clients to servers; all sessions are shut down properly at the end."""
    clients: list[LanguageClient] = []

    async def start(
        root: Path,
        editor: str = "visual-studio-code",
        encodings: list[str] | None = None,
        command: tuple[str, ...] = SERVER,
        arguments: tuple[str, ...] = (),
        links: bool = True,
        markdown: bool = True,
        experimental: Any = None,
        content: bool = False,
    ) -> LanguageClient:
        options = None
        shared = shared_server if shared_server and shared_server.suits(command, arguments) else None
        if shared is not None:
            client = make_client()
            await client.start_tcp("127.0.0.1", shared.listening.port)
            options = {"token": shared.listening.token}
        else:
            client = await start_own(command, arguments)
        clients.append(client)
        capabilities = copy.deepcopy(capabilities_of(editor))
        if encodings is not None:
            capabilities.general = types.GeneralClientCapabilities(position_encodings=encodings)
        assert capabilities.text_document and capabilities.text_document.definition
        capabilities.text_document.definition.link_support = links
        if not markdown:
            assert capabilities.text_document.hover
            capabilities.text_document.hover.content_format = [types.MarkupKind.PlainText]
        capabilities.experimental = experimental
        if content:
            assert capabilities.workspace
            capabilities.workspace.text_document_content = types.TextDocumentContentClientCapabilities()
        folder = types.WorkspaceFolder(root.as_uri(), root.name)
        await client.initialize_session(
            types.InitializeParams(
                capabilities, root_uri=root.as_uri(), workspace_folders=[folder], initialization_options=options
            )
        )
        return client

    yield start
    for client in clients:
        await client.shutdown_session()
        await client.stop()
    if shared_server is not None:
        sys.stderr.write(shared_server.log.read())
