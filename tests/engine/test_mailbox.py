"""Mailboxes: read mail by mail; what `git am` would decode, and `git apply` would not, is refused."""

from __future__ import annotations

import quopri
from pathlib import Path

import pytest
from oracle_gate.core.mailbox import complaint, split_mails
from oracle_gate.core.patching import submit_patch
from oracle_gate.core.settings import Settings
from oracle_gate.core.submission import Change
from support.gitenv import commit_all, git
from support.objects import opened, repository, write_files
from support.patch_forms import edit, mailbox, new

FILES = {"src/a.py": "a = 1\n", "src/b.py": "b = 1\n", "oracle/denylist.txt": "oracle/\n"}
MAIL = mailbox(new("src/n.py", "n = 1\n"))
HEADER = b"Subject: [PATCH] 1\n"
ENCODED = "the mail is base64 or quoted-printable; export it with git format-patch"
DIFF_IN_MESSAGE = "the commit message holds a diff, which git would apply; indent it or submit a plain diff"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    repository(tmp_path / "r", FILES)
    git(tmp_path / "r", "switch", "--quiet", "--create", "topic")
    return tmp_path / "r"


def submitted(root: Path, patch: bytes) -> Change:
    base = git(root, "rev-parse", "main").decode().strip()
    workplace = root.parent / f"workplace-{len(list(root.parent.iterdir()))}"
    with opened(workplace / "store", root) as store:
        return submit_patch(store, workplace, base, patch, Settings())


def paths(change: Change) -> tuple[list[str], list[str]]:
    """Net changes and what is touched."""
    return [item.path.decode() for item in change.changed], [path.decode() for path in change.touched]


def details(change: Change) -> list[str]:
    return [problem.detail for problem in change.problems]


def commit(root: Path, message: str = "Change", **files: str) -> None:
    write_files(root, {name.replace("_", "/", 1) + ".py": text for name, text in files.items()})
    commit_all(root, message)


def exported(root: Path, *options: str) -> bytes:
    return git(root, "format-patch", "--stdout", "--binary", "--full-index", *options, "main..topic")


def test_mails_of_git_build_on_each_other(root: Path) -> None:
    for number in range(2, 5):
        commit(root, src_a=f"a = {number}\n")
    mails = exported(root)
    assert len(split_mails(mails)) == 3
    change = submitted(root, mails)
    assert (paths(change), change.problems) == ((["src/a.py"], ["src/a.py"]), ())
    first, second, third = split_mails(mails)
    assert first + second + third == mails
    assert [problem.rule for problem in submitted(root, second + first + third).problems] == [
        "intake.rejected"
    ]


def test_an_edit_that_the_next_mail_reverts_is_seen(root: Path) -> None:
    commit(root, src_a="a = 2\n")
    write_files(root, {"oracle/denylist.txt": "\n"})
    commit_all(root, "Open the door")
    git(root, "revert", "--no-edit", "HEAD")
    change = submitted(root, exported(root))
    assert (paths(change), change.problems) == ((["src/a.py"], ["oracle/denylist.txt", "src/a.py"]), ())


@pytest.mark.parametrize("text", ["Caf\u00e9", "From the start\n\nFrom there on.\n", "Plain"])
@pytest.mark.parametrize("options", [[], ["--attach"], ["--inline"], ["--no-stat"]])
def test_what_git_exports_is_taken(root: Path, text: str, options: list[str]) -> None:
    """Letters beyond ASCII make git write a transfer encoding, 8bit; attachments have one of their own."""
    commit(root, text, src_a="a = 2  # \u00e9\n")
    change = submitted(root, exported(root, *options))
    assert (paths(change), change.problems) == ((["src/a.py"], ["src/a.py"]), ())


def with_header(*lines: bytes) -> bytes:
    return MAIL.replace(HEADER, HEADER + b"\n".join(lines) + b"\n")


