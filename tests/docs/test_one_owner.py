"""Whether a source file is here is asked in one place: `framedex/whereabouts/files.py`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]

ASKING = {"isfile", "isdir", "exists", "lexists", "is_file", "is_dir", "stat", "lstat", "samefile", "samestat"}

# Who asks the file system about something else than a source file that a path may mean, and about what.
ELSEWHERE = {
    "indexer/framedex": {
        "binaries/contents.py": "binaries",
        "binaries/debuginfod.py": "what its cache has",
        "binaries/kept.py": "what it keeps",
        "binaries/line_tables.py": "what it keeps",
        "captures/folders.py": "captures",
        "capturefolder.py": "captures",
        "captures/removal.py": "captures",
        "commands/checking/surroundings.py": "the cache",
        "commands/completing/installing.py": "what shells read",
        "commands/completing/values.py": "folders, for a TAB",
        "commands/editor/choice.py": "editors",
        "commands/launching/demo_environment.py": "what marks a checkout",
        "commands/launching/demo_folder.py": "its folder",
        "commands/launching/outcome.py": "captures",
        "commands/launching/plugins.py": "plug-ins",
        "commands/launching/program.py": "programs",
        "commands/output/advice.py": "when advice was given",
        "commands/output/proposals.py": "commands",
        "commands/output/whole_files.py": "what is in the place of a file to write",
        "commands/reading/sides.py": "captures and indexes",
        "commands/reading/pasted.py": "what a path that leads to no source is",
        "commands/verbs/completion.py": "what shells read",
        "commands/verbs/doctor.py": "source folders",
        "commands/verbs/index.py": "the index",
        "commands/verbs/open.py": "whether two files are one",
        "commands/verbs/source_maps.py": "source maps",
        "commands/verbs/sources.py": "source folders",
        "guidebook/site/documents.py": "the documentation's pages and pictures",
        "guidebook/site/replacing.py": "the site that is replaced",
        "fetching/cache.py": "what it keeps",
        "fetching/clones.py": "what git keeps",
        "fetching/fetch.py": "what the cache keeps",
        "fleet/cluster/sizes.py": "captures",
        "imports/keeping.py": "what it keeps",
        "imports/modules.py": "binaries",
        "index/file/database.py": "the index",
        "index/file/log_space.py": "the index",
        "index/file/seal.py": "the index",
        "index/opening.py": "the folder that is looked in",
        "index/write/store.py": "the index",
        "index/write/versions.py": "binaries, and when a file was put where it is",
        "ingest/absent.py": "environments",
        "ingest/map_import.py": "source maps",
        "ingest/placing.py": "source folders",
        "ingest/rebuild.py": "captures",
        "ingest/released.py": "release maps",
        "commands/reading/observed.py": "folders of captures and files of observations",
        "ingest/recorded.py": "binaries",
        "ingest/captures.py": "captures",
        "ingest/trees.py": "source folders",
        "projects/includes.py": "folders of headers",
        "projects/tree.py": "links to folders",
        "releases/builds.py": "installed packages",
        "releases/roots.py": "what marks a checkout",
        "settings.py": "settings",
        "sources/files.py": "folders, while a tree is walked",
        "whereabouts/files.py": "source files: the owner",
        "whereabouts/moves.py": "files and folders of any kind that may have moved",
    },
    "server/framedex_server": {
        "admission.py": "folders for secrets",
        "answers/guidebook.py": "pages of a guidebook",
        "arrivals.py": "captures",
        "features/indexing.py": "source folders",
        "features/trace_document.py": "folders of documents",
        "indexes.py": "indexes",
        "sockets.py": "sockets",
    },
}


def asked(file: Path) -> Iterator[str]:
    """The questions to the file system in a file: called, or handed on as functions."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        match node:
            # `stat` alone is the module too, and modes are asked of what was looked at already.
            case ast.Attribute(value=ast.Name(id="stat")):
                pass
            case ast.Attribute(attr=name) if name in ASKING:
                yield name
            case ast.ImportFrom(module="os" | "os.path", names=names):
                yield from (alias.name for alias in names if alias.name in ASKING)


def test_whether_a_source_file_is_here_is_asked_in_one_place() -> None:
    for folder, allowed in ELSEWHERE.items():
        room = REPOSITORY / folder
        asking = {str(file.relative_to(room)) for file in room.rglob("*.py") if any(asked(file))}
        assert asking == allowed.keys()


def test_paths_of_processes_are_known_in_one_place() -> None:
    """`/proc/self/cwd` is a build's folder, and never this process's own."""
    rooms = [REPOSITORY / room for room in ELSEWHERE]
    guards = [
        str(file.relative_to(room))
        for room in rooms
        for file in room.rglob("*.py")
        if b'startswith("/proc' in file.read_bytes() or b'"/proc/"' in file.read_bytes()
    ]
    assert guards == ["whereabouts/files.py"]
