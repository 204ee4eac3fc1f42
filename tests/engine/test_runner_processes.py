"""No process of a row outlives it, whatever it does."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from oracle_gate.runner.job import Limits
from support.pools import pool_on, processes, python, run, shell, soon, within


@pytest.fixture
def mark() -> str:
    """Stands in the command line of a test's programs."""
    return f"mark-{uuid.uuid4()}"


# Forks a daemon by the book: session of its own, second fork, parent gone; it keeps all descriptors.
DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(60)
    os._exit(0)
os.wait()
print("started", flush=True)
"""
# 2 ** 7 processes, every second one in a session of its own.
BOMB = """
import os, time
for generation in range(7):
    if os.fork() == 0 and generation % 2:
        os.setsid()
time.sleep(60)
"""


def test_a_background_process_ends_with_the_row() -> None:
    # python/cpython#76116: whoever waits for the end of the output waits for the sleeper.
    with pool_on() as pool:
        run(pool, shell(":"))
        with within(2):
            seen, after = run(pool, shell("sleep 60 & echo hi"), shell("echo next"))
        assert (seen.status, seen.stdout, after.stdout) == ("left_process", b"hi\n", b"next\n")


def test_a_daemon_ends_with_the_row(mark: str) -> None:
    with pool_on() as pool:
        run(pool, shell(":"))
        with within(2):
            [seen] = run(pool, python(DAEMON, mark))
        assert (seen.status, seen.stdout) == ("left_process", b"started\n")
        assert processes(mark) == []


def test_a_helper_that_ends_by_itself_is_no_finding() -> None:
    helper = "(sleep 0.05; echo helper) & echo row"
    with pool_on() as pool:
        assert [one.status for one in run(pool, *[shell(helper)] * 5)] == ["exited"] * 5
        assert run(pool, shell(helper))[0].stdout == b"row\nhelper\n"


def test_a_zombie_is_no_finding() -> None:
    code = "import os\nif os.fork() == 0: os._exit(0)\nos.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)"
    with pool_on() as pool:
        assert [one.status for one in run(pool, *[python(code)] * 5)] == ["exited"] * 5


def test_a_hanging_program_that_ignores_everything_ends_in_time(mark: str) -> None:
    code = (
        "import signal, time\n"
        "for n in signal.valid_signals() - {9, 19}: signal.signal(n, signal.SIG_IGN)\n"
        "print('hangs', flush=True); time.sleep(60)"
    )
    with pool_on() as pool:
        run(pool, shell(":"))
        with within(1.5):
            [seen] = run(pool, python(code, mark, timeout_s=0.5))
        assert (seen.status, seen.stdout) == ("timeout", b"hangs\n")
        assert processes(mark) == []


def test_a_timeout_takes_daemons_along(mark: str) -> None:
    with pool_on(limits=Limits(timeout_s=0.5)) as pool:
        run(pool, shell(":"))
        with within(1.5):
            [seen] = run(pool, python(DAEMON + "time.sleep(60)", mark))
        assert seen.status == "timeout"
        assert processes(mark) == []


def test_a_fork_bomb_is_cleared(mark: str) -> None:
    with pool_on(limits=Limits(timeout_s=1)) as pool:
        [seen, after] = run(pool, python(BOMB, mark), shell("echo next"))
        assert (seen.status, after.stdout) == ("timeout", b"next\n")
        assert processes(mark) == []


def test_processes_that_keep_forking_are_cleared(mark: str) -> None:
    # Each one leaves a child and ends at once: what a listing shows is gone before it is killed.
    comet = "import os\nfor _ in range(5000):\n if os.fork(): os._exit(0)"
    with pool_on() as pool:
        [seen] = run(pool, python(comet, mark))
        assert seen.status == "left_process"
        assert processes(mark) == []


# A chain of 100 processes, each the child of the one before; then the number of looks it takes to end it.
ROUNDS = """
import ctypes, os, signal, sys
sys.path[:0] = sys.argv[1:]
from oracle_gate.runner.inside import programs
ctypes.CDLL(None).prctl(36, ctypes.c_ulong(1), 0, 0, 0)
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    for _ in range(99):
        if os.fork():
            break
    else:
        os.write(write, b"x")
    signal.alarm(20)
    signal.pause()
os.read(read, 1)
sleep, looks = programs.time.sleep, 0
def count(seconds):
    global looks
    looks += 1
    sleep(0.03)
programs.time.sleep = count
assert programs.end_children(0, programs.open_listing())
print(looks)
"""


def test_a_process_group_is_killed_at_once() -> None:
    # One by one, a group that forks as fast as it is killed would never end.
    command = [sys.executable, "-c", ROUNDS, *filter(None, sys.path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    assert int(done.stdout) < 60


@pytest.mark.parametrize("victim", ["os.getppid()", "grandparent"])
def test_a_program_that_kills_the_worker_is_the_only_one_hurt(victim: str, mark: str) -> None:
    code = (
        "import os, signal, time\n"
        "stat = open(f'/proc/{os.getppid()}/stat').read().rpartition(')')[2]\n"
        "grandparent = int(stat.split()[1])\n"
        "print('before', flush=True)\n"
        f"os.kill({victim}, signal.SIGKILL)\n"
        "time.sleep(60)"
    )
    with pool_on(limits=Limits(timeout_s=1)) as pool:
        before, killer, after = run(pool, shell("echo a"), python(code, mark), shell("echo b"))
        assert (before.stdout, after.stdout, after.status) == (b"a\n", b"b\n", "exited")
        assert killer.status == ("killed_worker" if victim == "os.getppid()" else "timeout")
        assert killer.stdout == b"before\n"
        assert soon(lambda: processes(mark) == [])


@pytest.mark.parametrize("victims", ["$PPID", "$PPID $(cut -d' ' -f4 /proc/$PPID/stat)"])
def test_a_program_that_stops_the_worker_does_not_stop_the_gate(victims: str, mark: str) -> None:
    with pool_on(limits=Limits(timeout_s=0.5, margin_s=0.5)) as pool:
        run(pool, shell(":"))
        with within(4):
            stopper, after = run(
                pool, shell(f"kill -STOP {victims}; exec sleep 60 # {mark}"), shell("echo b")
            )
        assert (stopper.status, after.stdout) == ("killed_worker", b"b\n")
        assert processes(mark) == []


def test_a_worker_killed_between_rows_is_replaced() -> None:
    with pool_on() as pool:
        [first] = run(pool, shell("echo $PPID"))
        os.kill(int(first.stdout), 9)
        assert soon(lambda: not Path(f"/proc/{int(first.stdout)}").exists())
        assert [one.stdout for one in run(pool, shell("echo a"), shell("echo b"))] == [b"a\n", b"b\n"]
