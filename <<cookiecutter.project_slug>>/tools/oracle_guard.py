"""Refuses commits and pushes that touch human-owned paths: the oracle, the corpus, the gate itself.

Run by pre-commit as `python3 -I tools/oracle_guard.py` (stages pre-commit, pre-merge-commit, pre-push), or as a
git hook: a pre-push hook with git's arguments sees every pushed ref, pre-commit names the first alone. It reads the
index and git's objects, never the work tree. Exit 0: nothing to say, 1: refused, 2: error. A speed bump for honest
mistakes: `git commit --no-verify` passes it, and the judge does not need it. One file without the engine: `fold` and
the built-in list repeat core/paths.py and core/denyrules.py.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path
from typing import Any, NamedTuple

try:
    import tomllib
except ImportError:
    print("oracle-guard: needs Python 3.11 or later; put it first on PATH as python3", file=sys.stderr)
    raise SystemExit(2) from None

OWN = tuple((  # noqa: SIM905
    "oracle corpus sealed tools/gate.py tools/replay_gate.py tools/replay_harness.py tools/metamorphic.py "
    "tools/oracle_guard.py tools/workspace tools/oracle_gate noxfile.py makefile gnumakefile .pre-commit-config.yaml "
    ".github .gitlab-ci.yml codeowners docs/codeowners .gitlab/codeowners .cruft.json .gate .circleci .gitea .forgejo "
    ".woodpecker .woodpecker.yml azure-pipelines.yml jenkinsfile .travis.yml bitbucket-pipelines.yml"
).split())  # fmt: skip
ANYWHERE = (".gitattributes", ".gitmodules")
STARTUP_MODULES = ("sitecustomize", "usercustomize")
STARTUP_SUFFIXES = (".dist-info", ".egg-info", ".pth")
IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
#: No configuration but the repository's, and of that nothing that runs a program or changes an answer.
CONFIGURATION = ("-c", "core.fsmonitor=false", "-c", "protocol.allow=never")
NEUTRAL = {
    "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
}  # fmt: skip
#: What git tells its hooks about the repository; `git commit FILE` and `-a` use an index of their own.
KEPT = re.compile("PATH|GIT_(DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|(OBJECT|ALTERNATE_OBJECT)_DIRECTOR(Y|IES))")
RAW = ("--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=none")
APPROVALS, DIGESTS, PROVENANCE = b"oracle/approvals/", b"oracle/digests.json", b"oracle/provenance.json"
ADVICE = (
    "oracle-guard: only humans change these paths. Drop the change; or, as an owner, run "
    "SKIP=oracle-guard git {} ... (the judge will still ask for an approval)"
)


class Submitted(NamedTuple):
    """What is committed or pushed: the commit that decides (None: nothing does), git's letter (A, D, M, or T for
    another type) of each changed path, the commits it may start from, the pushed commit (none for the index)."""

    deciding: str | None = None
    changes: dict[bytes, str] = {}  # noqa: RUF012
    starts: tuple[str, ...] = ()
    tree: tuple[str, ...] = ()


class GuardError(Exception):
    """One line: what is wrong and what to do."""


def git(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Runs git without the user's configuration or replaced objects."""
    environment = {name: value for name, value in os.environ.items() if KEPT.fullmatch(name)} | NEUTRAL
    command = ["git", "--no-pager", *CONFIGURATION, *arguments]
    try:
        return subprocess.run(command, env=environment, input=b"", capture_output=True, check=False)
    except OSError as error:
        raise GuardError(f"git does not run ({error.strerror}); install git 2.34 or later") from None


def ask(*arguments: str) -> bytes:
    """git's stdout; GuardError when it fails."""
    answer = git(*arguments)
    if answer.returncode:
        words = printable(b" ".join(answer.stderr.split()))[:300]
        raise GuardError(f"git {arguments[0]}: {words or 'failed'}; run git fsck")
    return answer.stdout


def commit(name: str) -> str | None:
    """The id of the commit that a name stands for, or None."""
    answer = git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    return answer.stdout.decode().strip() if answer.returncode == 0 else None


