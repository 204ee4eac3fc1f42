"""The pre-scan: what a patch says it does, against git's own reading of the same bytes."""

from __future__ import annotations

import base64
import subprocess
import zlib
from pathlib import Path

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from oracle_gate.core.patchscan import PatchScan, scan
from oracle_gate.core.settings import Limits
from support.gitenv import commit_all, git, git_env, make_repository
from support.patches import BODY_LINES, FilePatch, file_patches, patch_text

LIMITS = Limits()
HUNK = b"@@ -1 +1 @@\n-a\n+b\n"
BINARY = b"diff --git a/x b/x\nGIT binary patch\n"


def edit(path: str, removed: str = "x", added: str = "y") -> bytes:
    header = f"diff --git a/{path} b/{path}\nindex 1111111..2222222 100644\n--- a/{path}\n+++ b/{path}\n"
    return f"{header}@@ -1,2 +1,2 @@\n context\n-{removed}\n+{added}\n".encode()


def rules(found: PatchScan) -> list[str]:
    return [problem.rule for problem in found.problems]


# What is named


@pytest.mark.parametrize(
    ("patch", "paths"),
    [
        (edit("src/a.py"), ["src/a.py"]),
        (edit("src/a.py").replace(b"\n", b"\r\n"), ["src/a.py"]),
        (edit("src/a.py").rstrip(b"\n"), ["src/a.py"]),
        (edit("src/a b/b b.py"), ["src/a b/b b.py"]),
        (b"diff --git a/src/x b/oracle/x\n--- a/src/x\n+++ b/src/x\n" + HUNK, ["oracle/x", "src/x"]),
        (b"diff --git a/src/x b/src/x\n--- a/src/x\n+++ b/oracle/x\n" + HUNK, ["oracle/x", "src/x"]),
        (b"diff --git a/oracle/x b/src/x\nrename from oracle/x\nrename to src/x\n", ["oracle/x", "src/x"]),
        (b"diff --git a/src/a b/src/b\ncopy from sealed/x\ncopy to src/b\n", ["sealed/x", "src/a", "src/b"]),
        (b"diff --git a/src/a b/src/b\nrename old s\nrename new src/b\n", ["s", "src/a", "src/b"]),
        (b"diff --git a/oracle/x b/oracle/x\nold mode 100644\nnew mode 100755\n", ["oracle/x"]),
        (b"diff --git a/oracle/x b/oracle/x\nnew file mode 100644\nindex 0000000..e69de29\n", ["oracle/x"]),
        (b"diff --git a/a b/c d b/a b/c d\nold mode 100644\nnew mode 100755\n", ["a b/c d"]),
        (b"--- a/oracle/x\n+++ b/oracle/x\n@@ -1 +1 @@\n-a\n+b\n", ["oracle/x"]),
        (b"--- oracle/x\t2026-01-01 10:00:00.0 +0000\n+++ oracle/x\t2026-01-01\n" + HUNK, ["oracle/x", "x"]),
        (b"--- a/oracle/x\t(working copy)\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", ["oracle/x"]),
        (b"--- /dev/null\n+++ Makefile\n@@ -0,0 +1 @@\n+a\n", ["Makefile"]),
        (b"--- a/oracle//x\n+++ b/oracle/x\n@@ -1 +1 @@\n-a\n+b\n", ["oracle/x"]),
        (b"--- deep/a/oracle/x\n+++ deep/b/oracle/x\n@@ -1 +1 @@\n-a\n+b\n",
         ["a/oracle/x", "b/oracle/x", "deep/a/oracle/x", "deep/b/oracle/x"]),
        (b"diff --git oracle/x oracle/x\n--- oracle/x\n+++ oracle/x\n" + HUNK, ["oracle/x", "x"]),
        (b"diff --git i/oracle/x w/oracle/x\n--- i/oracle/x\n+++ w/oracle/x\n" + HUNK, ["oracle/x"]),
        (b'diff --git "a/\\157racle/x" "b/\\157racle/x"\nold mode 100644\nnew mode 100755\n', ["oracle/x"]),
        (b'diff --git "a/a\\tb" b/c\nrename from "a\\tb"\nrename to c\n', ["a\tb", "c"]),
        (b'diff --git a/c "b/a\\tb"\nrename from c\nrename to "a\\tb"\n', ["a\tb", "c"]),
        (b'diff --git a/x  "b/a\\tb"\nrename from x \nrename to "a\\tb"\n', ["a\tb", "x "]),
        (b'--- "a/oracle/\\"x\\\\\\n"\tjunk\n+++ "b/oracle/\\"x\\\\\\n"\n" + HUNK + b"', ['oracle/"x\\\n']),
        (b'--- "a/oracle/x\n+++ "a/oracle/x\n@@ -1 +1 @@\n-a\n+b\n', ['"a/oracle/x', "oracle/x"]),
        # A traditional header without a folder makes git keep the first component from there on.
        (b"--- x\n+++ x\n" + HUNK + edit("oracle/x"), ["a/oracle/x", "b/oracle/x", "oracle/x", "x"]),
    ],
)  # fmt: skip
def test_every_path_of_the_headers_is_found(patch: bytes, paths: list[str]) -> None:
    found = scan(patch, LIMITS)
    assert [path.decode() for path in found.paths] == paths
    assert found.problems == ()


