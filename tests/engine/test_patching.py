"""Patches of every form against a private view: what they touch, what is refused, and that nothing hidden leaks."""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from oracle_gate.core.denyrules import always_denied
from oracle_gate.core.patching import apply_patch, submit_patch
from oracle_gate.core.patchscan import PatchScan, Problem
from oracle_gate.core.settings import Limits, Settings
from oracle_gate.core.submission import Change
from support.gitenv import git
from support.objects import opened, repository
from support.patch_forms import binary, delete, edit, mailbox, mode, move, new

SECRET = b"SECRET-BYTES"
CORE = "def f(x):\n    return x\n\n\ndef g():\n    return 1\n"
FILES: dict[str, bytes | str] = {
    "src/app/core.py": CORE,
    "src/app/b.py": "y = 2\n",
    "src/app/__init__.py": "",
    "src/app/crlf.txt": "a\r\nb\r\n",
    "src/app/no_newline.txt": "last line",
    "src/app/sp ace.txt": "x\n",
    "src/caf\u00e9.txt": "x\n",
    "src/app/data.bin": bytes(range(256)) * 4,
    "setup.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
    "oracle/quarantine.json": b'{"a": "' + SECRET + b'"}\n',
    "oracle/denylist.txt": "oracle/\ncorpus/\nsealed/\ntools/\n",
    "corpus/inputs.jsonl": SECRET + b" rows\n",
    "sealed/fixtures/ok.bin": SECRET + b"\0fixture",
    "tools/metamorphic.py": b"# " + SECRET + b" relations\n",
    "tools/gate.py": "# bootstrap\n",
}


@dataclass(frozen=True)
class Form:
    """A patch and what must come of it: the net changes, the rule that refuses it, the denied paths it touches."""

    patch: bytes
    changes: dict[str, str] | None = None
    rule: str = ""
    denied: tuple[str, ...] = ()


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("patching") / "r"
    repository(path, FILES)
    return path


