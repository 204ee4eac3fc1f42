"""Patches written by hand, honest and not: what git would never write, `git apply` may still obey."""

from __future__ import annotations

import base64
import zlib


def new(path: str, body: str = "x\n", mode: str = "100644", quoted: str = "") -> bytes:
    """A patch that adds a file; `quoted` is the name as git would C-quote it."""
    old, name = (f'"a/{quoted}"', f'"b/{quoted}"') if quoted else (f"a/{path}", f"b/{path}")
    lines = body.splitlines(True)
    added = "".join("+" + line for line in lines)
    end = "" if body.endswith("\n") else "\n\\ No newline at end of file\n"
    return (
        f"diff --git {old} {name}\nnew file mode {mode}\nindex 0000000..1111111\n--- /dev/null\n+++ {name}\n"
        f"@@ -0,0 +1,{len(lines) or 1} @@\n{added}{end}"
    ).encode("utf-8", "surrogateescape")


def delete(path: str, body: str) -> bytes:
    """A patch that deletes a file of this content."""
    removed = "".join("-" + line for line in body.splitlines(True))
    return (
        f"diff --git a/{path} b/{path}\ndeleted file mode 100644\nindex 1111111..0000000\n--- a/{path}\n+++ /dev/null\n"
        f"@@ -1,{body.count(chr(10))} +0,0 @@\n{removed}"
    ).encode()


def edit(path: str, old: str, new: str, header: str = "") -> bytes:
    """One line replaced; `header` stands in place of the `diff --git` line."""
    first = header or f"diff --git a/{path} b/{path}"
    return f"{first}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{old}\n+{new}\n".encode()


def move(old: str, new: str, kind: str = "rename", header: tuple[str, str] = ("", "")) -> bytes:
    """A rename or copy without an edit; `header` holds names that the `diff --git` line says instead."""
    first, second = header[0] or old, header[1] or new
    return f"diff --git a/{first} b/{second}\nsimilarity index 100%\n{kind} from {old}\n{kind} to {new}\n".encode()


def mode(path: str, old: str, new: str) -> bytes:
    """A change of mode alone."""
    return f"diff --git a/{path} b/{path}\nold mode {old}\nnew mode {new}\n".encode()


def binary(path: str, index: str, data: bytes, before: str = "new file mode 100644\n") -> bytes:
    """A binary patch of one file; `index` is what its index line claims."""
    packed = zlib.compress(data)
    lines = b""
    for at in range(0, len(packed), 52):
        part = packed[at : at + 52]
        size = chr(ord("A") + len(part) - 1) if len(part) <= 26 else chr(ord("a") + len(part) - 27)
        lines += size.encode() + base64.b85encode(part, pad=True) + b"\n"
    head = f"diff --git a/{path} b/{path}\n{before}index {index}\nGIT binary patch\nliteral {len(data)}\n"
    return head.encode() + lines + b"\n"


def mailbox(*patches: bytes) -> bytes:
    """The patches as mails of `git format-patch`."""
    mails = (
        f"From {number:040x} Mon Sep 17 00:00:00 2001\nFrom: A <a@b>\nSubject: [PATCH] {number}\n\n---\n".encode()
        + patch
        + b"-- \n2.39.5\n\n"
        for number, patch in enumerate(patches, 1)
    )
    return b"".join(mails)
