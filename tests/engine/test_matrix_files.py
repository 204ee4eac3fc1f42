"""Every file of the oracle in every bad state: one line that names it and what to do, or a stated meaning."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from oracle_gate.core.approvals import SIGNERS, Signers
from oracle_gate.core.decode import to_json
from oracle_gate.core.errors import Exit, GateError
from oracle_gate.core.freeze_ledger import parse_freezes
from oracle_gate.core.gitdb import Entry, ObjectStore
from oracle_gate.core.ledger import QUARANTINE, parse_quarantine
from oracle_gate.core.manifest import parse_manifest
from oracle_gate.core.oracle import Oracle, read_control, read_oracle
from oracle_gate.core.pins import Provenance
from support.approving import Keys, make_keys
from support.engine import run_engine, state
from support.gate import REVIEWER, Gate
from support.gitenv import commit_all, git
from support.objects import entries, opened
from support.quick import PROGRAM, rows_text
from support.quick import ROWS as QUICK_ROWS

ROWS, DATA, DIGESTS = "corpus/inputs.jsonl", "corpus/data/text", "oracle/digests.json"
PROVENANCE, DENYLIST, NOISE = "oracle/provenance.json", "oracle/denylist.txt", "oracle/noise.txt"
SETTINGS, REQUIREMENTS = "oracle/gate.toml", "requirements/subject.txt"
MANIFEST, FREEZES = "sealed/MANIFEST.json", "sealed/freeze.json"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEr0AnMzbnVDmgWeJXQnS5GxsYnWLqpVgCUWKd1Sa3Ba"
#: In bytes; the design's limit for a control file is 64 MiB.
HUGE = 100_000_000


_LEDGER = {"schema": "freeze-ledger-v1", "entries": [{"test_id": "tests.test_a", "owner": "me"}]}
GOOD: dict[str, bytes] = {
    "src/prog.sh": PROGRAM.encode(),
    ROWS: rows_text(*QUICK_ROWS).encode(),
    DATA: b"one\ntwo\n",
    DENYLIST: b"# human-owned\noracle/\ncorpus/\nsealed/\ntools/\n",
    SETTINGS: b'[subject]\npython = "/usr/bin/python3"\n[lanes]\nrequired = ["denylist", "replay"]\n',
    DIGESTS: to_json({"upper": "0" * 64, "write": "1" * 64}),
    PROVENANCE: to_json(Provenance("canonical-v1", "b", "c", "n", "s", "linux-x86_64", "3.11", REVIEWER)),
    NOISE: b"# the clock\n^took [0-9]+ ms$\n# done\n",
    QUARANTINE: to_json({"tests/test_a.py::test_a": {"reason": "flaky", "expires": "2026-01-31"}}),
    SIGNERS: f'me@example.org namespaces="oracle-approval" {KEY}\n'.encode(),
    REQUIREMENTS: b"pytest==9.2.0 \\\n    --hash=sha256:" + b"0" * 64 + b"\n",
    MANIFEST: to_json({"schema": "sealed-oracle-v1", "properties": [], "fixtures": []}),
    FREEZES: to_json(_LEDGER),
}
CONTROL = [name for name in GOOD if name != "src/prog.sh"]
BREAK: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "truncated": lambda data: data.rstrip()[:-3],
    "malformed": lambda data: data + b"[}(\n",
    "not UTF-8": lambda data: data + b"# \xff\n",
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "U+2028": lambda data: data.replace(b"e", "\u2028".encode(), 1),
}
#: What is said after the file's name; None where the bytes have a meaning, which other tests state.
SAID: dict[str, dict[str, str | None]] = {
    "empty": {
        ROWS: None, DATA: None, DENYLIST: None, NOISE: None, SETTINGS: None, SIGNERS: None, REQUIREMENTS: None,
        DIGESTS: "1: empty file", PROVENANCE: "1: empty file", QUARANTINE: "1: empty file",
        MANIFEST: "1: empty file", FREEZES: "1: empty file",
    },
    "truncated": {
        ROWS: "4: not JSON", DATA: None, DENYLIST: None, NOISE: None, SIGNERS: None, REQUIREMENTS: None,
        SETTINGS: "4: not TOML", DIGESTS: "3: not JSON", PROVENANCE: "11: not JSON", QUARANTINE: "5: not JSON",
        MANIFEST: "4: not JSON", FREEZES: "8: not JSON",
    },
    "malformed": {
        ROWS: "5: not JSON", DATA: None, SIGNERS: None, REQUIREMENTS: None,
        DENYLIST: "6: pattern character in the rule '[}('", NOISE: "4: not a regular expression",
        SETTINGS: "5: not TOML", DIGESTS: "5: not JSON", PROVENANCE: "13: not JSON", QUARANTINE: "7: not JSON",
        MANIFEST: "6: not JSON", FREEZES: "10: not JSON",
    },
    "not UTF-8": {
        ROWS: "5: not UTF-8", DATA: None, SIGNERS: None, REQUIREMENTS: "3: not UTF-8", DENYLIST: "6: not UTF-8",
        NOISE: "4: not UTF-8", SETTINGS: "5: not UTF-8", DIGESTS: "5: not UTF-8", PROVENANCE: "13: not UTF-8",
        QUARANTINE: "7: not UTF-8", MANIFEST: "6: not UTF-8", FREEZES: "10: not UTF-8",
    },
    "CRLF": dict.fromkeys(CONTROL),
    "U+2028": {
        ROWS: "1: id 'upp\\u2028r' is empty or has unprintable characters", DATA: None, DENYLIST: None, NOISE: None,
        SIGNERS: None, REQUIREMENTS: None, SETTINGS: "1: not TOML", DIGESTS: "2: 'upp\\u2028r' is no id of a row",
        PROVENANCE: "2: unknown key 'bas\\u2028'", QUARANTINE: "2: 't\\u2028sts/test_a.py::test_a' is no node id",
        MANIFEST: "2: unknown key 'fixtur\\u2028s'", FREEZES: "2: unknown key '\\u2028ntries'",
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    with opened(tmp_path_factory.mktemp("matrix") / "store") as store:
        yield store


def read(store: ObjectStore, tree: dict[bytes, Entry]) -> Oracle:
    """Every reader, as a judgement calls them."""
    parse_quarantine(read_control(store, tree, QUARANTINE))
    parse_manifest(read_control(store, tree, MANIFEST))
    parse_freezes(read_control(store, tree, FREEZES))
    read_control(store, tree, SIGNERS)
    return read_oracle(store, tree)


def complaint(store: ObjectStore, tree: dict[bytes, Entry]) -> str | None:
    """What reading the tree says, which is one line for the user; None when it is read."""
    try:
        read(store, tree)
    except GateError as error:
        line = str(error)
        assert "\n" not in line
        assert error.exit_code == Exit.USAGE
        return line
    return None


def with_entry(store: ObjectStore, path: str, data: bytes, mode: str = "100644") -> dict[bytes, Entry]:
    return entries(store, GOOD) | {path.encode(): Entry(mode, store.write("blob", data))}


def names(line: str | None, path: str, said: str) -> bool:
    """Whether a line is `FILE:LINE: what; what to do`, of this file, and says this."""
    found = re.fullmatch(rf"{re.escape(path)}:(.*?); (\S.*)", line or "")
    return bool(found and found[1].strip().startswith(said))


def test_the_good_files_are_read(store: ObjectStore) -> None:
    oracle = read(store, entries(store, GOOD))
    assert [row.id for row in oracle.rows] == ["upper", "count", "write", "upper-more"]
    assert (len(oracle.rules), len(oracle.noise.rules), len(oracle.pins)) == (4, 1, 2)
    assert oracle.provenance is not None


def test_the_table_is_whole() -> None:
    assert set(SAID) == set(BREAK)
    assert all(set(row) == set(CONTROL) for row in SAID.values())


@pytest.mark.parametrize("state_name", BREAK)
@pytest.mark.parametrize("path", CONTROL)
def test_a_bad_state_of_a_file(store: ObjectStore, path: str, state_name: str) -> None:
    line = complaint(store, with_entry(store, path, BREAK[state_name](GOOD[path])))
    said = SAID[state_name][path]
    assert line is None if said is None else names(line, path, said), line


@pytest.mark.parametrize("path", CONTROL)
def test_a_file_of_100_mb(store: ObjectStore, huge: str, path: str) -> None:
    """Corpus data may be of any size, control files may not."""
    line = complaint(store, entries(store, GOOD) | {path.encode(): Entry("100644", huge)})
    assert line is None if path == DATA else names(line, path, "larger than 67108864 bytes"), line


@pytest.fixture(scope="module")
def huge(store: ObjectStore) -> str:
    """The id of a blob that every line-based reader would take."""
    return store.write("blob", b"#\n" * (HUGE // 2))


@pytest.mark.parametrize("path", CONTROL)
def test_a_file_that_is_none(store: ObjectStore, path: str) -> None:
    """A symbolic link, a submodule, a folder, nothing: none is read through."""
    good = entries(store, GOOD)
    link = {path.encode(): Entry("120000", store.write("blob", b"/etc/hostname"))}
    submodule = {path.encode(): Entry("160000", "1" * 40)}
    folder = {f"{path}/x".encode(): good.pop(path.encode())}
    for other, said in ((link, "is not a plain file"), (submodule, "is not a plain file"),
                        (folder, "is not a plain file"), ({}, "is missing")):  # fmt: skip
        line = complaint(store, good | other)
        if path == DATA:
            assert names(line, ROWS, "3: row 'write' names corpus/data/text, which is no file"), line
        else:
            assert names(line, path, said), line


def test_a_crlf_checkout_of_everything_means_the_same(store: ObjectStore) -> None:
    """gkampitakis/go-snaps#63: a checkout with other line ends turned every snapshot into a failure."""
    oracle = read(store, entries(store, GOOD))
    other = read(store, entries(store, {name: BREAK["CRLF"](data) for name, data in GOOD.items()}))
    assert other.digests_of != oracle.digests_of
    for name in ("settings", "rules", "noise", "rows", "pins", "provenance"):
        assert getattr(other, name) == getattr(oracle, name)