OCTAL = "src/caf\\303\\251"
FORMS: dict[str, Form] = {
    "new file": Form(new("src/n.py"), {"src/n.py": "A"}),
    "edit": Form(edit("src/app/b.py", "y = 2", "y = 3"), {"src/app/b.py": "M"}),
    "edit, no git header": Form(edit("src/app/b.py", "y = 2", "y = 3", "Index: b.py"), {"src/app/b.py": "M"}),
    "edit of two files, text around": Form(
        b"Hello\n\n" + new("src/ok.py") + edit("src/app/b.py", "y = 2", "y") + b"-- \n2.39\n",
        {"src/ok.py": "A", "src/app/b.py": "M"},
    ),
    "delete": Form(delete("src/app/b.py", "y = 2\n"), {"src/app/b.py": "D"}),
    "mode": Form(mode("src/app/b.py", "100644", "100755"), {"src/app/b.py": "M"}),
    "rename": Form(move("src/app/b.py", "src/app/c.py"), {"src/app/b.py": "D", "src/app/c.py": "A"}),
    "copy": Form(move("src/app/b.py", "src/app/c.py", "copy"), {"src/app/c.py": "A"}),
    "rename of names with spaces": Form(
        move("src/app/sp ace.txt", "src/app/two  spaces.txt"),
        {"src/app/sp ace.txt": "D", "src/app/two  spaces.txt": "A"},
    ),
    "quoted name": Form(new("", quoted=OCTAL + "b.txt"), {"src/caf\u00e9b.txt": "A"}),
    "quoted name with a newline": Form(new("", quoted="src/a\\nb"), {"src/a\nb": "A"}, "intake.forbidden_entry"),
    "CRLF patch": Form(new("src/crlf", "a\nb\n").replace(b"\n", b"\r\n"), {"src/crlf": "A"}),
    "CRLF lines": Form(new("src/crlf", "a\r\nb\r\n"), {"src/crlf": "A"}),
    "CRLF of the file kept": Form(
        b"--- a/src/app/crlf.txt\n+++ b/src/app/crlf.txt\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n",
        {"src/app/crlf.txt": "M"},
    ),
    "CRLF of the file lost": Form(
        b"--- a/src/app/crlf.txt\n+++ b/src/app/crlf.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n", {}, "intake.rejected"
    ),
    "no final newline": Form(new("src/n", "no newline"), {"src/n": "A"}),
    "no final newline kept": Form(
        edit("src/app/no_newline.txt", "last line\n\\ No newline at end of file", "x\n\\ No newline at end of file"),
        {"src/app/no_newline.txt": "M"},
    ),
    "no final newline overlooked": Form(edit("src/app/no_newline.txt", "last line", "x"), {}, "intake.rejected"),
    "hunk at an offset": Form(
        b"--- a/setup.txt\n+++ b/setup.txt\n@@ -2,3 +2,3 @@\n 5\n-6\n+six\n 7\n", {"setup.txt": "M"}
    ),
    "hunk with wrong context": Form(
        b"--- a/setup.txt\n+++ b/setup.txt\n@@ -4,3 +4,3 @@\n X\n-5\n+five\n 6\n", {}, "intake.rejected"
    ),
    "hunk cut off": Form(b"--- a/setup.txt\n+++ b/setup.txt\n@@ -4,3 +4,3 @@\n 4\n-5\n", {}, "intake.rejected"),
    "one file of two does not apply": Form(new("src/ok.py") + edit("src/app/b.py", "nope", "y"), {}, "intake.rejected"),
    "one file twice": Form(new("src/n.py") + new("src/n.py", "y\n"), {"src/n.py": "A"}),
    "an edit and its reverse": Form(
        edit("src/app/b.py", "y = 2", "y = 3") + edit("src/app/b.py", "y = 3", "y = 2"), {}, "intake.empty"
    ),
    "delete and create the same": Form(
        delete("src/app/b.py", "y = 2\n") + new("src/app/b.py", "y = 2\n"), {}, "intake.empty"
    ),
    "nothing": Form(b"", {}, "intake.empty"),
    "blanks": Form(b"\n \n", {}, "intake.empty"),
    "no diff": Form(b"hello world\n", {}, "intake.rejected"),
    "binary without data": Form(
        b"diff --git a/src/app/data.bin b/src/app/data.bin\nindex 1111111..2222222 100644\n"
        b"Binary files a/src/app/data.bin and b/src/app/data.bin differ\n", {}, "intake.rejected",
    ),
    "combined diff": Form(
        b"diff --cc src/app/b.py\nindex 1,2..3\n--- a/src/app/b.py\n+++ b/src/app/b.py\n"
        b"@@@ -1,1 -1,1 +1,1 @@@\n- y\n -z\n++x\n", {}, "intake.rejected",
    ),
    "rename over a file": Form(move("src/app/b.py", "src/app/core.py"), {}, "intake.rejected"),
    "file over a folder": Form(new("src/app"), {}, "intake.rejected"),
    "file under a file": Form(new("src/app/b.py/x"), {}, "intake.rejected"),
    "file of the same name, folded": Form(
        new("src/A") + new("src/a"), {"src/A": "A", "src/a": "A"}, "intake.forbidden_entry"
    ),
    "NFC and NFD twins": Form(
        new("src/" + unicodedata.normalize("NFC", "\u00fc")) + new("src/" + unicodedata.normalize("NFD", "\u00fc")),
        {"src/\u00fc": "A", "src/u\u0308": "A"}, "intake.forbidden_entry",
    ),
    # Out of the hidden paths, into them, and about them: denied whatever the header says.
    "new hidden file": Form(new("oracle/n.py"), {"oracle/n.py": "A"}, "", ("oracle/n.py",)),
    "rename out": Form(
        move("oracle/quarantine.json", "src/q.json"), {"oracle/quarantine.json": "D", "src/q.json": "A"}, "",
        ("oracle/quarantine.json",),
    ),
    "copy out": Form(move("sealed/fixtures/ok.bin", "src/q", "copy"), {"src/q": "A"}, "", ("sealed/fixtures/ok.bin",)),
    "rename in": Form(
        move("src/app/b.py", "oracle/b.py"), {"oracle/b.py": "A", "src/app/b.py": "D"}, "", ("oracle/b.py",)
    ),
    "rename to a hidden path, the header lies": Form(
        move("src/app/b.py", "oracle/b.py", header=("", "src/app/c.py")), None, "", ("oracle/b.py",)
    ),
    "rename from a hidden path, the header lies": Form(
        move("oracle/quarantine.json", "src/c.py", header=("src/app/b.py", "")), None, "", ("oracle/quarantine.json",)
    ),
    "edit whose +++ is hidden": Form(
        edit("src/app/b.py", "y = 2", "y = 3").replace(b"+++ b/src/app", b"+++ b/oracle"), None, "", ("oracle/b.py",)
    ),
    "hidden, no git header": Form(
        edit("oracle/denylist.txt", "no", "x", "x"), {}, "intake.rejected", ("oracle/denylist.txt",)
    ),
    "hidden, no prefix": Form(
        b"diff --git oracle/quarantine.json oracle/quarantine.json\n--- oracle/quarantine.json\n"
        b"+++ oracle/quarantine.json\n@@ -1 +1 @@\n-{}\n+{1}\n", {}, "intake.rejected", ("oracle/quarantine.json",),
    ),
    "delete hidden": Form(
        delete("oracle/denylist.txt", "oracle/\ncorpus/\nsealed/\ntools/\n"), {"oracle/denylist.txt": "D"}, "",
        ("oracle/denylist.txt",),
    ),
    "mode of a hidden file": Form(
        mode("tools/metamorphic.py", "100644", "100755"), {"tools/metamorphic.py": "M"}, "", ("tools/metamorphic.py",)
    ),
    "edit and revert hidden, two mails": Form(
        mailbox(mode("oracle/denylist.txt", "100644", "100755"), mode("oracle/denylist.txt", "100755", "100644")),
        {}, "intake.empty", ("oracle/denylist.txt",),
    ),
    "odd name in one mail, gone in the next": Form(
        mailbox(new("src/a:b"), delete("src/a:b", "x\n") + new("src/n")), {"src/a:b": "A"}, "intake.forbidden_entry"
    ),
    "three mails that build on each other": Form(
        mailbox(new("src/n"), move("src/n", "src/m"), edit("src/m", "x", "y")), {"src/m": "A"}
    ),
    "create, then rename in": Form(
        new("src/n.py") + move("src/n.py", "oracle/n.py"), {}, "intake.rejected", ("oracle/n.py",)
    ),
    "symbolic link for a hidden folder": Form(
        new("oracle", "src", "120000"), {}, "intake.forbidden_entry", ("oracle",)
    ),
    "hidden name in octal": Form(new("", quoted="\\157racle/n"), {"oracle/n": "A"}, "", ("oracle/n",)),
    "hidden behind a dot": Form(new("./oracle/x"), {}, "intake.rejected", ("./oracle/x", "oracle/x")),
    "hidden behind two dots": Form(new("src/../oracle/x"), {}, "intake.rejected", ("oracle/x",)),
    "hidden behind a guessed edit": Form(
        edit("oracle/quarantine.json", '{"a": "SECRET-BYTES"}', "x"), {"oracle/quarantine.json": "M"}, "",
        ("oracle/quarantine.json",),
    ),
}  # fmt: skip
# Names that a file may not have; the first two groups also spell a hidden folder.
for _name in ("oracle\u200c/x", "oracle./x", "oracle /x", "oracle::$INDEX_ALLOCATION/x", "oracle\\x"):
    FORMS[f"hidden folder as {_name!a}"] = Form(new(_name), {_name: "A"}, "intake.forbidden_entry", (_name,))
