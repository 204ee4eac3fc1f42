"""Path names as git gives them: bytes that are compared folded, refused when odd, printed escaped.

Rules: design, sections 5 (folding) and 6 (names that no change may bring). Some file system treats each
pair that folds together as one name: case on APFS and NTFS, ignorable characters on HFS+, trailing dots,
spaces and `:stream` on NTFS.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

#: Unicode's Default_Ignorable_Code_Point: drawn as nothing, skipped by some file systems.
_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
#: Unicode categories of characters that a name may not hold: controls, formats, surrogates, private use.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_SHORT_NAME = re.compile(r"~[0-9]")
_NAMED_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
#: Bytes; a component of more is no file name on Linux, a path of more is an attack on the reader.
_LONGEST_COMPONENT, _LONGEST_PATH = 255, 1024


def fold(path: bytes | str) -> str:
    """One spelling for all names that a file system may take for the same; `fold(fold(x)) == fold(x)`.

    Bytes that are not UTF-8 stay, as surrogates. Empty components (`//`, `./`, dots alone) disappear.
    """
    text = path.decode("utf-8", "surrogateescape") if isinstance(path, bytes) else path
    text = text.lower() if text.isascii() else _fold_characters(text)
    components = (name.partition(":")[0].rstrip(" .") for name in text.replace("\\", "/").split("/"))
    return "/".join(name for name in components if name)


def _fold_characters(text: str) -> str:
    """Repeats until nothing changes: normalising can bring back a letter that case folding changes."""
    while True:
        folded = unicodedata.normalize("NFKC", _IGNORABLE.sub("", text.casefold()))
        if folded == text:
            return text
        text = folded


def within(folded: str, prefix: str) -> bool:
    """Whether a folded path is the folded prefix or lies below it; everything lies below ""."""
    return folded == prefix or not prefix or folded.startswith(prefix + "/")


def below(path: bytes | str, prefixes: Iterable[str]) -> str | None:
    """The first of `prefixes`, as given, that the path is or lies below (whole components, folded)."""
    folded = fold(path)
    return next((prefix for prefix in prefixes if within(folded, fold(prefix))), None)


def forbidden_name(path: bytes) -> str | None:
    """Why a change may not leave a file of this name behind, or None. Letters of any script are fine."""
    if len(path) > _LONGEST_PATH:
        return f"name longer than {_LONGEST_PATH} bytes"
    try:
        text = path.decode()
    except UnicodeDecodeError:
        return "name is not UTF-8"
    if any(unicodedata.category(char) in _UNSEEN or _IGNORABLE.match(char) for char in text):
        return "name with a control, bidirectional or invisible character"
    reasons = (_forbidden_component(component) for component in text.split("/"))
    return next((reason for reason in reasons if reason), None)


def _forbidden_component(name: str) -> str | None:
    complaints = (
        (name in ("", ".", ".."), "not a plain relative path"),
        (fold(name) == ".git", "name that git keeps for itself (.git)"),
        (len(name.encode()) > _LONGEST_COMPONENT, f"component longer than {_LONGEST_COMPONENT} bytes"),
        (":" in name or "\\" in name, "name with a colon or backslash"),
        (_SHORT_NAME.search(name), "name with ~ and a digit (a short name on Windows)"),
        (name.startswith("-"), "name with a leading dash"),
        (_is_byte_code(name), "compiled Python, which can run in place of the source beside it"),
        (name.endswith((".", " ")), "name with a trailing dot or space"),
    )
    return next((reason for wrong, reason in complaints if wrong), None)


def _is_byte_code(name: str) -> bool:
    folded = fold(name)
    return folded == "__pycache__" or folded.endswith((".pyc", ".pyo"))


def printable(path: bytes) -> str:
    r"""The path for packets and terminals: seen characters as they are, all others as `\n`, `\\` or `\xNN`.

    Injective: two paths never look the same.
    """
    return "".join(map(_escaped, path.decode("utf-8", "surrogateescape")))


def _escaped(char: str) -> str:
    if char in _NAMED_ESCAPES:
        return _NAMED_ESCAPES[char]
    if char.isprintable() and not _IGNORABLE.match(char):
        return char
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))
