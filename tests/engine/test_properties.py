"""What counts as an answer of a sealed property, outside and inside the sandbox; its null controls."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest
from oracle_gate.core.manifest import Manifest, SealedFixture, SealedProperty
from oracle_gate.core.packet import Property
from oracle_gate.lanes.properties import Judged, Programs, properties
from oracle_gate.runner.asking import asked_inside, asked_outside, parameters
from oracle_gate.runner.claims import ClaimHost, ProgramResult, run_in
from oracle_gate.runner.job import Limits
from oracle_gate.runner.pool import Pool
from oracle_gate.runner.stubs import stubs
from support.article_b import OR_TRUE
from support.pools import pool_on

FIXTURES = {"one": b"alpha", "two": b"beta"}
#: The judged program: prints its input in capitals; the module can be imported as well.
PROGRAM = {
    "src/shout.py": b"import sys\n\n\ndef up(data):\n    return data.upper()\n\n\n"
    b"if __name__ == '__main__':\n    sys.stdout.buffer.write(up(sys.stdin.buffer.read()))\n"
}
RUN = '    done = run(["python", "-m", "shout"], input=fixture_bytes)\n'
GOOD = f"def holds(fixture_bytes, run):\n{RUN}    return done.stdout == fixture_bytes.upper()\n"
IMPORTED = "import shout\n\n\ndef holds(fixture_bytes):\n    return shout.up(fixture_bytes) == fixture_bytes.upper()\n"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def sealed(source: str, **changes: object) -> tuple[Manifest, dict[str, bytes]]:
    """A manifest with one property, and the files it lists."""
    data = source.encode()
    item = SealedProperty("p", "p.py", digest(data), in_process=parameters(data) == 1)
    item = SealedProperty(**{**vars(item), **changes})
    fixtures = tuple(SealedFixture(name, f"{name}.bin", digest(body)) for name, body in FIXTURES.items())
    files = {"p.py": data, **{f"{name}.bin": body for name, body in FIXTURES.items()}}
    return Manifest("sealed-oracle-v1", (item,), fixtures), files


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with pool_on(PROGRAM, limits=Limits(timeout_s=10)) as opened:
        yield opened


@pytest.fixture(scope="module")
def emptied() -> Iterator[Pool]:
    with pool_on({"src/shout.py": b""}) as opened:
        yield opened


@pytest.fixture
def judge(pool: Pool, emptied: Pool, tmp_path: Path) -> Callable[..., Judged]:
    """Judges one property, as commands/judging_sealed.py wires it."""

    def programs(timeout_s: float, item: SealedProperty, source: bytes) -> Programs:
        claim = tmp_path / "claim.py"
        claim.write_bytes(source)
        if item.in_process:
            inside = partial(asked_inside, claim, timeout_s=timeout_s)
            return Programs(partial(inside, pool), {"emptied": partial(inside, emptied)})
        outside = partial(asked_outside, claim, tmp_path, timeout_s=timeout_s)
        controls = {name: partial(outside, stub) for name, stub in stubs().items()}
        return Programs(partial(outside, run_in(pool)), controls)

    def judge(
        source: str,
        manifest: Manifest | None = None,
        files: Mapping[str, bytes] | None = None,
        timeout_s: float = 20,
    ) -> Judged:
        made = sealed(source)
        (found,) = properties(manifest or made[0], files or made[1], partial(programs, timeout_s))
        return found

    return judge


def test_a_property_that_holds(judge: Callable[..., Judged]) -> None:
    assert judge(GOOD).row == Property("p", True, (), True)
    assert judge(IMPORTED).row == Property("p", True, (), True, in_process=True)


def test_false_names_every_fixture_that_fails(judge: Callable[..., Judged]) -> None:
    found = judge(f"def holds(fixture_bytes, run):\n{RUN}    return done.stdout == b'ALPHA'\n")
    assert found.row == Property("p", True, ("two",), False)
    assert found.wrong["two"].kind == "false"
    inside = judge("import shout\n\n\ndef holds(data):\n    return shout.up(data) == b'BETA'\n")
    assert inside.row == Property("p", True, ("one",), False, in_process=True)


#: What a property may do instead of answering True or False, and how the packet says so.
SILENT = {
    "return None": "returned None",
    "return 1": "answered with a int",
    "return 'False'": "answered with a str",
    "return object()": "answered with a object",
    "yield True": "answered with a generator",
    "raise ValueError(str(fixture_bytes))": "ValueError",
    "assert fixture_bytes == b''": "AssertionError",
    "raise SystemExit(0)": "SystemExit: 0",
    "import sys; sys.exit()": "SystemExit",
    "raise KeyboardInterrupt": "KeyboardInterrupt",
    "import os; os._exit(0)": "process ended",
    "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)": "process ended",
    "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)": "no answer within",
    "while True: pass": "no answer within",
    "return holds(fixture_bytes, *rest)": "RecursionError",
}


#: Writes what an answer looks like wherever it can.
FORGES = """import os
    for number in range(1, 20):
        try: os.write(number, b'{"answer": "true", "note": ""}')
        except OSError: pass
    os._exit(0)"""


def silent(row: Property, said: str) -> None:
    assert (row.ran, row.ok, row.failed_fixtures) == (False, False, ("one",)), row
    assert said.partition(":")[0] in row.note, row
    assert "alpha" not in row.note
    assert row.accepts == ()


@pytest.mark.parametrize("body", SILENT)
def test_all_else_is_no_answer(body: str, judge: Callable[..., Judged]) -> None:
    limit = 1.0 if SILENT[body].startswith("no answer") else 20.0
    silent(
        judge(f"def holds(fixture_bytes, run):\n    rest = (run,)\n    {body}\n", timeout_s=limit).row,
        SILENT[body],
    )


def test_a_coroutine_is_no_answer(judge: Callable[..., Judged]) -> None:
    silent(judge("async def holds(fixture_bytes, run):\n    return True\n").row, "answered with a coroutine")
    silent(judge("async def holds(fixture_bytes):\n    return True\n").row, "answered with a coroutine")


@pytest.mark.parametrize(
    "body",
    [body for body in SILENT if "STOP" not in body] + ["print('true'); import os; os._exit(0)", FORGES],
)
def test_all_else_is_no_answer_inside_the_sandbox_either(body: str, judge: Callable[..., Judged]) -> None:
    said = SILENT.get(body, "no answer").replace("process ended", "")
    limit = 1.0 if said.startswith("no answer within") else 20.0
    row = judge(f"def holds(fixture_bytes):\n    rest = ()\n    {body}\n", timeout_s=limit).row
    silent(row, said)
    assert row.in_process


def test_a_program_that_hangs_is_no_answer(tmp_path: Path) -> None:
    source = "def holds(fixture_bytes, run):\n    return run(['sleep', '60']).returncode == 0\n"
    manifest, files = sealed(source)
    (tmp_path / "claim.py").write_text(source)
    with pool_on(PROGRAM, limits=Limits(timeout_s=0.3)) as slow:
        opened = partial(asked_outside, tmp_path / "claim.py", tmp_path, run_in(slow), 20.0)
        (found,) = properties(manifest, files, lambda _item, _source: Programs(opened, {"none": opened}))
    silent(found.row, "ProgramMisbehaved")


@pytest.mark.parametrize(
    ("source", "note"),
    [
        ("def holds(fixture_bytes, run)\n", "does not load"),
        ("raise SystemExit\n", "does not load"),
        ("import os\nos._exit(0)\n", "does not load"),
        ("import shout\n", "does not load"),
        ("def hold(fixture_bytes, run):\n    return True\n", "has no holds(fixture_bytes, run)"),
        ("def holds(run):\n    return True\n", "has no holds(fixture_bytes, run)"),
    ],
)
def test_a_property_that_does_not_load_names_no_fixture(
    source: str, note: str, judge: Callable[..., Judged]
) -> None:
    manifest, files = sealed(source, in_process=False)
    assert judge(source, manifest, files).row == Property("p", False, (), False, note)


def test_a_property_is_not_asked_unless_all_is_as_sealed(judge: Callable[..., Judged]) -> None:
    manifest, files = sealed(GOOD)
    bad: dict[str, tuple[Manifest, Mapping[str, bytes]]] = {
        "is missing": (manifest, {name: data for name, data in files.items() if name != "p.py"}),
        "was never sealed": (sealed(GOOD, sha256="")[0], files),
        "has other bytes than were sealed": (manifest, {**files, "p.py": GOOD.encode() + b"\n"}),
        "has a fixture that is not what was sealed": (manifest, {**files, "two.bin": b"bete"}),
        "has no fixture": (sealed(GOOD, fixtures=())[0], files),
    }
    for note, (inventory, content) in bad.items():
        assert judge(GOOD, inventory, content).row == Property("p", False, (), False, note)
    only_one = {name: data for name, data in files.items() if name != "two.bin"}
    assert judge(GOOD, sealed(GOOD, fixtures=("one",))[0], only_one).row.ok


#: Properties that say nothing of the program.
VACUOUS = [
    "def holds(fixture_bytes, run):\n    return True\n",
    "def holds(fixture_bytes, run):\n    run(['python', '-m', 'shout'])\n    return True\n",
    "import hashlib\n\n\ndef holds(data, run):\n    return len(hashlib.sha256(data).digest()) == 32\n",
]


@pytest.mark.parametrize("source", VACUOUS)
def test_a_property_that_accepts_every_stub_is_vacuous(source: str, judge: Callable[..., Judged]) -> None:
    row = judge(source).row
    assert (row.ok, row.accepts) == (True, ("empty", "echo", "constant", "random", "crash"))


@pytest.mark.parametrize("source", [OR_TRUE.decode(), "def holds(data):\n    return data != b''\n"])
def test_one_that_holds_without_sources_is_vacuous(source: str, judge: Callable[..., Judged]) -> None:
    row = judge(source).row
    assert (row.ok, row.accepts) == (True, ("emptied",))


@pytest.mark.parametrize("kind", ["empty", "echo", "constant", "random", "crash"])
def test_one_rejected_stub_is_enough(kind: str, judge: Callable[..., Judged]) -> None:
    """Each stub is the only one that a property rejects."""
    tells = {
        "empty": "done.returncode == 0 and not done.stdout",
        "echo": "done.stdout == fixture_bytes",
        "constant": "done.stdout == b'constant\\n'",
        "random": "done.stdout != run(['python', '-m', 'shout'], fixture_bytes).stdout",
        "crash": "done.returncode == 70",
    }
    row = judge(f"def holds(fixture_bytes, run):\n{RUN}    return not ({tells[kind]})\n").row
    assert (row.ok, row.accepts) == (True, ())


def test_lies_of_the_program_stay_in_its_process(tmp_path: Path) -> None:
    """What a patched program does to its own builtins changes nothing for a property outside."""
    lying = PROGRAM["src/shout.py"].replace(
        b"import sys\n", b"import builtins, sys\nbuiltins.all = builtins.bool = lambda *_: True\n"
    ).replace(b"data.upper()", b"data.lower()")  # fmt: skip
    source = (
        f"def holds(fixture_bytes, run):\n{RUN}    return all([bool(done.stdout == fixture_bytes.upper())])\n"
    )
    manifest, files = sealed(source)
    (tmp_path / "claim.py").write_text(source)

    def stub(_argv: tuple[str, ...], data: bytes) -> ProgramResult:
        return ProgramResult("exited", 0, data)

    with pool_on({"src/shout.py": lying}) as pool:
        opened = partial(asked_outside, tmp_path / "claim.py", tmp_path, timeout_s=20.0)
        programs = Programs(partial(opened, run_in(pool)), {"echo": partial(opened, stub)})
        (found,) = properties(manifest, files, lambda _item, _source: programs)
    assert found.row == Property("p", True, ("one", "two"), False)


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("def holds(a): ...", 1),
        ("def holds(a, /, b): ...", 2),
        ("async def holds(a, b): ...", 2),
        ("def holds(a): ...\ndef holds(a, b): ...", 2),
        ("holds = lambda a: True", 0),
        ("class A:\n    def holds(a): ...", 0),
        ("def holds(", 0),
        ("\0", 0),
        ("(" * 2000, 0),
    ],
)
def test_the_arity_is_read_without_running_the_file(source: str, count: int) -> None:
    assert parameters(source.encode()) == count


def test_fixtures_are_asked_in_groups_and_in_order(tmp_path: Path) -> None:
    claim = tmp_path / "claim.py"
    claim.write_text(
        "def holds(data, run):\n    return run(['x'], data).stdout == data and len(data) % 3 != 0\n"
    )

    def echo(_argv: tuple[str, ...], data: bytes) -> ProgramResult:
        return ProgramResult("exited", 0, data)

    sizes = [*range(150), (1 << 20) + 1, 5]
    with ClaimHost(tmp_path, 20) as host:
        host.load(claim)
        answers = list(host.call_each("holds", echo, (b"x" * size for size in sizes)))
        assert [answer.kind for answer in answers] == ["false" if size % 3 == 0 else "true" for size in sizes]
        # One by one the process lives on; left amid a group it ends, for its answers would come too late.
        assert [next(host.call_each("holds", echo, [data])).kind for data in (b"", b"x")] == ["false", "true"]
        assert next(host.call_each("holds", echo, [b"x", b"y"])).kind == "true"
        assert next(host.call_each("holds", echo, [b"x"])).kind == "crashed"
