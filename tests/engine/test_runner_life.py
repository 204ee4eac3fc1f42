"""A pool leaves no process and no folder behind, however it ends."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from oracle_gate.core.errors import GateError
from oracle_gate.core.observation import Observation
from oracle_gate.runner.folders import CONFIGURATION, temporary_root
from oracle_gate.runner.job import Job, TreeSource
from oracle_gate.sandbox.layer import Inside
from support.pools import pool_on, processes, run, see, shell, soon, within


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the pool makes its folders; its path stands in the command line of workers."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def assert_nothing_left(folder: Path) -> None:
    assert list(folder.iterdir()) == []
    assert processes(str(folder)) == []


def endless(mark: Path) -> Iterator[Job]:
    """A few quick rows, then ones that hang."""
    yield from [shell("echo quick")] * 3
    while True:
        yield shell(f"exec sleep 60 # {mark}")


def test_a_pool_in_use_has_folder_and_processes(folder: Path) -> None:
    with pool_on(workers=2) as pool:
        run(pool, *[shell("sleep 0.05")] * 4)
        assert len(list(folder.iterdir())) == 1
        assert len(processes(str(folder))) == 4  # two workers, each with its guard
    assert_nothing_left(folder)


def test_a_pool_without_jobs(folder: Path) -> None:
    with pool_on() as pool:
        assert run(pool) == []
        assert processes(str(folder)) == []
    assert_nothing_left(folder)


def test_closing_early_ends_what_runs(folder: Path) -> None:
    with pool_on(workers=2) as pool, within(5):
        results = pool.run(endless(folder), see)
        assert next(results)[1].stdout == b"quick\n"
        results.close()  # type: ignore[attr-defined]
        assert [
            pid for pid in processes(str(folder)) if b"sleep" in Path(f"/proc/{pid}/cmdline").read_bytes()
        ] == []
        assert run(pool, shell("echo again"))[0].stdout == b"again\n"
    assert_nothing_left(folder)


def test_a_worker_is_kept_for_the_next_run() -> None:
    with pool_on() as pool:
        parents = []
        for _ in range(3):
            results = pool.run([shell("echo $PPID")], see)
            parents.append(next(results)[1].stdout)
            results.close()  # type: ignore[attr-defined]
    assert len(set(parents)) == 1


def test_an_iterator_that_is_never_closed(folder: Path) -> None:
    with pool_on(workers=2) as pool, within(5):
        results = pool.run(endless(folder), see)
        next(results)
    assert_nothing_left(folder)
    del results


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
def test_an_exception_in_the_reducer_or_the_caller(folder: Path, error: type[BaseException]) -> None:
    def fail(_job: Job, _observation: Observation, _inside: Inside) -> None:
        raise error

    with pytest.raises(error), pool_on(workers=2) as pool:
        list(pool.run(endless(folder), fail))
    assert_nothing_left(folder)
    with pytest.raises(error), pool_on(workers=2) as pool:
        for _ in pool.run(endless(folder), see):
            raise error
    assert_nothing_left(folder)


def test_a_worker_without_its_guard_ends_with_the_pool(folder: Path) -> None:
    orphan = "kill -9 $(cut -d' ' -f4 /proc/$PPID/stat); exec sleep 3"
    with pool_on(workers=2) as pool, within(3):
        next(pool.run([shell("sleep 0.2"), shell(orphan)], see))
    assert_nothing_left(folder)


def test_a_tree_that_cannot_be_written(folder: Path) -> None:
    def materialise(tree: Path) -> None:
        (tree / "half").mkdir()
        raise GateError("the tree holds the path b'.git'")

    with (
        pytest.raises(GateError, match="holds the path"),
        pool_on(TreeSource(materialise, lambda _: [])) as pool,
    ):
        run(pool, shell(":"))
    assert_nothing_left(folder)


def test_a_folder_that_cannot_be_removed_keeps_no_worker_alive(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_name: str, _folder: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    with pytest.raises(GateError, match=f"{folder}.*: cannot be removed"), pool_on(workers=2) as pool:
        run(pool, *[shell("sleep 0.05")] * 4)
        monkeypatch.setattr("oracle_gate.runner.folders.remove", fail)
    assert processes(str(folder)) == []


GATE = """
import sys
sys.path[:0] = {paths!r}
import signal
from pathlib import Path
from support.pools import pool_on, see, shell
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
jobs = [shell("echo x"), *[shell("exec sleep 60 # {mark}")] * 2]
with pool_on(workers=2) as pool:
    for _ in pool.run(jobs, see):
        print("running", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_the_end_of_the_gate_is_the_end_of_its_workers(folder: Path, number: int) -> None:
    script = GATE.format(paths=[path for path in sys.path if path], mark=folder)
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as gate:
        assert gate.stdout is not None
        assert gate.stdout.readline() == b"running\n"
        assert soon(lambda: len(processes(f"sleep 60 # {folder}")) >= 1)
        gate.send_signal(number)
        gate.wait(10)
    assert soon(lambda: processes(str(folder)) == [])
    if number == signal.SIGINT:
        assert_nothing_left(folder)


def test_descriptors_are_given_back() -> None:
    before = set(Path("/proc/self/fd").iterdir())
    for _ in range(3):
        with pool_on(workers=2) as pool:
            run(pool, *[shell("kill -9 $PPID"), shell("sleep 0.02")] * 2)
    assert set(Path("/proc/self/fd").iterdir()) == before


@pytest.mark.parametrize("name", CONFIGURATION)
def test_no_folder_below_one_that_holds_configuration(tmp_path: Path, name: str) -> None:
    good = tmp_path / "good"
    bad = tmp_path / "bad" / "below"
    for folder in (good, bad):
        folder.mkdir(parents=True)
    (tmp_path / "bad" / name).touch()
    assert temporary_root((tmp_path / "missing", bad, good)) == good
    with pytest.raises(
        GateError, match=rf"missing cannot be written, .* is in reach of .*/bad/{re.escape(name)}"
    ):
        temporary_root((tmp_path / "missing", bad))


def test_a_folder_that_is_a_link_counts_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "bad" / "below").mkdir(parents=True)
    (tmp_path / "bad" / "tox.ini").touch()
    (tmp_path / "link").symlink_to(tmp_path / "bad" / "below")
    with pytest.raises(GateError):
        temporary_root((tmp_path / "link",))
