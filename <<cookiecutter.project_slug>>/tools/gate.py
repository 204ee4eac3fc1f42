"""Bootstrap: exports the base's engine to a fresh folder and becomes it; no other file of the tree runs."""
import os  # os and sys were loaded by the interpreter itself, before this folder was importable
import sys
if not sys.flags.isolated:
    os.execv(sys.executable, [sys.executable, "-I", os.path.abspath(__file__), *sys.argv[1:]])

import contextlib
import hashlib
import json
import re
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

NEUTRAL = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "GIT_CONFIG_GLOBAL": "/dev/null",
           "GIT_CONFIG_NOSYSTEM": "1", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_NO_LAZY_FETCH": "1"}
QUIET = ["core.fsmonitor=", "core.hooksPath=/dev/null", "protocol.allow=never", "safe.directory=*"]


def stop(message: str) -> NoReturn:
    raise SystemExit(print("gate:", *message.split(), file=sys.stderr) or 2)


def git(folder: Path, *arguments: str, data: str = "", **extra: str) -> bytes:
    """Standard output of one git command, nothing when it fails."""
    command, env = ["git", *(word for setting in QUIET for word in ("-c", setting)), *arguments], {**NEUTRAL, **extra}
    answer = subprocess.run(command, cwd=folder, env=env, input=data.encode(), capture_output=True, check=False)
    return answer.stdout if answer.returncode == 0 else b""


class Repository:
    """The judged repository: asked for names only; objects are read through a private folder."""
    def __init__(self, start: Path, store: Path) -> None:
        start, self.store = start.resolve(strict=True), store  # not asked of git: core.worktree may lead elsewhere
        self.root = next((place for place in (start, *start.parents) if os.path.lexists(place / ".git")), start)
        self.hash = self.rev_parse("--show-object-format") or stop(f"{start}: not a git repository; run `git init` and commit")
        git(store.parent, "init", "-q", "--bare", "--template=", f"--object-format={self.hash}", str(store))
        objects, shallow = (self.root / self.rev_parse("--git-path", name) for name in ("objects", "shallow"))
        alternate = json.dumps(str(objects.resolve()), ensure_ascii=False) + "\n"  # git reads C quotes there
        (store / "objects/info/alternates").write_bytes(os.fsencode(alternate))
        if shallow.is_file():
            (store / "shallow").write_bytes(shallow.read_bytes())

    def rev_parse(self, *arguments: str) -> str:
        return os.fsdecode(git(self.root, "rev-parse", *arguments).removesuffix(b"\n"))

    def commit(self, ref: str) -> str:
        return self.rev_parse("-q", "--verify", "--end-of-options", ref + "^{commit}")

    def read(self, kind: bytes, *oids: str) -> Iterator[bytes]:
        """Objects, each hashed again: git serves a forged loose object without a word."""
        rest = git(self.store, "cat-file", "--batch", data="".join(f"{o}\n" for o in oids), GIT_DIR=str(self.store))
        for oid in oids:
            header, _, rest = rest.partition(b"\n")
            size = int(header.split()[-1]) if header.startswith(f"{oid} ".encode() + kind) else 0
            if hashlib.new(self.hash, b"%b %d\0" % (kind, size) + rest[:size]).hexdigest() != oid:
                stop(f"object {oid[:12]} is missing or forged; run `git fsck` and judge from a fresh, full clone")
            yield rest[:size]
            rest = rest[size + 1 :]

    def children(self, tree: str) -> dict[str, str]:
        """Name -> id of each entry; a folder's name ends with a slash."""
        entry = re.compile(rb"(\d+) ([^\0]+)\0(.{%d})" % (len(tree) // 2), re.DOTALL)
        return {os.fsdecode(name) + "/" * (mode == b"40000"): oid.hex()
                for mode, name, oid in entry.findall(next(self.read(b"tree", tree)))}

    def find(self, revision: str, folder: str, name: str) -> str:
        root = self.children(next(self.read(b"commit", revision))[5:].split(b"\n", 1)[0].decode())
        return self.children(root[folder]).get(name, "") if folder in root else ""

    def export(self, tree: str, folder: Path) -> None:
        folder.mkdir()
        inside = self.children(tree)  # no link or odd name belongs to an engine
        files = [name for name in inside if re.fullmatch(r"\w+(\.\w+)*\.(py|json)", name)]
        for name, data in zip(files, self.read(b"blob", *(inside[name] for name in files)), strict=True):
            (folder / name).write_bytes(data)
        for name in filter(re.compile(r"\w+/").fullmatch, inside):
            self.export(inside[name], folder / name)

    def find_base(self, named: str) -> tuple[str, str]:
        """The base's commit id, and how it was found (design, section 4)."""
        if named:
            return self.commit(named) or stop(f"--base {named}: no such commit; fetch it"), f"--base {named}"
        head = self.commit("HEAD") or stop(f"{self.root}: no readable commit; commit the scaffold, or run `git fsck`")
        if sys.argv[1:2] in (["record"], ["seal"]):  # the oracle is the work tree's, everything else HEAD's
            return head, "HEAD"
        toml, configured = self.find(head, "oracle/", "gate.toml"), ""
        with contextlib.suppress(Exception):  # it is the engine that complains of a bad file
            configured = toml and tomllib.loads(next(self.read(b"blob", toml)).decode())["base"]["ref"].replace("\0", " ")
        local = os.fsdecode(git(self.root, "for-each-ref", "--format=%(refname)", "refs/heads")).split("\n")[:-1]
        common = (f"refs/{place}/{n}" for place in ("remotes/origin", "heads") for n in ("main", "master", "trunk"))
        usual = ["refs/remotes/origin/HEAD", *common, *local[: len(local) == 1]]
        for ref in filter(self.commit, [configured] if configured else usual):
            base = git(self.store, "merge-base", head, self.commit(ref), GIT_DIR=str(self.store)).decode().strip()
            return base or stop(f"HEAD and {ref} share no commit; pass --base"), f"merge base with {ref}"
        stop(f"no base: no {configured or 'origin/HEAD, main, master or trunk'} here; pass --base REF")


def main(fresh: Path) -> NoReturn:
    here = Path(__file__).resolve().parents[1]
    named = dict(re.findall(r"\0(--base|--repo)[=\0]([^\0]+)", "".join(f"\0{word}" for word in sys.argv)))
    repository = Repository(Path(named.get("--repo", here)), fresh / "store.git")
    base, found = repository.find_base(named.get("--base", ""))
    engine = repository.find(base, "tools/", "oracle_gate/")
    repository.export(engine or stop(f"base {base[:12]} has no engine; pass --base REF"), fresh / "oracle_gate")
    trust = "protected" if named.get("--base") == base and repository.root not in (here, *here.parents) else "local"
    launch = {"repository": str(repository.root), "base": base, "base_from": found, "trust": trust, "fresh": str(fresh),
              "home": str(here)}
    program = ["-X", f"pycache_prefix={fresh}/pycache", f"{fresh}/oracle_gate/__main__.py", json.dumps(launch)]
    os.execv(sys.executable, [sys.executable, "-I", *program, *sys.argv[1:]])


try:
    with tempfile.TemporaryDirectory(prefix="gate-") as temporary:
        main(Path(temporary))
except OSError as error:
    stop(f"{error.filename or 'start'}: {error.strerror}; nothing was judged: look at --repo, PATH and TMPDIR")
