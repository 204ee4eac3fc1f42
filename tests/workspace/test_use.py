"""Inside a workspace: git gives nothing hidden away, ordinary work goes on, the patch gets its verdict."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from oracle_gate.core.denyrules import _ANYWHERE, _OWN
from support.baking import SCAFFOLD
from support.gate import copy_repository, run_gate
from support.gitenv import commit_all, git, git_env
from support.hosts import SEALED, SHELLS, Host, Made, run_script

MODES = ["snapshot", "sparse", "tarball"]

#: Ways to ask git for what it holds; a failure is an answer too.
COMMANDS = """\
show HEAD
show HEAD:sealed/fixtures/put_ok.bin
show base:oracle/digests.json
cat-file --batch-all-objects --batch
cat-file --batch-all-objects --batch-check
log --all --patch --stat --raw
log --walk-reflogs
reflog --all
fsck --full --lost-found --unreachable
stash list
ls-tree -r -t HEAD
ls-tree -r --full-tree base
rev-list --objects --all --reflog
rev-list --all --missing=print --objects
for-each-ref
show-ref --head
ls-files --stage --others --ignored --exclude-standard
ls-files sealed oracle corpus
ls-files -v
grep --untracked --no-index -I -n KEY=
diff HEAD
archive HEAD
format-patch --root --stdout HEAD
fast-export --all
bundle create build-x.bundle --all
clone --quiet . build-clone
fetch --all
fetch origin
ls-remote .
remote -v
config --list --show-origin
notes list
worktree list
submodule status
sparse-checkout list
sparse-checkout disable
checkout HEAD -- sealed
checkout-index --all --force
count-objects -v
verify-pack -v .git/objects/pack/*.idx
name-rev --all
describe --all --always
shortlog HEAD
whatchanged --root
repack -a -d -f
gc --prune=now
""".splitlines()


def own_copy(made: Made, folder: Path) -> Path:
    """A copy to work in; a tarball becomes a repository, as its user would make one."""
    shutil.copytree(made.folder, folder, symlinks=True)
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet", "--initial-branch=main")
        git(folder, "add", "--all", "--force")
        git(folder, "commit", "--quiet", "--message", "Workspace")
        git(folder, "tag", "base")
    return folder


@pytest.mark.parametrize("mode", MODES)
def test_no_git_command_gives_anything_hidden(
    mode: str, host: Host, made: dict[str, Made], tmp_path: Path
) -> None:
    folder = own_copy(made[mode], tmp_path / "workspace")
    words = [line for line in b"\n".join(SEALED.values()).split(b"\n") if len(line) >= 16]
    secrets = [
        *words,
        SEALED["sealed/fixtures/f_noise.bin"][64:96],
        b"put_ok",
        b"f_noise",
        b"p_one",
        b"f_late",
    ]
    hidden = git(host.root, "ls-tree", "-r", "main", "sealed", "corpus", "oracle", "tools/metamorphic.py")
    secrets += [line.split()[2] for line in hidden.splitlines()]
    assert len(secrets) > 25
    said = 0
    for command in COMMANDS:
        done = subprocess.run(
            ["sh", "-c", f"git {command}"],
            cwd=folder,
            env=git_env(),
            capture_output=True,
            check=False,
            timeout=60,
        )
        output = done.stdout + done.stderr
        for word in command.encode().split():  # complaints repeat what was asked for
            output = output.replace(word.rpartition(b":")[2], b"")
        assert [secret for secret in secrets if secret in output] == [], command
        said += done.returncode == 0
    assert said > 30
    shutil.rmtree(folder / "build-clone")  # its remote is the workspace, but a remote
    assert host.audit(folder).findings == ()


WORK = """\
git switch --quiet --create topic
printf 'VALUE = 1\\n' >src/replay_demo/extra.py
git add src && git commit --quiet --message 'One'
git switch --quiet main
printf 'Notes\\n' >NOTES.md
git add NOTES.md && git commit --quiet --message 'Two'
git merge --quiet --no-edit topic
printf 'More\\n' >>NOTES.md
git stash --quiet && git stash pop --quiet
git commit --quiet --all --amend --message 'Two, amended'
git switch --quiet topic && git rebase --quiet main
git switch --quiet main && printf 'x\\n' >x.md && git add x.md && git commit --quiet --message 'Three'
git switch --quiet topic && git cherry-pick main >/dev/null
git tag v1 && git branch --move topic done && git revert --no-edit HEAD >/dev/null
git switch --quiet main && git gc --quiet
"""


@pytest.mark.parametrize("mode", MODES)
def test_ordinary_work_is_untroubled(mode: str, host: Host, made: dict[str, Made], tmp_path: Path) -> None:
    folder = own_copy(made[mode], tmp_path / "workspace")
    done = subprocess.run(
        ["sh", "-ec", WORK], cwd=folder, env=git_env(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "oracle" not in done.stderr
    assert host.audit(folder).findings == ()


REFUSED = [
    "tools/gate.py", "oracle/digests.json", "Oracle/x", "sealed", "corpus/data/x", "noxfile.py", "MAKEFILE",
    "src/.gitattributes", ".github/workflows/x.yml", ".pre-commit-config.yaml", "tools/Metamorphic.py",
]  # fmt: skip


@pytest.mark.parametrize("path", REFUSED)
def test_hooks_refuse_human_owned_paths(path: str, workspace: Made) -> None:
    file = workspace.folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("mine\n")
    git(workspace.folder, "add", "--force", path)
    with pytest.raises(RuntimeError, match="oracle-guard: these paths belong to humans"):
        git(workspace.folder, "commit", "--message", "Touch")
    git(workspace.folder, "commit", "--quiet", "--no-verify", "--message", "Touch")
    other = workspace.folder.parent / "other.git"
    git(workspace.folder, "init", "--quiet", "--bare", str(other))
    with pytest.raises(RuntimeError, match="oracle-guard"):
        git(workspace.folder, "push", str(other), "base:refs/heads/fine", "main")
    git(workspace.folder, "push", "--quiet", str(other), "base:refs/heads/fine")


def test_hooks_see_deletions_renames_merges_and_the_projects_own_list(host: Host, tmp_path: Path) -> None:
    trusted = tmp_path / "host"
    shutil.copytree(host.root, trusted, symlinks=True)
    with (trusted / "oracle/denylist.txt").open("a") as file:
        file.write("src/replay_demo/fmt.py  \nsealed/fixtures/put_ok.bin\n")
    commit_all(trusted, "Deny more")
    folder = tmp_path / "workspace"
    run_gate(trusted / "tools/gate.py", "workspace", "create", str(folder), check=0)
    assert b"put_ok" not in (folder / ".git/oracle-guard/denylist").read_bytes()
    other = run_script("clone", str(trusted), str(tmp_path / "other"))
    assert other.returncode == 0
    for words in (
        ("rm", "CODEOWNERS"),
        ("mv", "noxfile.py", "n.py"),
        ("mv", "src/replay_demo/fmt.py", "src/f.py"),
    ):
        git(folder, "switch", "--quiet", "--create", f"b-{words[-1].replace('/', '-')}")
        git(folder, *words)
        with pytest.raises(RuntimeError, match="oracle-guard"):
            git(folder, "commit", "--message", "Move")
        git(folder, "commit", "--quiet", "--no-verify", "--message", "Move")
        git(folder, "switch", "--quiet", "main")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "Go on")
    with pytest.raises(RuntimeError, match="oracle-guard"):
        git(folder, "merge", "--no-edit", "b-n.py")


def test_hook_denies_what_the_engine_denies_unlisted() -> None:
    text = (SCAFFOLD / "tools/workspace/hook.sh").read_text()
    listed = text.split("for own in ", 1)[1].split("\ndo\n", 1)[0].replace("\\", "").split()
    assert set(listed) == set(_OWN)
    assert all(f"**/{name}'" in text for name in _ANYWHERE)


