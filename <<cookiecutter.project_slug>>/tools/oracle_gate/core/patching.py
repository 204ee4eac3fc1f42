"""Applies a patch to entries, never to a work tree (design, section 6; research: judge.py, t3_battery.py).

git applies it to a private index whose object folder holds just the blobs that the patch's headers
name. `copy from` a hidden path or a binary patch that names a hidden blob finds nothing there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .gitdb import Entries, Entry, ObjectStore
from .mailbox import complaint, split_mails
from .patchscan import PatchScan, Problem, scan
from .paths import printable
from .settings import Limits, Settings
from .submission import Change, difference, finish, forbidden
from .view import is_hidden, visible

#: Bytes that git needs besides the patch's own.
_ROOM = 1 << 20


def _rejected(detail: bytes | str) -> Problem:
    """git repeats names of the patch as they are; a terminal must not obey them."""
    text = detail.encode() if isinstance(detail, str) else detail
    return Problem("intake.rejected", "patch", printable(b" ".join(text.split()))[:300])


def submit_patch(store: ObjectStore, workplace: Path, base: str, patch: bytes, settings: Settings) -> Change:
    """Reads a patch or mailbox against the commit `base`, mail by mail; `workplace` is an empty folder.

    Whatever is wrong with the patch is in the result's `problems`, not raised.
    """
    before = store.entries(store.tree_of(base))
    problems = list(_too_large(patch, settings.limits))
    touched: set[bytes] = set()
    after: Entries = before
    for number, mail in enumerate(split_mails(patch) if patch.strip() and not problems else ()):
        found = scan(mail, settings.limits)
        touched.update(found.paths)
        unclear = complaint(mail)
        problems += [*found.problems, *([Problem("intake.rejected", "patch", unclear)] if unclear else [])]
        if problems:
            continue  # the remaining mails are read for the paths they name
        outcome = apply_patch(store, workplace / str(number), after, mail, found, settings)
        if isinstance(outcome, Problem):
            problems.append(outcome)
            continue
        step = difference(after, outcome)
        touched.update(item.path for item in step)
        problems += forbidden(step)
        after = outcome
    if len(touched) > settings.limits.files:
        detail = f"touches {len(touched)} paths; the limit is {settings.limits.files} files"
        problems.append(Problem("intake.too_large", "patch", detail))
    return finish(base, before, after, touched, problems, patch)


def _need_room(workplace: Path, size: int) -> None:
    """OSError on a full disk, which git reports in words of its own: it is no fault of the patch."""
    (workplace / "room").write_bytes(bytes(size + _ROOM))


def _too_large(patch: bytes, limits: Limits) -> Iterator[Problem]:
    if len(patch) > limits.patch_bytes:
        yield Problem("intake.too_large", "patch", f"more than {limits.patch_bytes} bytes")


def apply_patch(
    store: ObjectStore, workplace: Path, before: Entries, patch: bytes, found: PatchScan, settings: Settings
) -> dict[bytes, Entry] | Problem:
    """The entries after one scanned patch, its blobs stored in `store`; or why git refuses it.

    `workplace` must not exist yet.
    """
    hidden = settings.view.hidden
    patch += b"" if patch.endswith(b"\n") else b"\n"  # git calls a patch without its last newline corrupt
    # A patch that names a hidden path is denied whatever it does; it is applied to the whole tree only to
    # learn its identity, which an approval binds to. No byte of it leaves the private folder.
    outside = any(is_hidden(path, hidden) for path in found.paths)
    start = dict(before) if outside else visible(before, hidden)
    private = ObjectStore(workplace / "view", None, store.object_format)
    index = workplace / "index"
    for path in found.paths:
        entry = start.get(path)
        if entry and entry.mode != "160000":
            private.write("blob", store.read(entry.oid, "blob"))
    lines = (f"{entry.mode} {entry.oid}\t".encode() + path + b"\0" for path, entry in start.items())
    steps: list[tuple[list[str], bytes]] = [
        (["update-index", "-z", "--index-info"], b"".join(lines)),
        (["apply", "--numstat", "-z", "--whitespace=nowarn", "-"], patch),
        (["apply", "--cached", "--whitespace=nowarn", "-"], patch),
        (["write-tree", "--missing-ok"], b""),
    ]
    output = b""
    try:
        for arguments, data in steps:
            answer = private.run(*arguments, data=data, index=index)
            # git drops an entry of mode 040000 with a warning and exit 0: any word on stderr is a rejection.
            if answer.returncode or answer.stderr.strip():
                _need_room(workplace, len(patch))
                return _rejected(answer.stderr or f"git {arguments[0]} failed")
            output = answer.stdout
        result = private.entries(output.decode().strip())
        for item in difference(start, result):
            if item.after.mode.startswith("100"):
                store.write("blob", private.read(item.after.oid, "blob"))
    finally:
        private.close()
    kept = {path: entry for path, entry in before.items() if path not in start}
    return {**kept, **result}