REFUSED = {
    "base64": with_header(b"Content-Transfer-Encoding: base64"),
    "quoted-printable": with_header(b"Content-Transfer-Encoding: quoted-printable"),
    "other case": with_header(b"CONTENT-transfer-encoding:BASE64"),
    "folded": with_header(b"Content-Transfer-Encoding:", b"\tquoted-printable"),
    "with a comment": with_header(b"Content-Transfer-Encoding: 8bit (base64)"),
    "line ends of mail": with_header(b"Content-Transfer-Encoding: base64").replace(b"\n", b"\r\n"),
    "in a part": MAIL.replace(b"---\n", b"--x\nContent-Transfer-Encoding: base64\n\n---\n", 1),
    "in a part behind the diff": MAIL
    + b"--x\nContent-Transfer-Encoding: base64\n\nZGlmZiAtLWdpdCBhL29yYWNsZQ==\n",
    "of the second mail": MAIL + with_header(b"Content-Transfer-Encoding: base64"),
    "before the first mail": b"Content-Transfer-Encoding: base64\n\n" + MAIL,
    "not marked as a mail": with_header(b"Content-Transfer-Encoding: base64").partition(b"\n")[2],
}


@pytest.mark.parametrize("mail", REFUSED.values(), ids=REFUSED)
def test_encoded_mails_are_refused(root: Path, mail: bytes) -> None:
    change = submitted(root, mail)
    assert ENCODED in details(change)
    assert {problem.rule for problem in change.problems} == {"intake.rejected"}


@pytest.mark.parametrize("encoding", [b"7bit", b"8bit", b"BINARY", b" 8bit ", b"\n 8bit", b"8bit\r"])
def test_encodings_that_encode_nothing_are_taken(root: Path, encoding: bytes) -> None:
    change = submitted(root, with_header(b"Content-Transfer-Encoding: " + encoding))
    assert (paths(change)[0], change.problems) == (["src/n.py"], ())


def test_a_quoted_mail_is_not_read_as_it_stands(root: Path) -> None:
    """As the bytes stand it sets 3D, which is what `git apply` would do; `git am` would set a space."""
    header, _, body = edit("src/a.py", "a = 1", "a = 2").partition(b"\n")
    quoted = header + b"\n" + quopri.encodestring(body)
    assert b"a =3D 1" in quoted
    mail = with_header(b"Content-Transfer-Encoding: quoted-printable")
    mail = mail.replace(new("src/n.py", "n = 1\n"), quoted)
    assert ENCODED in details(submitted(root, mail))


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
def test_a_diff_in_a_commit_message_is_explained(root: Path, ends: bytes) -> None:
    message = b"Before:\n\n" + edit("src/b.py", "b = 1", "b = 2") + b"\n---\n"
    mail = MAIL.replace(b"\n---\n", b"\n" + message, 1).replace(b"\n", ends)
    change = submitted(root, mail)
    assert DIFF_IN_MESSAGE in details(change)
    assert "src/b.py" in paths(change)[1]


def test_an_indented_diff_in_a_commit_message_is_text(root: Path) -> None:
    quoted = b"".join(b"    " + line for line in edit("oracle/denylist.txt", "oracle/", "x").splitlines(True))
    change = submitted(root, MAIL.replace(b"\n---\n", b"\n" + quoted + b"\n---\n", 1))
    assert (paths(change), change.problems) == ((["src/n.py"], ["src/n.py"]), ())


def test_a_mail_without_a_diff_is_told(root: Path) -> None:
    """A cover letter, or a mail whose diff got lost."""
    commit(root, src_a="a = 2\n")
    change = submitted(root, exported(root, "--cover-letter"))
    assert details(change) == ["holds no diff"]
    assert paths(change)[1] == ["src/a.py"]


def test_mails_after_a_refused_one_are_still_read_for_their_paths(root: Path) -> None:
    mails = mailbox(edit("src/a.py", "no such line", "x"), edit("oracle/denylist.txt", "oracle/", "x"))
    change = submitted(root, mails)
    assert [problem.rule for problem in change.problems] == ["intake.rejected"]
    assert paths(change) == ([], ["oracle/denylist.txt", "src/a.py"])


def test_a_plain_diff_is_one_part_without_complaint() -> None:
    patch = b"Some text.\n\n" + edit("src/a.py", "a = 1", "a = 2")
    assert split_mails(patch) == [patch]
    assert complaint(patch) == ""
    assert split_mails(b"Hello\n" + MAIL) == [b"Hello\n", MAIL]
    assert split_mails(b"\n\n" + MAIL) == [MAIL]
    assert split_mails(b"") == [b""]
