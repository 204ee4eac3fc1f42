"""oracle_guard.py as a git hook: what a commit may stage and what it may not."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from support.gitenv import git
from support.guarding import FILES, GUARD, Guarded, guarded, show_row

Step = Callable[[Guarded], object]
COMMIT = ("commit", "--quiet", "-m", "x")
PINS = "oracle/digests.json"


def write(path: str, text: str = "changed\n") -> Step:
    return lambda repository: repository.write(path, text)


def run(*arguments: str) -> Step:
    return lambda repository: repository.git(*arguments)


def link(path: str, target: str) -> Step:
    def make(repository: Guarded) -> None:
        place = repository.root / path
        if place.is_dir():
            shutil.rmtree(place)
        place.unlink(missing_ok=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)

    return make


def chmod(path: str) -> Step:
    return lambda repository: (repository.root / path).chmod(0o755)


def submodule(path: str, digit: str = "1") -> Step:
    return run("update-index", "--add", "--cacheinfo", f"160000,{digit * 40},{path}")


def staged(path: str) -> Step:
    """Puts a file into the index alone: no file system has to hold the name."""

    def stage(repository: Guarded) -> None:
        blob = repository.git("hash-object", "-w", "--stdin", data=b"x").decode().strip()
        repository.git(
            "-c", "core.protectNTFS=false", "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}"
        )

    return stage


def replace_head(repository: Guarded) -> None:
    """Makes git show the staged tree in place of HEAD's."""
    tree = repository.git("write-tree").decode().strip()
    repository.git("replace", "HEAD", repository.git("commit-tree", "-m", "x", tree).decode().strip())


ADD = run("add", "--all")
BYPASS = run("commit", "--quiet", "--no-verify", "-m", "past the guard")

