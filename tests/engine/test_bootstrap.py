"""The bootstrap: which commit it takes for the base, what it exports of it, and what it says when it cannot."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.baking import SCAFFOLD
from support.gate import Gate, copy_repository, run_gate
from support.gitenv import commit_all, git, git_env, make_repository
from support.objects import write_files
from support.quick import make_quick, record

SCRIPT = SCAFFOLD / "tools/gate.py"
#: Asks the bootstrap's own code, in an isolated interpreter, without becoming the engine.
PROBE = """
import json, pathlib, sys, tempfile
script, root, folder, *words = sys.argv[1:]
source = pathlib.Path(script).read_text()
gate = {"__file__": script, "__name__": "probe"}
exec(compile(source[: source.rindex("\\ntry:\\n")], script, "exec"), gate)
sys.argv = ["gate.py", *words]
with tempfile.TemporaryDirectory() as store:
    repository = gate["Repository"](pathlib.Path(root), pathlib.Path(store, "store.git"))
    base, found = repository.find_base(dict(zip(words, words[1:])).get("--base", ""))
    if folder:
        repository.export(repository.find(base, "tools/", "oracle_gate/"), pathlib.Path(folder))
    print(json.dumps([str(repository.root), base, found]))
"""


def probe(root: Path, *words: str, export: Path | None = None) -> tuple[int, list[Any], str]:
    """Exit code, [root, base, how it was found], and stderr."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", PROBE, str(SCRIPT), str(root), str(export or ""), *(words or ("judge",))],
        env=git_env(), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, json.loads(done.stdout or "[]"), done.stderr


def commit(root: Path, name: str) -> str:
    (root / "f").write_text(name)
    return commit_all(root, name)


