"""The guard's behaviour at real merges and pushes, of every ref, and in a generator's workspace."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.gitenv import git
from support.guarding import FILES, Guarded, guarded, install_push_hook, show_row

PINS = "oracle/digests.json"
Row = tuple[Sequence[str], Sequence[str] | None]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of a protected remote whose main branch went on with an approved change of the oracle."""
    folder = tmp_path_factory.mktemp("guard")
    repository = guarded(folder / "repository")
    remote = repository.clone_remote()
    owner = folder / "owner"
    git(folder, "clone", "-q", "--template=", str(remote), str(owner))
    (owner / "corpus/new").write_text("new row\n")
    (owner / PINS).write_text('{"row": "' + "1" * 64 + '"}\n')
    git(owner, "add", "--all")
    git(owner, "commit", "-q", "-m", "approved")
    git(owner, "push", "-q", "origin", "main")
    repository.git("fetch", "-q", "origin")
    install_push_hook(repository.root)

    def branch(name: str, start: str, path: str, text: str) -> None:
        repository.git("checkout", "-q", "-b", name, start)
        repository.write(path, text)
        repository.git("add", "--all")
        repository.git("commit", "-q", "--no-verify", "-m", name)

    branch("good", "main", "src/app.py", "good\n")
    branch("better", "main", "src/more.py", "better\n")
    branch("bad", "main", PINS, "{}\n")
    branch("lists", "main", "oracle/denylist.txt", "\n")
    branch("evil", "main", "corpus/new", "another row\n")
    repository.git("checkout", "-q", "-b", "back", "bad")
    repository.git("revert", "--no-edit", "HEAD")
    repository.git("checkout", "-q", "-b", "caught-up", "good")
    repository.git("merge", "-q", "--no-edit", "origin/main")
    repository.git("checkout", "-q", "--orphan", "alone")
    repository.git("commit", "-q", "--no-verify", "-m", "alone")
    repository.git("tag", "v1", "good")
    repository.git("tag", "-a", "-m", "bad", "v2", "bad")
    repository.git("tag", "v3", "bad")
    repository.git("push", "-q", "--no-verify", "origin", "good:old", "v1:refs/tags/v0")
    repository.git("checkout", "-q", "-f", "good")
    return folder


@pytest.fixture
def repository(original: Path, tmp_path: Path) -> Guarded:
    shutil.copytree(original / "repository", tmp_path / "repository", symlinks=True)
    shutil.copytree(original / "remote.git", tmp_path / "remote.git", symlinks=True)
    found = Guarded(tmp_path / "repository")
    found.git("remote", "set-url", "origin", str(tmp_path / "remote.git"))
    return found


EVERYTHING = ["A corpus/new", f"M {PINS}", "M oracle/denylist.txt"]
#: What is pushed, by name; None passes.
PUSHES: dict[str, Row] = {
    "ordinary work": (["origin", "good"], None),
    "a branch under another name": (["origin", "good:refs/heads/topic"], None),
    "two good branches": (["origin", "good", "better"], None),
    "a merge of the protected branch": (["origin", "caught-up"], None),
    "an edit that was taken back": (["origin", "back"], None),
    "what the remote has": (["origin", "good:old"], None),
    "a good tag": (["origin", "v1"], None),
    "a deleted branch": (["origin", ":old"], None),
    "a deleted tag": (["origin", "--delete", "v0"], None),
    "a dry run": (["--dry-run", "origin", "good"], None),
    "past the guard": (["--no-verify", "origin", "bad"], None),
    "a denied edit": (["origin", "bad"], [f"M {PINS}"]),
    "a denied edit, detached": (["origin", "bad~0:refs/heads/topic"], [f"M {PINS}"]),
    "a denied edit, to the protected branch": (["origin", "+bad:main"], [f"M {PINS}"]),
    "a denied edit, forced": (["--force", "origin", "bad:old"], [f"M {PINS}"]),
    "a denied edit, second of two": (["origin", "good", "bad"], [f"M {PINS}"]),
    "a denied edit, beside a deletion": (["origin", ":old", "bad"], [f"M {PINS}"]),
    "two denied edits": (["origin", "bad", "lists"], [f"M {PINS}", "M oracle/denylist.txt"]),
    "all branches": (["--all", "origin"], EVERYTHING),
    "all tags": (["--tags", "origin"], [f"M {PINS}"]),
    "an annotated tag": (["origin", "v2"], [f"M {PINS}"]),
    "a light tag": (["origin", "v3"], [f"M {PINS}"]),
    "another row than the approved": (["origin", "evil"], ["A corpus/new"]),
    "an atomic push": (["--atomic", "origin", "better", "bad"], [f"M {PINS}"]),
    "a mirror": (["--mirror", "origin"], EVERYTHING),
    "a dry run of a denied edit": (["--dry-run", "origin", "bad"], [f"M {PINS}"]),
}  # fmt: skip


