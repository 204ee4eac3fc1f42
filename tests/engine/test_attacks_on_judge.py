"""The judge is not what a work tree, a repository's own configuration or the caller's environment say it is."""

from __future__ import annotations

import json
import py_compile
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.engine import run_engine
from support.gate import Gate, copy_repository, run_gate
from support.gitenv import commit_all, git, git_env
from support.objects import forge, write_files
from support.patch_forms import new

HONEST = ("src/prog.sh", "esac", "esac # as before")


def packet_bytes(gate: Gate) -> bytes:
    return (gate.root / ".gate/merge_packet.json").read_bytes()


def leave_mark(marks: Path, name: str) -> str:
    """Python code that shows that it ran, and then would end the judge as content."""
    return f"import os\nopen({str(marks / name)!r}, 'w').close()\nos._exit(0)\n"


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """Whatever hostile code runs leaves a file here."""
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


def marked(marks: Path) -> list[str]:
    return sorted(path.name for path in marks.iterdir())


def script(marks: Path, name: str, then: str = "cat") -> str:
    """A program that shows that it ran; the path of an executable file."""
    path = marks.parent / f"{name}.sh"
    path.write_text(f"#!/bin/sh\ntouch '{marks / name}'\n{then}\n")
    path.chmod(0o755)
    return str(path)


def test_compiled_files_in_the_work_tree_do_not_run(quick: Gate, marks: Path, tmp_path: Path) -> None:
    """Measured: an ignored .pyc in the work tree turned a block into eligible."""
    for module in ("__init__", "__main__", "commands/main", "core/policy", "core/errors", "lanes/denylist"):
        source = tmp_path / "evil.py"
        source.write_text(leave_mark(marks, module.replace("/", ".")))
        path = quick.root / f"tools/oracle_gate/{module}.py"
        cached = path.parent / f"__pycache__/{path.stem}.{sys.implementation.cache_tag}.pyc"
        cached.parent.mkdir(exist_ok=True)
        py_compile.compile(
            str(source), str(cached), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
        )
    quick.write("corpus/data/new", "x")
    packet = quick.judge(check=1)
    assert marked(marks) == []
    subjects = {hit["subject"] for hit in packet["denylist"]["hits"]}
    assert {
        "corpus/data/new",
        f"tools/oracle_gate/core/__pycache__/policy.{sys.implementation.cache_tag}.pyc",
    } <= subjects
    # The trap works: Python itself, started in this tree, runs it.
    subprocess.run(
        [sys.executable, "-c", "import oracle_gate.core.policy"], cwd=quick.root / "tools", check=False
    )
    assert marked(marks) == ["__init__"]


def test_modules_beside_the_judge_do_not_run(quick: Gate, marks: Path, tmp_path: Path) -> None:
    names = (
        "json",
        "hashlib",
        "subprocess",
        "tempfile",
        "re",
        "contextlib",
        "tomllib",
        "argparse",
        "typing",
        "pathlib",
    )
    elsewhere = tmp_path / "elsewhere"
    for name in names:
        evil = leave_mark(marks, name)
        write_files(
            quick.root,
            {f"{folder}{name}.py": evil for folder in ("tools/", "tools/oracle_gate/", "", "src/")},
        )
        write_files(elsewhere, {f"{name}.py": evil})
    quick.write("corpus/data/new", "x")
    environment = {
        "PYTHONPATH": str(elsewhere),
        "PYTHONSTARTUP": str(elsewhere / "json.py"),
        "PYTHONINSPECT": "",
    }
    for tool in ("gate.py", "replay_gate.py"):
        words = ["judge"] if tool == "gate.py" else ["--workers", "1"]
        run_gate(quick.root / "tools" / tool, *words, check=1, env=environment)
        assert marked(marks) == []
        assert "tools/json.py" in {hit["subject"] for hit in quick.packet()["denylist"]["hits"]}
    subprocess.run([sys.executable, "-c", "import json"], cwd=quick.root / "tools", check=False)
    assert marked(marks) == ["json"]