def head() -> str | None:
    """The commit to compare with; None before the first commit of a branch."""
    found = commit("HEAD")
    if found is None:
        ask("rev-parse", "--git-dir")
        ref = git("symbolic-ref", "--quiet", "HEAD").stdout.decode(errors="surrogateescape").strip()
        if not ref or ask("for-each-ref", ref):
            raise GuardError("HEAD names no commit; run git fsck, or check out a branch")
    return found


def default_branch(remote: str) -> str | None:
    """The tip of the remote's default branch, as far as this clone knows it."""
    names = (f"refs/remotes/{remote}/{name}" for name in ("HEAD", "main", "master", "trunk"))
    return next(filter(None, map(commit, names)), None)


def blob(tree: str, path: str) -> bytes | None:
    """A file of a commit, or None."""
    listed = ask("ls-tree", "-z", "--full-tree", tree, path)
    return ask("cat-file", "blob", f"{tree}:{path}") if listed.startswith(b"100") else None


def is_unarmed(tree: str) -> bool:
    """Whether nothing is pinned yet: digests.json is `{}`, or there is no oracle/ at all."""
    digests = blob(tree, "oracle/digests.json")
    if digests is None:
        return not ask("ls-tree", "-z", "--full-tree", tree, "oracle")
    try:
        return bool(json.loads(digests) == {})
    except (ValueError, RecursionError):
        return False


def workspace_list() -> bytes | None:
    """The denylist of a generator's workspace, which holds no oracle; None in any other repository."""
    file = Path(os.fsdecode(ask("rev-parse", "--git-common-dir")[:-1]), "oracle-guard/denylist")
    return file.read_bytes() if file.is_file() else None


def fold(path: bytes | str) -> str:
    """oracle_gate.core.paths.fold."""
    text = path.decode("utf-8", "surrogateescape") if isinstance(path, bytes) else path
    folded = None
    while folded != text:
        folded, text = text, unicodedata.normalize("NFKC", IGNORABLE.sub("", text.casefold()))
    components = (name.partition(":")[0].rstrip(" .") for name in text.replace("\\", "/").split("/"))
    return "/".join(name for name in components if name)


def denied(path: bytes | str, rules: tuple[str, ...], import_path: tuple[str, ...]) -> bool:
    """Whether a folded rule or the built-in list denies the path; `import_path` holds folded folders."""
    components = fold(path).split("/")
    ancestors = {"/".join(components[: depth + 1]) for depth in range(len(components))}
    if not ancestors.isdisjoint((*OWN, *rules)) or not {*ANYWHERE}.isdisjoint(components):
        return True
    return any(
        "/".join(components[:depth]) in ("", *import_path)
        and (name.partition(".")[0] in STARTUP_MODULES or name.endswith(STARTUP_SUFFIXES))
        for depth, name in enumerate(components)
    )


def parse_rules(data: bytes) -> tuple[str, ...]:
    """The folded rules of a denylist; GuardError with the line of one that is no literal path."""
    rules = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        text = line.decode(errors="replace").strip()
        if text and not text.startswith("#"):
            is_path = text.isprintable() and all(map(fold, text.removesuffix("/").split("/")))
            if not is_path or re.search(r"[*?\[\]\\:\ufffd]|^[!/]| #", text):
                raise GuardError(f"oracle/denylist.txt:{number}: not a literal path; correct the rule")
            rules.append(fold(text))
    return tuple(rules)


def read_import_path(tree: str) -> tuple[str, ...]:
    """The folded folders of `[subject] path` in a commit."""
    try:
        settings = tomllib.loads((blob(tree, "oracle/gate.toml") or b"").decode())
        path = settings.get("subject", {}).get("path", ["src"])
        if isinstance(path, list):
            return tuple(map(fold, path))
        raise TypeError
    except (ValueError, AttributeError, TypeError, RecursionError):
        raise GuardError("oracle/gate.toml cannot be read; restore it from the protected branch") from None


