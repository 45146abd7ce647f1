"""Settings from the client: asked for where it can be asked, taken as it pushes them where it cannot.

They go before the files' (`framedex.toml`, `pyproject.toml`), key by key, and are the same keys.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from framedex_server.answers.session import Session

SECTION = "framedex"


def register(server: LanguageServer, session: Session) -> None:
    """Take part in `workspace/configuration` and `workspace/didChangeConfiguration`."""
    client = ClientSettings(server, session)
    session.before_start.append(client.read_known)
    session.at_start.append(client.begin)
    session.at_new_settings.append(client.read)

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        client.pushed = _section(params.initialization_options)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def changed(params: types.DidChangeConfigurationParams) -> None:
        client.pushed = _section(params.settings) or client.pushed
        await client.read()


class ClientSettings:
    """What the client has set; `pushed` is what it sent unasked."""

    def __init__(self, server: LanguageServer, session: Session) -> None:
        self._server = server
        self._session = session
        self.pushed: Mapping[str, object] = {}

    async def read_known(self) -> None:
        """Read the settings of files and those that the client pushed: it may take its time to answer, or never."""
        await self._session.read_settings(dict.fromkeys(self._session.roots(), self.pushed))

    async def begin(self) -> None:
        """Ask the client for its settings, and hear of changes."""
        workspace = self._server.client_capabilities.workspace
        if workspace and workspace.did_change_configuration and workspace.did_change_configuration.dynamic_registration:
            options = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
            registration = types.Registration(
                "framedex-configuration", types.WORKSPACE_DID_CHANGE_CONFIGURATION, options
            )
            self._server.client_register_capability(types.RegistrationParams([registration]))
        await self.read()

    async def read(self) -> None:
        """Ask for the settings of every workspace folder, and have what is shown made anew if that changes any."""
        roots = self._session.roots()
        given: list[object] = [self.pushed] * len(roots)
        workspace = self._server.client_capabilities.workspace
        if workspace and workspace.configuration and roots:
            items = [types.ConfigurationItem(root.as_uri(), SECTION) for root in roots]
            try:
                answers = await self._server.workspace_configuration_async(types.ConfigurationParams(items))
            except (JsonRpcException, asyncio.CancelledError):
                answers = []
            given = [{**self.pushed, **_mapping(answer)} for answer in answers] or given
        await self._session.read_settings(dict(zip(roots, given, strict=False)))


def _section(value: object) -> Mapping[str, object]:
    """The settings in what a client pushes: below our name, as most have them."""
    return _mapping(_mapping(value).get(SECTION))


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