def branch(root: Path, *names: str) -> None:
    for name in names:
        git(root, "branch", "--force", name)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository on the branch topic, its only one, two commits."""
    path = make_repository(tmp_path / "r")
    commit(path, "first")
    git(path, "branch", "--move", "topic")
    commit(path, "second")
    return path


def rev(root: Path, name: str) -> str:
    return git(root, "rev-parse", name + "^{commit}").decode().strip()


def test_it_stays_small_and_imports_nothing_before_it_is_isolated() -> None:
    source = SCRIPT.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 120
    tree = ast.parse(source)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in imports if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names
    guard = next(node.lineno for node in tree.body if isinstance(node, ast.If))
    before = [alias.name for node in imports if node.lineno < guard for alias in node.names]
    assert sorted(before) == ["os", "sys"]  # loaded before the script's folder is importable


def test_the_base_is_the_only_branch_else_a_usual_one(root: Path) -> None:
    assert probe(root)[1] == [str(root), rev(root, "HEAD"), "merge base with refs/heads/topic"]
    base = rev(root, "HEAD~1")
    for name in ("trunk", "master", "main"):  # each before those that were there already
        git(root, "branch", name, base)
        assert probe(root)[1][1:] == [base, f"merge base with refs/heads/{name}"]
    git(root, "update-ref", "refs/remotes/origin/trunk", base)
    assert probe(root)[1][2] == "merge base with refs/remotes/origin/trunk"
    git(root, "update-ref", "refs/remotes/origin/other", base)
    git(root, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/other")
    assert probe(root)[1][2] == "merge base with refs/remotes/origin/HEAD"


def test_the_base_is_where_the_branch_left(root: Path) -> None:
    git(root, "branch", "main", "HEAD~1")
    git(root, "switch", "--quiet", "main")
    commit(root, "main moved on")
    git(root, "switch", "--quiet", "topic")
    assert probe(root)[1][1] == rev(root, "topic~1")


def test_two_unusual_branches_need_a_name(root: Path) -> None:
    branch(root, "a/b")
    code, _, said = probe(root)
    assert (code, said) == (2, "gate: no base: no origin/HEAD, main, master or trunk here; pass --base REF\n")
    write_files(root, {"oracle/gate.toml": '[base]\nref = "a/b"\n'})
    commit_all(root, "Name it")
    assert probe(root)[1][1:] == [rev(root, "a/b"), "merge base with a/b"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('[base]\nref = "absent"\n', "gate: no base: no absent here; pass --base REF\n"),
        ('[base]\nref = "--all"\n', "gate: no base: no --all here; pass --base REF\n"),
        ("[base]\nref = 3\n", None), ("base = 1\n", None), ("[[[", None), ("\ufeff", None), ("[" * 99999, None),
        ('[base]\nref = ""\n', None),
    ],
)  # fmt: skip
def test_a_bad_setting_is_the_engines_to_complain_of(root: Path, settings: str, said: str | None) -> None:
    write_files(root, {"oracle/gate.toml": settings})
    commit_all(root, "Settings")
    code, found, stderr = probe(root)
    assert (code, stderr) == ((0, "") if said is None else (2, said))
    if said is None:
        assert found[2] == "merge base with refs/heads/topic"


def test_a_named_base(root: Path) -> None:
    git(root, "tag", "-a", "-m", "x", "v1", "HEAD~1")
    first = rev(root, "HEAD~1")
    for name in (first, first[:9], "HEAD~1", "v1", "topic^"):
        assert probe(root, "judge", "--base", name)[1][1:] == [first, f"--base {name}"]
    for name in ("absent", "HEAD:f", "--exec=x", "topic..HEAD", "0" * 40):
        code, _, said = probe(root, "judge", "--base", name)
        assert (code, said) == (2, f"gate: --base {name}: no such commit; fetch it\n")


def test_record_and_seal_start_from_head(root: Path) -> None:
    git(root, "branch", "main", "HEAD~1")
    for command in ("record", "seal"):
        assert probe(root, command)[1][1:] == [rev(root, "HEAD"), "HEAD"]


def test_histories_that_share_nothing_have_no_base(root: Path) -> None:
    git(root, "switch", "--quiet", "--orphan", "main")
    commit(root, "other root")
    git(root, "switch", "--quiet", "topic")
    code, _, said = probe(root)
    assert (code, said) == (2, "gate: HEAD and refs/heads/main share no commit; pass --base\n")


def test_only_plain_modules_of_the_base_are_exported(root: Path, tmp_path: Path) -> None:
    """No compiled file, no odd name, nothing behind a link; the work tree's own files do not matter."""
    folder = "tools/oracle_gate"
    write_files(root, {f"{folder}/{name}": name for name in (
        "__init__.py", "core/a.py", "schemas/packet.schema.json", "core/b.pyc", "core/x.pth", "core/evil.so",
        "a-b/c.py", "core/__pycache__/a.cpython-311.pyc", "core/sitecustomize.py.txt", "core/.hidden.py",
    )})  # fmt: skip
    (root / folder / "core/link.py").symlink_to("/etc/passwd")
    commit_all(root, "Engine")
    write_files(root, {f"{folder}/core/a.py": "changed", f"{folder}/core/untracked.py": "new"})
    export = tmp_path / "export"
    assert probe(root, "judge", "--base", "HEAD", export=export)[0] == 0
    found = {
        path.relative_to(export).as_posix(): path.read_text() for path in export.rglob("*") if path.is_file()
    }
    assert found.pop("core/link.py") == "/etc/passwd"  # the link's text, not what it leads to
    assert not (export / "core/link.py").is_symlink()
    assert found == {name: name for name in ("__init__.py", "core/a.py", "schemas/packet.schema.json")}


def test_what_cannot_be_judged_is_one_line(tmp_path: Path, root: Path) -> None:
    empty = make_repository(tmp_path / "empty")
    broken = tmp_path / "broken"
    (broken / ".git").mkdir(parents=True)
    file = tmp_path / "file"
    file.touch()
    plain = tmp_path / "plain"
    plain.mkdir()
    for words, said in (
        ((str(plain),), "not a git repository; run `git init` and commit"),
        ((str(broken),), "not a git repository; run `git init` and commit"),
        ((str(empty),), "no readable commit; commit the scaffold, or run `git fsck`"),
        ((str(tmp_path / "absent"),), "absent"),
        ((str(file),), "file"),
        ((str(root), "--base", "absent"), "--base absent: no such commit; fetch it"),
        ((str(root),), "has no engine; pass --base REF"),
    ):
        done = run_gate(SCRIPT, "judge", "--repo", *words, check=2)
        assert done.stdout == ""
        assert done.stderr.startswith("gate: ")
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
        again = run_gate(SCRIPT, "judge", *(f"--repo={words[0]}", *words[1:]), check=2)
        assert again.stderr == done.stderr


