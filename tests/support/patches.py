"""Hypothesis strategies for patches of one file, written as git writes them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hypothesis import strategies as st

#: Lines of a file that look like parts of a patch once a `+`, `-` or space stands before them.
BODY_LINES = (
    "-- a/oracle/x", "++ b/oracle/x", "--- a/oracle/x", "+++ b/oracle/x", "diff --git a/oracle/x b/oracle/x",
    "rename from oracle/x", "new file mode 120000", "@@ -1,9 +1,9 @@", "GIT binary patch",
    "From " + "0" * 40 + " x",
    "Binary files a/oracle/x and b/oracle/x differ", "diff --cc oracle/x", "-- oracle/x", "",
)  # fmt: skip
_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
_MUST_QUOTE = re.compile(rb'[\x00-\x1f\x7f"\\]')


@dataclass(frozen=True)
class FilePatch:
    """One file of a patch; `before` and `after` differ for a rename or copy alone."""

    kind: str
    before: bytes
    after: bytes
    quote_all: bool
    old: tuple[str, ...]
    new: tuple[str, ...]


def _quoted(name: bytes, quote_all: bool) -> bytes:
    if not _MUST_QUOTE.search(name) and not (quote_all and max(name) > 127):
        return name
    text = "".join(
        "\\" + _ESCAPES[byte] if byte in _ESCAPES else chr(byte) if 31 < byte < 127 else f"\\{byte:03o}"
        for byte in name
    )
    return b'"' + text.encode() + b'"'


def patch_text(patch: FilePatch) -> bytes:
    """The patch as git writes it."""

    def name(prefix: bytes, path: bytes) -> bytes:
        return _quoted(prefix + path, patch.quote_all)

    def side(prefix: bytes, path: bytes) -> bytes:
        text = name(prefix, path)
        return text + b"\t" if b" " in text and not text.startswith(b'"') else text

    before, after = side(b"a/", patch.before), side(b"b/", patch.after)
    header = [b"diff --git " + name(b"a/", patch.before) + b" " + name(b"b/", patch.after)]
    if patch.kind in ("rename", "copy"):
        verb = patch.kind.encode()
        header += [b"similarity index 90%", verb + b" from " + _quoted(patch.before, patch.quote_all)]
        header += [verb + b" to " + _quoted(patch.after, patch.quote_all)]
    elif patch.kind == "mode":
        header += [b"old mode 100644", b"new mode 100755"]
    elif patch.kind in ("new", "deleted"):
        header += [patch.kind.encode() + b" file mode 100644"]
        before, after = (b"/dev/null", after) if patch.kind == "new" else (before, b"/dev/null")
    header += [b"index 1111111..2222222"]
    if patch.kind == "binary":
        return b"\n".join(
            [
                *header,
                b"GIT binary patch",
                b"literal 0",
                b"HcmV?d00001",
                b"",
                b"literal 0",
                b"HcmV?d00001",
                b"",
                b"",
            ]
        )
    old = () if patch.kind == "new" else patch.old
    new = () if patch.kind == "deleted" else patch.new
    if not old and not new:
        return b"\n".join([*header, b""])
    count = f"@@ -{min(1, len(old))},{len(old)} +{min(1, len(new))},{len(new)} @@ def f():".encode()
    body = [b"-" + line.encode() for line in old] + [b"+" + line.encode() for line in new]
    return b"\n".join([*header, b"--- " + before, b"+++ " + after, count, *body, b""])


def _names() -> st.SearchStrategy[bytes]:
    letters = st.sampled_from(
        [
            b"a",
            b"b",
            b" ",
            b" b",
            b"\t",
            b'"',
            b"\\",
            b"\xc3\xa9",
            b"\xff",
            b".",
            b"-",
            b"\n",
            b"oracle",
            b"\r",
        ]
    )
    component = (
        st.lists(letters, min_size=1, max_size=4).map(b"".join).filter(lambda name: name.strip(b".") != b"")
    )
    return st.lists(component, min_size=1, max_size=3).map(b"/".join)


def file_patches() -> st.SearchStrategy[FilePatch]:
    """Edits, additions, deletions, renames, copies, mode changes and binary files of any name."""
    kinds = st.sampled_from(["edit", "new", "deleted", "rename", "copy", "mode", "binary"])
    body = st.lists(st.sampled_from(BODY_LINES), max_size=4).map(tuple)

    def build(
        kind: str, before: bytes, after: bytes, quote_all: bool, old: tuple[str, ...], new: tuple[str, ...]
    ) -> FilePatch:
        return FilePatch(kind, before, after if kind in ("rename", "copy") else before, quote_all, old, new)

    return st.builds(build, kinds, _names(), _names(), st.booleans(), body, body)
