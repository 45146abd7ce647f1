"""A real client over stdio, with the capabilities of real editors, in front of a real server process."""

from __future__ import annotations

import copy
import functools
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from pytest_lsp.client import register_lsp_features

from tests.server.asking import Connect
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


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    """The recorded program, with its index, in a folder of its own."""
    return record(tmp_path)


@pytest_asyncio.fixture
async def connect() -> AsyncIterator[Connect]:
    """Starts servers for clients; all are shut down properly at the end."""
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
        client = await ClientServerConfig([*command, *arguments], make_client).start()
        assert isinstance(client, LanguageClient)
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
            types.InitializeParams(capabilities, root_uri=root.as_uri(), workspace_folders=[folder])
        )
        return client

    yield start
    for client in clients:
        await client.shutdown_session()
        await client.stop()