@pytest.mark.parametrize(
    ("name", "found_as"),
    [
        ("../oracle/x", "oracle/x"), ("src/../oracle/x", "oracle/x"), ("./oracle/x", "oracle/x"),
        ("oracle/./x", "oracle/x"),
        ("src/../../../oracle/x", "oracle/x"), ("oracle/x/", "oracle/x"),
    ],
)  # fmt: skip
def test_a_path_that_is_not_plain_is_refused_and_followed(name: str, found_as: str) -> None:
    found = scan(edit(name), LIMITS)
    assert found_as.encode() in found.paths
    assert "intake.rejected" in rules(found)


@pytest.mark.parametrize("name", [b"/oracle/x", b"a//oracle/x", b"//oracle/x"])
def test_absolute_paths_are_refused_and_followed(name: bytes) -> None:
    found = scan(b"--- %s\n+++ %s\n@@ -1 +1 @@\n-a\n+b\n" % (name, name), LIMITS)
    assert b"oracle/x" in found.paths
    assert "intake.rejected" in rules(found)


@pytest.mark.parametrize("body", BODY_LINES)
def test_patch_text_inside_a_hunk_is_content(body: str) -> None:
    """An honest patch may edit tests, fixtures or documents that hold diffs."""
    for patch in (edit("docs/a.md", removed=body), edit("docs/a.md", added=body)):
        found = scan(patch + edit("src/b.py"), LIMITS)
        assert found.paths == (b"docs/a.md", b"src/b.py")
        assert found.problems == ()


def test_a_whole_diff_as_content() -> None:
    inner = edit("oracle/x").decode().splitlines()
    added = "".join(f"+{line}\n" for line in inner)
    patch = f"diff --git a/d b/d\n--- a/d\n+++ b/d\n@@ -0,0 +1,{len(inner)} @@\n{added}".encode()
    removed = patch.replace(b"\n+", b"\n-").replace(b"-++ b/d", b"+++ b/d")
    removed = removed.replace(b"-0,0 +1,%d" % len(inner), b"-1,%d +0,0" % len(inner))
    for text in (patch, removed, patch + removed):
        assert scan(text, LIMITS).paths == (b"d",)
        assert scan(text, LIMITS).problems == ()


@pytest.mark.parametrize(
    "patch",
    [
        # The count is too high and the next header would be swallowed as content.
        b"--- a/src/a\n+++ b/src/a\n@@ -1,9 +1,9 @@\n-a\n+b\n" + edit("oracle/x"),
        b"--- a/src/a\n+++ b/src/a\n@@ -1,9 +1,9 @@\n-a\n+b\n--- a/oracle/x\n+++ b/oracle/x\n" + HUNK,
        # The count fits a reading in which the second header is a removed and an added line.
        b"--- a/src/a\n+++ b/src/a\n@@ -1,2 +1,2 @@\n c\n--- a/oracle/x\n+++ b/oracle/x\n" + HUNK,
        # The count is too low and content follows as free text.
        b"--- a/src/a\n+++ b/src/a\n@@ -1 +1 @@\n-a\n+b\n-c\n+d\n" + edit("oracle/x"),
        b"--- a/src/a\n+++ b/src/a\n" + HUNK + b" free text\n--- a/oracle/x\n+++ b/oracle/x\n" + HUNK,
        b"diff --git a/src/a b/src/a\nunknown\nrename from x\n" + edit("oracle/x"),
        b"diff --git a/src/a b/src/a\nGIT binary patch\nliteral 5\n" + edit("oracle/x"),
        b"diff --git a/src/a b/src/a\nGIT binary patch\nliteral 5\nAaaaaaa\n" + edit("oracle/x"),
        b"Subject: [PATCH] innocent\n\nText.\n---\n src/a | 2 +-\n\n" + edit("oracle/x"),
    ],
)  # fmt: skip
def test_no_count_hides_a_header(patch: bytes) -> None:
    assert b"oracle/x" in scan(patch, LIMITS).paths


