"""Git objects read without trusting the judged repository (design, section 3).

The judged `.git` is asked only to turn names into ids. Objects are read through a private bare folder
that borrows them (alternates), with a neutral environment, and every one is hashed again on reading:
git serves a forged loose object without a word, its filters and fsmonitor ran with hooks switched off
(research: measurements, "git").
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import GateError

CONFIGURATION = {
    "core.hooksPath": "/dev/null", "core.fsmonitor": "false", "core.attributesFile": "/dev/null",
    "core.excludesFile": "/dev/null", "core.autocrlf": "false", "core.eol": "lf", "core.safecrlf": "false",
    "core.protectHFS": "true", "core.protectNTFS": "true", "core.fileMode": "true", "core.symlinks": "true",
    "core.ignoreCase": "false", "core.quotePath": "true", "core.untrackedCache": "false",
    "core.commitGraph": "false", "apply.whitespace": "nowarn", "apply.ignoreWhitespace": "no",
    "diff.renames": "false", "diff.noprefix": "false", "diff.mnemonicPrefix": "false",
    "diff.suppressBlankEmpty": "false", "submodule.recurse": "false", "gc.auto": "0",
    "protocol.allow": "never", "safe.directory": "*",
}  # fmt: skip
_FOLDER = "40000"
#: Seconds that one git command may take.
TIMEOUT_S = 600


@dataclass(frozen=True, order=True)
class Entry:
    """A tree entry: `mode` as in `100644`, `oid` the object's id in hex."""

    mode: str
    oid: str


Entries = Mapping[bytes, Entry]


def neutral_environment(**extra: str) -> dict[str, str]:
    """The environment of every git process: no configuration of a user, system or attribute file."""
    environment = {
        "PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "HOME": "/nonexistent",
        "XDG_CONFIG_HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_LITERAL_PATHSPECS": "1",
        "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1",
    }  # fmt: skip
    return {**environment, **extra}