def entries(*trees: str) -> dict[bytes, bytes]:
    """What differs between two commits, or between a commit and the index: git's raw header of each path."""
    command = ("diff-tree", "-r") if len(trees) == 2 else ("diff-index", "--cached")
    fields = ask(*command, *RAW, *trees).split(b"\0")[:-1]
    return dict(zip(fields[1::2], fields[::2], strict=True))


def beyond(base: str | None, changes: dict[bytes, bytes], *tree: str) -> dict[bytes, str]:
    """Changes that do not bring an entry to what the protected branch holds already (a merge of it does)."""
    own = entries(base, *tree) if base and changes else changes
    return {path: chr(header[-1]) for path, header in changes.items() if path in own}


def merge_base(one: str, other: str) -> str | None:
    """Where two commits parted, if they ever were one."""
    return git("merge-base", one, other).stdout.decode().strip() or None


def staged_changes() -> Submitted:
    """For a commit: what the index changes."""
    current = head()
    if current is None:
        return Submitted()
    protected = default_branch("origin")
    branches = (protected, *(commit(f"refs/heads/{name}") for name in ("main", "master", "trunk")))
    left = (merge_base(branch, current) for branch in branches if branch)
    starts = dict.fromkeys((current, *filter(None, left)))
    return Submitted(current, beyond(protected, entries(current)), tuple(starts))


def pushes() -> list[tuple[str, str, str]]:
    """What is pushed, to which remote, and what was there: each ref that git lists, or pre-commit's one."""
    if len(sys.argv) == 3:
        lines = (os.fsdecode(line).rsplit(maxsplit=3) for line in sys.stdin.buffer.read().splitlines())
        return [(oid, sys.argv[1], there) for _, oid, _, there in lines]
    names = ("TO_REF", "LOCAL_BRANCH", "REMOTE_NAME", "FROM_REF")
    tip, branch, remote, there = (os.environ.get(f"PRE_COMMIT_{name}", "") for name in names)
    return [(tip or branch or "HEAD", remote or "origin", there)]  # a root commit has no TO_REF and FROM_REF


def pushed_changes(name: str, remote: str, there: str) -> Submitted:
    """For a push: what the pushed commits change since they left the protected branch."""
    if not name.strip("0"):
        return Submitted()  # a ref is deleted
    tip = commit(name)
    if tip is None:
        raise GuardError(f"{name} is not a commit; push a branch or a tag of a commit")
    base = default_branch(remote) or default_branch("origin") or commit(there or "refs/none")
    base = base or (None if workspace_list() is None else commit("refs/tags/base"))
    if base is None:
        return Submitted()  # the first push: nothing is protected yet
    start = merge_base(base, tip) or base
    return Submitted(base, beyond(base, entries(start, tip), tip), (start,), (tip,))


def printable(path: bytes) -> str:
    """The path on one line: unseen characters escaped."""
    text = path.decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def ssh_keygen(data: bytes, *arguments: str) -> str | None:
    """What it prints; None when it refuses or is not there."""
    try:
        answer = subprocess.run(["ssh-keygen", *arguments], input=data, capture_output=True, check=False)
    except OSError:
        return None
    return answer.stdout.decode(errors="replace") if answer.returncode == 0 else None


def is_signed(data: bytes, signature: bytes, signers: bytes) -> bool:
    """Whether somebody whom these allowed_signers name has signed, with a key that is valid now."""
    with tempfile.TemporaryDirectory(prefix="oracle-guard-") as folder:
        allowed, beside = Path(folder, "allowed"), Path(folder, "signature")
        allowed.write_bytes(signers)
        beside.write_bytes(signature)
        command = ("-f", str(allowed), "-n", "oracle-approval", "-s", str(beside), "-Y")
        names = re.split("[,\n]", ssh_keygen(data, *command, "find-principals") or "")
        answers = (ssh_keygen(data, *command, "verify", "-I", name) for name in filter(None, names))
        return any(answer is not None for answer in answers)