for _name in ("Oracle/digests.json", "ORACLE/DIGESTS.JSON", "\u017fealed/x", "\uff4fracle/x"):
    FORMS[f"hidden folder as {_name!a}"] = Form(new(_name), {_name: "A"}, "", (_name,))
for _name in ("src/\u202eyp.x", "-rf", ":(exclude)x", "src/end ", "src/x.py.", "src/a:b", "ORACLE~1/x"):
    FORMS[f"odd name {_name!a}"] = Form(new(_name), {_name: "A"}, "intake.forbidden_entry")
for _name in (
    "../x", "src/./x", "src//x", ".git/hooks/post-checkout", ".GIT/config", "git~1/config", ".g\u200cit/config",
    "src/.git", "src/.git/config", "src/tab\there", "src/nul\0",
):  # fmt: skip
    FORMS[f"impossible name {_name!a}"] = Form(new(_name), {}, "intake.rejected")
FORMS["absolute name"] = Form(
    new("x").replace(b"a/x", b"/tmp/x").replace(b"b/x", b"/tmp/x"), {}, "intake.rejected"
)
FORMS["name that is not UTF-8"] = Form(
    new("", quoted="src/\\377"), {"src/\udcff": "A"}, "intake.forbidden_entry"
)
for _mode in ("100666", "104755", "040000", "40000", "120000", "160000", "100600", "0"):
    FORMS[f"new file of mode {_mode}"] = Form(new("src/m", "../oracle", _mode), {}, "intake.forbidden_entry")
