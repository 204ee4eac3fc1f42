"""`workspace create` and clone.sh: the same workspace, with nothing hidden in it, or no workspace at all."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from oracle_gate.commands.main import COMMANDS, WITHOUT_ORACLE
from support.engine import run_engine
from support.gate import run_gate
from support.gitenv import commit_all, git, git_env
from support.hosts import SEALED, SHELLS, Host, Made, run_script
from support.trees import contents

ODD = "a folder with 'quotes\" and\na new line"


def copy(host: Host, folder: Path) -> Host:
    shutil.copytree(host.root, folder, symlinks=True)
    return Host(folder)


def create(host: Host, *words: str, check: int = 0) -> subprocess.CompletedProcess[str]:
    return run_gate(host.root / "tools/gate.py", "workspace", "create", *words, check=check)


def objects(folder: Path) -> set[str]:
    form = "--batch-check=%(objectname)"
    return set(git(folder, "cat-file", "--batch-all-objects", form).decode().split())


@pytest.mark.parametrize("mode", ["snapshot", "sparse"])
def test_workspace_holds_one_commit_of_the_view(mode: str, host: Host, made: dict[str, Made]) -> None:
    folder, pins = made[mode].folder, made[mode].pins
    assert pins["base"] == host.base
    assert git(folder, "rev-parse", "HEAD", "HEAD^{tree}", "base").decode().split() == [
        pins["snapshot"], pins["tree"], pins["snapshot"],
    ]  # fmt: skip
    assert len(objects(folder) - objects(host.root)) == 3, "the commit and two folders that lost something"
    visible = git(folder, "ls-tree", "-r", "HEAD")
    assert set(visible.splitlines()) < set(git(host.root, "ls-tree", "-r", "main").splitlines())
    assert not [line for line in visible.splitlines() if b"\tsealed/" in line or b"metamorphic" in line]
    assert git(folder, "status", "--porcelain", "--ignored") == b""
    assert git(folder, "fsck", "--full", "--strict", "--lost-found") == b""


def test_tarball_holds_the_same_files(made: dict[str, Made]) -> None:
    snapshot = {k: v for k, v in contents(made["snapshot"].folder).items() if not k.startswith(".git/")}
    assert contents(made["tarball"].folder) == snapshot
    assert os.access(made["tarball"].folder / "tools/workspace/clone.sh", os.X_OK)
    assert made["tarball"].pins == made["snapshot"].pins


def test_tarball_is_reproducible(host: Host, tmp_path: Path) -> None:
    for name in ("one", "two"):
        create(host, str(tmp_path / name), "--mode", "tarball")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_three_checks_of_the_article_hold_word_for_word(made: dict[str, Made]) -> None:
    checks = """\
test ! -e sealed && echo "sealed absent" || echo "ORACLE LEAK"