def test_start_up_code_of_the_environment_does_not_run_under_isolation(
    quick: Gate, marks: Path, tmp_path: Path
) -> None:
    """Without -I the interpreter runs sitecustomize before any file of ours: trust it as far as its caller."""
    write_files(
        tmp_path / "site",
        {name: leave_mark(marks, name) for name in ("sitecustomize.py", "usercustomize.py")},
    )
    environment = {**git_env(), "PYTHONPATH": str(tmp_path / "site"), "PYTHONHOME": ""}
    quick.write("corpus/data/new", "x")
    done = subprocess.run(
        [sys.executable, "-I", str(quick.root / "tools/gate.py"), "judge"], env=environment, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, marked(marks)) == (1, [])
    assert "denylist.hit" in done.stdout


def test_an_engine_that_the_change_brings_does_not_judge_it(quick: Gate) -> None:
    policy = quick.root / "tools/oracle_gate/core/policy.py"
    policy.write_text(policy.read_text().replace('Rule("block"', 'Rule("inspect"'))
    git(quick.root, "switch", "--quiet", "--create", "topic")
    commit_all(quick.root, "Judge more kindly")
    packet = quick.judge(check=1)
    assert [hit["subject"] for hit in packet["denylist"]["hits"]] == ["tools/oracle_gate/core/policy.py"]


CONFIGURATION = """
[core]
\tfsmonitor = {fsmonitor}
\tpager = {pager}
\teditor = {editor}
\tsshCommand = {ssh}
\talternateRefsCommand = {alternate}
\tattributesFile = {folder}/attributes
\texcludesFile = {folder}/excludes
\thooksPath = {folder}/hooks
\tautocrlf = true
\twhitespace = trailing-space,cr-at-eol
\tignoreCase = true
\tprecomposeUnicode = true
\tquotePath = false
\tuntrackedCache = true
\tfileMode = false
[apply]
\twhitespace = fix
\tignoreWhitespace = change
[diff]
\texternal = {external}
\tnoprefix = true
\tmnemonicPrefix = true
\trenames = copies
[diff "evil"]
\ttextconv = {textconv}
[filter "evil"]
\tclean = {clean}
\tsmudge = {smudge}
\trequired = true
[merge "evil"]
\tdriver = {merge}
[credential]
\thelper = {credential}
[gpg]
\tprogram = {gpg}
[log]
\tshowSignature = true
[alias]
\trev-parse = !{hook}
\tmerge-base = !{hook}
\tcat-file = !{hook}
[i18n]
\tcommitEncoding = UTF-16
[init]
\ttemplateDir = {folder}/template
\tdefaultObjectFormat = sha256
[safe]
\tbareRepository = explicit
"""
PROGRAMS = (
    "pager",
    "editor",
    "ssh",
    "alternate",
    "external",
    "textconv",
    "clean",
    "smudge",
    "merge",
    "credential",
    "gpg",
)
HOOKS = (
    "post-index-change",
    "reference-transaction",
    "post-checkout",
    "pre-commit",
    "pre-auto-gc",
    "post-rewrite",
)


def hostile_configuration(root: Path, marks: Path) -> dict[str, str]:
    """Everything of git that names a program or changes what a file says; the environment that goes with it."""
    folder = marks.parent
    evil = {name: script(marks, name) for name in PROGRAMS}
    evil |= {"fsmonitor": script(marks, "fsmonitor", "printf '/\\0'"), "hook": script(marks, "hook")}
    text = CONFIGURATION.format(folder=folder, **evil)
    with (root / ".git/config").open("a") as file:
        file.write(text)
    attributes = "* filter=evil diff=evil merge=evil text eol=crlf ident\n"
    write_files(folder, {".gitconfig": text, "config/git/config": text, "config/git/attributes": attributes})
    write_files(folder, {"attributes": attributes, "excludes": "*\n"})
    write_files(root, {".git/info/attributes": attributes, ".git/info/exclude": "*\n"})
    for place in (root / ".git/hooks", folder / "hooks", folder / "template/hooks"):
        place.mkdir(parents=True, exist_ok=True)
        for name in HOOKS:
            shutil.copy(evil["hook"], place / name)
    return {
        "HOME": str(folder), "XDG_CONFIG_HOME": f"{folder}/config", "GIT_CONFIG_GLOBAL": f"{folder}/.gitconfig",
        "GIT_CONFIG_SYSTEM": f"{folder}/.gitconfig", "GIT_CONFIG_NOSYSTEM": "0", "GIT_ATTR_NOSYSTEM": "0",
        "GIT_EXTERNAL_DIFF": evil["external"], "GIT_PAGER": evil["pager"], "GIT_SSH_COMMAND": evil["ssh"],
        "GIT_EDITOR": evil["editor"], "GIT_ASKPASS": evil["credential"], "GIT_TEMPLATE_DIR": f"{folder}/template",
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": evil["fsmonitor"],
    }  # fmt: skip


