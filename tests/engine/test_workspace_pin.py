"""`judge --workspace-pin`: a workspace's commits are the change that they would be in a full clone."""

from __future__ import annotations

from collections.abc import Callable, Container
from pathlib import Path

import pytest
from oracle_gate.commands.context import Context, Launch, opened
from oracle_gate.commands.judging_workspace import arrived
from oracle_gate.core.commits import submit_head
from oracle_gate.core.errors import GateError
from oracle_gate.core.settings import Settings
from oracle_gate.core.submission import Change, change_id
from support.archives import unpack
from support.engine import run_engine
from support.gate import Gate
from support.gitenv import commit_all, git, make_repository
from support.objects import repository, write_files
from support.steps import CHANGES, FILES, Step, apply

SECRET = b"hidden bytes that nobody but the judge may know, in a file of its own\n"


def oid(root: Path, name: str) -> str:
    return git(root, "rev-parse", name).decode().strip()


def create(root: Path, folder: Path, mode: str = "snapshot") -> str:
    """A workspace of the main branch; its pin. A tarball becomes a repository, as its user would make one."""
    place = folder.with_suffix(".tar.gz") if mode == "tarball" else folder
    made = run_engine(root, "workspace", "create", str(place), "--mode", mode, "--json", base="main")
    assert made.code == 0, made.stderr
    if mode == "tarball":
        unpack(place, folder.parent / "unpacked")
        (folder.parent / "unpacked/workspace").rename(folder)
        make_repository(folder)
        git(folder, "add", "--all", "--force")
        commit_all(folder, "As unpacked")
    return made.stdout.split('"snapshot": "')[1][:40]


def submitted(context: Context, base: str, found: tuple[str, str, Container[str]]) -> Change:
    head, pin, secrets = found
    return submit_head(context.store, context.folder("head"), base, head, Settings(), pin, secrets)


class Place:
    """A trusted repository, and the submission of another repository's main branch as a bundle."""

    def __init__(self, folder: Path) -> None:
        self.root, self.folder = folder / "trusted", folder
        hidden: dict[str, bytes | str] = {"oracle/gate.toml": "", "sealed/x": SECRET, "sealed/.gitkeep": ""}
        self.base = repository(self.root, FILES | hidden)

    def submit(
        self, other: Path, pin: str, *, bundled: bool = True, name: str = "main"
    ) -> tuple[Change, str]:
        """The change and its identity, by a bundle or by a fetched ref."""
        bundle = self.folder / "change.bundle"
        if bundled:
            git(other, "bundle", "create", "--quiet", str(bundle), name)
        else:
            git(self.root, "fetch", "--quiet", str(other), f"+{name}:refs/workspaces/one")
        with opened(Launch(str(self.root), self.base, "test", "local", "")) as context:
            if bundled:
                found = arrived(context, name, bundle, pin)
            else:
                found = arrived(context, "refs/workspaces/one", None, pin)
            assert found[:2] == (oid(other, name), pin)
            change = submitted(context, self.base, found)
            return change, change_id(context.store, change.changed)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def work(folder: Path, steps: tuple[Step, Step, Step]) -> None:
    for number, step in enumerate(steps):
        apply(folder, step)
        git(folder, "add", "--all", "--force")
        commit_all(folder, f"Step {number}")


def amended(folder: Path, _pin: str) -> None:
    """One commit without a parent, whose tree is the last one's."""
    tree = oid(folder, "HEAD^{tree}")
    git(folder, "reset", "--quiet", git(folder, "commit-tree", tree, "-m", "As if").decode().strip())


def merged(folder: Path, pin: str) -> None:
    """A side branch, merged."""
    git(folder, "switch", "--quiet", "--create", "side", pin)
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "Side")
    git(folder, "switch", "--quiet", "main")
    git(folder, "merge", "--quiet", "--no-edit", "side")


def as_it_is(_folder: Path, _pin: str) -> None: ...


HISTORIES: dict[str, tuple[str, Callable[[Path, str], None]]] = {
    "snapshot": ("snapshot", as_it_is),
    "sparse": ("sparse", as_it_is),
    "tarball": ("tarball", as_it_is),
    "amended": ("snapshot", amended),
    "merged": ("snapshot", merged),
}


@pytest.mark.parametrize("name", [name for name in CHANGES if name != "denied"])
def test_the_change_is_that_of_a_full_clone(name: str, place: Place, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(place.root), str(clone))
    work(clone, CHANGES[name])
    with opened(Launch(str(clone), place.base, "test", "local", "")) as context:
        whole = submit_head(context.store, context.folder("head"), place.base, oid(clone, "HEAD"), Settings())
        identity = change_id(context.store, whole.changed)
    assert (whole.problems, bool(whole.changed)) == ((), True)
    for number, (history, (mode, rewrite)) in enumerate(HISTORIES.items()):
        folder = tmp_path / history
        pin = create(place.root, folder, mode)
        work(folder, CHANGES[name])
        rewrite(folder, pin)
        change, found = place.submit(folder, pin, bundled=number % 2 == 0)
        assert (found, change.changed, change.after, change.problems) == (
            identity, whole.changed, whole.after, ()
        ), history  # fmt: skip
        assert history == "amended" or set(change.touched) == set(whole.touched), history