# Export


def work(folder: Path, change: Callable[[Path], None]) -> None:
    change(folder)
    git(folder, "add", "--all")
    git(
        folder,
        "commit",
        "--quiet",
        "--no-verify",
        "--message",
        "Work",
    )


def refactor(folder: Path) -> None:
    file = folder / "src/replay_demo/fmt.py"
    file.write_text(
        file.read_text().replace("argparse.ArgumentParser(", "argparse.ArgumentParser(\n        ", 1)
    )
    (folder / "tests/public/data.bin").write_bytes(bytes(range(256)) * 3)


def drift(folder: Path) -> None:
    file = folder / "src/replay_demo/sum_json.py"
    text = file.read_text()
    assert "return 2" in text
    file.write_text(text.replace("return 2", "return 3"))


HIDDEN_SOURCES = {
    "copy": "diff --git a/{path} b/src/x\nsimilarity index 100%\ncopy from {path}\ncopy to src/x\n",
    "rename": "diff --git a/{path} b/src/x\nsimilarity index 100%\nrename from {path}\nrename to src/x\n",
    "binary by id": "diff --git a/src/x b/src/x\nnew file mode 100644\nindex {zero}..{oid}\n"
    "Binary files /dev/null and b/src/x differ\n",
    "literal by id": "diff --git a/README.md b/README.md\nindex {readme}..{oid} 100644\nGIT binary patch\n"
    "literal 0\nHcmV?d00001\n\nliteral 0\nHcmV?d00001\n\n",
}


