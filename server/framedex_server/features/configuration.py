"""Settings from the client: requested if the client supports that, else taken from its notifications.

They have the same keys as the files (`framedex.toml`, `pyproject.toml`) and override them key by key.
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
    """Register the handlers of `initialize` and `workspace/didChangeConfiguration`, and the settings hooks."""
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
    """The client's settings; `pushed` are those it sent without a request."""

    def __init__(self, server: LanguageServer, session: Session) -> None:
        self._server = server
        self._session = session
        self.pushed: Mapping[str, object] = {}

    async def read_known(self) -> None:
        """Read the settings in files and those the client pushed, without waiting for the client."""
        await self._session.read_settings(dict.fromkeys(self._session.roots(), self.pushed))

    async def begin(self) -> None:
        """Request the client's settings, and subscribe to changes."""
        workspace = self._server.client_capabilities.workspace
        if workspace and workspace.did_change_configuration and workspace.did_change_configuration.dynamic_registration:
            options = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
            registration = types.Registration(
                "framedex-configuration", types.WORKSPACE_DID_CHANGE_CONFIGURATION, options
            )
            self._server.client_register_capability(types.RegistrationParams([registration]))
        await self.read()

    async def read(self) -> None:
        """Request the settings of every workspace folder; refresh the views if they changed."""
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
    """Return the settings in a notification: most clients nest them under our name."""
    return _mapping(_mapping(value).get(SECTION))


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
