"""Bootstrap: exports the base's engine to a fresh folder and becomes it; no other file of the tree runs."""
import sys

if not sys.flags.isolated:
    import os  # loaded by the interpreter itself, before this folder was importable
    os.execv(sys.executable, [sys.executable, "-I", os.path.abspath(__file__), *sys.argv[1:]])

import argparse
import hashlib
import json
import os
import re
import subprocess
import tempfile
import tomllib
from pathlib import Path
from typing import NoReturn

NEUTRAL = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "GIT_CONFIG_GLOBAL": "/dev/null",
           "GIT_CONFIG_NOSYSTEM": "1", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_NO_LAZY_FETCH": "1"}
QUIET = ["core.fsmonitor=", "core.hooksPath=/dev/null", "protocol.allow=never", "safe.directory=*"]


def stop(message: str) -> NoReturn:
    print(f"gate: {message}", file=sys.stderr)
    raise SystemExit(2)


def git(folder: Path, *arguments: str, **extra: str) -> bytes:
    """Standard output of one git command, nothing when it fails."""
    command = ["git", *(word for setting in QUIET for word in ("-c", setting)), *arguments]
    answer = subprocess.run(command, cwd=folder, env={**NEUTRAL, **extra}, capture_output=True, check=False)
    return answer.stdout if answer.returncode == 0 else b""


class Repository:
    """The judged repository: asked for names only; objects are read through a private folder."""
    def __init__(self, start: Path, store: Path) -> None:
        self.root, self.store = start, store
        top = self.rev_parse("--show-toplevel") or self.rev_parse("--absolute-git-dir")
        self.root = Path(top or stop(f"{start}: not a git repository; run `git init` and commit")).resolve()
        self.hash = self.rev_parse("--show-object-format")
        git(store.parent, "init", "-q", "--bare", "--template=", f"--object-format={self.hash}", str(store))
        objects, shallow = (self.root / self.rev_parse("--git-path", name) for name in ("objects", "shallow"))
        quoted = json.dumps(str(objects.resolve()), ensure_ascii=False)  # git reads C quotes there
        (store / "objects/info/alternates").write_bytes(os.fsencode(quoted) + b"\n")
        if shallow.is_file():
            (store / "shallow").write_bytes(shallow.read_bytes())

    def rev_parse(self, *arguments: str) -> str:
        return os.fsdecode(git(self.root, "rev-parse", *arguments).removesuffix(b"\n"))

    def commit(self, ref: str) -> str:
        return self.rev_parse("-q", "--verify", "--end-of-options", ref + "^{commit}")

    def read(self, kind: str, oid: str) -> bytes:
        """An object, hashed again: git serves a forged loose object without a word."""
        data = git(self.store, "cat-file", kind, oid, GIT_DIR=str(self.store))
        if hashlib.new(self.hash, f"{kind} {len(data)}\0".encode() + data).hexdigest() != oid:
            stop(f"object {oid[:12]} is missing or forged; run `git fsck` and judge from a fresh, full clone")
        return data

    def children(self, tree: str) -> dict[str, str]:
        """Name -> id of each entry; a folder's name ends with a slash."""
        entry = re.compile(rb"(\d+) ([^\0]+)\0(.{%d})" % (len(tree) // 2), re.DOTALL)
        return {os.fsdecode(name) + "/" * (mode == b"40000"): oid.hex()
                for mode, name, oid in entry.findall(self.read("tree", tree))}

    def find(self, revision: str, folder: str, name: str) -> str:
        root = self.children(self.read("commit", revision)[5:].split(b"\n", 1)[0].decode())
        return self.children(root[folder]).get(name, "") if folder in root else ""

    def export(self, tree: str, folder: Path) -> None:
        folder.mkdir()
        for name, oid in self.children(tree).items():
            if re.fullmatch(r"\w+/", name):
                self.export(oid, folder / name)
            elif re.fullmatch(r"\w+(\.\w+)*\.(py|json)", name):  # no link or odd name belongs to an engine
                (folder / name).write_bytes(self.read("blob", oid))

    def find_base(self, named: str) -> tuple[str, str]:
        """The base's commit id, and how it was found (design, section 4)."""
        if named:
            return self.commit(named) or stop(f"--base {named}: no such commit; fetch it"), f"--base {named}"
        head = self.commit("HEAD") or stop(f"{self.root}: no commit yet; commit the scaffold first")
        if {*sys.argv[1:2]} & {"record", "seal"}:  # the oracle is the work tree's, everything else HEAD's
            return head, "HEAD"
        settings = self.find(head, "oracle/", "gate.toml")
        try:  # a malformed gate.toml is the engine's to complain of
            configured = settings and tomllib.loads(self.read("blob", settings).decode())["base"]["ref"]
        except (ValueError, TypeError, KeyError):
            configured = ""
        local = git(self.root, "for-each-ref", "--format=%(refname)", "refs/heads").decode().split()
        usual = [f"refs/{place}/{n}" for place in ("remotes/origin", "heads") for n in ("main", "master", "trunk")]
        usual = ["refs/remotes/origin/HEAD", *usual, *local[: len(local) == 1]]
        for ref in filter(self.commit, [configured] if configured else usual):
            base = git(self.store, "merge-base", head, self.commit(ref), GIT_DIR=str(self.store)).decode().strip()
            return base or stop(f"HEAD and {ref} share no commit; pass --base"), f"merge base with {ref}"
        stop(f"no base: no {configured or 'origin/HEAD, main, master or trunk'} here; pass --base REF")


def main(fresh: Path) -> NoReturn:
    here, options = Path(__file__).resolve().parents[1], argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    options.add_argument("--base", default="")
    options.add_argument("--repo", type=Path, default=here)
    named, _ = options.parse_known_args()
    start = named.repo if named.repo.is_dir() else stop(f"{named.repo}: no such folder; pass --repo DIR")
    repository = Repository(start, fresh / "store.git")
    base, found = repository.find_base(named.base)
    engine = repository.find(base, "tools/", "oracle_gate/")
    repository.export(engine or stop(f"base {base[:12]} has no engine; pass --base REF"), fresh / "oracle_gate")
    trust = "protected" if named.base == base and repository.root not in (here, *here.parents) else "local"
    launch = {"repository": str(repository.root), "base": base, "base_from": found, "trust": trust, "fresh": str(fresh)}
    program = [f"pycache_prefix={fresh}/pycache", str(fresh / "oracle_gate/__main__.py"), json.dumps(launch)]
    os.execv(sys.executable, [sys.executable, "-I", "-X", *program, *sys.argv[1:]])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="gate-") as temporary:
        main(Path(temporary))
