"""Changes outside the editor, reported by the client: settings, sources, recordings and the index itself."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.nativepart import NoNativePartError
from framedex.sources.files import LANGUAGES
from framedex_server.answers.session import Session
from framedex_server.documents.open_documents import path_of

SETTINGS = ("framedex.toml", "pyproject.toml")

PATTERNS = (
    *(f"**/{name}" for name in SETTINGS),
    "**/.framedex/index.db*",
    f"**/*.{{{','.join(suffix.removeprefix('.') for suffix in LANGUAGES)}}}",
)


def register(server: LanguageServer, session: Session) -> None:
    """Have the client watch files and folders, if it can, and handle its notifications."""

    async def begin() -> None:
        workspace = server.client_capabilities.workspace
        watched = workspace.did_change_watched_files if workspace else None
        if watched and watched.dynamic_registration:
            patterns = (*PATTERNS, *await session.run(_recordings))
            watchers = [types.FileSystemWatcher(pattern) for pattern in patterns]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            registration = types.Registration("framedex-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            server.client_register_capability(types.RegistrationParams([registration]))

    session.at_start.append(begin)

    async def settings_changed() -> None:
        for act in session.at_new_settings:
            await act()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def changed(params: types.DidChangeWatchedFilesParams) -> None:
        paths = [Path(path) for change in params.changes if (path := path_of(change.uri)) is not None]
        ours = [path for path in paths if ".framedex" in path.parts]
        if ours:
            for look in session.at_new_recordings:
                look()
        if any(path.name in SETTINGS for path in paths):
            await settings_changed()
        sources = [str(path) for path in paths if path not in ours and path.name not in SETTINGS]
        for read in session.at_changed_sources if sources else ():
            await read(sources)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def folders_changed(_: types.DidChangeWorkspaceFoldersParams) -> None:
        await settings_changed()


def _recordings() -> list[str]:
    try:
        from framedex.captures import captures_pattern  # loads the native module, which must not delay the start
    except NoNativePartError:  # recordings could not be read here either
        return []
    return [captures_pattern()]
