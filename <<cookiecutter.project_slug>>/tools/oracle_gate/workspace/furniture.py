"""What stands in a workspace beside its content, and leads outside or runs: looked at, never obeyed."""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from ..core.errors import GateError
from ..core.paths import printable
from ..core.trees import walk
from ..core.view import is_hidden
from .objects import read_settings
from .snapshot import HOOKS, Finding, Snapshot

#: Parts of a .git folder that bring objects from elsewhere or hold other repositories'.
_ELSEWHERE = re.compile(
    rb"objects/info/(http-)?alternates|shallow|info/grafts|(modules|worktrees|lfs)/.+|commondir|gitdir"
    rb"|refs/replace/.+|objects/pack/.+\.promisor"
)
#: Settings that git and ordinary work write, whose values name no place and no program (git-config(1)).
#: Any other is a finding: new versions of git bring new ones that run something.
_HARMLESS = re.compile(
    r"core\.(repositoryformatversion|filemode|bare|logallrefupdates|sparsecheckout(cone)?|ignorecase|symlinks"
    r"|precomposeunicode|autocrlf|eol|safecrlf|quotepath|abbrev|whitespace|untrackedcache|splitindex|longpaths)"
    r"|index\.(sparse|version)|extensions\.(objectformat|worktreeconfig)|init\.defaultbranch"
    r"|user\.(name|email|signingkey|useconfigonly)|(author|committer)\.(name|email)"
    r"|branch\..+\.(merge|rebase|description)|branch\.autosetup(merge|rebase)"
    r"|commit\.(gpgsign|verbose|status|cleanup)|tag\.(gpgsign|sort)|gpg\.format|(color|column|advice)\..+"
    r"|diff\.(algorithm|colormoved|context|mnemonicprefix|noprefix|renamelimit|renames)|format\.attach"
    r"|merge\.(conflictstyle|ff)|pull\.(ff|rebase)|push\.default|rebase\.(autosquash|autostash)"
    r"|rerere\.enabled|(gc|maintenance)\.auto"
)
_TRACKED = re.compile(r"branch\..+\.(remote|pushremote)")
_CREDENTIAL = re.compile(
    rb"(.*/)?(\.git-credentials|[._]netrc|\.pypirc|\.ssh/.+|id_(rsa|dsa|ecdsa|ed25519)(_sk)?)"
)
#: Links of virtual environments and the like lead to these, which exist on every host, or to an interpreter.
_SYSTEM = re.compile(rb"/(usr|bin|lib|lib64)/.*")
_INTERPRETER = re.compile(rb"(.*/)?bin/python[\d.]*")


def _leads_out(path: bytes, target: bytes) -> bool:
    """Whether a link's text names something outside the folder that holds its path, and not of the system."""
    resolved = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    if _INTERPRETER.fullmatch(path) and _INTERPRETER.fullmatch(resolved):
        return False
    return resolved.split(b"/")[0] in (b"", b"..") and not _SYSTEM.fullmatch(resolved)


def furniture(folder: Path, snapshot: Snapshot) -> Iterator[Finding]:
    """Links, credentials, hooks, settings and other places of every .git folder below `folder`."""
    found = dict(walk(folder))
    heads = {path.removesuffix(b"HEAD") for path in found if path.rpartition(b"/")[2] == b"HEAD"}
    git_dirs = {place for place in heads if place + b"config" in found or place + b"commondir" in found}
    if b".git" in found:
        yield Finding("git folder", ".git", "lies elsewhere")
    for path, information in found.items():
        if stat.S_ISLNK(information.st_mode):
            target = os.fsencode((folder / os.fsdecode(path)).readlink())
            parts = target.split(b"/")
            hidden = any(is_hidden(b"/".join(parts[at:]), snapshot.hidden) for at in range(len(parts)))
            if hidden or _leads_out(path, target):
                yield Finding("link", printable(path), f"leads to {printable(target)}")
        if _CREDENTIAL.fullmatch(path):
            yield Finding("credential", printable(path))
        for slash in re.finditer(b"/", path):
            if path[: slash.end()] in git_dirs:
                yield from _git_file(folder, path, path[slash.end() :], snapshot)


def _git_file(folder: Path, path: bytes, name: bytes, snapshot: Snapshot) -> Iterator[Finding]:
    """A file of a .git folder, by its name there."""
    where, file = printable(path), folder / os.fsdecode(path)
    if _ELSEWHERE.fullmatch(name):
        yield Finding("git folder", where, "brings objects from elsewhere, or is a repository of its own")
    if name.startswith(b"hooks/") and not name.endswith(b".sample") and not _is_own_hook(file, snapshot):
        yield Finding("hook", where, "is not the workspace's own")
    if name in (b"config", b"config.worktree"):
        try:
            settings = read_settings(file) if file.is_file() and not file.is_symlink() else []
        except GateError as error:
            yield Finding("setting", where, error.what)
            return
        for setting, value in settings:
            if not (_HARMLESS.fullmatch(setting) or (_TRACKED.fullmatch(setting) and value == ".")):
                yield Finding("setting", where, setting)
    if name == b"packed-refs" and b" refs/replace/" in file.read_bytes():
        yield Finding("git folder", where, "replaces objects")


def _is_own_hook(file: Path, snapshot: Snapshot) -> bool:
    own = file.name in HOOKS and file.is_file() and not file.is_symlink()
    return own and file.stat().st_size == len(snapshot.hook) and file.read_bytes() == snapshot.hook