def git(
    arguments: list[str], *, cwd: Path, data: bytes = b"", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Runs one git command; the caller looks at the return code and at stderr."""
    options = [part for item in CONFIGURATION.items() for part in ("-c", "=".join(item))]
    try:
        return subprocess.run(
            ["git", *options, *arguments], cwd=cwd, input=data, env=dict(environment or neutral_environment()),
            capture_output=True, timeout=TIMEOUT_S, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        raise GateError("git is not on PATH", todo="install git 2.34 or later") from None
    except subprocess.TimeoutExpired:
        raise GateError(f"git {arguments[0]} took more than {TIMEOUT_S} s", where=str(cwd)) from None


@dataclass(frozen=True)
class Repository:
    """A judged repository: where it is, never a GIT_DIR to run in."""

    root: Path
    git_dir: Path
    objects: Path
    object_format: str
    bare: bool

    @classmethod
    def discover(cls, directory: Path) -> Repository:
        """Finds the repository whose work tree (or bare folder) holds `directory`; GateError if none."""

        def ask(*names: str) -> str:
            answer = git(["rev-parse", *names], cwd=directory)
            if answer.returncode:
                raise GateError(
                    "not a git repository", where=str(directory), todo="run `git init` and commit"
                )
            return os.fsdecode(answer.stdout.removesuffix(b"\n"))

        if not directory.is_dir():
            raise GateError("no such folder", where=str(directory), todo="name the repository's folder")
        directory = directory.resolve()
        git_dir = Path(ask("--absolute-git-dir"))
        # Not asked of git: core.worktree in the repository's own configuration may lead elsewhere.
        around = (directory, *directory.parents)
        root = next((folder for folder in around if os.path.lexists(folder / ".git")), git_dir)
        objects = (directory / ask("--git-path", "objects")).resolve()
        return cls(root, git_dir, objects, ask("--show-object-format"), bare=root == git_dir)

    def resolve(self, name: str) -> str | None:
        """The commit id that a name stands for, or None."""
        answer = git(
            ["rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"], cwd=self.root
        )
        return answer.stdout.decode().strip() if answer.returncode == 0 else None

    def symbolic_ref(self, name: str) -> str | None:
        """What a symbolic ref points to, or None."""
        answer = git(["symbolic-ref", "--quiet", name], cwd=self.root)
        return answer.stdout.decode(errors="replace").strip() or None

    def branches(self) -> list[str]:
        """The local branches, as full ref names."""
        answer = git(["for-each-ref", "--format=%(refname)", "refs/heads"], cwd=self.root)
        return answer.stdout.decode(errors="replace").split("\n")[:-1]


def _alternate(objects: Path) -> bytes:
    """A line of info/alternates; a path with a newline is written C-quoted."""
    raw = os.fsencode(objects)
    if b"\n" in raw or raw.startswith(b'"'):
        raw = raw.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
        raw = b'"' + raw + b'"'
    return raw + b"\n"


class ObjectStore:
    """A private bare folder: reads objects of a repository, verified; keeps new ones to itself."""

    def __init__(self, directory: Path, repository: Repository | None, object_format: str = "sha1") -> None:
        self.directory = directory
        self.object_format = repository.object_format if repository else object_format
        for name in ("objects/info", "objects/pack", "refs"):
            (directory / name).mkdir(parents=True)
        (directory / "HEAD").write_text("ref: refs/heads/none\n")
        version, extension = (
            (1, "[extensions]\n\tobjectFormat = sha256\n") if self.object_format == "sha256" else (0, "")
        )
        (directory / "config").write_text(
            f"[core]\n\trepositoryformatversion = {version}\n\tbare = true\n{extension}"
        )
        if repository:
            (directory / "objects/info/alternates").write_bytes(_alternate(repository.objects))
            shallow = repository.objects.parent / "shallow"
            if shallow.is_file():
                (directory / "shallow").write_bytes(shallow.read_bytes())
        self._reader: subprocess.Popen[bytes] | None = None

    def close(self) -> None:
        """Ends the reading process."""
        if self._reader:
            self._reader.communicate()
            self._reader = None

    def run(
        self, *arguments: str, data: bytes = b"", index: Path | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Runs git in the private folder, with `index` as its index."""
        extra = {"GIT_DIR": str(self.directory)}
        if index:
            extra["GIT_INDEX_FILE"] = str(index)
        return git(list(arguments), cwd=self.directory, data=data, environment=neutral_environment(**extra))

    def oid(self, kind: str, data: bytes) -> str:
        """The id that git gives an object of this kind and content."""
        name = "sha256" if self.object_format == "sha256" else "sha1"
        header = b"%s %d\0" % (kind.encode(), len(data))
        return hashlib.new(name, header + data, usedforsecurity=False).hexdigest()

    def read(self, oid: str, kind: str) -> bytes:
        """An object's content; GateError when it is missing, of another kind or not what its id says."""
        found = self._ask(oid)
        if found is None:
            raise GateError(
                f"object {oid[:12]} is missing",
                where=str(self.directory.name),
                todo="fetch the whole history",
            )
        actual, data = found
        if actual != kind:
            raise GateError(f"object {oid[:12]} is a {actual}, not a {kind}", todo="name another revision")
        if self.oid(kind, data) != oid:
            raise GateError(
                f"object {oid[:12]} does not match its id: the object database was tampered with or is damaged",
                todo="run `git fsck` and judge from a fresh clone",
            )
        return data

    def _ask(self, oid: str) -> tuple[str, bytes] | None:
        if self._reader is None:
            self._reader = subprocess.Popen(
                ["git", "cat-file", "--batch"], cwd=self.directory, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env=neutral_environment(GIT_DIR=str(self.directory)),
            )  # fmt: skip
        stdin, stdout = self._reader.stdin, self._reader.stdout
        if stdin is None or stdout is None:
            return None
        stdin.write(oid.encode() + b"\n")
        stdin.flush()
        header = stdout.readline().split()
        if len(header) != 3:
            return None
        size = int(header[2])
        data = stdout.read(size)
        stdout.read(1)
        return header[1].decode(), data

    def write(self, kind: str, data: bytes) -> str:
        """Stores an object in the private folder; returns its id."""
        oid = self.oid(kind, data)
        path = self.directory / "objects" / oid[:2] / oid[2:]
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(zlib.compress(b"%s %d\0" % (kind.encode(), len(data)) + data, 1))
        return oid

    def tree_of(self, commit: str) -> str:
        """The id of a commit's tree."""
        return self.read(commit, "commit").split(b"\n", 1)[0].removeprefix(b"tree ").decode()

    def parents_of(self, commit: str) -> list[str]:
        """The ids of a commit's parents."""
        header = self.read(commit, "commit").partition(b"\n\n")[0]
        return [line[7:].decode() for line in header.split(b"\n") if line.startswith(b"parent ")]

    def entries(self, tree: str) -> dict[bytes, Entry]:
        """Every entry below a tree, by full path; subtrees are walked, gitlinks are kept."""
        return dict(self._walk(tree, b""))

    def changes(
        self, before: str | None, after: str | None, prefix: bytes = b""
    ) -> Iterator[tuple[bytes, Entry | None, Entry | None]]:
        """Path, entry before and entry after where two trees differ; equal subtrees are not read."""
        old, new = (dict(self._children(tree)) if tree else {} for tree in (before, after))
        for name in sorted(old.keys() | new.keys()):
            sides = old.get(name), new.get(name)
            if sides[0] == sides[1]:
                continue
            folders = [side.oid if side and side.mode == _FOLDER else None for side in sides]
            files = [side if side and side.mode != _FOLDER else None for side in sides]
            if any(folders):
                yield from self.changes(folders[0], folders[1], prefix + name + b"/")
            if any(files):
                yield prefix + name, files[0], files[1]

    def _children(self, tree: str) -> Iterator[tuple[bytes, Entry]]:
        data, at, size = self.read(tree, "tree"), 0, len(tree) // 2
        while at < len(data):
            end = data.index(b"\0", at)
            mode, name = data[at:end].split(b" ", 1)
            yield name, Entry(mode.decode(), data[end + 1 : end + 1 + size].hex())
            at = end + 1 + size

    def _walk(self, tree: str, prefix: bytes) -> Iterator[tuple[bytes, Entry]]:
        for name, entry in self._children(tree):
            if entry.mode == _FOLDER:
                yield from self._walk(entry.oid, prefix + name + b"/")
            else:
                yield prefix + name, entry

    def write_tree(self, entries: Entries) -> str:
        """Stores the tree objects that hold `entries`; returns the root tree's id."""
        folders: dict[bytes, dict[bytes, Entry]] = {}
        here: dict[bytes, tuple[bytes, Entry]] = {}
        for path, entry in entries.items():
            name, slash, rest = path.partition(b"/")
            if slash:
                folders.setdefault(name, {})[rest] = entry
            else:
                here[name] = (name, entry)
        for name, inside in folders.items():
            here[name + b"/"] = (name, Entry(_FOLDER, self.write_tree(inside)))
        body = b"".join(
            b"%s %s\0" % (entry.mode.encode(), name) + bytes.fromhex(entry.oid)
            for _, (name, entry) in sorted(here.items())
        )
        return self.write("tree", body)