# What is refused


@pytest.mark.parametrize(
    ("patch", "rule"),
    [
        (b"garbage\n", "intake.rejected"),
        (b"diff --git a/x b/x\nnew file mode 120000\n", "intake.forbidden_entry"),
        (b"diff --git a/x b/x\nnew file mode 160000\n", "intake.forbidden_entry"),
        (b"diff --git a/x b/x\nnew file mode 040000\n", "intake.forbidden_entry"),
        (b"diff --git a/x b/x\nnew file mode 100666\n", "intake.forbidden_entry"),
        (b"diff --git a/x b/x\nnew file mode 0120000\n", "intake.forbidden_entry"),
        (b"diff --git a/x b/x\nnew file mode  120000\r\n", "intake.forbidden_entry"),
        (b"diff --git a/x b/x\nold mode 100644\nnew mode 120000\n", "intake.forbidden_entry"),
        (b"diff --git a/x b/x\nindex 1111111..2222222 120000\n--- a/x\n", "intake.forbidden_entry"),
        (b"diff --git a/x b/x\nindex 1111111..2222222 160000\n--- a/x\n", "intake.forbidden_entry"),
        (b"diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n", "intake.rejected"),
        (b"diff --git a/x b/x\nindex 1..2 100644\nFiles a/x and b/x differ\r\n", "intake.rejected"),
        (edit("src/a") + b"Binary files a/x and b/x differ\n", "intake.rejected"),
        (b"diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,1 -1,1 +1,1 @@@\n", "intake.rejected"),
        (b"diff --combined oracle/x\n", "intake.rejected"),
        (b"@@ -1 +1 @@\n-a\n+b\n", "intake.rejected"),
        (edit("src/a") + b"stray\n@@ -1 +1 @@\n-a\n+b\n", "intake.rejected"),
        (edit("src/a").replace(b"@@ -1,2 +1,2 @@", b"@@ -1,2 +1,3 @@"), "intake.rejected"),
        (edit("src/a").replace(b"@@ -1,2 +1,2 @@", b"@@ -1,1 +1,2 @@"), "intake.rejected"),
        (edit("src/a").replace(b"@@ -1,2 +1,2 @@", b"@@ -1,x +1,2 @@"), "intake.rejected"),
        (edit("src/a").replace(b"@@ -1,2 +1,2 @@", b"@@ -1,18446744073709551618 +1,2 @@"), "intake.rejected"),
        (edit("src/a").replace(b" context", b"?context"), "intake.rejected"),
        (b"diff --git a/x b/x\n" + b"old mode 100644\n" * 40, "intake.rejected"),
        (b"diff --git a/" + b"x" * 20000 + b" b/x\nold mode 100644\n", "intake.rejected"),
        (b"diff --git a/" + b"x" * 5000 + b" b/" + b"x" * 5000 + b"\nold mode 100644\n", "intake.rejected"),
        (b"diff --git a/x b/x\nrename from " + b"x" * 20000 + b"\nrename to y\n", "intake.rejected"),
        (b"diff --git a/x\0y b/x\0y\nold mode 100644\nnew mode 100755\n", "intake.rejected"),
        (b'diff --git "a/x\\000y" "b/x\\000y"\nold mode 100644\nnew mode 100755\n', "intake.rejected"),
        (b"diff --git a/" + b" x" * 70 + b" b/y\n", "intake.rejected"),
        (b"diff --git a/x y b/z w\nold mode 100644\n", "intake.rejected"),
        (b"diff --git \n", "intake.rejected"),
        (BINARY + b"literal 0x5\n\n", "intake.rejected"),
        (BINARY, "intake.rejected"),
        (BINARY + b"literal 8388609\n\n", "intake.too_large"),
        (BINARY + b"delta 8388609\n\n", "intake.too_large"),
        (BINARY + b"literal 1\nAaaaaaa\n\nliteral 8388609\n\n", "intake.too_large"),
        (BINARY + b"literal 1\nAaaaaaa\n\nliteral 99999999999999\n\n", "intake.rejected"),
        (BINARY + b"delta 5\nAaaaaaa\n\n", "intake.rejected"),
        ((BINARY + b"literal 8000000\n\n") * 34, "intake.too_large"),
    ],
)  # fmt: skip
def test_what_is_refused_before_git_sees_it(patch: bytes, rule: str) -> None:
    found = scan(patch, LIMITS)
    assert rule in rules(found)
    assert all("\n" not in problem.subject + problem.detail for problem in found.problems)