def test_configuration_of_repository_and_user_changes_nothing_and_runs_nothing(
    quick: Gate, marks: Path
) -> None:
    quick.edit(*HONEST)
    quick.write("src/blanks.txt", "trailing \t \nand\r\n$Id$\n")
    patch = quick.root.parent / "change.patch"
    git(quick.root, "add", "--intent-to-add", "src/blanks.txt")
    patch.write_bytes(git(quick.root, "diff", "--binary", "--full-index"))
    wanted = []
    for words in ([], ["--patch", str(patch)]):
        quick.judge(*words, check=0)
        wanted.append(packet_bytes(quick))
    environment = hostile_configuration(quick.root, marks)
    for words, expected in zip(([], ["--patch", str(patch)]), wanted, strict=True):
        done = quick.run("judge", *words, check=0, env=environment)
        assert packet_bytes(quick) == expected
        assert (done.stderr, marked(marks)) == ("", [])
    # The trap works: git itself, in this repository, runs these programs.
    subprocess.run(
        ["git", "add", "src"],
        cwd=quick.root,
        env={**git_env(), **environment},
        check=False,
        capture_output=True,
    )
    assert {"clean", "fsmonitor"} <= set(marked(marks))


def test_replacements_and_grafts_change_nothing(quick: Gate) -> None:
    git(quick.root, "switch", "--quiet", "--create", "topic")
    quick.edit(*HONEST)
    head = commit_all(quick.root, "Topic")
    quick.judge(check=0)
    wanted = packet_bytes(quick)
    quick.write("oracle/denylist.txt", "nothing/\n")
    quick.edit("src/prog.sh", "a-z A-Z", "a-b A-B")
    evil = commit_all(quick.root, "Evil")
    base = git(quick.root, "rev-parse", "main").decode().strip()
    git(quick.root, "reset", "--quiet", "--hard", head)
    for path in ("", ":src/prog.sh", ":oracle/denylist.txt", "^{tree}"):
        git(quick.root, "replace", "--force", base + path, evil + path)
    write_files(quick.root, {".git/info/grafts": f"{head} {evil}\n{base} {evil}\n"})
    quick.run("judge", check=0)
    assert packet_bytes(quick) == wanted


