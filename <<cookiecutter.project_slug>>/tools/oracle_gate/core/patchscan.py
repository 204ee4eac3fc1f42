"""What a patch says it does, read before git sees it (design, section 6).

The reader follows the grammar of `git apply`: what git takes for a header is a header here, what git would
refuse is a problem. Where readings of the same bytes could part, the paths of all of them are returned.
Each byte is looked at a bounded number of times.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .patchtext import delta_result_size, name_in, names_in, without_prefix
from .paths import printable
from .settings import Limits

#: All binary parts may unpack to this many times the largest patch: git holds them in memory together.
EXPANSION = 8
#: What no honest header exceeds: bytes of a line, bytes of a path, lines.
_LINE_BYTES, _PATH_BYTES, _HEADER_LINES = 16384, 4096, 32
#: Lines of a patch; more would be read for minutes.
_MOST_LINES = 4_000_000
#: Reading ends here: the verdict cannot change any more.
_MOST_PROBLEMS = 20
_FILE_MODES = (b"100644", b"100755")
#: What git writes before a name, mnemonicPrefix included.
_PREFIXES = (b"a/", b"b/", b"c/", b"i/", b"o/", b"w/")

_MARK = re.compile(
    rb"^(?:(?P<git>diff --git )|(?P<combined>diff --(?:cc|combined) )|(?P<plain>--- [^\n]*\n\+\+\+ )"
    rb"|(?P<mail>From (?:[0-9a-f]{64}|[0-9a-f]{40}) )|(?P<fragment>@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@)"
    rb"|(?P<binary>(?:Binary files|Files) [^\n]* differ\r?$))",
    re.MULTILINE,
)
_FIELD = re.compile(
    rb"(?P<old>--- )|(?P<new>\+\+\+ )|(?P<source>(?:rename (?:from|old)|copy from) )"
    rb"|(?P<target>(?:rename (?:to|new)|copy to) )|(?P<old_mode>(?:old|deleted file) mode )"
    rb"|(?P<new_mode>new (?:file )?mode )|(?P<index>index )|(?P<score>(?:dis)?similarity index )"
)
_PLAIN_HEADER = re.compile(rb"--- [^\n]*\n\+\+\+ [^\n]*\n@@ -")
_HUNK = re.compile(rb"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")
_BINARY = b"GIT binary patch\n"
_BINARY_PART = re.compile(rb"(literal|delta) (\d{1,12})\r?\n")


@dataclass(frozen=True)
class Problem:
    """Why a submission is refused: a rule of the policy, what it is about, and one line of detail."""

    rule: str
    subject: str
    detail: str


@dataclass(frozen=True)
class PatchScan:
    """`paths`: every path that a header names, sorted; `modes`: every mode, as written.

    `is_mailbox` is true for more than one mail; the text of a single one may stand before its patch.
    """

    paths: tuple[bytes, ...]
    modes: tuple[str, ...]
    problems: tuple[Problem, ...]
    is_mailbox: bool


def scan(patch: bytes, limits: Limits) -> PatchScan:
    """Reads a patch without running anything. Never raises: whatever is wrong is in `problems`."""
    found = _Findings(patch, limits)
    if len(patch) > limits.patch_bytes:
        found.problem("patch", f"{len(patch)} bytes; the limit is {limits.patch_bytes}", "intake.too_large")
    elif patch.count(b"\n") > _MOST_LINES:
        found.problem("patch", f"more than {_MOST_LINES} lines", "intake.too_large")
    else:
        _read(found)
    return found.result()


@dataclass
class _Findings:
    """The patch, and what the reader gathers on its way through it."""

    patch: bytes
    limits: Limits
    names: set[bytes] = field(default_factory=set)
    as_written: set[bytes] = field(default_factory=set)
    all_prefixed: bool = True
    modes: set[str] = field(default_factory=set)
    problems: dict[Problem, None] = field(default_factory=dict)
    files: int = 0
    mails: int = 0
    unpacked: int = 0

    @property
    def is_decided(self) -> bool:
        return self.files > self.limits.files or len(self.problems) >= _MOST_PROBLEMS

    def problem(self, subject: str, detail: str, rule: str = "intake.rejected") -> None:
        self.problems[Problem(rule, subject, detail)] = None

    def problem_at(self, at: int, detail: str) -> None:
        line = self.patch.count(b"\n", 0, at) + 1
        self.problem(f"line {line}", detail)

    def line(self, at: int) -> tuple[bytes, int]:
        """The line that begins at `at`, without its LF, and where the next one begins."""
        end = self.patch.find(b"\n", at)
        end = end if end >= 0 else len(self.patch)
        return self.patch[at:end], end + 1

    def cut(self, text: bytes, at: int) -> bytes:
        """The text of a header line at `at`, cut where no honest one goes on."""
        if len(text) > _LINE_BYTES:
            self.problem_at(at, "over-long header line")
        return text[:_LINE_BYTES]

    def exact_name(self, name: bytes) -> bytes:
        """Notes a path that git takes as it stands; returns it without doubled slashes, as git does."""
        name = re.sub(rb"/{2,}", b"/", name)
        self.names.add(name)
        return name

    def prefixed_name(self, name: bytes) -> bytes:
        """Notes a path of which git drops the first component; returns the rest."""
        if name == b"/dev/null":
            return name
        self.all_prefixed = self.all_prefixed and name.startswith(_PREFIXES)
        self.as_written.add(re.sub(rb"/{2,}", b"/", name))
        return self.exact_name(without_prefix(name))

    def unpacks(self, size: int) -> None:
        """Counts the bytes that one binary part turns into."""
        self.unpacked += size
        limit, total = self.limits.literal_bytes, EXPANSION * self.limits.patch_bytes
        if size > limit:
            self.problem("patch", f"a binary part of {size} bytes; the limit is {limit}", "intake.too_large")
        if self.unpacked > total:
            self.problem("patch", f"unpacks to more than {total} bytes", "intake.too_large")

    def result(self) -> PatchScan:
        if self.files > self.limits.files:
            self.problem("patch", f"more than {self.limits.files} files", "intake.too_large")
        # After one header without a prefix git may keep the first component of every name.
        names = self.names if self.all_prefixed else self.names | self.as_written
        paths = {path for name in names for path in self._plain(name)}
        mails = self.mails > 1
        return PatchScan(tuple(sorted(paths)), tuple(sorted(self.modes)), tuple(self.problems), mails)

    def _plain(self, name: bytes) -> Iterator[bytes]:
        """The name and, if it is not a plain relative path, where it leads to."""
        if not name or len(name) > _PATH_BYTES or b"\0" in name:
            self.problem("patch", "a name that is empty, over-long or holds NUL")
            return
        yield name
        resolved = posixpath.normpath(b"/" + name).lstrip(b"/")
        if resolved != name:
            self.problem(printable(name), "is not a plain relative path")
            yield resolved


def _read(found: _Findings) -> None:
    at = 0
    while not found.is_decided:
        mark = _MARK.search(found.patch, at)
        if not mark:
            break
        if mark["git"]:
            at = _contents(found, _git_header(found, mark.start()))
        elif mark["plain"]:
            found.files += 1
            at = _contents(found, _plain_header(found, mark.start()))
        else:
            at = _other_mark(found, mark)
    if not found.files and found.patch.strip():
        found.problem("patch", "holds no diff")


def _other_mark(found: _Findings, mark: re.Match[bytes]) -> int:
    line, following = found.line(mark.start())
    if mark["mail"]:
        found.mails += 1
    elif mark["combined"]:
        found.files += 1
        found.exact_name(name_in(found.cut(line[len(mark[0]) :], mark.start()), b"\r"))
        found.problem_at(mark.start(), "combined diff of a merge; submit a diff against one parent")
    elif mark["fragment"]:
        found.problem_at(mark.start(), "hunk without a header")
    elif found.files:
        found.problem_at(mark.start(), "binary change without its data; make the diff with --binary")
    return following


def _git_header(found: _Findings, start: int) -> int:
    """Reads `diff --git` and the lines that belong to it; returns where the content begins."""
    found.files += 1
    first, at = found.line(start)
    names: dict[str, set[bytes]] = {"before": set(), "after": set()}
    modes = []
    for _ in range(_HEADER_LINES):
        line, following = found.line(at)
        kind = _FIELD.match(line)
        if not kind:
            break
        value, at = found.cut(line[kind.end() :], at), following
        if kind["old"] or kind["new"]:
            names["before" if kind["old"] else "after"].add(found.prefixed_name(name_in(value, b"\t\r")))
        elif kind["source"] or kind["target"]:
            names["before" if kind["source"] else "after"].add(found.exact_name(name_in(value, b"\r")))
        elif not kind["score"]:
            mode = (value.partition(b" ")[2] if kind["index"] else value).rstrip(b"\r")
            modes.append((mode, not kind["old_mode"]))
    else:
        found.problem_at(start, f"header of more than {_HEADER_LINES} lines")
    named = names_in(found.cut(first[len(b"diff --git ") :], start), **names)
    if len(named) != 2:
        found.problem_at(start, "header whose file names cannot be told")
    named = [found.prefixed_name(name) for name in named]
    _note_modes(found, printable(named[-1]), modes)
    return at


def _note_modes(found: _Findings, subject: str, modes: list[tuple[bytes, bool]]) -> None:
    """Notes the modes of a file and refuses one that it shall have afterwards if no plain file has it."""
    for mode, is_after in modes:
        if mode:
            found.modes.add(printable(mode[:32]))
        if mode and is_after and mode not in _FILE_MODES:
            detail = f"mode {printable(mode[:32])} is not that of a file"
            found.problem(subject, detail, "intake.forbidden_entry")


def _plain_header(found: _Findings, start: int) -> int:
    """Reads the `---` and `+++` lines of a diff that git did not make; a TAB ends the name."""
    at = start
    for _ in range(2):
        line, following = found.line(at)
        found.prefixed_name(name_in(found.cut(line[4:], at), b"\t\r"))
        at = following
    return at


def _contents(found: _Findings, at: int) -> int:
    """Skips what follows a header: hunks, or a binary patch; returns where to look for the next header."""
    if found.patch.startswith(_BINARY, at):
        return _binary_parts(found, at + len(_BINARY))
    while found.patch.startswith(b"@@ -", at):
        at = _hunk(found, at)
    return at


def _hunk(found: _Findings, start: int) -> int:
    """Skips one hunk by its own line counts; where they lie, the rest is read as headers again."""
    patch, size = found.patch, len(found.patch)
    header = _HUNK.match(patch, start)
    _, at = found.line(start)
    if not header:
        found.problem_at(start, "hunk header that cannot be read")
        return at
    old, new = (1 if count is None else int(count) for count in header.groups())
    while old or new:
        first = patch[at] if at < size else 0
        if first == 0x2B:  # +
            new -= 1
        elif first == 0x2D:  # -
            old -= 1
            if patch.startswith(b"--- ", at) and _PLAIN_HEADER.match(patch, at):
                _plain_header(found, at)  # a removed and an added line, or the header of another file
        elif first in (0x20, 0x0A):  # context; a bare LF is context whose space was lost
            old -= 1
            new -= 1
        elif first != 0x5C:  # \ No newline at end of file
            old = -1
        if old < 0 or new < 0:
            found.problem_at(min(at, size), "hunk that is not as long as its header says")
            break
        at = patch.find(b"\n", at) + 1 or size
    return at


def _binary_parts(found: _Findings, at: int) -> int:
    """Skips the forward and the reverse data of a binary patch and counts what they unpack to."""
    patch = found.patch
    for is_forward in (True, False):
        part = _BINARY_PART.match(patch, at)
        if not part:
            if is_forward or patch.startswith((b"literal ", b"delta "), at):
                found.problem_at(at, "binary data that cannot be read")
            break
        end = patch.find(b"\n\n", part.end() - 1)
        end = end if end >= 0 else len(patch)
        space = patch.find(b" ", part.end(), end)
        if space >= 0:  # no data line holds a space, every header does
            found.problem_at(space, "binary data that cannot be read")
            return patch.rfind(b"\n", 0, space) + 1
        found.unpacks(int(part[2]))
        if part[1] == b"delta":
            result = delta_result_size(patch[part.end() : min(end, part.end() + 4096)])
            if result is None:
                found.problem_at(at, "binary delta that cannot be read")
            found.unpacks(result or 0)
        at = end + 2
    return at
