"""Changes reported by the client: its settings, and files that changed outside the editor.

Settings are requested if the client supports that, else taken from its notifications. They have the same keys as the
files (`framedex.toml`, `pyproject.toml`) and override them key by key. Watched files are settings, sources, recordings
and indexes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from framedex.base.nativepart import NoNativePartError
from framedex.sources.files import LANGUAGES
from framedex_server.answers.session import Session
from framedex_server.documents.open_documents import to_path

SECTION = "framedex"


def register_settings(server: LanguageServer, session: Session) -> None:
    """Register the handlers of `initialize` and `workspace/didChangeConfiguration`, and the settings hooks."""
    client = ClientSettings(server, session)
    session.before_start.append(client.load_known)
    session.on_start.append(client.subscribe)
    session.on_settings_change.append(client.request)

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        client.pushed_settings = _settings_section(params.initialization_options)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def on_configuration_change(params: types.DidChangeConfigurationParams) -> None:
        client.pushed_settings = _settings_section(params.settings) or client.pushed_settings
        await client.request()


class ClientSettings:
    """The client's settings; `pushed` are those it sent without a request."""

    def __init__(self, server: LanguageServer, session: Session) -> None:
        self._server = server
        self._session = session
        self.pushed_settings: Mapping[str, object] = {}

    async def load_known(self) -> None:
        """Read the settings in files and those the client pushed, without waiting for the client."""
        await self._session.reload_settings(dict.fromkeys(self._session.roots(), self.pushed_settings))

    async def subscribe(self) -> None:
        """Request the client's settings, and subscribe to changes."""
        workspace = self._server.client_capabilities.workspace
        if workspace and workspace.did_change_configuration and workspace.did_change_configuration.dynamic_registration:
            options = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
            registration = types.Registration(
                "framedex-configuration", types.WORKSPACE_DID_CHANGE_CONFIGURATION, options
            )
            self._server.client_register_capability(types.RegistrationParams([registration]))
        await self.request()

    async def request(self) -> None:
        """Request the settings of every workspace folder; refresh the views if they changed."""
        roots = self._session.roots()
        client_settings: list[object] = [self.pushed_settings] * len(roots)
        workspace = self._server.client_capabilities.workspace
        if workspace and workspace.configuration and roots:
            items = [types.ConfigurationItem(root.as_uri(), SECTION) for root in roots]
            try:
                answers = await self._server.workspace_configuration_async(types.ConfigurationParams(items))
            except (JsonRpcException, asyncio.CancelledError):
                answers = []
            client_settings = [{**self.pushed_settings, **_as_mapping(answer)} for answer in answers] or client_settings
        await self._session.reload_settings(dict(zip(roots, client_settings, strict=False)))


def _settings_section(value: object) -> Mapping[str, object]:
    """Return the settings in a notification: most clients nest them under our name."""
    return _as_mapping(_as_mapping(value).get(SECTION))


def _as_mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


SETTINGS_FILES = ("framedex.toml", "pyproject.toml")

WATCHED_PATTERNS = (
    *(f"**/{name}" for name in SETTINGS_FILES),
    "**/.framedex/index.db*",
    f"**/*.{{{','.join(suffix.removeprefix('.') for suffix in LANGUAGES)}}}",
)


def register_watched_files(server: LanguageServer, session: Session) -> None:
    """Have the client watch files and folders, if it can, and handle its notifications."""

    async def subscribe() -> None:
        workspace = server.client_capabilities.workspace
        watched = workspace.did_change_watched_files if workspace else None
        if watched and watched.dynamic_registration:
            patterns = (*WATCHED_PATTERNS, *await session.run(_recording_patterns))
            watchers = [types.FileSystemWatcher(pattern) for pattern in patterns]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            registration = types.Registration("framedex-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            server.client_register_capability(types.RegistrationParams([registration]))

    session.on_start.append(subscribe)

    async def settings_changed() -> None:
        for hook in session.on_settings_change:
            await hook()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def on_watched_files_change(params: types.DidChangeWatchedFilesParams) -> None:
        paths = [Path(path) for change in params.changes if (path := to_path(change.uri)) is not None]
        ours = [path for path in paths if ".framedex" in path.parts]
        if ours:
            for hook in session.on_recordings_change:
                hook()
        if any(path.name in SETTINGS_FILES for path in paths):
            await settings_changed()
        sources = [str(path) for path in paths if path not in ours and path.name not in SETTINGS_FILES]
        for refresh in session.on_sources_change if sources else ():
            await refresh(sources)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def folders_changed(_: types.DidChangeWorkspaceFoldersParams) -> None:
        await settings_changed()


def _recording_patterns() -> list[str]:
    try:
        from framedex.captures import build_metadata_glob
    except NoNativePartError:  # recordings could not be read here either
        return []
    return [build_metadata_glob()]
