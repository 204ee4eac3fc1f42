"""Case folders and the scratch: what changed is seen, and nothing is left for the next row."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from oracle_gate.core.errors import GateError
from oracle_gate.runner.job import Job, Limits
from oracle_gate.runner.pool import Pool
from support.pools import pool_on, python, run, shell, tree_of

TREE = {"corpus/data/a": b"alpha\n", "corpus/data/tool": b"#!/bin/sh\necho tool\n"}
#: An empty scratch, as a program lists it.
CLEAN = shell('cd "$HOME/.." && find . | sort | xargs stat -c "%a %n"')
EMPTY = b"700 .\n700 ./home\n700 ./tmp\n"


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with pool_on(tree_of(TREE, executable=("corpus/data/tool",))) as opened:
        yield opened


def test_the_case_folder_holds_just_the_copies(pool: Pool) -> None:
    files = {"x/y/deep": "corpus/data/a", "tool": "corpus/data/tool", "bytes": b"\0\xff", "empty": b""}
    listing, contents = run(
        pool, shell("find . | sort", files=files), shell("cat x/y/deep bytes empty; ./tool", files=files)
    )
    assert listing.stdout == b".\n./bytes\n./empty\n./tool\n./x\n./x/y\n./x/y/deep\n"
    assert contents.stdout == b"alpha\n\0\xfftool\n"
    assert listing.files == contents.files == ()


def test_an_empty_case_folder_is_not_the_tree(pool: Pool) -> None:
    inside, outside = run(pool, shell("ls; touch new", files={}), shell("ls"))
    assert (inside.stdout, inside.files) == (b"", ((b"new", "created", "file", b""),))
    assert (outside.stdout, outside.files) == (b"corpus\n", ())


def test_changes_of_files(pool: Pool) -> None:
    files: dict[str, bytes | str] = dict.fromkeys(("edited", "gone", "same", "sub/gone", "sub/mode"), b"old")
    script = """
        printf new > edited; rm gone sub/gone; printf old > same.tmp; mv same.tmp same
        chmod +x sub/mode; printf made > sub/made; mkdir -p a/b/c
    """
    [seen] = run(pool, shell(script, files=files))
    assert seen.files == (
        (b"a", "created", "directory", b""),
        (b"a/b", "created", "directory", b""),
        (b"a/b/c", "created", "directory", b""),
        (b"edited", "changed", "file", b"new"),
        (b"gone", "deleted", "file", b""),
        (b"sub/gone", "deleted", "file", b""),
        (b"sub/made", "created", "file", b"made"),
        (b"sub/mode", "changed", "executable", b"old"),
    )


def test_an_edit_that_keeps_length_and_time_is_seen(pool: Pool) -> None:
    code = "import os; s = os.stat('f'); open('f', 'r+').write('b'); os.utime('f', ns=(s.st_atime_ns, s.st_mtime_ns))"
    [seen] = run(pool, python(code, files={"f": b"a"}))
    assert seen.files == ((b"f", "changed", "file", b"b"),)


def test_links_are_their_targets_and_never_followed(pool: Pool, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    script = f"ln -s /etc/passwd l; ln -sf {tmp_path} d; rm f; ln -s {tmp_path}/secret f; ln -s nowhere n"
    [seen] = run(pool, shell(script, files={"f": b"x"}))
    assert seen.files == (
        (b"d", "created", "symlink", os.fsencode(tmp_path)),
        (b"f", "changed", "symlink", os.fsencode(tmp_path / "secret")),
        (b"l", "created", "symlink", b"/etc/passwd"),
        (b"n", "created", "symlink", b"nowhere"),
    )


def test_kinds_that_replace_each_other(pool: Pool) -> None:
    script = "rm f; mkdir f; rm -r d; printf x > d; mkfifo p; rm -r e"
    [seen] = run(pool, shell(script, files={"f": b"1", "d/in": b"2", "e/in": b"3"}))
    assert seen.files == (
        (b"d", "changed", "file", b"x"),
        (b"d/in", "deleted", "file", b""),
        (b"e", "deleted", "directory", b""),
        (b"e/in", "deleted", "file", b""),
        (b"f", "changed", "directory", b""),
        (b"p", "created", "other", b""),
    )


def test_any_name_that_a_file_can_have(pool: Pool) -> None:
    names = [b"line\nfeed", b"\xff\xfe", "ü".encode(), b"a" * 255, b"-rf", b" "]
    code = f"import os\nfor n in {names!r}: os.close(os.open(n, os.O_CREAT))\nos.makedirs(b'\\xff\\n/\\x01')"
    [seen] = run(pool, python(code, files={}))
    assert [change[0] for change in seen.files] == sorted([*names, b"\xff\n", b"\xff\n/\x01"])


def test_what_is_closed_to_its_owner_is_seen_and_removed(pool: Pool) -> None:
    script = "mkdir d; printf x > d/f; chmod 0 d/f; chmod 0 d; chmod 500 . ; chmod 0 ../home"
    [seen, after] = run(pool, shell(script, files={}), CLEAN)
    assert seen.files == ((b"d", "created", "directory", b""), (b"d/f", "created", "file", b"x"))
    assert after.stdout == EMPTY


def test_a_case_folder_that_is_gone_has_lost_everything(pool: Pool, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("still here")
    swap = f"cd .. && mv case tmp/moved && ln -s {tmp_path} case"
    gone = ((b"d", "deleted", "directory", b""), (b"d/f", "deleted", "file", b""))
    for script in (swap, "cd .. && rm -r case", "cd .. && rm -r case && touch case"):
        seen, after = run(pool, shell(script, files={"d/f": b"x"}), CLEAN)
        assert (seen.status, seen.files, after.stdout) == ("exited", gone, EMPTY)
    assert (tmp_path / "precious").read_text() == "still here"


def test_more_changes_than_the_output_limit() -> None:
    with pool_on(limits=Limits(output_bytes=10_000)) as pool:
        seen = run(
            pool,
            python("[open(n, 'w').write('x' * 6000) for n in 'ab']", files={}),
            python("[open(f'{n:0200}', 'w').close() for n in range(60)]", files={}),
            python("open('a', 'w').write('x' * 6000)", files={}),
        )
    assert [one.status for one in seen] == ["output_limit", "output_limit", "exited"]
    assert [len(one.files) for one in seen] == [0, 0, 1]


def test_the_scratch_is_emptied_after_each_row(pool: Pool, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("still here")
    dirty = [
        'touch "$HOME/a" "$TMPDIR/b" "$HOME/../c"',
        'mkdir -p "$TMPDIR/x/y"; touch "$TMPDIR/x/y/z"; chmod -R 0 "$TMPDIR/x"; chmod 0 "$HOME/.."',
        f'ln -s {tmp_path} "$TMPDIR/link"; ln -s {tmp_path}/precious "$HOME/link"',
        f'rmdir "$HOME" && ln -s {tmp_path} "$HOME"',
        'rmdir "$HOME" "$TMPDIR"; mkfifo "$TMPDIR"',
        'cd "$TMPDIR" && i=0; while [ $i -lt 3000 ]; do : > $i; i=$((i+1)); done',
    ]
    for script in dirty:
        seen, after = run(pool, shell(script), CLEAN)
        assert (seen.status, after.stdout, after.stderr) == ("exited", EMPTY, b"")
    assert (tmp_path / "precious").read_text() == "still here"


@pytest.mark.parametrize("files", [None, {}])
def test_no_folder_is_too_deep(pool: Pool, files: dict[str, bytes] | None) -> None:
    code = (
        "import os\n"
        f"os.chdir({'.' if files is not None else os.sep!r} if {files is not None} else os.environ['TMPDIR'])\n"
        "for _ in range(500): os.mkdir('d' * 100); os.chdir('d' * 100)\n"
        "open('bottom', 'w').close()"
    )
    seen, after = run(pool, python(code, files=files), CLEAN)
    # The paths of such a case folder are more bytes than the output limit.
    assert seen.status == ("exited" if files is None else "output_limit")
    assert after.stdout == EMPTY


def test_a_scratch_that_was_swapped_is_not_emptied_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("still here")
    script = f'cd "$HOME/../.." && mv scratch away && ln -s {tmp_path} scratch'
    with pool_on() as pool:
        seen, after = run(pool, shell(script), CLEAN)
    assert (seen.status, after.stdout) == ("killed_worker", EMPTY)
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]


@pytest.mark.parametrize("path", ["../x", "/x", "a//b", "a/../../x", "", "./x", "a\0b", "\ud800"])
def test_a_path_that_leaves_its_folder_is_refused(pool: Pool, path: str) -> None:
    with pytest.raises(GateError, match="is no path below"):
        run(pool, Job("row", ("true",), files={path: b""}))
    with pytest.raises(GateError, match="is no path below"):
        run(pool, Job("row", ("true",), files={"x": path}))


@pytest.mark.parametrize("files", [{"x": "corpus/data/missing"}, {"x": b"", "x/y": b""}, {"n" * 300: b""}])
def test_files_that_cannot_be_laid_out_are_an_error_that_names_the_row(
    pool: Pool, files: dict[str, bytes | str]
) -> None:
    with pytest.raises(GateError, match=r"row 'the row' cannot be run: [xn]"):
        run(pool, Job("the row", ("true",), files=files))
    assert run(pool, CLEAN)[0].stdout == EMPTY