def test_only_lf_ends_a_line(store: ObjectStore) -> None:
    """U+2028, which str.splitlines splits on, neither ends a comment nor makes two rules or rows of one."""
    row = json.dumps({"id": "file", "argv": ["echo", "a\u2028b"]}, ensure_ascii=False).encode() + b"\n"
    tree = entries(
        store,
        {
            **GOOD,
            ROWS: row,
            NOISE: "# \u2028^x$\n^a\u2028b$\n".encode(),
            DENYLIST: "# \u2028src\noracle/\n".encode(),
        },
    )
    oracle = read(store, tree)
    assert [row.argv for row in oracle.rows] == [("echo", "a\u2028b")]
    assert [rule.text for rule in oracle.rules] == ["oracle/"]
    assert [(rule.line, rule.pattern.pattern) for rule in oracle.noise.rules] == [(2, "^a\u2028b$".encode())]


def test_what_is_denied_stays_denied_without_a_list(store: ObjectStore) -> None:
    """An empty or cut denylist takes nothing from what is always denied."""
    for state_name in ("empty", "truncated"):
        oracle = read(store, with_entry(store, DENYLIST, BREAK[state_name](GOOD[DENYLIST])))
        for path in (b"oracle/digests.json", b"corpus/x", b"sealed/x", b"tools/gate.py", b"Makefile"):
            assert oracle.denied(path)