def test_the_callers_git_variables_change_nothing(quick: Gate, tmp_path: Path) -> None:
    quick.edit(*HONEST)
    quick.judge(check=0)
    wanted = packet_bytes(quick)
    other = copy_repository(quick.root, tmp_path / "other").root
    commit_all(other, "Another repository")
    environment = {
        "GIT_DIR": str(other / ".git"), "GIT_WORK_TREE": str(other), "GIT_INDEX_FILE": str(tmp_path / "index"),
        "GIT_OBJECT_DIRECTORY": str(other / ".git/objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(other / ".git/objects"),
        "GIT_COMMON_DIR": str(other / ".git"), "GIT_NAMESPACE": "evil", "GIT_TRACE": str(tmp_path / "trace"),
        "GIT_CEILING_DIRECTORIES": str(quick.root.parent), "GIT_EXEC_PATH": str(tmp_path), "GIT_DEFAULT_HASH": "sha256",
        "GIT_GLOB_PATHSPECS": "1", "GIT_REPLACE_REF_BASE": "refs/heads/", "GIT_GRAFT_FILE": str(tmp_path / "grafts"),
        "GIT_SHALLOW_FILE": str(tmp_path / "shallow"), "GIT_DISCOVERY_ACROSS_FILESYSTEM": "0", "GIT_PREFIX": "src/",
        "GIT_CONFIG_PARAMETERS": "'core.worktree'='/nonexistent'", "GIT_REDIRECT_STDERR": str(tmp_path / "stderr"),
    }  # fmt: skip
    done = quick.run("judge", check=0, env=environment)
    assert packet_bytes(quick) == wanted
    assert done.stderr == ""
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize(
    "path",
    ["oracle/digests.json", "oracle/gate.toml", "oracle/denylist.txt", "corpus/inputs.jsonl", "corpus/data/text",
     "tools/oracle_gate/core/policy.py", "tools/oracle_gate/__main__.py", "tools/oracle_gate/commands", "oracle", "",
     "src/prog.sh"],
)  # fmt: skip
def test_a_forged_object_of_the_base_ends_in_no_verdict(quick: Gate, marks: Path, path: str) -> None:
    """Everything but fsck serves a loose object under a wrong id."""
    oid = git(quick.root, "rev-parse", f"HEAD:{path}").decode().strip()
    kind = git(quick.root, "cat-file", "-t", oid).decode().strip()
    if path.endswith(".py"):
        data = leave_mark(marks, "ran").encode()
    elif kind == "blob":
        data = git(quick.root, "cat-file", "blob", oid) + b"\n"
    else:
        data = git(quick.root, "cat-file", "tree", "HEAD:src")
    forge(quick.root, oid, kind, data)
    assert git(quick.root, "cat-file", kind, oid) == data
    done = quick.run("judge", check=2)
    assert done.stdout == ""
    assert done.stderr.startswith(f"gate: object {oid[:12]} ")
    assert "forged" in done.stderr or "tampered" in done.stderr
    assert marked(marks) == []
    assert done.stderr.count("\n") == 1
    assert not (quick.root / ".gate/merge_packet.json").exists()


def test_a_forged_commit_of_the_base_ends_in_no_verdict(quick: Gate) -> None:
    oid = git(quick.root, "rev-parse", "HEAD").decode().strip()
    data = git(quick.root, "cat-file", "commit", oid).replace(b"Arm the oracle", b"Arm another one")
    forge(quick.root, oid, "commit", data)
    done = quick.run("judge", check=2)
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)
    assert not (quick.root / ".gate/merge_packet.json").exists()


def test_another_work_tree_cannot_pose_as_this_one(quick: Gate, tmp_path: Path) -> None:
    """core.worktree would have a clean copy judged in place of the changed tree."""
    clean = copy_repository(quick.root, tmp_path / "clean").root
    quick.edit("src/prog.sh", "a-z A-Z", "a-b A-B")
    quick.judge(check=1)
    wanted = packet_bytes(quick)
    git(quick.root, "config", "core.worktree", str(clean))
    quick.judge(check=1)
    assert packet_bytes(quick) == wanted
    assert not (clean / ".gate/merge_packet.json").exists()
    git(quick.root, "config", "--unset", "core.worktree")
    git(quick.root, "config", "core.bare", "true")
    quick.judge(check=1)
    assert packet_bytes(quick) == wanted