def statements(changed: dict[bytes, bytes], start: str) -> dict[bytes, dict[str, Any]]:
    """The added statements that a signer of `start` signed about the change from there, by path and content."""
    own = sorted(path for path in changed if not path.startswith(APPROVALS))
    lines = (changed[path] + b"\0" + path + b"\0" for path in own if path not in (DIGESTS, PROVENANCE))
    identity = hashlib.sha256(b"".join(lines)).hexdigest()
    alone = start if identity == hashlib.sha256().hexdigest() else None  # a re-pin comes with nothing else
    signers = blob(start, "oracle/allowed_signers") or b""
    added = {path: head.split()[3].decode() for path, head in changed.items() if head.endswith(b" A")}
    found = {}
    for path, oid in added.items():
        beside = added.get(path.removesuffix(b".json") + b".sig")
        if not (path.startswith(APPROVALS) and path.endswith(b".json") and beside):
            continue
        data = ask("cat-file", "blob", oid)
        named = path == APPROVALS + hashlib.sha256(data).hexdigest()[:16].encode() + b".json"
        if named and is_signed(data, ask("cat-file", "blob", beside), signers):
            statement = json.loads(data)
            if (statement["change_id"], statement["parent"]) in ((identity, ""), ("", alone)):
                found[path] = statement
    return found


def approved(start: str, tree: tuple[str, ...]) -> set[bytes]:
    """The paths that verified statements cover, as oracle_gate.core.statements has it."""
    changed = entries(start, *tree)
    found = statements(changed, start)
    paths = {*found, *(path.removesuffix(b".json") + b".sig" for path in found)}
    named = {path for statement in found.values() for path in statement["paths"]}
    paths |= {path.encode() for path in named if not path.encode().startswith(APPROVALS)}
    paths -= {DIGESTS, PROVENANCE}
    stated = {(row, pin["old"], pin["new"]) for one in found.values() for row, pin in one["ids"].items()}
    before = json.loads(blob(start, DIGESTS.decode()) or b"{}")
    oid = changed[DIGESTS].split()[3].decode() if DIGESTS in changed else ""
    after = json.loads(ask("cat-file", "blob", oid)) if oid else before
    moved = {(row, before.get(row), after.get(row)) for row in before.keys() | after.keys()}
    amending = any(statement["kind"] != "accept" for statement in found.values())
    if amending and all(
        pin in stated if pin[1] and pin[2] else DIGESTS.decode() in named for pin in moved if pin[1] != pin[2]
    ):
        paths |= {DIGESTS, PROVENANCE}
    return paths


def check(submitted: Submitted) -> dict[bytes, str]:
    """The changes that are refused."""
    deciding, changes, starts, tree = submitted
    if deciding is None or not changes:
        return {}
    listed = blob(deciding, "oracle/denylist.txt")
    beside = workspace_list() if listed is None else None
    if beside is None and is_unarmed(deciding):
        return {}
    rules = parse_rules(listed or beside or b"")
    import_path = read_import_path(deciding)
    refused = {path: letter for path, letter in changes.items() if denied(path, rules, import_path)}
    for start in starts if refused else ():
        try:
            covered = approved(start, tree)
        except (GuardError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue  # what cannot be read covers nothing
        if refused.keys() <= covered:
            return {}
    return refused


def main() -> int:
    """Prints what is refused and what to do; returns the exit code."""
    if "oracle-guard" in os.environ.get("SKIP", "").split(","):
        return 0  # as under pre-commit
    is_push = len(sys.argv) == 3 or any(map(os.environ.get, ("PRE_COMMIT_TO_REF", "PRE_COMMIT_REMOTE_NAME")))
    try:
        submitted = [pushed_changes(*push) for push in pushes()] if is_push else [staged_changes()]
        refused = dict(item for one in submitted for item in check(one).items())
    except (GuardError, KeyboardInterrupt) as error:
        print(f"oracle-guard: {str(error) or 'interrupted'}", file=sys.stderr)
        return 2
    if refused:
        lines = (f"{letter} {printable(path)}" for path, letter in sorted(refused.items()))
        print(*lines, ADVICE.format("push" if is_push else "commit"), sep="\n", file=sys.stderr)
    return 1 if refused else 0


if __name__ == "__main__":
    raise SystemExit(main())