@pytest.mark.parametrize("form", HIDDEN_SOURCES)
def test_patch_cannot_fetch_hidden_bytes(form: str, armed: Path, tmp_path: Path) -> None:
    gate = copy_repository(armed, tmp_path / "repository")
    path = "corpus/data/nested.json"
    oid, readme = git(gate.root, "rev-parse", f"HEAD:{path}", "HEAD:README.md").decode().split()
    secret = (gate.root / path).read_bytes()
    patch = HIDDEN_SOURCES[form].format(path=path, oid=oid, readme=readme, zero="0" * 40)
    file = tmp_path / "x.patch"
    file.write_text(patch)
    done = gate.run("judge", "--patch", str(file), check=1)
    packet = gate.packet()
    assert packet["verdict"] == "block"
    rule = "denylist.hit" if form in ("copy", "rename") else "intake.rejected"
    assert rule in {reason["rule"] for reason in packet["reasons"]}
    written = [done.stdout.encode(), done.stderr.encode()]
    written += [
        f.read_bytes() for f in (gate.root / ".gate").rglob("*") if f.is_file() and "env" not in f.parts
    ]
    assert not [data for data in written if secret.strip() in data]


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_export_the_same_patch(shell: str, workspace: Made, tmp_path: Path) -> None:
    odd = tmp_path / 'it\'s a "path"\nof two lines'
    odd.mkdir()
    folder = odd / "-w"
    shutil.copytree(workspace.folder, folder)
    work(folder, refactor)
    work(folder, drift)
    git(folder, "config", "diff.noprefix", "true")
    git(folder, "config", "format.attach", "true")
    words = ["--expect-commit", workspace.pins["snapshot"]]
    done = run_script("export", *words, str(folder), str(odd / "out"), shell=SHELLS[shell])
    assert (done.returncode, done.stderr) == (0, "")
    gate = run_gate(
        folder / "tools/gate.py",
        "workspace",
        "export",
        str(folder),
        *words,
        "--out",
        str(odd / "ours"),
        check=0,
    )
    assert done.stdout.split()[:6] == gate.stdout.split()[:6]
    for form in ("mbox", "diff"):
        assert (odd / f"out.{form}").read_bytes() == (odd / f"ours.{form}").read_bytes()
    assert (odd / "out.mbox").read_bytes().count(b"\nFrom: Test Author") == 2
    git(folder, "switch", "--quiet", "--detach", "base")
    git(folder, "am", "--quiet", str(odd / "out.mbox"))
    assert git(folder, "diff", "main") == b""


def merged(folder: Path) -> None:
    git(folder, "switch", "--quiet", "--create", "side")
    work(folder, drift)
    git(folder, "switch", "--quiet", "main")
    work(folder, refactor)
    git(folder, "merge", "--quiet", "--no-edit", "side")
    (folder / "NOTES").write_text("in the merge alone\n")
    git(folder, "add", "NOTES")
    git(folder, "commit", "--quiet", "--amend", "--no-edit")


def amended_root(folder: Path) -> None:
    refactor(folder)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--amend", "--message", "As if it had always been so")


@pytest.mark.parametrize("history", [merged, amended_root])
def test_history_of_another_form_is_one_mail(
    history: Callable[[Path], None], workspace: Made, tmp_path: Path
) -> None:
    folder = workspace.folder
    history(folder)
    run_gate(
        folder / "tools/gate.py",
        "workspace",
        "export",
        str(folder),
        "--base",
        "base",
        "--out",
        str(tmp_path / "one"),
        check=0,
    )
    assert run_script("export", str(folder), str(tmp_path / "two")).returncode == 0
    for name in ("one.mbox", "one.diff", "two.mbox", "two.diff"):
        git(folder, "checkout", "--quiet", "--detach", "base")
        git(folder, "apply", "--index", str(tmp_path / name))
        assert git(folder, "diff", "--cached", "main") == b""
        git(folder, "reset", "--quiet", "--hard")
        assert (tmp_path / name).read_bytes().count(b"\nFrom: ") == name.endswith("mbox")


def nothing(folder: Path) -> None: ...


def uncommitted(folder: Path) -> None:
    work(folder, drift)
    (folder / "src/new.py").write_text("forgotten\n")


@pytest.mark.parametrize(
    ("state", "words"), [(nothing, "nothing was changed"), (uncommitted, "differ from the last commit")]
)
def test_export_refuses(state: Callable[[Path], None], words: str, workspace: Made, tmp_path: Path) -> None:
    state(workspace.folder)
    out = str(tmp_path / "out")
    ours = run_gate(
        workspace.folder / "tools/gate.py",
        "workspace",
        "export",
        str(workspace.folder),
        "--out",
        out,
        check=2,
    )
    theirs = run_script("export", str(workspace.folder), out)
    assert theirs.returncode == 2
    for done in (ours, theirs):
        assert words in done.stderr
        assert done.stderr.count("\n") == 1
    assert not list(tmp_path.glob("out*"))
