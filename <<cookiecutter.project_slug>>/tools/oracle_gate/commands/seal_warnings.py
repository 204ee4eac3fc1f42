"""What may have leaked from the sealed folder, or was forgotten in it (article B, "Limitations")."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from ..core.gitdb import Entries, ObjectStore
from ..core.manifest import FOLDER, MANIFEST, Manifest
from ..core.paths import printable
from ..core.settings import Settings
from ..core.view import visible
from .context import Context
from .sealed_folder import SealedFolder

#: Shorter literals and fixtures are in any program by chance.
_LITERAL, _FIXTURE = 8, 16


def warnings(context: Context, settings: Settings, manifest: Manifest, folder: SealedFolder) -> Iterator[str]:
    """One line for each finding, about what a generator sees of HEAD."""
    view = visible(context.base_entries, settings.view.hidden)
    yield from _shared_literals(context.store, _production(view, settings), manifest, folder.files)
    yield from _visible_fixtures(context.store, view, manifest, folder.files)
    for path in sorted(folder.files.keys() - folder.listed - {MANIFEST}):
        yield f"{FOLDER}{path} is not in the manifest: nothing looks at it"
    for entry in folder.ledger:
        if not entry.reason.strip():
            yield f"the freeze of {entry.test_id} gives no reason"


def _production(view: Entries, settings: Settings) -> Entries:
    """The Python files on `[subject] path`."""
    folders = [
        b"" if path in (".", "./") else path.strip("/").encode() + b"/" for path in settings.subject.path
    ]
    return {
        path: entry
        for path, entry in view.items()
        if path.endswith(b".py") and path.startswith(tuple(folders))
    }


def _shared_literals(
    store: ObjectStore, production: Entries, manifest: Manifest, files: Mapping[str, bytes]
) -> Iterator[str]:
    """String literals that properties copy from the code they judge."""
    known = {
        text: path for path, entry in production.items() for text in _literals(store.read(entry.oid, "blob"))
    }
    for item in manifest.properties:
        for text in sorted(_literals(files[item.path]) & known.keys()):
            shown = text.decode("utf-8", "backslashreplace")
            yield f"{item.id} shares the literal {shown!r} with {printable(known[text])}"


def _literals(source: bytes) -> set[bytes]:
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    values = [node.value for node in nodes if isinstance(node, ast.Constant)]
    texts = {value.encode("utf-8", "surrogatepass") for value in values if isinstance(value, str)}
    texts |= {value for value in values if isinstance(value, bytes)}
    return {text for text in texts if len(text) >= _LITERAL}


def _visible_fixtures(
    store: ObjectStore, view: Entries, manifest: Manifest, files: Mapping[str, bytes]
) -> Iterator[str]:
    """Fixtures whose bytes stand in a file that generators see."""
    wanted = {item.id: files[item.path].strip() for item in manifest.fixtures}
    wanted = {name: data for name, data in wanted.items() if len(data) >= _FIXTURE}
    for path, entry in view.items():
        if entry.mode.startswith("100"):
            content = store.read(entry.oid, "blob")
            for name, data in wanted.items():
                if data in content:
                    yield f"the bytes of fixture {name} stand in {printable(path)}, which generators see"
