"""What the test lanes share: both inventories and pytest's runs, each made once, when a lane asks for it."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from functools import cached_property

from ..core.gitdb import Entries
from ..core.inventory import Inventory, is_below, is_test_file, read_inventory
from ..core.inventory_weaker import Sides
from ..core.submission import Change
from ..core.view import visible
from ..runner.public_tests import NO_PYTEST, TestRun, list_ids, run_tests
from ..runner.replayer import Bench

#: Files that pytest is configured by, in whatever folder they lie.
_CONFIGURATION = frozenset({
    "conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg", "pyproject.toml",
})  # fmt: skip


class TestEvidence:
    """The tests of a change. `patch` and `base` are the prepared trees that programs run in."""

    def __init__(self, bench: Bench, change: Change, patch: Entries, base: Entries) -> None:
        self._bench, self._change, self._patch, self._base = bench, change, patch, base
        self._public = bench.settings.public
        self._runs: list[tuple[Entries, bool, TestRun]] = []

    @cached_property
    def sides(self) -> Sides:
        """Inventories read from blobs and collected: on the patch with its own configuration and the base's."""
        base, patch = self._inventories()
        listed, patch_listed = self._listed
        newly = {id for id, how in self.own_tests.outcomes.items() if how == "skipped"}
        newly -= {id for id, how in self.base_run.outcomes.items() if how == "skipped"}
        skipped = frozenset(newly & self.base_run.outcomes.keys())
        if listed.ids is None:
            return Sides(base, patch, skipped=skipped)
        ids = [None if run.ids is None else frozenset(run.ids) for run in (listed, *patch_listed)]
        return Sides(base, patch, ids[0], tuple(ids[1:]), skipped)

    @property
    def problem(self) -> str:
        """Why tests could not be collected; empty when there is no pytest to collect any."""
        listed, patch_listed = self._listed
        for whose, runs in (("base", (listed,)), ("patch", patch_listed)):
            for run in runs:
                if run.ids is None and run.problem != NO_PYTEST:
                    return f"those of the {whose}: {run.problem}"
        return ""

    @cached_property
    def base_run(self) -> TestRun:
        """The base's tests on the base."""
        return self._run(self._base)

    @cached_property
    def base_tests(self) -> TestRun:
        """The base's tests, with all that configures them, over the patched sources."""
        return self._run(self._mixed(self._is_test_material))

    @cached_property
    def own_tests(self) -> TestRun:
        """The patch as it is."""
        return self._run(self._patch)

    @cached_property
    def _listed(self) -> tuple[TestRun, tuple[TestRun, ...]]:
        command = self._bench.settings.identities.command
        if command:
            base, patch = (
                list_ids(self._bench, tree, command, self._public.timeout_s)
                for tree in (self._base, self._patch)
            )
            return base, (patch,)
        configured = self._mixed(lambda path: posixpath.basename(path) in _CONFIGURATION)
        return self.base_run, (self.own_tests, self._run(configured, only_list=True))

    def _inventories(self) -> tuple[Inventory, Inventory]:
        hidden, folders = self._bench.settings.view.hidden, self._public.paths
        before, after = (visible(tree, hidden) for tree in (self._change.before, self._change.after))
        base = read_inventory(self._bench.store, before, folders)
        if not any(
            self._is_test_material(item.path.decode("utf-8", "replace")) for item in self._change.changed
        ):
            return base, base
        return base, read_inventory(self._bench.store, after, folders)

    def _run(self, tree: Entries, only_list: bool = False) -> TestRun:
        for known, listed, run in self._runs:
            if known == tree and listed <= only_list:
                return run
        python = any(
            path.endswith(b".py") and is_below(path.decode("utf-8", "replace"), self._public.paths)
            for path in tree
        )
        run = run_tests(self._bench, tree, self._public, only_list=only_list) if python else TestRun(ids=())
        self._runs.append((tree, only_list, run))
        return run

    def _mixed(self, of_base: Callable[[str], bool]) -> Entries:
        """The patched tree with the base's files wherever `of_base` says so, and none of the patch's there."""
        kept = {
            path: entry for path, entry in self._patch.items() if not of_base(path.decode("utf-8", "replace"))
        }
        return kept | {
            path: entry for path, entry in self._base.items() if of_base(path.decode("utf-8", "replace"))
        }

    def _is_test_material(self, path: str) -> bool:
        """Whether a path is a public test, something beside one, or configuration of pytest.

        Among the sources only files that are named like tests are.
        """
        if posixpath.basename(path) in _CONFIGURATION or is_test_file(path, self._public.paths):
            return True
        return is_below(path, self._public.paths) and not is_below(path, self._bench.settings.subject.path)
