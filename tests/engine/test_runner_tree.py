"""Order, several workers, and rows that write the tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from oracle_gate.core.observation import Observation
from oracle_gate.runner.job import Job, TreeSource
from oracle_gate.sandbox.layer import Inside
from oracle_gate.sandbox.plain import Plain
from support.pools import Seen, pool_on, run, see, shell, tree_of

TREE = {"data": b"as it was\n", "src/m.py": b"module\n"}


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_come_in_the_order_of_the_jobs(workers: int) -> None:
    jobs = [shell(f"sleep 0.0{9 - n % 7}; echo {n}; echo {n} >&2; exit {n}", str(n)) for n in range(30)]
    with pool_on(workers=workers) as pool:
        assert run(pool, *jobs) == [Seen("exited", n, b"%d\n" % n, b"%d\n" % n) for n in range(30)]


def test_several_workers_are_used() -> None:
    def root(_job: Job, _observation: Observation, inside: Inside) -> str:
        return inside.tree

    with pool_on(workers=2) as pool:
        trees = {tree for _, tree in pool.run([shell("sleep 0.05")] * 10, root)}
    assert len(trees) == 2
    assert len({len(tree) for tree in trees}) == 1  # output may be cut or wrapped by the length of a path


def test_jobs_are_read_lazily() -> None:
    read = 0

    def jobs() -> Iterator[Job]:
        nonlocal read
        for _ in range(2000):
            read += 1
            yield Job("row", ("true",))

    with pool_on(workers=2) as pool:
        ahead = [read - done for done, _ in enumerate(pool.run(jobs(), see), 1)]
    assert (len(ahead), read) == (2000, 2000)
    assert max(ahead) < 300


def test_a_slow_row_does_not_let_the_others_run_away() -> None:
    read = 0

    def jobs() -> Iterator[Job]:
        nonlocal read
        yield shell("sleep 2", "slow")
        while True:
            read += 1
            yield Job("row", ("true",))

    with pool_on(workers=2) as pool:
        results = pool.run(jobs(), see)
        next(results)
        assert read < 300


WRITERS = [
    "chmod u+w data; echo written > data",
    "chmod u+w .; echo x > new",
    "chmod u+w .; rm -f data",
    "chmod u+w .; mv src away",
    "chmod -R u+w .; rm -rf ./* .; :",
]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("writer", WRITERS)
def test_who_writes_the_tree_is_found_and_nobody_else_hurt(writer: str, workers: int) -> None:
    reader = "cat data src/m.py; ls"
    jobs = [shell(reader if n % 10 != 4 else writer, str(n)) for n in range(25)]
    with pool_on(TREE, workers=workers) as pool:
        seen = run(pool, *jobs)
    innocent = Seen("exited", 0, b"as it was\nmodule\ndata\nsrc\n", b"")
    for n, one in enumerate(seen):
        if n % 10 == 4:
            assert one.status == "changed_tree"
        else:
            assert one == innocent


def test_rows_with_files_of_a_removed_tree_run_on_a_fresh_one() -> None:
    jobs = [shell(":"), shell("chmod u+w .; rm -f data"), *[shell("cat f", files={"f": "data"})] * 5]
    with pool_on(TREE) as pool:
        seen = run(pool, *jobs)
    assert [one.status for one in seen] == ["exited", "changed_tree"] + ["exited"] * 5
    assert {one.stdout for one in seen[2:]} == {b"as it was\n"}


def test_a_writer_that_also_kills_the_worker() -> None:
    both = "chmod u+w data; echo x > data; kill -9 $PPID; sleep 9"
    with pool_on(TREE) as pool:
        seen = run(pool, shell("cat data"), shell(both), shell("cat data"))
    assert [one.status for one in seen] == ["exited", "changed_tree", "exited"]
    assert seen[2].stdout == b"as it was\n"


def test_the_tree_is_read_only() -> None:
    def modes(folder: Path) -> set[int]:
        return {path.stat().st_mode & 0o222 for path in (folder, *folder.rglob("*"))}

    source = tree_of(TREE)
    seen: list[set[int]] = []

    def verify(folder: Path) -> list[bytes]:
        seen.append(modes(folder))
        return list(source.verify(folder))

    with pool_on(TreeSource(source.materialise, verify)) as pool:
        run(pool, shell(":"))
    assert seen == [{0}]


@dataclass(frozen=True)
class Protecting(Plain):
    """Stands for a layer whose programs cannot write the tree."""

    protects_tree: bool = True


def test_a_protected_tree_is_shared_and_not_compared() -> None:
    made: list[Path] = []

    def materialise(folder: Path) -> None:
        made.append(folder)

    def verify(_folder: Path) -> list[bytes]:
        raise AssertionError("compared")

    def root(_job: Job, _observation: Observation, inside: Inside) -> str:
        return inside.tree

    with pool_on(TreeSource(materialise, verify), workers=2, layer=Protecting()) as pool:
        trees = {tree for _, tree in pool.run([shell("sleep 0.05")] * 6, root)}
    assert trees == {str(made[0])}
    assert len(made) == 1


def test_no_tree_is_written_before_a_job_needs_it() -> None:
    """A judgement opens a pool on the base and runs nothing there unless a row differs."""
    made: list[Path] = []
    with pool_on(TreeSource(made.append, lambda _folder: []), workers=2, layer=Protecting()) as pool:
        assert made == []
        assert list(pool.run([], lambda *_: None)) == []
        assert made == []
        list(pool.run([shell("true")], lambda *_: None))
        assert len(made) == 1