REFUSED: dict[str, tuple[Sequence[Step], Sequence[str], Sequence[str]]] = {
    "edit": ([write(PINS), ADD], COMMIT, ["M oracle/digests.json"]),
    "add": ([write("oracle/new/file"), ADD], COMMIT, ["A oracle/new/file"]),
    "delete": ([run("rm", "-q", "oracle/quarantine.json")], COMMIT, ["D oracle/quarantine.json"]),
    "delete everything": (
        [run("rm", "-q", "-r", "oracle")], COMMIT,
        ["D oracle/denylist.txt", "D oracle/digests.json", "D oracle/gate.toml", "D oracle/quarantine.json"],
    ),
    "rename in": ([run("mv", "src/app.py", "corpus/app.py")], COMMIT, ["A corpus/app.py"]),
    "rename out": ([run("mv", "oracle/quarantine.json", "src/q.json")], COMMIT, ["D oracle/quarantine.json"]),
    "copy in": ([write("oracle/copy.py", FILES["src/app.py"]), ADD], COMMIT, ["A oracle/copy.py"]),
    "link inside": ([link("oracle/link", "../src"), ADD], COMMIT, ["A oracle/link"]),
    "file becomes link": ([link(PINS, "../src/app.py"), ADD], COMMIT, ["T oracle/digests.json"]),
    "folder becomes link": ([link("corpus", "src"), ADD], COMMIT, ["A corpus", "D corpus/inputs.jsonl"]),
    "folder becomes submodule": (
        [run("rm", "-q", "-r", "corpus"), submodule("corpus")], COMMIT, ["A corpus", "D corpus/inputs.jsonl"],
    ),
    "chmod": ([chmod(PINS), ADD], COMMIT, ["M oracle/digests.json"]),
    "submodule added": ([submodule("sealed/sub")], COMMIT, ["A sealed/sub"]),
    "submodule moved, ignored by its configuration": (
        [write(".gitmodules", '[submodule "sub"]\n\tpath = sealed/sub\n\turl = ./sub\n\tignore = all\n'), ADD,
         submodule("sealed/sub"), BYPASS, submodule("sealed/sub", "2")],
        COMMIT, ["M sealed/sub"],
    ),
    "other case": ([staged("Oracle/digests.json")], COMMIT, ["A Oracle/digests.json"]),
    "full width": ([staged("\uff4f\uff52acle/x")], COMMIT, ["A \uff4f\uff52acle/x"]),
    "ignorable character": ([staged("ora\u200bcle/x")], COMMIT, ["A ora\\u200bcle/x"]),
    "trailing dot": ([staged("oracle./x")], COMMIT, ["A oracle./x"]),
    "backslash": ([staged("oracle\\x")], COMMIT, ["A oracle\\x"]),
    "unicode name": ([write("oracle/caf\u00e9.json"), ADD], COMMIT, ["A oracle/caf\u00e9.json"]),
    "newline in the name": ([staged("oracle/a\nb")], COMMIT, ["A oracle/a\\nb"]),
    "commit -a": ([write(PINS)], ("commit", "-q", "-a", "-m", "x"), ["M oracle/digests.json"]),
    "commit FILE": ([write(PINS), write("src/app.py")], ("commit", "-qm", "x", PINS), ["M oracle/digests.json"]),
    "commit --amend": ([write(PINS), ADD], ("commit", "-q", "--amend", "-m", "x"), ["M oracle/digests.json"]),
    "detached HEAD": ([run("checkout", "-q", "--detach"), write(PINS), ADD], COMMIT, ["M oracle/digests.json"]),
    "a listed file": ([write("docs/human.md"), ADD], COMMIT, ["M docs/human.md"]),
    "sessions": ([write("noxfile.py"), ADD], COMMIT, ["M noxfile.py"]),
    "make": ([write("Makefile"), ADD], COMMIT, ["A Makefile"]),
    "attributes of a folder": ([write("src/.gitattributes"), ADD], COMMIT, ["A src/.gitattributes"]),
    "workflow": ([write(".github/workflows/x.yml"), ADD], COMMIT, ["A .github/workflows/x.yml"]),
    "start-up module": ([write("src/sitecustomize.py"), ADD], COMMIT, ["A src/sitecustomize.py"]),
    "import path of the settings": ([write("lib/x.pth"), ADD], COMMIT, ["A lib/x.pth"]),
    "ordinary work beside": ([write("src/app.py"), write(PINS), ADD], COMMIT, ["M oracle/digests.json"]),
    "hook configuration in the same commit": (
        [write(".pre-commit-config.yaml", "repos: [] #\n"), write("oracle/new"), ADD], COMMIT,
        ["A oracle/new", "M .pre-commit-config.yaml"],
    ),
    "denylist emptied in the same commit": (
        [write("oracle/denylist.txt", ""), write("docs/human.md"), ADD], COMMIT,
        ["M docs/human.md", "M oracle/denylist.txt"],
    ),
    "denylist emptied in the work tree": (
        [write("oracle/denylist.txt", ""), write("docs/human.md"), run("add", "docs")], COMMIT,
        ["M docs/human.md"],
    ),
    "pins emptied in the same commit": ([write(PINS, "{}"), ADD], COMMIT, ["M oracle/digests.json"]),
    "assume-unchanged": (
        [write(PINS), ADD, run("update-index", "--assume-unchanged", PINS)], COMMIT,
        ["M oracle/digests.json"],
    ),
    "folders that a sparse index collapses": (
        [write("tools/oracle_gate/x.py"), write(PINS), ADD, BYPASS,
         run("sparse-checkout", "set", "--cone", "--sparse-index", "src"),
         run("reset", "-q", "--soft", "HEAD~")],
        COMMIT, ["A tools/oracle_gate/x.py", "M oracle/digests.json"],
    ),
    "rename detection in the configuration": (
        [run("config", "diff.renames", "copies"), run("mv", "corpus/inputs.jsonl", "src/i")], COMMIT,
        ["D corpus/inputs.jsonl"],
    ),
    "replaced commit": ([write(PINS, "x"), ADD, replace_head], COMMIT, ["M oracle/digests.json"]),
}  # fmt: skip