FORMS["a file becomes a link"] = Form(mode("src/app/b.py", "100644", "120000"), {}, "intake.forbidden_entry")
FORMS["a link replaces a folder"] = Form(
    delete("src/app/b.py", "y = 2\n") + new("src/app", "../oracle", "120000"), {}, "intake.forbidden_entry"
)
FORMS["a link, then a file through it"] = Form(
    new("src/l", "../oracle", "120000") + new("src/l/q.json"), {}, "intake.forbidden_entry"
)
for _name in (
    ".gitattributes", "src/.gitattributes", ".gitmodules", "sitecustomize.py", "src/x.pth", "src/e.egg-info",
    "Makefile",
    ".github/workflows/x.yml", "docs/CODEOWNERS", ".gate/x", ".cruft.json", "tools/gate.py/x",
):  # fmt: skip
    FORMS[f"denied name {_name}"] = Form(new(_name), None, "", (_name,))


def submit(root: Path, folder: Path, patch: bytes, limits: Limits | None = None) -> Change:
    """Submits to a store in `folder`, which stays for a look at what was written."""
    settings = Settings(limits=limits or Limits())
    base = git(root, "rev-parse", "HEAD").decode().strip()
    with opened(folder / "store", root) as store:
        return submit_patch(store, folder, base, patch, settings)


def changes(change: Change) -> dict[str, str]:
    return {item.path.decode("utf-8", "surrogateescape"): item.status for item in change.changed}


def written(folder: Path) -> Iterator[bytes]:
    """Every loose object below a folder."""
    for file in folder.rglob("objects/??/*"):
        yield zlib.decompress(file.read_bytes())


def names_hidden(change: Change) -> bool:
    return any(path.startswith((b"oracle/", b"corpus/", b"sealed/", b"tools/m")) for path in change.touched)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_a_form_of_patch(form: Form, root: Path, tmp_path: Path) -> None:
    change = submit(root, tmp_path, form.patch)
    denied = tuple(path.decode() for path in change.touched if always_denied(path, ("src",)))
    assert denied == form.denied
    if form.changes is not None:
        assert changes(change) == form.changes
        assert {problem.rule for problem in change.problems} == ({form.rule} if form.rule else set())
    assert set(change.after) >= {path.encode() for path in FILES if path.startswith(("corpus/", "sealed/"))}
    for problem in change.problems:
        assert (problem.subject + problem.detail).isprintable()
        assert SECRET.decode() not in problem.detail
        assert len(problem.detail) <= 300
    if not names_hidden(change):
        assert not any(SECRET in data for data in written(tmp_path))
    assert sorted(path.name for path in root.iterdir()) == [
        ".git",
        "corpus",
        "oracle",
        "sealed",
        "setup.txt",
        "src",
        "tools",
    ]


def test_there_are_enough_forms() -> None:
    assert len(FORMS) > 100
    assert {form.rule for form in FORMS.values()} == {
        "",
        "intake.rejected",
        "intake.forbidden_entry",
        "intake.empty",
    }


def test_a_leak_would_be_seen(root: Path, tmp_path: Path) -> None:
    """A copy out of a hidden path is applied, in private, to learn its identity: there the bytes are found."""
    change = submit(root, tmp_path, FORMS["copy out"].patch)
    assert names_hidden(change)
    assert any(SECRET in data for data in written(tmp_path))


def test_blobs_hold_what_the_patch_says(root: Path, tmp_path: Path) -> None:
    data = bytes(range(256)) * 30
    oid = git(root, "hash-object", "--stdin", data=data).decode().strip()
    patch = b"".join((
        new("src/crlf", "a\n").replace(b"\n", b"\r\n"), binary("src/true", f"{'0' * 40}..{oid}", data),
        b"--- a/setup.txt\n+++ b/setup.txt\n@@ -2,3 +2,3 @@\n 5\n-6\n+six\n 7\n",
        mode("src/app/b.py", "100644", "100755"),
    ))  # fmt: skip
    base = git(root, "rev-parse", "HEAD").decode().strip()
    with opened(tmp_path / "store", root) as store:
        change = submit_patch(store, tmp_path, base, patch, Settings())
        assert change.problems == ()
        assert store.read(change.after[b"src/crlf"].oid, "blob") == b"a\r\n"
        assert change.after[b"src/true"].oid == oid
        assert store.read(oid, "blob") == data
        assert store.read(change.after[b"setup.txt"].oid, "blob") == b"1\n2\n3\n4\n5\nsix\n7\n8\n9\n"
        assert change.after[b"src/app/b.py"].mode == "100755"
        assert change.after[b"src/app/b.py"].oid == change.before[b"src/app/b.py"].oid
        assert len(change.submitted_sha256) == 64


