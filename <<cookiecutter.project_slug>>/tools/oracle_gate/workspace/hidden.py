"""What is hidden, as an index that a text of n bytes is looked up in with O(n) steps.

Bytes are compared squeezed (no white space, no letter case, no quoting), so that re-indented, escaped
or commented copies are the same. A run of 55 squeezed bytes that a hidden file holds is evidence, and
so is a whole hidden file of at least 23. Hidden files of less than 32 bytes say nothing, nor does what
the visible tree holds as well.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from ..core.view import is_hidden

#: Bytes; a smaller hidden file may well appear by chance.
SMALLEST = 32
#: Squeezed bytes of a window, and of the first windows of a whole short file.
LONG, SHORT = 48, 16
#: A window starts at every byte of the hidden side and every eighth of the other. With more hidden bytes
#: than this it is the other way round, for the sake of memory (about 150 bytes a window).
STRIDE, DENSE = 8, 1 << 18
#: Fewer different bytes in a window are a filling, not a content.
_LEAST_VARIETY = 8
_ESCAPED = re.compile(rb"\\+[nrt]")
_LOWER = bytes.maketrans(bytes(range(65, 91)) + b"'", bytes(range(97, 123)) + b'"')
_DROPPED = b" \t\r\n\v\f\0\\+->#|*`"
_WORD = re.compile(rb"[\w-]+")
_HEX = re.compile(rb"[0-9a-f]{12,128}")
#: Names that the scaffold itself has, and says (design, section 2).
_FIXED = {
    b"oracle/digests.json", b"oracle/quarantine.json", b"oracle/denylist.txt", b"oracle/noise.txt",
    b"oracle/gate.toml", b"oracle/provenance.json", b"oracle/allowed_signers", b"oracle/approvals/.gitkeep",
    b"corpus/inputs.jsonl", b"sealed/manifest.json", b"sealed/freeze.json", b"tools/metamorphic.py",
}  # fmt: skip


class Evidence(NamedTuple):
    """`kind` is copy, bytes, digest, id or name; `key` what was found; `path` the hidden file."""

    kind: str
    key: bytes
    path: str


def squeeze(data: bytes) -> bytes:
    """The bytes without what re-indenting, escaping, quoting or commenting changes."""
    return _ESCAPED.sub(b"", data).translate(_LOWER, _DROPPED)


def windows(text: bytes, width: int, step: int) -> Iterator[bytes]:
    """All `width` bytes of `text` that start at a multiple of `step`, a divisor of `width`."""
    view = memoryview(text)
    lanes = (
        view[at : at + (len(text) - at) // width * width] for at in range(0, min(width, len(text)), step)
    )
    return chain.from_iterable(chain.from_iterable(struct.iter_unpack(f"{width}s", lane) for lane in lanes))


@dataclass
class Index:
    """The index: filled by `add`, asked by `evidence`, cut down by `only`."""

    step: int = STRIDE
    long: dict[bytes, str] = field(default_factory=dict)
    short: dict[bytes, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    whole: dict[bytes, str] = field(default_factory=dict)
    copies: dict[str, str] = field(default_factory=dict)
    digests: dict[bytes, tuple[bytes, str]] = field(default_factory=dict)
    ids: dict[bytes, str] = field(default_factory=dict)
    all_names: set[bytes] = field(default_factory=set)
    names: dict[bytes, list[bytes]] = field(default_factory=lambda: defaultdict(list))

    def add(self, path: bytes, oid: str, data: bytes) -> None:
        """A hidden file's content."""
        shown, text = path.decode(errors="replace"), squeeze(data)
        for start in range(0, len(text) - LONG + 1, STRIDE // self.step):
            window = text[start : start + LONG]
            if len(set(window)) >= _LEAST_VARIETY:
                self.long[window] = shown
        if len(text) + 1 >= SHORT + STRIDE and len(text) < LONG + STRIDE and len(set(text)) >= _LEAST_VARIETY:
            self.whole[text] = shown
            for start in range(STRIDE):
                self.short[text[start : start + SHORT]].append(text)
        self.copies[oid] = shown
        for name in ("sha256", "sha1", "md5", "sha512"):
            digest = hashlib.new(name, data, usedforsecurity=False)
            self._digest(digest.hexdigest(), shown)
        self.add_id(oid, path)

    def add_id(self, oid: str, path: bytes) -> None:
        """The id of a hidden file or of a folder that holds one."""
        self.ids[bytes.fromhex(oid)] = path.decode(errors="replace")
        self._digest(oid, path.decode(errors="replace"))

    def _digest(self, digest: str, path: str) -> None:
        self.digests[digest[:12].encode()] = (digest.encode(), path)

    def add_name(self, path: bytes) -> None:
        """A hidden file's name. Those of sealed/ give themselves away without their folder."""
        lowered = path.lower()
        if lowered in _FIXED:
            return
        self.all_names.add(lowered)
        base = lowered.rpartition(b"/")[2]
        alone = {base, base.partition(b".")[0]} if is_hidden(lowered, ("sealed",)) else set()
        self.all_names |= {name for name in alone if len(name) >= 8 and re.search(rb"[\d_-]", name)}

    def file_names(self) -> None:
        """Files each name under its rarest word, by which a text is asked first; call it after the last name."""
        words = Counter(word for name in self.all_names for word in set(_WORD.findall(name)))
        for name in self.all_names:
            self.names[min(_WORD.findall(name), key=words.__getitem__, default=b"")].append(name)

    def evidence(self, data: bytes) -> set[Evidence]:
        """What of the hidden files a text shows, without exact copies."""
        text, lowered = squeeze(data), data.lower()
        found = {Evidence("bytes", key, self.long[key]) for key in _common(self.long, text, LONG, self.step)}
        for key in _common(self.short, text, SHORT, STRIDE):
            found |= {Evidence("bytes", full, self.whole[full]) for full in self.short[key] if full in text}
        for token in set(_HEX.findall(lowered)):
            full, path = self.digests.get(token[:12], (b"", ""))
            if path and (full.startswith(token) or token.startswith(full)):
                found.add(Evidence("digest", full, path))
        for word in self.names.keys() & set(_WORD.findall(lowered)):
            names = (name for name in self.names[word] if name in lowered)
            found |= {Evidence("name", name, name.decode(errors="replace")) for name in names}
        if b"\0" in data and self.ids:
            width = len(next(iter(self.ids)))
            found |= {Evidence("id", key, self.ids[key]) for key in _common(self.ids, data, width, 1)}
        return found

    def only(self, found: Iterable[Evidence]) -> Index:
        """An index of this evidence alone, which finds it at every byte: to look it up in the visible tree."""
        index = Index(step=1)
        for kind, key, path in found:
            if kind == "bytes" and len(key) == LONG and key in self.long:
                index.long[key] = path
            elif kind == "bytes":
                index.whole[key] = path
                for start in range(STRIDE):
                    index.short[key[start : start + SHORT]].append(key)
            elif kind == "digest":
                index.digests[key[:12]] = (key, path)
            elif kind == "name":
                index.all_names.add(key)
        index.file_names()
        return index


def _common(table: Mapping[bytes, object], text: bytes, width: int, step: int) -> set[bytes]:
    """The keys of the table among the windows of a text; the usual answer, none, takes no Python loop."""
    if not table or table.keys().isdisjoint(windows(text, width, step)):
        return set()
    return table.keys() & windows(text, width, step)