PASSED: dict[str, tuple[Sequence[Step], Sequence[str]]] = {
    "ordinary edit": ([write("src/app.py"), ADD], COMMIT),
    "ordinary addition": ([write("src/new/mod.py"), write("tests/public/test_x.py"), ADD], COMMIT),
    "ordinary deletion": ([run("rm", "-q", "docs/other.md")], COMMIT),
    "ordinary rename": ([run("mv", "src/app.py", "src/main.py")], COMMIT),
    "ordinary chmod": ([chmod("src/app.py"), ADD], COMMIT),
    "commit -a": ([write("src/app.py")], ("commit", "-q", "-a", "-m", "x")),
    "amend": ([write("src/app.py"), ADD], ("commit", "-q", "--amend", "-m", "x")),
    "nothing": ([], ("commit", "-q", "--allow-empty", "-m", "x")),
    "similar names": ([write("oracles/x"), write("src/oracle/x"), write("docs/human.md.txt"), ADD], COMMIT),
    "copy out": ([write("src/pins.json", FILES[PINS]), ADD], COMMIT),
    "unicode name": ([write("src/\u65e5\u672c.py"), ADD], COMMIT),
    "link elsewhere": ([link("src/link", "app.py"), ADD], COMMIT),
    "denied edit that is not staged": ([write(PINS), write("src/app.py"), run("add", "src")], COMMIT),
    "denied edit outside commit FILE": (
        [write(PINS), ADD, write("src/app.py")], ("commit", "-qm", "x", "src/app.py"),
    ),
    "denied edit taken back": (
        [write(PINS), ADD, run("checkout", "-q", "HEAD", "--", PINS), write("src/app.py"), ADD], COMMIT,
    ),
    "denied file that is not tracked": ([write("oracle/notes"), write("src/app.py"), run("add", "src")], COMMIT),
}  # fmt: skip


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Guarded:
    return guarded(tmp_path_factory.mktemp("guard") / "repository")


@pytest.fixture
def repository(original: Guarded, tmp_path: Path) -> Guarded:
    shutil.copytree(original.root, tmp_path / "repository", symlinks=True)
    return Guarded(tmp_path / "repository")


@pytest.mark.parametrize("name", REFUSED)
def test_refused(repository: Guarded, name: str) -> None:
    steps, command, expected = REFUSED[name]
    for step in steps:
        step(repository)
    before = repository.git("rev-parse", "HEAD")
    answer = repository.attempt(*command)
    show_row(command, name, answer)
    *listed, advice = [line for line in answer.stderr.splitlines() if not line.startswith("warning: ")]
    assert (answer.returncode, sorted(listed)) == (1, sorted(expected))
    assert advice.startswith("oracle-guard: ")
    assert "SKIP=oracle-guard git commit" in advice
    assert "approval" in advice
    assert repository.git("rev-parse", "HEAD") == before


@pytest.mark.parametrize("name", PASSED)
def test_passed(repository: Guarded, name: str) -> None:
    steps, command = PASSED[name]
    for step in steps:
        step(repository)
    before = repository.git("rev-parse", "HEAD")
    answer = repository.attempt(*command)
    show_row(command, name, answer)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert repository.git("rev-parse", "HEAD") != before


def test_a_second_work_tree_is_guarded(repository: Guarded, tmp_path: Path) -> None:
    repository.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = Guarded(tmp_path / "side")
    side.write(PINS, "x")
    side.git("add", "--all")
    assert side.attempt(*COMMIT).returncode == 1
    side.git("reset", "-q", "--hard")
    side.write("src/app.py", "x")
    assert side.attempt("commit", "-q", "-a", "-m", "x").returncode == 0


def test_where_it_is_run_does_not_matter(repository: Guarded) -> None:
    repository.write("docs/human.md", "x")
    repository.git("add", "--all")
    for folder in (repository.root, repository.root / "src", repository.root / "oracle"):
        answer = repository.guard(cwd=folder)
        assert (answer.returncode, answer.stderr.splitlines()[0]) == (1, "M docs/human.md")