@pytest.mark.parametrize(
    "hidden", ["sealed/fixtures/ok.bin", "oracle/quarantine.json", "corpus/inputs.jsonl"]
)
def test_a_binary_patch_that_names_a_hidden_blob_gets_nothing(
    hidden: str, root: Path, tmp_path: Path
) -> None:
    """In the full repository git takes the named blob and ignores the data."""
    zero, secret, known = ("0" * 40, *(git(root, "rev-parse", f"HEAD:{path}").decode().strip()
                                       for path in (hidden, "src/app/data.bin")))  # fmt: skip
    patches = [
        binary("src/true", f"{zero}..{secret}", b"guess"),
        binary("src/true", f"{zero}..{secret}", b""),
        binary("src/app/data.bin", f"{known}..{secret}", b"guess", ""),
        binary("src/app/data.bin", f"{secret}..{known}", b"guess", ""),
        f"diff --git a/src/true b/src/true\nnew file mode 100644\nindex {zero}..{secret}\n".encode(),
    ]
    for number, patch in enumerate(patches):
        folder = tmp_path / str(number)
        folder.mkdir()
        change = submit(root, folder, patch)
        assert [problem.rule for problem in change.problems] in (["intake.rejected"], []), number
        assert secret not in {
            change.after[item.path].oid for item in change.changed if item.path in change.after
        }
        assert not any(SECRET in data for data in written(folder))


@pytest.mark.parametrize(
    ("patch", "limits", "detail"),
    [
        (b"".join(new(f"src/n{number}") for number in range(4)), Limits(files=3), "3 files"),
        (mailbox(new("src/a") + new("src/b"), new("src/c") + new("src/d")), Limits(files=3), "4 paths"),
        (new("src/n", "x" * 200), Limits(patch_bytes=150), "150"),
        (binary("src/true", f"{'0' * 40}..{'1' * 40}", bytes(1000)), Limits(literal_bytes=100), "1000 bytes"),
    ],
)
def test_limits(patch: bytes, limits: Limits, detail: str, root: Path, tmp_path: Path) -> None:
    change = submit(root, tmp_path, patch, limits)
    assert {problem.rule for problem in change.problems} == {"intake.too_large"}
    assert detail in " ".join(problem.detail for problem in change.problems)
    assert change.changed == () or "4 paths" in detail


@pytest.mark.parametrize(
    "patch",
    [
        new("src/m.py", mode="040000"), move("sealed/fixtures/ok.bin", "src/q", "copy"),
        move("oracle/quarantine.json", "src/q"), mode("oracle/quarantine.json", "100644", "100755"),
        edit("oracle/quarantine.json", '{"a": "SECRET-BYTES"}', "x"),
    ],
)  # fmt: skip
def test_the_view_holds_even_if_the_scan_overlooks_something(
    patch: bytes, root: Path, tmp_path: Path
) -> None:
    """git says of a tree's mode that it ignores it, and exits 0; hidden paths are not there to be copied."""
    overlooked = PatchScan((), (), (), False)
    with opened(tmp_path / "store", root) as store:
        base = store.entries(store.tree_of(git(root, "rev-parse", "HEAD").decode().strip()))
        outcome = apply_patch(store, tmp_path / "w", base, patch, overlooked, Settings())
    assert isinstance(outcome, Problem)
    assert outcome.rule == "intake.rejected"
    assert not any(SECRET in data for data in written(tmp_path))


def test_a_name_in_a_complaint_cannot_speak_to_a_terminal(root: Path, tmp_path: Path) -> None:
    change = submit(root, tmp_path, edit("src/\u202e\u200bgpj.exe", "a", "b"))
    assert [problem.rule for problem in change.problems] == ["intake.rejected"]
    assert change.problems[0].detail.isprintable()


def test_an_odd_but_legal_file_of_the_base_does_not_stand_in_the_way(tmp_path: Path) -> None:
    root = tmp_path / "r"
    names = ["src/new\nline", "src/tab\t", 'src/"quoted"', "src/ lead", "-dash", ":colon", "src/\u00e9"]
    repository(root, {**dict.fromkeys(names, "x\n"), "oracle/x": SECRET})
    (root / "src/link").symlink_to("absent")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "x")
    work = tmp_path / "w"
    work.mkdir()
    change = submit(root, work, edit("src/\u00e9", "x", "y"))
    assert (changes(change), change.problems) == ({"src/\u00e9": "M"}, ())
    assert {name.encode() for name in names} <= change.after.keys()