git sparse-checkout list
git ls-files sealed | wc -l
"""
    folder = made["sparse"].folder
    done = subprocess.run(
        ["sh", "-c", checks], cwd=folder, env=git_env(), capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert (lines[0], lines[-1].strip(), done.stderr) == ("sealed absent", "0", "")
    assert lines[1:-1] == ["/*", "!/oracle", "!/corpus", "!/sealed", "!/tools/metamorphic.py"]


#: What else a command wants.
WORDS = {
    "audit": ["."],
    "approve": ["--packet", "p", "--note", "n"],
    "ci": ["replay"],
    "record": ["--print-digest"],
}


@pytest.mark.parametrize("mode", ["snapshot", "sparse", "tarball"])
def test_gate_inside_says_that_there_is_no_oracle(mode: str, made: dict[str, Made], tmp_path: Path) -> None:
    folder = made[mode].folder
    if mode == "tarball":
        folder = tmp_path / "own"
        shutil.copytree(made[mode].folder, folder)
        git(folder, "init", "--quiet", "--initial-branch=main")
        commit_all(folder, "As unpacked")
    for command in COMMANDS.keys() - WITHOUT_ORACLE:
        inside = run_engine(folder, command, *WORDS.get(command, ()))
        assert (inside.code, inside.stdout) == (2, ""), command
        assert inside.stderr.startswith("gate: this is a generator workspace: no oracle here; "), command
        assert inside.stderr.count("\n") == 1
    for words in (["gate.py", "judge"], ["replay_gate.py", "--patch", "x"], ["replay_harness.py"]):
        done = run_gate(folder / "tools" / words[0], *words[1:], check=2)
        assert (done.stdout, done.stderr) == ("", inside.stderr), words


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("mode", ["snapshot", "sparse"])
def test_clone_sh_makes_the_same_workspace(
    shell: str, mode: str, host: Host, made: dict[str, Made], tmp_path: Path
) -> None:
    (tmp_path / ODD).mkdir()
    trusted = copy(host, tmp_path / ODD / "-trusted 'host'")
    dest = tmp_path / ODD / "the work\nspace "
    done = run_script("clone", "--mode", mode, str(trusted.root), str(dest), shell=SHELLS[shell])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "".join(f"{name} {oid}\n" for name, oid in made[mode].pins.items())
    theirs, ours = contents(made[mode].folder), contents(dest)
    machine = {".git/index", ".git/config"} | {
        name for name in (*theirs, *ours) if name.startswith(".git/objects/")
    }
    assert {k: v for k, v in ours.items() if k not in machine} == {
        k: v for k, v in theirs.items() if k not in machine
    }
    assert host.audit(dest).findings == ()
    checked = run_script(
        "verify", "--expect-commit", made[mode].pins["snapshot"], str(dest), shell=SHELLS[shell]
    )
    assert (checked.returncode, checked.stderr) == (0, ""), checked.stdout
    assert set((tmp_path / ODD).iterdir()) == {dest, trusted.root}


ODD_FILES = [
    "src/two\nlines.txt",
    "src/q\"uote's.txt",
    " lead.txt",
    "src/a b  c.txt",
    "src/t\tab.txt",
    "src/caf\u00e9",
    "-d",
]


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_take_files_of_any_name(shell: str, host: Host, tmp_path: Path) -> None:
    trusted = add_files(copy(host, tmp_path / "host"), {name: name.encode() for name in ODD_FILES})
    folder, words = tmp_path / ODD, SHELLS[shell]
    made = run_script("clone", str(trusted.root), str(folder), shell=words)
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout == create(trusted, str(tmp_path / "ours")).stdout
    pin = made.stdout.split()[3]
    checked = run_script("verify", "--expect-commit", pin, str(folder), shell=words)
    assert (checked.returncode, checked.stderr) == (0, ""), checked.stdout
    for name in ODD_FILES:
        (folder / name).write_bytes(b"worked on\n")
    git(folder, "commit", "--quiet", "--all", "--message", "Work")
    out = tmp_path / "out of\nhere"
    done = run_script("export", "--expect-commit", pin, str(folder), str(out), shell=words)
    assert (done.returncode, done.stderr) == (0, "")
    git(trusted.root, "apply", "--index", f"{out}.diff")
    assert git(trusted.root, "diff", "--cached", "--name-only", "-z").decode().split("\0")[:-1] == sorted(
        ODD_FILES
    )


@pytest.mark.parametrize("shell", SHELLS)
def test_the_hook_is_a_script_for_any_shell(shell: str, workspace: Made) -> None:
    folder = workspace.folder
    (folder / "oracle").mkdir()
    for name in ("src/fine\nfile", "oracle/new 'x\ny"):
        (folder / name).write_text("x\n")
        git(folder, "add", "--all", "--force")
        command = [*SHELLS[shell], str(folder / ".git/hooks/pre-commit")]
        done = subprocess.run(command, cwd=folder, env=git_env(), capture_output=True, text=True, check=False)
        if name.startswith("src"):
            assert (done.returncode, done.stderr) == (0, "")
    assert done.returncode == 1
    assert done.stderr.startswith('"oracle/new \'x\\ny"\noracle-guard: these paths belong to humans')


def add_files(host: Host, files: dict[str, bytes], settings: str = "") -> Host:
    for name, data in files.items():
        (host.root / name).parent.mkdir(parents=True, exist_ok=True)
        (host.root / name).write_bytes(data)
    if settings:
        file = host.root / "oracle/gate.toml"
        old = 'hidden = ["oracle", "corpus", "sealed", "tools/metamorphic.py"]\n'
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, settings))
    git(host.root, "add", "--all", "--force")
    commit_all(host.root, "More")
    return host


HIDDEN_NAMES = [
    "Sealed/x",
    "ORACLE/x",
    "tools/Metamorphic.py",
    "\uff53ealed/x",
    "sealed./x",
    "sea\u200bled/x",
]


@pytest.mark.parametrize("name", HIDDEN_NAMES)
def test_other_spellings_of_a_hidden_name_are_hidden_too(name: str, host: Host, tmp_path: Path) -> None:
    trusted = add_files(copy(host, tmp_path / "host"), {name: SEALED["sealed/fixtures/put_ok.bin"]})
    create(trusted, str(tmp_path / "workspace"))
    assert not (tmp_path / "workspace" / name).exists()
    assert trusted.audit(tmp_path / "workspace").findings == ()
    done = run_script("clone", str(trusted.root), str(tmp_path / "other"))
    if name.isascii() and "." not in name.split("/")[0]:
        assert (done.returncode, done.stderr) == (0, "")
        assert not (tmp_path / "other" / name).exists()
    else:  # git cannot fold these: clone.sh says so and makes nothing
        assert done.returncode == 2
        assert "use gate.py workspace create" in done.stderr
        assert not (tmp_path / "other").exists()


FORMS = {
    'hidden = ["secret", "oracle", "corpus", "sealed/", "tools/metamorphic.py"]\n': True,
    'hidden = [\n  "secret", "oracle", "corpus", "sealed", "tools/metamorphic.py"]\n': False,
    'hidden = [\'secret\', "oracle", "corpus", "sealed"]\n': False,
}


@pytest.mark.parametrize("settings", FORMS)
def test_clone_sh_reads_hidden_paths_or_refuses(settings: str, host: Host, tmp_path: Path) -> None:
    trusted = add_files(copy(host, tmp_path / "host"), {"secret/x": b"not for the generator"}, settings)
    done = run_script("clone", str(trusted.root), str(tmp_path / "workspace"))
    if FORMS[settings]:
        assert done.returncode == 0, done.stderr
        assert not (tmp_path / "workspace/secret").exists()
        assert done.stdout == create(trusted, str(tmp_path / "other")).stdout
    else:
        assert done.returncode == 2
        assert "pass --hidden FILE" in done.stderr
        hidden = tmp_path / "hidden"
        hidden.write_text("# ours\nsecret/\noracle\ncorpus\nsealed\n")
        again = run_script("clone", "--hidden", str(hidden), str(trusted.root), str(tmp_path / "workspace"))
        assert again.returncode == 0, again.stderr
        assert not (tmp_path / "workspace/secret").exists()
        assert not (tmp_path / "workspace/sealed").exists()


def outward_links(root: Path) -> None:
    (root / "up").symlink_to("../elsewhere")
    (root / "to-hidden").symlink_to("sealed/fixtures")
    (root / "to-link").symlink_to("to-hidden")
    (root / "inside").symlink_to("src")


def submodule(root: Path) -> None:
    oid = git(root, "rev-parse", "HEAD").decode().strip()
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{oid},vendor")


@pytest.mark.parametrize("change", [outward_links, submodule])
def test_what_leads_outside_is_left_out(change: Callable[[Path], None], host: Host, tmp_path: Path) -> None:
    trusted = copy(host, tmp_path / "host")
    change(trusted.root)
    if change is outward_links:
        git(trusted.root, "add", "up", "to-hidden", "to-link", "inside")
    git(trusted.root, "commit", "--quiet", "--message", "Lead outside")
    create(trusted, str(tmp_path / "workspace"))
    listed = git(tmp_path / "workspace", "ls-files").decode().split()
    assert not {"up", "to-hidden", "to-link", "vendor"} & set(listed)
    assert ("inside" in listed) == (change is outward_links)
    assert trusted.audit(tmp_path / "workspace").findings == ()
    refused = run_script("clone", str(trusted.root), str(tmp_path / "other"))
    assert refused.returncode == 2
    assert "links or submodules" in refused.stderr


def test_attributes_do_not_change_the_bytes(host: Host, tmp_path: Path) -> None:
    attributes = b"*.win text eol=crlf\n*.id ident\n*.gone export-ignore\n"
    files = {"a.win": b"one\ntwo\n", "b.id": b"$Id$\n", "c.gone": b"here\n"}
    trusted = add_files(
        copy(host, tmp_path / "host"),
        {"src/.gitattributes": attributes, **{f"src/{n}": d for n, d in files.items()}},
    )
    pins = create(trusted, str(tmp_path / "one")).stdout
    create(trusted, str(tmp_path / "two"), "--mode", "tarball")
    assert run_script("clone", str(trusted.root), str(tmp_path / "three")).stdout == pins
    subprocess.run(["tar", "-xzf", tmp_path / "two", "-C", tmp_path], check=True)
    for folder in ("one", "three", "workspace"):
        for name, data in files.items():
            assert (tmp_path / folder / "src" / name).read_bytes() == data
    assert git(tmp_path / "one", "status", "--porcelain") == b""


def forge(root: Path) -> None:
    """A loose object whose content is not what its name says."""
    one, two = git(root, "rev-parse", "main:README.md", "main:LICENSE").decode().split()
    places = [root / ".git/objects" / oid[:2] / oid[2:] for oid in (one, two)]
    places[0].chmod(0o644)
    places[0].write_bytes(places[1].read_bytes())


def lose(root: Path) -> None:
    oid = git(root, "rev-parse", "main:README.md").decode().strip()
    (root / ".git/objects" / oid[:2] / oid[2:]).unlink()


@pytest.mark.parametrize("harm", [forge, lose])
def test_damaged_repository_gives_no_workspace(
    harm: Callable[[Path], None], host: Host, tmp_path: Path
) -> None:
    trusted = copy(host, tmp_path / "host")
    harm(trusted.root)
    (tmp_path / "out").mkdir()
    failed = create(trusted, str(tmp_path / "out/workspace"), check=2)
    assert failed.stderr.startswith("gate: ")
    assert failed.stderr.count("\n") == 1
    assert run_script("clone", str(trusted.root), str(tmp_path / "out/other")).returncode
    assert list((tmp_path / "out").iterdir()) == []


def test_destination_must_be_new_and_outside(host: Host, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    (tmp_path / "dangling").symlink_to("nowhere")
    for place in (
        tmp_path / "file",
        tmp_path,
        tmp_path / "dangling",
        host.root / "w",
        tmp_path / "no/such",
        host.root / ".git/w",
    ):
        for done in (create(host, str(place), check=2), run_script("clone", str(host.root), str(place))):
            assert done.returncode == 2
            assert done.stderr.count("\n") == 1
    assert (tmp_path / "file").read_text() == "kept"
    assert git(host.root, "status", "--porcelain") == b""


def test_sha256_repository(host: Host, tmp_path: Path) -> None:
    trusted = tmp_path / "host"
    shutil.copytree(host.root, trusted, ignore=shutil.ignore_patterns(".git"))
    git(trusted, "init", "--quiet", "--initial-branch=main", "--object-format=sha256")
    commit_all(trusted, "All")
    pins = create(Host(trusted), str(tmp_path / "one")).stdout
    assert run_script("clone", str(trusted), str(tmp_path / "two")).stdout == pins
    snapshot = pins.split()[3]
    assert len(snapshot) == 64
    assert Host(trusted).audit(tmp_path / "one").findings == ()
    (tmp_path / "two/src/x").write_bytes(SEALED["sealed/fixtures/f_noise.bin"])
    git(tmp_path / "two", "add", "src/x")
    assert Host(trusted).audit(tmp_path / "two").findings
    assert run_script("verify", "--expect-commit", snapshot, str(tmp_path / "one")).returncode == 0
    assert run_script("verify", "--expect-commit", snapshot, str(tmp_path / "two")).returncode == 1


def test_restrictive_umask_and_foreign_variables(host: Host, made: dict[str, Made], tmp_path: Path) -> None:
    script = host.root / "tools/workspace/clone.sh"
    program = f'umask 077; exec sh "$0" "$1" "{tmp_path}/w"'
    env = git_env() | {
        "GIT_DIR": "/nonexistent",
        "GIT_INDEX_FILE": "/nonexistent",
        "CDPATH": "/",
        "LC_ALL": "de_DE.UTF-8",
    }
    done = subprocess.run(
        ["sh", "-c", program, script, host.root], env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert made["snapshot"].pins["snapshot"] in done.stdout
