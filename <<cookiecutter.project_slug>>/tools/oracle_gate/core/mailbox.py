"""A mailbox as mails: each is judged on its own, so that an edit a later mail reverts is seen (design, section 6)."""

from __future__ import annotations

import re

_MAIL = re.compile(rb"^From (?:[0-9a-f]{64}|[0-9a-f]{40}) ", re.MULTILINE)
#: In any part of a mail, folded or not: `git am` would decode what `git apply` takes as it stands. No line
#: of a hunk begins so.
_ENCODED = re.compile(
    rb"^Content-Transfer-Encoding:(?!\s*(?:7bit|8bit|binary)[ \t]*\r?$)", re.MULTILINE | re.IGNORECASE
)
_SEPARATOR = re.compile(rb"^---\r?$", re.MULTILINE)
_DIFF = re.compile(rb"^(?:diff --git |--- [^\n]*\n\+\+\+ )", re.MULTILINE)


def split_mails(patch: bytes) -> list[bytes]:
    """The mails of `git format-patch`; a plain diff is one part. No line of a hunk begins with `From `."""
    starts = [match.start() for match in _MAIL.finditer(patch)]
    if not starts:
        return [patch]
    lead = [patch[: starts[0]]] if patch[: starts[0]].strip() else []
    return lead + [patch[at:end] for at, end in zip(starts, [*starts[1:], len(patch)], strict=True)]


def complaint(mail: bytes) -> str:
    """Why a mail cannot be read as the diff that its author saw; empty when it can."""
    if _ENCODED.search(mail):
        return "the mail is base64 or quoted-printable; export it with git format-patch"
    if not _MAIL.match(mail):
        return ""
    rest = re.split(rb"\r?\n\r?\n", mail, maxsplit=1)[-1]
    separator, diff = _SEPARATOR.search(rest), _DIFF.search(rest)
    if separator and diff and diff.start() < separator.start():
        return "the commit message holds a diff, which git would apply; indent it or submit a plain diff"
    return ""
