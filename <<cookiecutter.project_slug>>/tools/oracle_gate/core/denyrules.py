"""The denylist: oracle/denylist.txt, and what is denied unlisted (design, section 5; article A)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from .decode import utf8
from .errors import GateError
from .paths import fold, within

PATH = "oracle/denylist.txt"


@dataclass(frozen=True)
class Rule:
    """One line of the denylist: as written, and folded for comparison."""

    text: str
    folded: str


#: Denied with everything below them, listed or not.
_OWN = (
    "oracle", "corpus", "sealed", "tools/gate.py", "tools/replay_gate.py", "tools/replay_harness.py",
    "tools/metamorphic.py", "tools/oracle_guard.py", "tools/workspace", "tools/oracle_gate", "noxfile.py",
    "Makefile", "GNUmakefile", ".pre-commit-config.yaml", ".github", ".gitlab-ci.yml", "CODEOWNERS",
    "docs/CODEOWNERS", ".gitlab/CODEOWNERS", ".cruft.json", ".gate", ".circleci", ".gitea", ".forgejo",
    ".woodpecker", ".woodpecker.yml", "azure-pipelines.yml", "Jenkinsfile", ".travis.yml", "bitbucket-pipelines.yml",
)  # fmt: skip
_OWN_RULES = tuple(Rule(text, fold(text)) for text in _OWN)
#: Denied in every folder: they change what git puts on disk.
_ANYWHERE = (".gitattributes", ".gitmodules")
#: Run by Python at start, or read by its import system, when they lie in a folder of the import path.
_STARTUP_MODULES = ("sitecustomize", "usercustomize")
_STARTUP_SUFFIXES = (".dist-info", ".egg-info", ".pth")

_GLOB = re.compile(r"[*?\[\]]")


def parse_rules(data: bytes, where: str = PATH) -> tuple[Rule, ...]:
    """Reads the denylist; raises GateError with file and line.

    One literal root-anchored path a line, `#` comments, either line ending. A rule matches the path itself
    and everything below it, so `oracle/` also matches a symbolic link or submodule named `oracle`.
    """
    rules = []
    for number, line in enumerate(utf8(data, where).split("\n"), start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        complaint = _complaint(text)
        if complaint:
            raise GateError(
                f"{complaint} in the rule {text!r}",
                where=f"{where}:{number}",
                todo="write a path from the repository's root, such as oracle/",
            )
        rules.append(Rule(text, fold(text)))
    return tuple(rules)


def _complaint(text: str) -> str | None:
    components = text.removesuffix("/").split("/")
    complaints = (
        (text.startswith("/"), "leading /"),
        (text.startswith("!"), "negation"),
        (_GLOB.search(text), "pattern character"),
        ("\\" in text or ":" in text, "backslash or colon"),
        (" #" in text, "comment"),
        (not text.isprintable(), "invisible character"),
        (any(not fold(name) for name in components), "empty, . or .. component"),
    )
    return next((reason for wrong, reason in complaints if wrong), None)


def has_rules(rules: Iterable[Rule]) -> bool:
    """False for a list of comments alone, which denies nothing (rule oracle.vacuous)."""
    return any(True for _ in rules)


def match(path: bytes | str, rules: Iterable[Rule]) -> Rule | None:
    """The first rule that denies the path."""
    folded = fold(path)
    return next((rule for rule in rules if within(folded, rule.folded)), None)


def always_denied(path: bytes | str, subject_paths: Iterable[str]) -> str | None:
    """What denies the path without being listed, or None. `subject_paths` is `[subject] path`."""
    own = match(path, _OWN_RULES)
    if own:
        return own.text
    components = fold(path).split("/")
    anywhere = next((name for name in _ANYWHERE if name in components), None)
    return anywhere or _startup_file(components, {"", *map(fold, subject_paths)})


def _startup_file(components: list[str], import_path: set[str]) -> str | None:
    """Names the kind of file that would run at Python's start, or pose as an installed package."""
    for depth, name in enumerate(components):
        if "/".join(components[:depth]) in import_path:
            if name.partition(".")[0] in _STARTUP_MODULES:
                return name.partition(".")[0] + ".py"
            for suffix in _STARTUP_SUFFIXES:
                if name.endswith(suffix):
                    return "*" + suffix
    return None