def test_a_bare_repository_has_no_work_tree_to_judge(quick: Gate, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    git(tmp_path, "clone", "--quiet", "--bare", "--template=", str(quick.root), str(bare))
    done = quick.run("judge", "--repo", str(bare), "--base", "main", check=2)
    assert "a bare repository has no work tree" in done.stderr
    quick.edit(*HONEST)
    out = str(tmp_path / "packet.json")
    done = quick.run(
        "judge", "--repo", str(bare), "--base", "main", "--tree", str(quick.root), "--out", out, check=0
    )
    assert [change["path"] for change in json.loads(Path(out).read_bytes())["changes"]] == ["src/prog.sh"]


@pytest.mark.parametrize(
    "component", [".gate", ".gate/merge_packet.json", ".gate/results", ".gate/results/fixtures.json"]
)
def test_a_packet_is_not_written_through_a_link(quick: Gate, tmp_path: Path, component: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    shutil.rmtree(quick.root / ".gate", ignore_errors=True)
    link = quick.root / component
    link.parent.mkdir(parents=True, exist_ok=True)
    target = outside if component in (".gate", ".gate/results") else outside / "file"
    if component == ".gate/results":
        (outside / "fixtures.json").write_text("keep\n")
    else:
        (outside / "file").write_text("keep\n")
    link.symlink_to(target)
    before = {path.name: path.read_text() for path in outside.iterdir()}
    if component.endswith(
        "fixtures.json"
    ):  # a link in place of a file that is written anew: replaced, not followed
        quick.judge(check=0)
        assert link.is_file() and not link.is_symlink()
    else:
        done = quick.run("judge", check=2)
        assert done.stderr == f"gate: {link}: is a symbolic link; remove it, or name another --out\n"
    assert {path.name: path.read_text() for path in outside.iterdir()} == before


def test_out_is_not_written_through_a_link_of_its_path(quick: Gate, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    done = quick.run("judge", "--out", str(tmp_path / "link/deeper/packet.json"), check=2)
    assert "is a symbolic link" in done.stderr
    assert list((tmp_path / "real").iterdir()) == []


def test_a_packet_that_lies_there_is_neither_read_nor_kept(quick: Gate) -> None:
    quick.edit(*HONEST)
    quick.judge(check=0)
    eligible = packet_bytes(quick)
    quick.write("corpus/data/new", "x")
    assert quick.judge(check=1)["verdict"] == "block"
    (quick.root / ".gate/merge_packet.json").write_bytes(eligible)
    (quick.root / "requirements/subject.txt").write_bytes(b"\xff")
    commit_all(quick.root, "A base that cannot be read")
    quick.run("judge", check=2)
    assert not (quick.root / ".gate/merge_packet.json").exists()
    assert not (quick.root / ".gate/packet.public.json").exists()


def test_a_patch_cannot_bring_a_packet(quick: Gate) -> None:
    patch = b"--- /dev/null\n+++ b/.gate/merge_packet.json\n@@ -0,0 +1 @@\n+{}\n"
    packet = quick.judge_patch(patch, check=1)
    assert [hit["subject"] for hit in packet["denylist"]["hits"]] == [".gate/merge_packet.json"]


@pytest.mark.parametrize("name", ["merge_packet.json", "results"])
def test_something_else_in_place_of_a_packet_is_said(quick: Gate, name: str) -> None:
    place = quick.root / ".gate" / name
    place.parent.mkdir(exist_ok=True)
    if name == "results":
        place.write_text("a file\n")
    else:
        place.mkdir()
    done = quick.run("judge", check=2)
    assert done.stderr.startswith("gate: ")
    assert str(place) in done.stderr
    assert done.stderr.count("\n") == 1


def test_nothing_is_left_in_the_temporary_folder(quick: Gate, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    quick.edit("src/prog.sh", "a-z A-Z", "a-b A-B")
    quick.run("judge", check=1, env={"TMPDIR": str(temporary)})
    quick.run("judge", "--base", "nothing", check=2, env={"TMPDIR": str(temporary)})
    quick.run("nonsense", check=2, env={"TMPDIR": str(temporary)})
    assert list(temporary.iterdir()) == []


def test_byte_code_that_would_run_in_place_of_the_source_is_no_part_of_a_change(
    quick: Gate, tmp_path: Path
) -> None:
    """An unchecked .pyc is never compared with the file beside it, which everybody reads."""
    for name in ("src/__pycache__/a.cpython-311.pyc", "src/a.pyc"):
        patch = tmp_path / "change.patch"
        patch.write_bytes(new(name))
        assert run_engine(quick.root, "judge", "--patch", str(patch)).code == 1
        (reason,) = quick.packet()["reasons"]
        assert (reason["rule"], reason["subject"]) == ("intake.forbidden_entry", name)