#: One file a state, through the command line: what it says (or the verdict), and the exit code.
ON_THE_BASE = {
    "empty": (DIGESTS, 2, "oracle/digests.json:1: empty file; repair the file"),
    "truncated": (DIGESTS, 2, "oracle/digests.json:5: not JSON: "),
    "malformed": (QUARANTINE, 2, "oracle/quarantine.json:2: not JSON: "),
    "not UTF-8": (NOISE, 2, "oracle/noise.txt:4: not UTF-8; "),
    "U+2028": (PROVENANCE, 2, "oracle/provenance.json:2: unknown key 'bas\\u2028'; "),
    "100 MB": (NOISE, 2, "oracle/noise.txt: larger than 67108864 bytes; "),
    "folder": (SETTINGS, 2, "oracle/gate.toml: is not a plain file; "),
    "link": (DENYLIST, 2, "oracle/denylist.txt: is not a plain file; "),
    "missing": (SIGNERS, 2, "oracle/allowed_signers: is missing; "),
}


def spoil(root: Path, path: str, state_name: str) -> None:
    """Puts a file of a work tree into a bad state."""
    file = root / path
    data = file.read_bytes()
    file.unlink()
    if state_name == "folder":
        file.mkdir()
        (file / "x").touch()
    elif state_name == "link":
        file.symlink_to("/etc/hostname")
    elif state_name == "100 MB":
        file.write_bytes(b"#\n" * (HUGE // 2))
    elif state_name != "missing":
        file.write_bytes(BREAK[state_name](data))


@pytest.mark.parametrize("state_name", ON_THE_BASE)
def test_the_command_line_says_it_in_one_line(quick: Gate, state_name: str) -> None:
    path, code, said = ON_THE_BASE[state_name]
    spoil(quick.root, path, state_name)
    commit_all(quick.root, "Spoil a file")
    (quick.root / ".gate").mkdir()
    (quick.root / ".gate/merge_packet.json").write_text('{"verdict": "eligible"}')
    before = state(quick.root / "oracle")
    done = quick.run("judge", check=code)
    assert done.stderr.startswith(f"gate: {said}"), done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert state(quick.root / "oracle") == before
    assert not (quick.root / ".gate/merge_packet.json").exists()


def test_record_writes_nothing_when_a_file_is_bad(quick: Gate) -> None:
    for path in (DIGESTS, PROVENANCE):
        (quick.root / path).write_text("{}\n")
    commit_all(quick.root, "Disarm")
    for path in (ROWS, DATA, DIGESTS, PROVENANCE):
        for state_name in ("empty", "truncated", "malformed", "not UTF-8", "folder", "link"):
            spoil(quick.root, path, state_name)
            before = state(quick.root / "oracle")
            words = ("record", "--reviewed-by", REVIEWER, "--corpus-sha256", "0" * 64)
            done = run_engine(quick.root, *words)
            assert (done.code, done.stdout) == (2, ""), (path, state_name)
            assert re.fullmatch(r"(gate: warning: .*\n)?gate: [^\n]+; [^\n]+\n", done.stderr), done.stderr
            assert state(quick.root / "oracle") == before
            git(quick.root, "clean", "--quiet", "-fd", ".", ":!.gate")
            git(quick.root, "reset", "--quiet", "--hard")


def test_files_committed_with_crlf_give_the_same_verdict(quick: Gate) -> None:
    """gkampitakis/go-snaps#63, again through the judge."""
    for path in (DIGESTS, NOISE, DENYLIST):
        spoil(quick.root, path, "CRLF")
    commit_all(quick.root, "Line ends of another system")
    quick.edit("README.md", "quick", "fast")
    assert run_engine(quick.root, "judge").code == 0
    assert quick.packet()["verdict"] == "eligible"


def test_a_clone_that_turns_line_ends_gets_the_same_verdict(quick: Gate, tmp_path: Path) -> None:
    """The scaffold's attributes beat core.autocrlf: the work tree has the bytes of the base."""
    quick.write(".gitattributes", "* text=auto eol=lf\n")
    commit_all(quick.root, "Attributes")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--config", "core.autocrlf=true", str(quick.root), str(clone))
    assert b"\r" not in (clone / DENYLIST).read_bytes()
    done = run_engine(clone, "judge")
    assert (done.code, done.stderr) == (0, "")
    assert Gate(clone).packet()["mode"] == "self-check"


#: Which states of oracle/allowed_signers still let its first signer sign.
SIGNS = {
    "empty": False,
    "truncated": True,
    "malformed": True,
    "not UTF-8": True,
    "CRLF": True,
    "U+2028": True,
}


@pytest.mark.parametrize("state_name", BREAK)
def test_a_bad_state_of_the_signers(signed: tuple[Keys, bytes], tmp_path: Path, state_name: str) -> None:
    """ssh-keygen reads the file line by line; a line that it cannot read allows nobody."""
    keys, signature = signed
    allowed = BREAK[state_name](keys.allowed_signers.encode())
    signer = Signers(allowed, tmp_path).verify(b"data", signature)
    assert bool(signer) is SIGNS[state_name]
    assert not Signers(allowed, tmp_path).verify(b"other data", signature)


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Keys, bytes]:
    keys = make_keys(tmp_path_factory.mktemp("keys"))
    return keys, keys.sign(b"data")