@pytest.mark.parametrize("name", PUSHES)
def test_pushes(repository: Guarded, name: str) -> None:
    words, refused = PUSHES[name]
    answer = repository.attempt("push", *words)
    show_row(("push", *words), name, answer)
    listed = [line for line in answer.stderr.splitlines() if line[1:2] == " " and line[:1] in "ADMT"]
    assert (answer.returncode, sorted(listed)) == (bool(refused), sorted(refused or []))
    assert ("SKIP=oracle-guard git push" in answer.stderr) == bool(refused)
    if refused and "--dry-run" not in words:
        assert repository.git("ls-remote", "origin", "bad", "topic", "v2", "v3") == b""


def test_the_owners_way_and_other_remotes(repository: Guarded, tmp_path: Path) -> None:
    address = str(tmp_path / "remote.git")
    assert repository.attempt("push", "-q", address, "bad").returncode == 1
    assert repository.attempt("push", "-q", address, "good").returncode == 0
    done = repository.attempt("push", "-q", "origin", "bad", extra={"SKIP": "other,oracle-guard"})
    assert (done.returncode, done.stderr) == (0, "")


def test_a_push_that_nothing_protects_passes(tmp_path: Path) -> None:
    repository = guarded(tmp_path / "repository")
    install_push_hook(repository.root)
    git(tmp_path, "init", "-q", "--bare", "--template=", "empty.git")
    answer = repository.attempt("push", str(tmp_path / "empty.git"), "main")
    show_row(("push", "empty.git", "main"), "the first push", answer)
    assert answer.returncode == 0


def test_a_tag_of_a_file_is_an_error(repository: Guarded) -> None:
    repository.git("tag", "file", "good:src/app.py")
    answer = repository.attempt("push", "-q", "origin", "file")
    assert (answer.returncode, "is not a commit" in answer.stderr) == (1, True)