def test_sha256_repositories(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    git(tmp_path, "init", "-q", "--object-format=sha256", "-b", "main", "--template=", str(root))
    repository = guarded(root)
    repository.write(PINS, "x")
    assert repository.attempt("commit", "-q", "-a", "-m", "x").returncode == 1
    repository.git("checkout", "-q", "--", PINS)
    repository.write("src/app.py", "x")
    assert repository.attempt("commit", "-q", "-a", "-m", "x").returncode == 0


# What decides: HEAD, the pins, the protected branch


def test_before_the_first_commit_everything_passes(repository: Guarded) -> None:
    repository.git("checkout", "-q", "--orphan", "fresh")
    repository.write(PINS, "x")
    repository.git("add", "--all")
    assert repository.attempt(*COMMIT).returncode == 0


@pytest.mark.parametrize("pins", ["{}", "{}\n", " {\n }\n"])
def test_the_first_arming_passes_and_no_later_one(tmp_path: Path, pins: str) -> None:
    repository = guarded(tmp_path / "repository", {**FILES, PINS: pins})
    repository.write(PINS, FILES[PINS])
    repository.write("corpus/inputs.jsonl", "x\n")
    assert repository.attempt("commit", "-q", "-a", "-m", "arm").returncode == 0
    repository.write(PINS, "{}")
    assert repository.attempt("commit", "-q", "-a", "-m", "again").returncode == 1


@pytest.mark.parametrize(
    "pins", ["", "[]", "null", "{", "{} {}", "\udcff".encode("utf-8", "surrogateescape").hex(), "[" * 9000]
)
def test_pins_that_cannot_be_read_are_pins(tmp_path: Path, pins: str) -> None:
    repository = guarded(tmp_path / "repository", {**FILES, PINS: pins})
    repository.write("corpus/inputs.jsonl", "x\n")
    answer = repository.attempt("commit", "-q", "-a", "-m", "x")
    assert (answer.returncode, answer.stderr.splitlines()[0]) == (1, "M corpus/inputs.jsonl")


def test_pins_that_are_a_link_are_pins(repository: Guarded) -> None:
    link(PINS, "{}")(repository)
    past_the_guard(repository, "corpus/inputs.jsonl", "x")
    repository.write("corpus/inputs.jsonl", "y")
    assert repository.attempt("commit", "-q", "-a", "-m", "x").returncode == 1


def test_the_denylist_of_head_decides_not_that_of_the_protected_branch(repository: Guarded) -> None:
    remote = repository.clone_remote()
    repository.git("checkout", "-q", "-b", "shorter")
    past_the_guard(repository, "oracle/denylist.txt", "oracle/\n")
    repository.git("push", "-q", str(remote), "shorter:main")
    repository.git("fetch", "-q", "origin")
    repository.git("checkout", "-q", "main")
    repository.write("docs/human.md", "x")
    answer = repository.attempt("commit", "-q", "-a", "-m", "x")
    assert (answer.returncode, answer.stderr.splitlines()[0]) == (1, "M docs/human.md")
    repository.git("checkout", "-q", "-f", "shorter")
    repository.write("docs/human.md", "x")
    assert repository.attempt("commit", "-q", "-a", "-m", "x").returncode == 0


def test_a_project_without_an_oracle_may_get_one(tmp_path: Path) -> None:
    repository = guarded(tmp_path / "repository", {"README.md": "x"})
    for path, text in FILES.items():
        repository.write(path, text)
    repository.git("add", "--all")
    assert repository.attempt(*COMMIT).returncode == 0


def test_an_oracle_without_pins_is_guarded(tmp_path: Path) -> None:
    repository = guarded(tmp_path / "repository", {"oracle/notes": "x"})
    repository.write(PINS, "{}")
    repository.git("add", "--all")
    assert repository.attempt(*COMMIT).returncode == 1


def approve_on_remote(repository: Guarded, remote: Path, branch: str = "main") -> None:
    """The protected branch changes oracle and corpus, as an approved pull request would."""
    clone = repository.root.parent / "owner"
    git(repository.root, "clone", "-q", "--template=", "-b", branch, str(remote), str(clone))
    (clone / PINS).write_text('{"row": "' + "1" * 64 + '"}\n')
    (clone / "corpus/new").write_text("new row\n")
    (clone / "oracle/quarantine.json").unlink()
    git(clone, "add", "--all")
    git(clone, "commit", "-q", "-m", "approved")
    git(clone, "push", "-q", "origin", branch)
    repository.git("fetch", "-q", "origin")


def diverge(repository: Guarded) -> None:
    repository.git("checkout", "-q", "-b", "topic")
    repository.write("src/app.py", "work\n")
    assert repository.attempt("commit", "-q", "-a", "-m", "work").returncode == 0


@pytest.mark.parametrize("branch", ["main", "master", "trunk"])
def test_a_clean_merge_of_an_approved_change_passes(repository: Guarded, branch: str) -> None:
    repository.git("branch", "-q", "-m", branch)
    approve_on_remote(repository, repository.clone_remote(), branch)
    diverge(repository)
    answer = repository.attempt("merge", "-q", "--no-edit", f"origin/{branch}")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert (repository.root / "corpus/new").exists()


def test_the_default_branch_may_have_any_name(repository: Guarded) -> None:
    repository.git("branch", "-q", "-m", "development")
    approve_on_remote(repository, repository.clone_remote(), "development")
    diverge(repository)
    assert repository.attempt("merge", "-q", "--no-edit", "origin/development").returncode == 1
    repository.git("merge", "--abort")
    repository.git("remote", "set-head", "origin", "development")
    assert repository.attempt("merge", "-q", "--no-edit", "origin/development").returncode == 0


def test_an_evil_merge_is_refused(repository: Guarded) -> None:
    approve_on_remote(repository, repository.clone_remote())
    diverge(repository)
    repository.git("merge", "-q", "--no-commit", "origin/main")
    repository.write("corpus/new", "another row\n")
    repository.git("add", "--all")
    answer = repository.attempt("commit", "-q", "--no-edit")
    assert (answer.returncode, answer.stderr.splitlines()[:-1]) == (1, ["A corpus/new"])


def test_a_merge_that_revives_a_removed_file_is_refused(repository: Guarded) -> None:
    approve_on_remote(repository, repository.clone_remote())
    repository.git("checkout", "-q", "-b", "topic", "origin/main")
    repository.write("oracle/quarantine.json", "{}\n")
    repository.git("add", "--all")
    assert repository.attempt(*COMMIT).stderr.splitlines()[0] == "A oracle/quarantine.json"


def test_a_merge_of_another_branch_is_refused(repository: Guarded) -> None:
    repository.clone_remote()
    repository.git("checkout", "-q", "-b", "other")
    repository.write(PINS, "x")
    repository.git("commit", "-q", "-a", "--no-verify", "-m", "not approved")
    repository.git("checkout", "-q", "main")
    diverge(repository)
    answer = repository.attempt("merge", "-q", "--no-edit", "other")
    assert (answer.returncode, answer.stderr.splitlines()[0]) == (1, "M oracle/digests.json")


def test_going_back_to_the_protected_state_passes(repository: Guarded) -> None:
    repository.clone_remote()
    repository.write(PINS, "x")
    repository.git("commit", "-q", "-a", "--no-verify", "-m", "past the guard")
    repository.git("checkout", "-q", "origin/main", "--", PINS)
    assert repository.attempt(*COMMIT).returncode == 0


def test_a_commit_past_the_guard_does_not_open_it(repository: Guarded) -> None:
    repository.clone_remote()
    repository.write("oracle/denylist.txt", "")
    repository.write(PINS, "{}x")
    repository.git("commit", "-q", "-a", "--no-verify", "-m", "past the guard")
    repository.write("corpus/inputs.jsonl", "x")
    assert repository.attempt("commit", "-q", "-a", "-m", "x").returncode == 1


# Pushes


def push_environment(repository: Guarded, tip: str, start: str | None = None) -> dict[str, str]:
    known = {"PRE_COMMIT_REMOTE_NAME": "origin", "PRE_COMMIT_LOCAL_BRANCH": f"refs/heads/{tip}"}
    if start:
        known["PRE_COMMIT_TO_REF"] = repository.git("rev-parse", tip).decode().strip()
        known["PRE_COMMIT_FROM_REF"] = repository.git("rev-parse", start).decode().strip()
    return known


def past_the_guard(repository: Guarded, path: str, text: str) -> None:
    repository.write(path, text)
    repository.git("add", "--all")
    repository.git("commit", "-q", "--no-verify", "-m", "past the guard")


@pytest.mark.parametrize("start", ["main", "topic", None])
def test_a_push_is_judged_from_where_it_left_the_protected_branch(
    repository: Guarded, start: str | None
) -> None:
    remote = repository.clone_remote()
    approve_on_remote(repository, remote)
    diverge(repository)
    assert repository.guard(push_environment(repository, "topic", start)).returncode == 0
    past_the_guard(repository, PINS, "x")
    past_the_guard(repository, "src/app.py", "more")
    known = push_environment(repository, "topic", start)
    repository.git("checkout", "-q", "main")
    for name in ("origin", str(remote)):
        answer = repository.guard(known | {"PRE_COMMIT_REMOTE_NAME": name})
        *listed, advice = answer.stderr.splitlines()
        assert (answer.returncode, listed) == (1, ["M oracle/digests.json"])
        assert "SKIP=oracle-guard git push" in advice
    repository.git("checkout", "-q", "topic")
    past_the_guard(repository, PINS, FILES[PINS])
    assert repository.guard(push_environment(repository, "topic", start)).returncode == 0


def test_an_approved_change_that_was_picked_passes(repository: Guarded) -> None:
    approve_on_remote(repository, repository.clone_remote())
    diverge(repository)
    repository.git("cherry-pick", "origin/main")
    assert repository.guard(push_environment(repository, "topic", "main")).returncode == 0


def test_a_pushed_merge_of_the_protected_branch_passes(repository: Guarded) -> None:
    approve_on_remote(repository, repository.clone_remote())
    diverge(repository)
    repository.git("merge", "-q", "--no-edit", "origin/main")
    assert repository.guard(push_environment(repository, "topic", "main")).returncode == 0


def test_an_unrelated_history_is_compared_as_a_whole(repository: Guarded) -> None:
    repository.clone_remote()
    repository.git("checkout", "-q", "--orphan", "fresh")
    past_the_guard(repository, PINS, "x")
    answer = repository.guard(push_environment(repository, "fresh"))
    assert (answer.returncode, answer.stderr.splitlines()[:-1]) == (1, ["M oracle/digests.json"])


def test_pushes_that_nothing_protects_pass(repository: Guarded) -> None:
    past_the_guard(repository, PINS, "x")
    assert repository.guard(push_environment(repository, "main")).returncode == 0
    deletion = {
        "PRE_COMMIT_REMOTE_NAME": "origin",
        "PRE_COMMIT_TO_REF": "0" * 40,
        "PRE_COMMIT_FROM_REF": "1" * 40,
    }
    assert repository.guard(deletion).returncode == 0


def test_without_a_default_branch_the_pushed_one_decides(repository: Guarded) -> None:
    repository.git("branch", "-q", "start")
    past_the_guard(repository, PINS, "x")
    known = push_environment(repository, "main", "start")
    assert repository.guard(known).returncode == 1
    assert repository.guard(known | {"PRE_COMMIT_REMOTE_NAME": "https://example.org/x.git"}).returncode == 1


def test_a_push_of_the_first_arming_passes(tmp_path: Path) -> None:
    repository = guarded(tmp_path / "repository", {**FILES, PINS: "{}"})
    repository.clone_remote()
    past_the_guard(repository, PINS, FILES[PINS])
    assert repository.guard(push_environment(repository, "main", "origin/main")).returncode == 0


# What must not matter, and what goes wrong


def test_configuration_and_environment_do_not_matter(repository: Guarded, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    program = tmp_path / "program.sh"
    program.write_text(f"#!/bin/sh\ntouch '{marker}'\nexit 1\n")
    program.chmod(0o755)
    settings = {
        "core.fsmonitor": program, "diff.external": program, "core.pager": program,
        "core.sshCommand": program,
        "core.hooksPath": tmp_path, "filter.evil.clean": program, "diff.evil.textconv": program,
        "alias.diff-index": f"!{program}",
        "diff.renames": "copies", "diff.ignoreSubmodules": "all", "diff.relative": "true",
        "diff.noprefix": "true",
        "core.quotePath": "true", "core.attributesFile": tmp_path / "attributes", "core.abbrev": "4",
        "status.renames": "true",
    }  # fmt: skip
    (tmp_path / "attributes").write_text("* filter=evil diff=evil\n")
    repository.write(PINS, "x")
    repository.git("mv", "corpus/inputs.jsonl", "src/inputs.jsonl")
    repository.git("add", "--all")
    for name, value in settings.items():
        repository.git("config", name, str(value))
        repository.git("config", "--file", str(tmp_path / "user"), name, str(value))
    hostile = {
        "GIT_CONFIG_GLOBAL": str(tmp_path / "user"), "GIT_EXTERNAL_DIFF": str(program),
        "GIT_PAGER": str(program),
        "GIT_DIFF_OPTS": "-u0", "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor'='{program}'",
        "GIT_TRACE": str(tmp_path / "trace"),
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": str(program),
        "GIT_EXEC_PATH": str(tmp_path), "LC_ALL": "de_DE.ISO-8859-1", "HOME": str(tmp_path),
        "GIT_LITERAL_PATHSPECS": "0",
    }  # fmt: skip
    answer = repository.guard(hostile, cwd=repository.root / "src")
    *listed, _ = answer.stderr.splitlines()
    assert (answer.returncode, listed) == (1, ["D corpus/inputs.jsonl", "M oracle/digests.json"])
    assert not marker.exists()
    assert not (tmp_path / "trace").exists()


def test_missing_objects_are_not_fetched(repository: Guarded, tmp_path: Path) -> None:
    marker, program = tmp_path / "ran", tmp_path / "program.sh"
    program.write_text(f"#!/bin/sh\ntouch '{marker}'\nexit 1\n")
    program.chmod(0o755)
    remote = repository.clone_remote()
    git(remote, "config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{remote}", str(partial))
    clone = Guarded(partial)
    clone.git("read-tree", "HEAD")
    submodule("oracle/sub")(clone)
    clone.git("remote", "set-url", "origin", "ssh://nowhere.invalid/x")
    clone.git("config", "core.sshCommand", str(program))
    clone.git("config", "remote.origin.uploadpack", str(program))
    answer = clone.guard()
    assert (answer.returncode, len(answer.stderr.splitlines())) == (2, 1)
    assert not marker.exists()


def test_python_path_and_modules_beside_it_do_not_matter(repository: Guarded) -> None:
    for folder in ("", "tools/"):
        repository.write(f"{folder}subprocess.py", "raise SystemExit(0)\n")
        repository.write(f"{folder}tomllib.py", "raise SystemExit(0)\n")
    shutil.copy(GUARD, repository.root / "tools/oracle_guard.py")
    repository.write(PINS, "x")
    repository.git("add", PINS)
    hook = repository.root / ".git/hooks/pre-commit"
    hook.write_text(f"#!/bin/sh\nexec '{sys.executable}' -I tools/oracle_guard.py\n")
    assert repository.attempt(*COMMIT, extra={"PYTHONPATH": str(repository.root)}).returncode == 1


@pytest.mark.parametrize(
    ("path", "text", "says"),
    [
        ("oracle/denylist.txt", "oracle/\n*.py\n", "oracle/denylist.txt:2: "),
        ("oracle/gate.toml", "[subject\n", "oracle/gate.toml "),
        ("oracle/gate.toml", "[subject]\npath = 'src'\n", "oracle/gate.toml "),
        ("oracle/gate.toml", "[subject]\npath = [1]\n", "oracle/gate.toml "),
        ("oracle/gate.toml", "subject = 1\n", "oracle/gate.toml "),
    ],
)
def test_control_files_that_cannot_be_read_are_an_error(
    tmp_path: Path, path: str, text: str, says: str
) -> None:
    repository = guarded(tmp_path / "repository", {**FILES, path: text})
    repository.write("src/app.py", "x")
    answer = repository.attempt("commit", "-q", "-a", "-m", "x")
    assert answer.returncode == 1
    direct = repository.guard({}) if not repository.git("add", "--all") else None
    assert direct is not None
    assert (direct.returncode, direct.stdout) == (2, "")
    assert direct.stderr.startswith(f"oracle-guard: {says}")
    assert direct.stderr == answer.stderr
    assert len(direct.stderr.splitlines()) == 1


def test_what_git_cannot_answer_is_an_error(repository: Guarded, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    head = repository.root / ".git/HEAD"
    broken = [
        (repository.guard(cwd=outside), "git rev-parse: "),
        (repository.guard({"PATH": str(outside)}), "git does not run"),
        (repository.guard({"PRE_COMMIT_TO_REF": "1" * 40, "PRE_COMMIT_FROM_REF": "1" * 40}), "1111"),
    ]
    for content in ("1" * 40, "garbage", "ref: refs/heads/broken"):
        (repository.root / ".git/refs/heads/broken").write_text("1" * 40 + "\n")
        head.write_text(content + "\n")
        broken.append((repository.guard(), ""))
    for answer, says in broken:
        assert (answer.returncode, answer.stdout) == (2, "")
        assert answer.stderr.startswith(f"oracle-guard: {says}")
        assert len(answer.stderr.splitlines()) == 1


def test_the_guard_is_one_small_file_of_the_standard_library() -> None:
    text = GUARD.read_text()
    imported = {
        line.split()[1].partition(".")[0]
        for line in text.splitlines()
        if line.strip().startswith(("import ", "from "))
    }
    assert imported <= sys.stdlib_module_names
    assert len(text.splitlines()) <= 350
    assert os.access(GUARD, os.R_OK)
