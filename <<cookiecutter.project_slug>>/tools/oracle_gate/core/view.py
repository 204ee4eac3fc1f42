"""The view: a commit minus its hidden paths (design, principle 1).

The generator works in it, a patch is applied in it, programs are replayed in it: what is hidden is
absent there, not forbidden.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from .gitdb import Entries, Entry
from .paths import fold

#: Of the hidden corpus these bytes join the replayed tree: rows name them. The rows themselves do not.
CORPUS, ROWS = b"corpus/", b"corpus/inputs.jsonl"


def is_hidden(path: bytes, hidden: Iterable[str]) -> bool:
    """Whether a path is a hidden one or lies below one, however it is spelled (both sides folded)."""
    folded = fold(path)
    return any(folded == prefix or folded.startswith(prefix + "/") for prefix in map(fold, hidden))


def visible(entries: Entries, hidden: tuple[str, ...]) -> dict[bytes, Entry]:
    """The entries of the view."""
    prefixes = tuple(map(fold, hidden))
    return {path: entry for path, entry in entries.items() if not is_hidden(path, prefixes)}


def replayed(after: Entries, base: Entries, hidden: tuple[str, ...]) -> dict[bytes, Entry]:
    """The tree that rows run in: the view of `after`, and the corpus data of `base`.

    Symbolic links that leave the view are left out; so are submodules, which have no bytes here.
    """
    tree = visible(after, hidden)
    tree.update((path, entry) for path, entry in base.items() if path.startswith(CORPUS) and path != ROWS)
    return {path: entry for path, entry in tree.items() if entry.mode != "160000"}


def link_stays_inside(path: bytes, target: bytes, entries: Entries) -> bool:
    """Whether a symbolic link of the tree points to something that is in the tree as well."""
    if target.startswith(b"/"):
        return False
    resolved = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    if resolved.startswith(b"..") or resolved == b".":
        return False
    return resolved in entries or any(other.startswith(resolved + b"/") for other in entries)