#: Commands from the branch `good`; None passes.
MERGES: dict[str, tuple[Sequence[Sequence[str]], Sequence[str] | None]] = {
    "the protected branch": ([("merge", "-q", "--no-edit", "origin/main")], None),
    "the protected branch, as one commit": (
        [("merge", "-q", "--squash", "origin/main"), ("commit", "-q", "-m", "x")], None,
    ),
    "another topic": ([("merge", "-q", "--no-edit", "better")], None),
    "two topics": ([("merge", "-q", "--no-edit", "better", "back")], None),
    "a topic that took its edit back": ([("merge", "-q", "--no-edit", "back")], None),
    "nothing new": ([("merge", "-q", "--no-edit", "main")], None),
    "a topic with a denied edit": ([("merge", "-q", "--no-edit", "bad")], [f"M {PINS}"]),
    "a topic with a denied edit, by hand": (
        [("merge", "-q", "--no-commit", "bad"), ("commit", "-q", "-m", "x")], [f"M {PINS}"],
    ),
    "a topic with a denied edit, as one commit": (
        [("merge", "-q", "--squash", "bad"), ("commit", "-q", "-m", "x")], [f"M {PINS}"],
    ),
    "a topic that empties the denylist": ([("merge", "-q", "--no-edit", "lists")], ["M oracle/denylist.txt"]),
    "a row that is not the approved one": ([("merge", "-q", "--no-edit", "evil")], ["A corpus/new"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MERGES)
def test_merges(repository: Guarded, name: str) -> None:
    (*before, command), refused = MERGES[name]
    for step in before:
        repository.git(*step)
    answer = repository.attempt(*command)
    show_row((*before[0], "&& git", *command) if before else command, name, answer)
    listed = [line for line in answer.stderr.splitlines() if line[1:2] == " " and line[:1] in "ADMT"]
    assert (bool(answer.returncode), listed) == (bool(refused), refused or [])


# Where there is no oracle: a generator's workspace


def workspace(path: Path) -> Guarded:
    """What a workspace holds: no oracle, a list in .git, a tag where the work began."""
    files = {name: text for name, text in FILES.items() if not name.startswith(("oracle/", "corpus/"))}
    found = guarded(path, files)
    install_push_hook(found.root)
    found.git("tag", "base")
    (found.root / ".git/oracle-guard").mkdir()
    (found.root / ".git/oracle-guard/denylist").write_text("corpus\ndocs/human.md\noracle\nsealed\ntools\n")
    return found


IN_A_WORKSPACE = {
    "oracle/digests.json": True, "Sealed/x": True, "tools/own.py": True, "docs/human.md": True, "noxfile.py": True,
    "src/sitecustomize.py": True, "src/app.py": False, "docs/other.md": False, "src/oracle/x": False,
}  # fmt: skip


@pytest.mark.parametrize("path", IN_A_WORKSPACE)
def test_without_an_oracle_the_workspaces_list_and_the_built_in_one_decide(tmp_path: Path, path: str) -> None:
    repository = workspace(tmp_path / "workspace")
    git(tmp_path, "init", "-q", "--bare", "--template=", "elsewhere.git")
    repository.write(path, "mine\n")
    repository.git("add", "--all", "--force")
    answer = repository.attempt("commit", "-q", "-m", "x")
    show_row(("commit",), f"in a workspace, {path}", answer)
    assert answer.returncode == IN_A_WORKSPACE[path], answer.stderr
    repository.git("commit", "-q", "--no-verify", "--allow-empty", "-m", "x")
    answer = repository.attempt("push", "-q", str(tmp_path / "elsewhere.git"), "main")
    show_row(("push",), f"in a workspace, {path}", answer)
    assert answer.returncode == IN_A_WORKSPACE[path], answer.stderr


def test_a_linked_work_tree_has_the_same_list(tmp_path: Path) -> None:
    repository = workspace(tmp_path / "workspace")
    repository.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = Guarded(tmp_path / "side")
    side.write("docs/human.md", "mine\n")
    (side.root / "src").mkdir(exist_ok=True)
    side.git("add", "--all")
    for folder in (side.root, side.root / "src"):
        assert side.guard(cwd=folder).stderr.splitlines()[0] == "M docs/human.md"


def test_the_list_counts_where_there_is_no_denylist_alone(tmp_path: Path) -> None:
    repository = guarded(tmp_path / "repository")
    (repository.root / ".git/oracle-guard").mkdir()
    (repository.root / ".git/oracle-guard/denylist").write_text("src\n")
    repository.write("src/app.py", "mine\n")
    assert repository.attempt("commit", "-q", "-a", "-m", "x").returncode == 0
    unarmed = guarded(tmp_path / "unarmed", {**FILES, PINS: "{}", "oracle/denylist.txt": ""})
    unarmed.write("oracle/noise.txt", "x\n")
    unarmed.git("add", "--all")
    assert unarmed.attempt("commit", "-q", "-m", "x").returncode == 0
