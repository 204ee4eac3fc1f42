"""A head as a change: commit by commit, then the net difference applied to the base (design, section 6)."""

from __future__ import annotations

from collections.abc import Container, Iterable
from pathlib import Path

from .errors import GateError
from .gitdb import Entry, ObjectStore
from .patching import apply_patch
from .patchscan import Problem, scan
from .paths import printable
from .settings import Settings
from .submission import ABSENT, Change, Changed, finish, forbidden

#: More commits than this are not one change.
_MOST_COMMITS = 1000


def submit_head(
    store: ObjectStore, workplace: Path, base: str, head: str, settings: Settings, pin: str = "",
    secrets: Container[str] = (),
) -> Change:  # fmt: skip
    """The change `merge-base(base, head)..head`, applied to `base`; its commits' paths are all touched.

    With `pin`, a workspace's snapshot, the change is `pin..head`: a first commit of its own (an amended one,
    or that of an unpacked tarball) is compared with the pin. A commit that names one of the blobs `secrets`
    would get bytes that its author does not have.
    """
    before = store.entries(store.tree_of(base))
    fork = pin or _fork(store, base, head)
    if not fork:
        return finish(
            base, before, before, [], [Problem("intake.rejected", "head", "shares no commit with the base")]
        )
    commits = _commits(store, pin or base, head)
    if len(commits) > _MOST_COMMITS:
        detail = f"more than {_MOST_COMMITS} commits"
        return finish(base, before, before, [], [Problem("intake.too_large", "head", detail)])
    first = store.tree_of(pin) if pin else None
    steps = [step for commit in commits for step in _own_changes(store, commit, first)]
    problems = forbidden_steps(steps)
    after = dict(before)
    net = _changed(store, store.tree_of(fork), store.tree_of(head))
    named = {item.path for item in (*steps, *net) if item.after.oid in secrets}
    problems += [Problem("intake.rejected", printable(path), "names a hidden blob") for path in sorted(named)]
    if fork == base:
        for item in net:
            after.pop(item.path, None)
            if item.after != ABSENT:
                after[item.path] = item.after
    elif net and not problems:
        outcome = _rebased(store, workplace, before, fork, head, settings)
        if isinstance(outcome, Problem):
            problems.append(outcome)
        else:
            after = outcome
    touched = [*(step.path for step in steps), *(item.path for item in net)]
    return finish(base, before, after, touched, problems)


def _fork(store: ObjectStore, base: str, head: str) -> str:
    """The id of the merge base, empty when there is none."""
    answer = store.run("merge-base", base, head)
    fork = answer.stdout.decode().strip()
    if answer.stderr or (not fork and (store.directory / "shallow").exists()):
        raise _cut_off()
    return fork


def _commits(store: ObjectStore, base: str, head: str) -> list[str]:
    """The commits of `head` that `base` lacks, one more than is allowed; GateError unless all are here.

    git believes the judged repository's list of shallow commits, so their own parents are asked too.
    """
    listed = store.run("rev-list", "--topo-order", f"--max-count={_MOST_COMMITS + 1}", head, f"^{base}")
    commits = listed.stdout.decode().split()
    outside = {parent for commit in commits for parent in store.parents_of(commit)} - set(commits)
    if listed.returncode or listed.stderr:
        raise _cut_off()
    if len(commits) <= _MOST_COMMITS:
        for parent in outside:
            if store.run("merge-base", "--is-ancestor", parent, base).returncode:
                raise _cut_off()
    return commits


def _cut_off() -> GateError:
    """An unseen commit could hold an edit that a later one reverts."""
    return GateError("the history of --head is cut off", todo="fetch the whole history")


def forbidden_steps(steps: list[Changed]) -> list[Problem]:
    """Forbidden entries of single commits, without the collisions that only a net change can have."""
    return [problem for step in steps for problem in forbidden([step])]


def _rebased(
    store: ObjectStore, workplace: Path, before: dict[bytes, Entry], fork: str, head: str, settings: Settings
) -> dict[bytes, Entry] | Problem:
    """The net difference on top of a base that has moved on; no three-way merge, no fuzz."""
    options = ["--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "-r", "-p"]
    patch = store.run("diff-tree", *options, fork, head).stdout
    outcome = apply_patch(store, workplace / "rebased", before, patch, scan(patch, settings.limits), settings)
    if isinstance(outcome, Problem):
        return Problem(outcome.rule, "head", f"conflicts with the base: {outcome.detail}; rebase it")
    return outcome


def _own_changes(store: ObjectStore, commit: str, first: str | None) -> Iterable[Changed]:
    """What a commit changes itself: for a merge, the paths that differ from every parent; without a parent,
    what differs from the tree `first`."""
    tree = store.tree_of(commit)
    parents = store.parents_of(commit)
    sides = [_changed(store, store.tree_of(parent), tree) for parent in parents] or [
        _changed(store, first, tree)
    ]
    shared = set.intersection(*({item.path for item in side} for side in sides))
    return [item for item in sides[0] if item.path in shared]


def _changed(store: ObjectStore, before: str | None, after: str) -> list[Changed]:
    found = store.changes(before, after)
    return [Changed(path, old or ABSENT, new or ABSENT) for path, old, new in found]