def delta_patch(result: int, line_bytes: int, empty_blocks: int) -> bytes:
    """A binary delta that makes a file of `result` bytes; its data is spread over lines and deflate blocks."""

    def number(value: int) -> bytes:
        groups = [value >> shift & 0x7F for shift in range(0, max(value.bit_length(), 1), 7)]
        return bytes([group | 0x80 for group in groups[:-1]] + groups[-1:])

    stored = zlib.compress(number(40) + number(result) + b"\x90\x28" * 30, 0)
    data = stored[:2] + b"\0\0\0\xff\xff" * empty_blocks + stored[2:]
    parts = [data[at : at + line_bytes] for at in range(0, len(data), line_bytes)]
    lines = [
        bytes([len(part) + (64 if len(part) <= 26 else 70)]) + base64.b85encode(part, pad=True)
        for part in parts
    ]
    return b"diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\ndelta 66\n" + b"\n".join(
        [*lines, b"", b""]
    )


@pytest.mark.parametrize("line_bytes", [2, 13, 26, 27, 51, 52])
@pytest.mark.parametrize("empty_blocks", [0, 1, 5, 20])
def test_a_delta_that_asks_for_gigabytes_is_too_large(line_bytes: int, empty_blocks: int) -> None:
    large = scan(delta_patch(1 << 34, line_bytes, empty_blocks), LIMITS)
    assert rules(large) == ["intake.too_large", "intake.too_large"]
    assert scan(delta_patch(1200, line_bytes, empty_blocks), LIMITS).problems == ()


def test_a_delta_whose_size_is_far_away_is_refused() -> None:
    assert "intake.rejected" in rules(scan(delta_patch(1200, 52, 2000), LIMITS))


def test_header_lines_have_an_end() -> None:
    for patch in (
        b"diff --git a/%s b/x\n" % (b"x" * 20000),
        b"diff --git a/x b/x\nold mode %s\n" % (b"1" * 20000),
        b"--- a/x\t%s\n+++ b/x\n" % (b" " * 20000) + HUNK,
        b"diff --cc %s\n" % (b"x" * 20000),
    ):
        assert "over-long header line" in [problem.detail for problem in scan(patch, LIMITS).problems]


def test_a_combined_diff_names_its_path() -> None:
    assert scan(b"diff --cc oracle/x\nindex 1,2..3\n", LIMITS).paths == (b"oracle/x",)
    assert scan(b'diff --combined "\\157racle/x"\r\n', LIMITS).paths == (b"oracle/x",)


def test_deleting_what_should_never_have_been_there_is_allowed() -> None:
    patch = b"diff --git a/src/l b/src/l\ndeleted file mode 120000\nindex 1111111..0000000\n"
    found = scan(
        patch + b"--- a/src/l\n+++ /dev/null\n@@ -1 +0,0 @@\n-target\n\\ No newline at end of file\n", LIMITS
    )
    assert (found.paths, found.modes, found.problems) == ((b"src/l",), ("120000",), ())


def test_limits_are_exact() -> None:
    one = edit("src/a.py")
    assert scan(one, Limits(patch_bytes=len(one))).problems == ()
    assert rules(scan(one, Limits(patch_bytes=len(one) - 1))) == ["intake.too_large"]
    many = b"".join(edit(f"src/{number}.py") for number in range(1900))
    assert len(scan(many, LIMITS).paths) == 1900
    assert scan(many, Limits(files=1900)).problems == ()
    assert rules(scan(many, Limits(files=1899))) == ["intake.too_large"]
    assert rules(scan(b"\n" * 4_000_001, LIMITS)) == ["intake.too_large"]


def test_nothing_is_no_problem_of_the_scan() -> None:
    assert scan(b"", LIMITS) == PatchScan((), (), (), False)
    assert scan(b" \n\n", LIMITS).problems == ()


def test_modes_are_reported() -> None:
    patch = b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\nindex 1..2\n" + edit("y").replace(
        b"100644", b"100600"
    )
    assert scan(patch, LIMITS).modes == ("100600", "100644", "100755")