def test_no_git_on_path_is_one_line(root: Path, tmp_path: Path) -> None:
    done = run_gate(SCRIPT, "judge", "--repo", str(root), check=2, env={"PATH": str(tmp_path)})
    assert done.stderr.startswith("gate: ")
    assert done.stderr.count("\n") == 1


def test_trust_is_protected_from_outside_with_a_full_id_alone(quick: Gate, tmp_path: Path) -> None:
    host = tmp_path / "host"
    shutil.copytree(quick.root / "tools", host / "tools")
    base = rev(quick.root, "main")
    repo = ("judge", "--repo", str(quick.root))
    for script, words, trust in (
        (host / "tools/gate.py", (*repo, "--base", base), "protected"),
        (host / "tools/gate.py", (*repo, "--base", "main"), "local"),
        (quick.root / "tools/gate.py", (*repo, "--base", base), "local"),
    ):
        run_gate(script, *words, check=0)
        assert quick.packet()["trust"] == trust
        assert quick.packet()["parent_sha"] == base


def test_a_protected_judgement_takes_no_environment_from_the_judged_repository(
    quick: Gate, tmp_path: Path
) -> None:
    """Git ignores .gate: whoever wrote the change could have put modules there."""
    quick.edit("oracle/gate.toml", f'python = "{sys.executable}"', 'python = ""')
    base = commit_all(quick.root, "The pinned environment")
    host = tmp_path / "host"
    shutil.copytree(quick.root / "tools", host / "tools")
    requirements = (quick.root / "requirements/subject.txt").read_bytes()
    planted = quick.root / ".gate/env" / hashlib.sha256(requirements).hexdigest()
    (planted / "bin").mkdir(parents=True)
    (planted / "bin/python").symlink_to(sys.executable)
    (planted / ".complete").touch()
    run_gate(quick.root / "tools/gate.py", "judge", "--base", base, check=0)
    words = ("judge", "--repo", str(quick.root), "--base", base)
    done = run_gate(host / "tools/gate.py", *words, check=2)
    assert f"{host}/.gate/env/" in done.stderr
    assert "is not built" in done.stderr


@pytest.mark.parametrize("name", ['sp ace "q" \u00e9', "new\nline", os.fsdecode(b"latin-\xe9"), "-dash"])
def test_a_repository_of_any_name_is_judged(quick_source: Path, tmp_path: Path, name: str) -> None:
    place = copy_repository(quick_source, tmp_path / name / "r")
    place.edit("src/prog.sh", "a-z A-Z", "a-b A-B")
    done = place.run("judge", check=1, env={"LC_ALL": "C", "LANG": "C"})
    assert "replay.drift" in done.stdout
    done = place.run("judge", "--json", check=1, env={"LC_ALL": "POSIX"})
    assert json.loads(done.stdout)["verdict"] == "block"


def test_a_sha256_repository_is_armed_and_judged(tmp_path: Path) -> None:
    root = tmp_path / "r"
    root.mkdir()
    git(root, "init", "--quiet", "--object-format=sha256", "--initial-branch=main", "--template=")
    place = make_quick(root)
    record(place)
    place.edit("src/prog.sh", "esac", "esac #")
    patch = place.cut_patch()
    packet = place.judge_patch(patch, check=0)
    assert re.fullmatch("[0-9a-f]{64}", packet["parent_sha"])
    assert packet["verdict"] == "eligible"


def test_a_linked_work_tree_and_a_shallow_clone_are_judged(quick: Gate, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(quick.root, "worktree", "add", "--quiet", "--detach", str(linked))
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{quick.root}", str(shallow))
    git(shallow, "switch", "--quiet", "--create", "topic")
    commit_all(shallow, "Beyond the border")
    for place in (Gate(linked), Gate(shallow)):
        place.edit("src/prog.sh", "a-z A-Z", "a-b A-B")
        assert place.judge(check=1)["verdict"] == "block"
    assert not (quick.root / ".gate/merge_packet.json").exists()