def test_a_base_that_moved_on_takes_the_change_or_says_why_not(place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    pin = create(place.root, folder)
    write_files(folder, {"src/b.py": "b = 2\n"})
    commit_all(folder, "Work")
    write_files(place.root, {"src/new.py": "new\n", "corpus/data/x": "y\n"})
    place.base = commit_all(place.root, "Moved on")
    change, _ = place.submit(folder, pin)
    assert [item.path for item in change.changed] == [b"src/b.py"]
    assert {b"src/new.py", b"corpus/data/x"} <= change.after.keys()
    write_files(place.root, {"src/b.py": "b = 3\n"})
    place.base = commit_all(place.root, "Moved there")
    change, _ = place.submit(folder, pin)
    assert [(problem.rule, "conflicts" in problem.detail) for problem in change.problems] == [
        ("intake.rejected", True)
    ]


def test_each_commit_counts_also_one_that_is_reverted(place: Place, tmp_path: Path) -> None:
    for mode in ("snapshot", "tarball"):
        folder = tmp_path / mode
        pin = create(place.root, folder, mode)
        work(folder, ({"tools/gate.py": "x\n"}, {"src/b.py": "b = 2\n"}, {"tools/gate.py": None}))
        change, _ = place.submit(folder, pin)
        assert set(change.touched) == {b"tools/gate.py", b"src/b.py"}, mode


#: What a tree of the workspace may name.
NAMED = {
    "blob": ("100644", "HEAD:sealed/x"),
    "folder": ("040000", "HEAD:sealed"),
    "earlier blob": ("100644", "HEAD~:sealed/x"),
}


@pytest.mark.parametrize("what", NAMED)
def test_a_commit_that_names_hidden_bytes_is_refused(what: str, place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    write_files(place.root, {"sealed/x": SECRET * 2})
    place.base = commit_all(place.root, "Seal anew")
    pin = create(place.root, folder)
    mode, name = NAMED[what]
    kind = "tree" if mode == "040000" else "blob"
    line = f"{mode} {kind} {oid(place.root, name)}\tx\n"
    made = git(folder, "mktree", "--missing", data=line.encode()).decode().strip()
    commit = git(folder, "commit-tree", made, "-p", pin, "-m", "Take").decode().strip()
    back = git(folder, "commit-tree", f"{pin}^{{tree}}", "-p", commit, "-m", "Back").decode().strip()
    # Neither git bundle nor git fetch sends what is not there; a pack and a ref written by hand may name it.
    pack = tmp_path / "change.pack"
    objects = git(folder, "rev-list", "--objects", "--missing=allow-any", back, f"^{pin}").split(b"\n")
    names = [line.split()[0] for line in objects if line and git_has(folder, line.split()[0].decode())]
    pack.write_bytes(git(folder, "pack-objects", "-q", "--stdout", data=b"\n".join(names) + b"\n"))
    for head in (commit, back):
        with opened(Launch(str(place.root), place.base, "test", "local", "")) as context:
            problems = submitted(context, place.base, arrived(context, head, pack, pin)).problems
        assert ("intake.rejected", "names a hidden blob") in {(p.rule, p.detail) for p in problems}


def git_has(folder: Path, name: str) -> bool:
    return b"missing" not in git(folder, "cat-file", "--batch-check", data=name.encode() + b"\n")


def test_files_that_are_small_or_visible_as_well_are_no_secrets(place: Place, tmp_path: Path) -> None:
    write_files(place.root, {"sealed/b.py": FILES["src/a.py"]})
    place.base = commit_all(place.root, "Seal what is shown")
    folder = tmp_path / "workspace"
    pin = create(place.root, folder)
    write_files(folder, {"src/__init__.py": "", "src/again.py": FILES["src/a.py"]})
    commit_all(folder, "Empty as sealed/.gitkeep is")
    assert place.submit(folder, pin)[0].problems == ()


def test_an_unsound_bundle_is_an_error(place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    pin = create(place.root, folder)
    write_files(folder, {"src/b.py": "b = 2\n"})
    commit_all(folder, "Work")
    bundle = tmp_path / "b"
    git(folder, "bundle", "create", "--quiet", str(bundle), "main")
    whole = bundle.read_bytes()
    with opened(Launch(str(place.root), place.base, "test", "local", "")) as context:
        for data in (whole[:-30], b"# v2 git bundle\n\nnot a pack", b"", b"# v2 git bundle"):
            bundle.write_bytes(data)
            with pytest.raises(GateError, match="is no sound pack or bundle"):
                arrived(context, "main", bundle, pin)


def test_a_fetched_head_is_checked_as_strictly(place: Place, tmp_path: Path) -> None:
    """git fetch takes a tree that holds a name twice; who reads it may see either."""
    folder = tmp_path / "workspace"
    pin = create(place.root, folder)
    blobs = [oid(folder, f"HEAD:{name}") for name in ("README.md", "src/b.py")]
    tree = b"".join(b"100644 x\0" + bytes.fromhex(blob) for blob in blobs)
    twice = (
        git(folder, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", data=tree).decode().strip()
    )
    head = git(folder, "commit-tree", twice, "-p", pin, "-m", "Twice").decode().strip()
    git(folder, "update-ref", "refs/heads/main", head)
    for bundled in (True, False):
        with pytest.raises(GateError, match="is no sound pack or bundle"):
            place.submit(folder, pin, bundled=bundled)


LACKING = {
    ("--head", "main", "--workspace-pin", "1" * 40): "--workspace-pin 1111",
    ("--head", "main", "--workspace-pin", "main"): "--workspace-pin main is no commit",
    ("--head", "1" * 40, "--pack", "BUNDLE"): "is no commit of the pack",
    ("--head", "nowhere", "--pack", "BUNDLE"): "is no commit of the pack",
    ("--workspace-pin", "1" * 40): "go with --head",
    ("--pack", "BUNDLE"): "go with --head",
}


def test_what_is_lacking_is_said(quick: Gate, tmp_path: Path) -> None:
    bundle = tmp_path / "b"
    git(quick.root, "bundle", "create", "--quiet", str(bundle), "main")
    for words, says in LACKING.items():
        done = run_engine(quick.root, "judge", *(word.replace("BUNDLE", str(bundle)) for word in words))
        assert (done.code, says in done.stderr, done.stderr.count("\n")) == (2, True, 1), (words, done.stderr)


def honest(folder: Path) -> None:
    (folder / "src/prog.sh").write_text((folder / "src/prog.sh").read_text() + "# as before\n")
    (folder / "docs").mkdir()
    (folder / "docs/data.bin").write_bytes(bytes(range(256)) * 3)


def drift(folder: Path) -> None:
    program = folder / "src/prog.sh"
    program.write_text(program.read_text().replace("tr a-z A-Z ;;", "cat ;;"))


def denied(folder: Path) -> None:
    (folder / "noxfile.py").write_text("print('eligible')\n")


@pytest.mark.parametrize(("edit", "code"), [(honest, 0), (drift, 1), (denied, 1)])
def test_every_way_gets_the_verdict_of_a_full_clone(
    edit: Callable[[Path], None], code: int, quick: Gate, tmp_path: Path
) -> None:
    """A full clone's commits; a workspace of each mode by its patch, by its diff, as a bundle, as a fetched ref."""
    same = ("verdict", "change_id", "tree_after", "reasons", "changes", "replay", "merge_ok")

    def judged(*words: str) -> list[object]:
        done = run_engine(quick.root, "judge", *words, base="main")
        assert done.code == code, (words, done.stdout, done.stderr)
        return [quick.packet()[key] for key in same]

    git(quick.root, "switch", "--quiet", "--create", "topic")
    edit(quick.root)
    commit_all(quick.root, "Work")
    git(quick.root, "switch", "--quiet", "main")
    expected = judged("--head", "topic")
    exported: dict[str, list[object]] = {}
    for mode, form in (("snapshot", "mbox"), ("sparse", "diff"), ("tarball", "mbox")):
        folder = tmp_path / mode
        pin = create(quick.root, folder, mode)
        if mode == "tarball":
            git(folder, "tag", "base")
        edit(folder)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--no-verify", "--message", "Work")
        out = str(tmp_path / f"{mode}-change")
        done = run_engine(quick.root, "workspace", "export", str(folder), "--out", out, "--json", base="main")
        assert done.code == 0, done.stderr
        exported[f"{mode} {form}"] = judged("--patch", f"{out}.{form}")
        if mode == "snapshot":
            git(quick.root, "fetch", "--quiet", str(folder), "main:refs/workspaces/one")
            exported["fetched"] = judged("--head", "refs/workspaces/one", "--workspace-pin", pin)
        else:
            bundle = tmp_path / f"{mode}.bundle"
            git(folder, "bundle", "create", "--quiet", str(bundle), "main")
            exported[f"{mode} bundle"] = judged(
                "--head", "main", "--pack", str(bundle), "--workspace-pin", pin
            )
    assert len(exported) == 6
    for way, found in exported.items():
        assert found == expected, way