def test_mails() -> None:
    mail = (
        b"From "
        + b"1" * 40
        + b" Mon Sep 17 00:00:00 2001\nFrom: A <a@b.c>\nSubject: [PATCH] x\n\ntext\n---\n x | 2 +-\n\n"
    )
    one = mail + edit("src/a.py") + b"-- \n2.39.5\n\n"
    two = one + mail.replace(b"1" * 40, b"2" * 64) + edit("src/b.py") + b"-- \n2.39.5\n\n"
    assert (scan(one, LIMITS).is_mailbox, scan(one, LIMITS).problems) == (False, ())
    assert (scan(two, LIMITS).is_mailbox, scan(two, LIMITS).paths) == (True, (b"src/a.py", b"src/b.py"))
    quoted = edit("src/a.py", added=mail.decode().split("\n")[0])
    assert not scan(quoted * 2, LIMITS).is_mailbox


# Any patch


@settings(max_examples=300, deadline=None)
@given(st.lists(file_patches(), min_size=1, max_size=4))
def test_generated_patches_are_read_exactly(patches: list[FilePatch]) -> None:
    found = scan(b"".join(map(patch_text, patches)), LIMITS)
    assert found.paths == tuple(sorted({name for patch in patches for name in (patch.before, patch.after)}))
    assert found.problems == ()


_PIECES = [
    b"diff --git a/src/a b/src/a\n", b"diff --git a/oracle/x b/oracle/x\n", b"diff --git x y\n",
    b"--- a/oracle/x\n",
    b"+++ b/oracle/x\n", b"--- a/src/a\n", b"+++ b/src/a\n", b"--- /dev/null\n", b"+++ /dev/null\n",
    b"--- x\n", b"+++ x\n",
    b"@@ -1 +1 @@\n", b"@@ -1,2 +1,2 @@\n", b"@@ -0,0 +1 @@\n", b"@@ -1 +0,0 @@\n", b"-a\n", b"+b\n", b" c\n",
    b"\n",
    b"\\ No newline at end of file\n", b"new file mode 100644\n", b"deleted file mode 100644\n",
    b"old mode 100644\n",
    b"new mode 100755\n", b"rename from src/a\n", b"rename to oracle/x\n", b"copy from oracle/x\n",
    b"copy to src/b\n",
    b"index 1111111..2222222 100644\n", b"similarity index 90%\n", b"GIT binary patch\n", b"literal 0\n",
    b"HcmV?d00001\n",
    b"text\n", b"--- oracle/x\r\n", b"+++ oracle/x\t1970-01-01 00:00:00 +0000\n", b"-- \n",
    b'--- "a/\\157racle/y"\n',
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.binary(), st.lists(st.one_of(st.sampled_from(_PIECES), st.binary(max_size=20))).map(b"".join)
    )
)
def test_no_bytes_raise(patch: bytes) -> None:
    found = scan(patch, Limits(patch_bytes=1 << 20, files=3, literal_bytes=100))
    assert found.paths == tuple(sorted(set(found.paths)))
    assert all(rule.startswith("intake.") for rule in rules(found))


#: Pieces that fit together more often, so that git accepts the patch and has an opinion of its paths.
_HEADERS = [
    b"diff --git a/src/a b/src/a\n--- a/src/a\n+++ b/src/a\n", b"--- a/oracle/x\n+++ b/oracle/x\n",
    b"--- x\n+++ x\n",
    b"--- oracle/x\n+++ oracle/x\n", b"--- /dev/null\n+++ b/oracle/y z\t\n",
    b"--- oracle/z 2026-01-01 10:00:00\n+++ oracle/z\n",
    b"diff --git a/q b/oracle/q\n--- a/q\n+++ b/q\n", b"diff --git a/src/a b/src/a\n",
    b"--- i/oracle/m\n+++ w/oracle/m\n",
    b'diff --git "a/or\\141cle/q" "b/or\\141cle/q"\n', b"--- a/oracle/r\r\n+++ b/oracle/r\r\n",
    b"--- a/o\tjunk\n+++ b/o.orig\n",
]  # fmt: skip
_CONTENTS = [
    b"@@ -1 +1 @@\n-a\n+b\n", b"@@ -1,2 +1,2 @@\n c\n--- a/oracle/h\n+++ b/oracle/h\n",
    b"@@ -1 +1 @@\n--- x\n+++ x\n",
    b"@@ -1,2 +1,3 @@\n \n\n+a\n", b"@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n",
    b"@@ -0,0 +1 @@\n+a\n",
    b"old mode 100644\nnew mode 100755\n", b"rename from oracle/s t\nrename to src/u\n",
    b"copy from s\ncopy to oracle/v\n",
    b"GIT binary patch\nliteral 0\nHcmV?d00001\n\n", b"new file mode 100644\n", b"text\n", b"+d\n", b"-- \n",
    b"\n",
    b"index 1..2 100644\n", b"deleted file mode 100644\n", b"Binary files a/x and b/x differ\n",
]  # fmt: skip
_FILE = st.tuples(st.sampled_from(_HEADERS), st.lists(st.sampled_from(_CONTENTS), min_size=1, max_size=2))


