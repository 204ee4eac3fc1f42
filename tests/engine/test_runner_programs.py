"""What a program sees, and how its end and its output are reported."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from oracle_gate.core.errors import GateError
from oracle_gate.core.observation import Observation
from oracle_gate.runner.environment import Envelope
from oracle_gate.runner.identity import running_tasks
from oracle_gate.runner.job import Job, Limits
from oracle_gate.runner.pool import Pool
from oracle_gate.sandbox.layer import Inside
from support.pools import Seen, pool_on, python, run, see, shell, tree_of, within

MIB = 1 << 20


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with pool_on({"data": b"in the tree\n"}) as opened:
        yield opened


def where(job: Job, observation: Observation, inside: Inside) -> tuple[Seen, Inside]:
    return see(job, observation, inside), inside


def test_streams_and_exit_code(pool: Pool) -> None:
    [seen] = run(pool, shell("echo out; echo err >&2; exit 3"))
    assert seen == Seen("exited", 3, b"out\n", b"err\n")


def test_a_signal_is_a_negative_exit_code(pool: Pool) -> None:
    [killed, segfault] = run(pool, shell("kill -KILL $$"), shell("kill -SEGV $$"))
    assert (killed.status, killed.exit_code) == ("exited", -signal.SIGKILL)
    assert segfault.exit_code == -signal.SIGSEGV


def test_output_of_one_row_does_not_reach_the_next(pool: Pool) -> None:
    long, short, none = run(pool, shell("echo a long line; echo err >&2"), shell("echo x"), shell(":"))
    assert (long.stdout, short.stdout, short.stderr, none.stdout) == (b"a long line\n", b"x\n", b"", b"")


def test_stdin_is_empty_unless_given(pool: Pool) -> None:
    given = [None, b"some\0bytes\xff", b"", b"x" * 300_000, b"y"]
    seen = run(pool, *(Job("row", ("cat",), stdin=data) for data in given))
    assert [one.stdout for one in seen] == [data or b"" for data in given]


def test_stdin_cannot_be_written_and_stdout_not_read(pool: Pool) -> None:
    written, read = run(pool, shell("echo x >&0", stdin=b"data"), shell("cat <&1"))
    assert written.exit_code != 0
    assert read.exit_code != 0


def test_flags_and_locks_of_a_stream_end_with_the_row(pool: Pool) -> None:
    rude = (
        "import fcntl, os\n"
        "fcntl.fcntl(1, fcntl.F_SETFL, os.O_APPEND | os.O_NONBLOCK); fcntl.flock(1, fcntl.LOCK_EX)\n"
        "os.fchmod(1, 0); os.write(1, b'rude'); os.lseek(1, 9, 0)"
    )
    look = "import fcntl, os; fcntl.flock(1, fcntl.LOCK_EX); print(fcntl.fcntl(1, fcntl.F_GETFL), os.fstat(1).st_mode)"
    before, _, after = run(pool, python(look), python(rude), python(look))
    assert before == after


def test_nothing_is_a_terminal(pool: Pool) -> None:
    [seen] = run(pool, python("import os; print([os.isatty(n) for n in (0, 1, 2)])"))
    assert seen.stdout == b"[False, False, False]\n"


def test_no_further_descriptor_is_inherited(pool: Pool) -> None:
    code = "import os\nfor n in range(3, 512):\n try: os.fstat(n); print(n)\n except OSError: pass"
    [seen] = run(pool, python(code))
    assert (seen.stdout, seen.exit_code) == (b"", 0)


def test_the_environment_is_a_literal_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("COLORTERM", "truecolor")
    with pool_on() as pool:
        [(_, (seen, inside))] = pool.run(
            [Job("row", ("env", "-0"), {"ROW": "x\ny", "TZ": "Asia/Tokyo"})], where
        )
    assert dict(line.split("=", 1) for line in seen.stdout.decode().rstrip("\0").split("\0")) == {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": f"{inside.scratch}/home",
        "TMPDIR": f"{inside.scratch}/tmp",
        "LC_ALL": "C.UTF-8",
        "TZ": "Asia/Tokyo",
        "COLUMNS": "80",
        "SOURCE_DATE_EPOCH": "0",
        "PYTHONHASHSEED": "0",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "PYTHONPATH": f"{inside.tree}/src",
        "PYTHONDONTWRITEBYTECODE": "1",
        "ROW": "x\ny",
    }


def test_the_envelope_changes_variables_but_not_the_rows_own(pool: Pool) -> None:
    job = shell("echo $PYTHONHASHSEED $COLUMNS $TZ", env={"TZ": "row"})
    [(_, seen)] = pool.run([job], see, Envelope(7, {"COLUMNS": "132", "TZ": "envelope"}))
    assert seen.stdout == b"7 132 row\n"
    assert run(pool, job)[0].stdout == b"0 80 row\n"


def test_home_and_tmpdir_are_empty_folders(pool: Pool) -> None:
    [seen] = run(pool, shell('ls -A "$HOME" "$TMPDIR"; touch "$HOME/a" "$TMPDIR/b" && echo written'))
    assert seen.stdout.endswith(b"written\n")
    assert seen.stdout.count(b"\n") == 4


def test_session_signals_and_umask_are_not_the_callers() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with pool_on() as fresh:
            [session, ignored, mask] = run(
                fresh,
                python("import os; print(os.getsid(0) == os.getpid())"),
                shell("grep -E 'Sig(Ign|Blk)' /proc/self/status"),
                shell("umask"),
            )
    finally:
        signal.signal(signal.SIGHUP, before)
    assert session.stdout == b"True\n"
    masks = [int(line.split()[1], 16) for line in ignored.stdout.splitlines()]
    own_of_the_c_library = 1 << 31 | 1 << 32  # signals 32 and 33, which no program can set
    assert [mask & ~own_of_the_c_library for mask in masks] == [0, 0]
    assert mask.stdout.strip() == b"0022"


def test_it_runs_in_the_tree(pool: Pool) -> None:
    [(_, (seen, inside))] = pool.run([shell("pwd; cat data")], where)
    assert seen.stdout.decode() == f"{inside.tree}\nin the tree\n"


def test_python_is_the_subjects_interpreter_with_its_full_path(pool: Pool) -> None:
    [seen] = run(pool, python("import sys; print(sys.executable)"))
    assert seen.stdout.decode().strip() == sys.executable


def test_a_name_is_looked_up_among_the_tools_first(tmp_path: Path) -> None:
    tool = tmp_path / "ls"
    tool.write_text("#!/bin/sh\necho the tool $1\n")
    tool.chmod(0o755)
    with pool_on(tools=(tmp_path,)) as pool:
        assert run(pool, Job("row", ("ls", "/")))[0].stdout == b"the tool /\n"


def test_a_program_keeps_the_name_it_was_called_by(pool: Pool) -> None:
    [seen] = run(pool, Job("row", ("cat", "/proc/self/cmdline")))
    assert seen.stdout == b"cat\0/proc/self/cmdline\0"


@pytest.mark.parametrize("files", [None, {}])
def test_a_path_is_relative_to_the_tree(files: dict[str, bytes] | None) -> None:
    source = tree_of({"bin/hello": b"#!/bin/sh\necho hello $1\n"}, executable=("bin/hello",))
    with pool_on(source) as pool:
        assert run(pool, Job("row", ("bin/hello", "you"), files=files))[0].stdout == b"hello you\n"


def test_a_missing_program_is_not_exit_127(pool: Pool) -> None:
    seen = run(
        pool,
        Job("name", ("no-such-program-anywhere",)),
        Job("path", ("bin/no-such",)),
        Job("not executable", ("./data",)),
        Job("nothing", ()),
        Job("nul", ("echo", "a\0b")),
        Job("half a pair", ("echo", "\ud800")),
        shell("exit 127"),
    )
    assert [one.status for one in seen] == ["no_program"] * 6 + ["exited"]
    assert seen[-1].exit_code == 127


@pytest.mark.parametrize("stream", [1, 2])
@pytest.mark.parametrize(("size", "status"), [(5000, "exited"), (5001, "output_limit")])
def test_exactly_the_output_limit_is_not_yet_too_much(stream: int, size: int, status: str) -> None:
    code = f"import os; os.write({stream}, b'x' * {size})"
    with pool_on(limits=Limits(output_bytes=5000)) as pool:
        assert run(pool, python(code))[0].status == status


def test_a_flood_is_capped_at_once() -> None:
    python_flood = "import os\nfor _ in range(64): os.write(1, b'x' * (1 << 20))"
    deaf = "import os, time\nfor _ in range(64):\n try: os.write(1, b'x' * (1 << 20))\n except OSError: pass"
    with pool_on(limits=Limits(output_bytes=MIB)) as pool, within(5):
        seen = run(
            pool, shell("head -c 67108864 /dev/zero"), python(python_flood), python(deaf), shell("echo ok")
        )
    assert [one.status for one in seen] == ["output_limit"] * 3 + ["exited"]
    assert [len(one.stdout) for one in seen] == [MIB + 1] * 3 + [3]


def test_a_file_above_the_limit_is_a_flood_too() -> None:
    with pool_on(limits=Limits(output_bytes=MIB)) as pool:
        [seen] = run(pool, shell('exec head -c 4194304 /dev/zero > "$TMPDIR/big"'))
    assert seen.status == "output_limit"


def test_limits_of_the_operating_system() -> None:
    with pool_on(limits=Limits(open_files=99, memory_bytes=1 << 30)) as pool:
        [seen] = run(pool, shell("ulimit -n; ulimit -c; ulimit -v; ulimit -Hf; ulimit -n 1000 || echo no"))
    assert seen.stdout.split() == [b"99", b"0", b"1048576", str((8 * MIB + 1) // 512).encode(), b"no"]


def test_processes_are_bounded_beside_those_of_the_user() -> None:
    assert Limits(processes=77).resources(running=23)["NPROC"] == 100
    assert running_tasks(os.getuid()) >= 1
    with pool_on(limits=Limits(processes=300)) as pool:
        [seen] = run(pool, python("import resource; print(*resource.getrlimit(resource.RLIMIT_NPROC))"))
    soft, hard = map(int, seen.stdout.split())
    own = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    assert 300 < soft == hard
    assert own == resource.RLIM_INFINITY or hard < own


def test_privileges_cannot_be_gained(pool: Pool) -> None:
    [seen] = run(pool, shell("grep NoNewPrivs /proc/self/status"))
    assert seen.stdout.split() == [b"NoNewPrivs:", b"1"]


def test_a_worker_that_cannot_start_is_an_error_of_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pool_on() as pool, pytest.raises(GateError, match="cannot start a worker") as error:
        run(pool, shell(":"))
    assert "\n" not in str(error.value)