@settings(max_examples=300, deadline=None)
@given(st.lists(_FILE, min_size=1, max_size=3))
def test_git_finds_no_path_that_the_scan_does_not(parts: list[tuple[bytes, list[bytes]]]) -> None:
    patch = b"".join(header + b"".join(contents) for header, contents in parts)
    command = ["git", "apply", "--numstat", "-z", "--whitespace=nowarn", "-"]
    answer = subprocess.run(command, cwd="/", env=git_env(), input=patch, capture_output=True, check=False)
    event(f"git: exit {answer.returncode}")
    if answer.returncode == 0:
        names = {record.split(b"\t", 2)[2] for record in answer.stdout.split(b"\0") if record}
        assert names <= set(scan(patch, LIMITS).paths)


# Real git


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two commits that differ in every way in which files differ."""
    root = make_repository(tmp_path_factory.mktemp("history"))
    lines = "".join(f"line {number}\n" for number in range(40))
    names = [
        "plain.txt",
        "a b/c d.txt",
        "caf\u00e9.txt",
        "tab\there.txt",
        'quote".txt',
        "moved b/from b/x.txt",
        "gone.txt",
        "mode.sh",
    ]
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{name}\n{lines}")
    (root / "binary").write_bytes(bytes(range(256)) * 20)
    commit_all(root, "first")
    for name in names[:5]:
        (root / name).write_text(f"{lines}-- a/oracle/x\n++ b/oracle/x\n")
    (root / "moved b/to b").mkdir()
    (root / "moved b/from b/x.txt").rename(root / "moved b/to b/y.txt")
    (root / "gone.txt").unlink()
    (root / "mode.sh").chmod(0o755)
    (root / "empty").write_bytes(b"")
    (root / "binary").write_bytes(bytes(range(256)) * 21)
    (root / "new\nbinary").write_bytes(bytes(range(255, -1, -1)) * 9)
    commit_all(root, "second")
    return root


@pytest.mark.parametrize(
    "options",
    [
        [], ["--full-index"], ["--no-renames"], ["-M", "-C", "--find-copies-harder"], ["-U0"], ["-U100"],
        ["-R"],
        ["--no-prefix"], ["--src-prefix=old/", "--dst-prefix=new/"], ["--patience", "--function-context"],
    ],
)  # fmt: skip
@pytest.mark.parametrize("quote", ["true", "false"])
def test_diffs_of_git(history: Path, options: list[str], quote: str) -> None:
    patch = git(history, "-c", f"core.quotePath={quote}", "diff", "--binary", *options, "HEAD~", "HEAD")
    found = scan(patch, LIMITS)
    expected = set(
        git(history, "diff", "--name-only", "--no-renames", "-z", "HEAD~", "HEAD").split(b"\0")[:-1]
    )
    assert found.problems == ()
    if any(option.endswith("prefix") or "prefix=" in option for option in options):
        assert expected <= set(found.paths)
    elif "-C" in options:
        assert expected <= set(found.paths) <= expected | {b"plain.txt"}
    else:
        assert set(found.paths) == expected


def test_mail_of_git(history: Path) -> None:
    mail = git(history, "format-patch", "--stdout", "--binary", "--full-index", "HEAD~")
    found = scan(mail, LIMITS)
    assert (found.is_mailbox, found.problems) == (False, ())
    assert set(found.paths) == set(scan(git(history, "diff", "--binary", "HEAD~"), LIMITS).paths)


def test_diff_without_binary_data_of_git(history: Path) -> None:
    assert rules(scan(git(history, "diff", "HEAD~"), LIMITS)) == ["intake.rejected"] * 2
