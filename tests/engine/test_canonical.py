"""canonical-v1 as a whole: framing, formats, notes, streams of any size."""

from __future__ import annotations

import hashlib
import json
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle_gate.core.canonical import (
    BUFFER,
    NOISE_LINE_LIMIT,
    VERSION,
    Digested,
    Tokens,
    canonical_bytes,
    canonical_frames,
    digest,
)
from oracle_gate.core.corpus import Format
from oracle_gate.core.errors import GateError
from oracle_gate.core.noise import NoiseRules, parse_noise
from oracle_gate.core.observation import (
    ByteSource,
    FileChange,
    FileKind,
    FileState,
    InMemory,
    Observation,
    Status,
)

TOKENS = Tokens(((b"/w/tree", "ROOT"), (b"/w/scratch", "TMP")))
FORMATS: tuple[Format, ...] = ("auto", "text", "json", "jsonl", "bytes")
NOISE = parse_noise(b"^took [0-9]+ ms\n^pid ")


@dataclass(frozen=True)
class Chunked:
    """A source that hands out its bytes in pieces of one size."""

    data: bytes
    chunk: int

    @property
    def size(self) -> int:
        return len(self.data)

    def chunks(self) -> Iterator[bytes]:
        return (self.data[start : start + self.chunk] for start in range(0, len(self.data), self.chunk))


@dataclass(frozen=True)
class Repeated:
    """`times` pieces of at most 1 MiB, without the memory for them."""

    piece: bytes
    times: int

    @property
    def size(self) -> int:
        return len(self.piece) * self.times

    def chunks(self) -> Iterator[bytes]:
        return (self.piece for _ in range(self.times))


def observed(
    stdout: bytes | ByteSource = b"",
    stderr: bytes | ByteSource = b"",
    files: tuple[FileChange, ...] = (),
    code: int = 0,
) -> Observation:
    sources = [InMemory(data) if isinstance(data, bytes) else data for data in (stdout, stderr)]
    return Observation("exited", code, sources[0], sources[1], files)


def file(path: bytes, content: bytes, *, state: FileState = "created", kind: FileKind = "file") -> FileChange:
    return FileChange(path, state, kind, InMemory(content))


def digested(
    observation: Observation | bytes,
    format: Format = "auto",
    noise: NoiseRules = NOISE,
    tokens: Tokens = TOKENS,
) -> Digested:
    return digest(
        observed(observation) if isinstance(observation, bytes) else observation, format, tokens, noise
    )


def hexdigest(observation: Observation | bytes, format: Format = "auto", tokens: Tokens = TOKENS) -> str:
    return digested(observation, format, NOISE, tokens).digest


# Frames


def test_the_bytes_and_their_digest() -> None:
    observation = observed(
        b"/w/tree/x\n", b'{"b":1, "a":2}', (file(b"z\n", b"1"), file(b"a b", b"", state="deleted")), code=-9
    )
    written = b"".join(canonical_bytes(observation, "auto", TOKENS, NoiseRules()))
    assert written == (
        b"exit -9\nstdout text 8\n$ROOT/x\n\nstderr json 13\n{\"a\":2,\"b\":1}\n"
        b'file deleted file "a b" text 0\n\nfile created file "z\\n" text 1\n1\n'
    )  # fmt: skip
    assert digested(observation, noise=NoiseRules()).digest == hashlib.sha256(written).hexdigest()
    assert VERSION == "canonical-v1"


@pytest.mark.parametrize("status", ["timeout", "output_limit", "left_process", "changed_tree", "no_program"])
def test_only_an_exited_program_has_a_digest(status: Status) -> None:
    observation = Observation(status, 0, InMemory(b""), InMemory(b""))
    for use in (digest, lambda *a: list(canonical_bytes(*a))):
        with pytest.raises(ValueError, match=status):
            use(observation, "auto", TOKENS, NOISE)


def test_every_part_of_an_observation_counts() -> None:
    base = observed(b"a", b"b", (file(b"p", b"c"),))
    others = [
        base,
        replace(base, exit_code=1),
        replace(base, exit_code=-1),
        replace(base, stdout=InMemory(b"b"), stderr=InMemory(b"a")),
        replace(base, stdout=InMemory(b"ab"), stderr=InMemory(b"")),
        replace(base, stdout=InMemory(b""), stderr=InMemory(b"ab")),
        replace(base, files=()),
        replace(base, files=(file(b"q", b"c"),)),
        replace(base, files=(file(b"p", b"d"),)),  # approvals/ApprovalTests.Python#159: same length
        replace(base, files=(file(b"p", b"c", state="changed"),)),
        replace(base, files=(file(b"p", b"c", kind="executable"),)),
        replace(base, files=(file(b"p", b"c", kind="symlink"),)),
        replace(base, files=(file(b"p", b"c"), file(b"d", b"", kind="directory"))),
        replace(base, files=(file(b"p", b"c"), file(b"d", b"", kind="other"))),
    ]
    for format in FORMATS:
        assert len({hexdigest(other, format) for other in others}) == len(others), format


def test_the_order_of_files_does_not_count() -> None:
    files = (file(b"b", b"1"), file(b"a\xff", b"2"), file(b"a/c", b"3"))
    assert hexdigest(observed(files=files)) == hexdigest(observed(files=files[::-1]))


headers = st.sampled_from(
    [
        b"exit 0\n",
        b"stdout bytes 1\n",
        b"\nstderr bytes 0\n",
        b'file created file "a" bytes 1\n',
        b"\n",
        b'"',
        b" 1",
    ]
)
payloads = st.lists(headers | st.binary(max_size=4), max_size=5).map(b"".join)
changes = st.builds(
    FileChange,
    payloads,
    st.sampled_from(["created", "changed", "deleted"]),
    st.sampled_from(["file", "executable", "symlink", "directory", "other"]),
    payloads.map(InMemory),
)
observations = st.builds(
    Observation,
    st.just("exited"),
    st.integers(-64, 255),
    payloads.map(InMemory),
    payloads.map(InMemory),
    st.lists(changes, max_size=3, unique_by=lambda change: change.path).map(tuple),
)


def parts(observation: Observation) -> list[tuple[object, ...]]:
    files = sorted(observation.files, key=lambda change: change.path)
    found: list[tuple[object, ...]] = [("exit", observation.exit_code)]
    found += [
        ("stdout", b"".join(observation.stdout.chunks())),
        ("stderr", b"".join(observation.stderr.chunks())),
    ]
    return found + [("file", f.state, f.kind, f.path, b"".join(f.content.chunks())) for f in files]


def parsed(data: bytes) -> list[tuple[object, ...]]:
    """What a reader who knows only the grammar gets back."""
    line, rest = data.split(b"\n", 1)
    found: list[tuple[object, ...]] = [("exit", int(line.removeprefix(b"exit ")))]
    while rest:
        line, rest = rest.split(b"\n", 1)
        name, kind, length = line.rsplit(b" ", 2)
        payload, rest = rest[: int(length)], rest[int(length) :]
        assert kind == b"bytes"
        assert rest.startswith(b"\n")
        rest = rest[1:]
        if name.startswith(b"file "):
            _, state, file_kind, path = name.decode().split(" ", 3)
            found.append(
                ("file", state, file_kind, json.loads(path).encode("utf-8", "surrogateescape"), payload)
            )
        else:
            found.append((name.decode(), payload))
    return found


@settings(max_examples=400, deadline=None)
@given(observations)
def test_framing_can_be_undone_so_it_is_injective(observation: Observation) -> None:
    written = b"".join(canonical_bytes(observation, "bytes", TOKENS, NOISE))
    assert parsed(written) == parts(observation)


@settings(max_examples=300, deadline=None)
@given(payloads, payloads, st.integers(0, 40), st.sampled_from(["text", "bytes"]))
def test_bytes_moved_between_streams_change_the_digest(
    stdout: bytes, stderr: bytes, cut: int, format: Format
) -> None:
    everything = stdout + stderr
    moved = everything[:cut], everything[cut:]
    assume(moved != (stdout, stderr))
    assert hexdigest(observed(*moved), format) != hexdigest(observed(stdout, stderr), format)


# What stays


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"a\r\n", b"a\n"),  # mitsuhiko/insta#171 and #4, go-snaps#63, ApprovalTests.Python#62
        (b"a", b"a\n"),  # approvals/ApprovalTests.cpp#50
        (b"a\n", b"a\n\n"),
        (b"a", b"a "),
        (b"a\xff", b"a\xfe"),
        (b"a\xff", b"a\xef\xbf\xbd"),
        (b"a", b"\x1b[31ma\x1b[0m"),  # vercel/turborepo#11564, mitsuhiko/insta#300
        (b"/tmpl", b"/tmpm"),  # biomejs/biome#10832
        (b"", b"\n"),
        (b"$ROOT/x", b"/w/tree/x"),
        (b"$FRAMES\n", b"Error: x\n    at f (a:1:2)\n"[9:]),
        (b'{"a":9007199254740993}', b'{"a":9007199254740992}'),
        (b"v1.2.3", b"v1.2.4"),
    ],
)
def test_differences_that_no_format_hides(one: bytes, other: bytes) -> None:
    for format in FORMATS:
        assert hexdigest(one, format) != hexdigest(other, format), format
        assert hexdigest(observed(stderr=one), format) != hexdigest(observed(stderr=other), format), format


def test_lone_frames_marker_is_escaped() -> None:
    frames = b'Traceback (most recent call last):\n  File "a", line 1, in f\nE\n'
    assert hexdigest(frames) != hexdigest(b"Traceback (most recent call last):\n$FRAMES\nE\n")
    assert hexdigest(frames) == hexdigest(frames.replace(b"line 1, in f", b"line 2, in g"))


PROGRAM_OUTPUTS: list[Callable[[str], str]] = [
    lambda root: f"usage: {root}/prog [-h]\n",
    lambda root: f'{{"{root}/b": ["{root}"], "m": "see\\n{root}/x"}}',
    lambda root: f'{{"p": "{root}/x"}}\nfailed in {root}\n',
    lambda root: f'Traceback (most recent call last):\n  File "{root}/a.py", line 1, in f\nE: {root}\n',
    lambda root: "x" * (2 << 20) + f" {root} " + "y" * (1 << 20) + f"\n{root}/z\n",
]


@pytest.mark.parametrize("output", PROGRAM_OUTPUTS)
@pytest.mark.parametrize("format", ["auto", "text", "json", "jsonl"])
def test_two_trees_give_one_digest(output: Callable[[str], str], format: Format) -> None:
    """astral-sh/uv#2678"""
    found = []
    for root in ("/tmp/gate-1/tree", "/home/somebody/work trees/2"):
        tokens = Tokens(((root.encode(), "ROOT"), (b"/tmp/gate-1", "TMP")))
        text = output(root).encode()
        link = file(b"link", f"{root}/target".encode(), kind="symlink")
        found.append(hexdigest(observed(text, text, (file(b"f", text), link)), format, tokens))
    assert found[0] == found[1]


# Formats


def test_format_decides_what_is_json() -> None:
    spaced, packed = b'{"a": 1}', b'{"a":1}'
    equal = {format: hexdigest(spaced, format) == hexdigest(packed, format) for format in FORMATS}
    assert equal == {"auto": True, "json": True, "jsonl": True, "text": False, "bytes": False}
    scalar = {format: hexdigest(b"1", format) == hexdigest(b" 1", format) for format in FORMATS}
    assert scalar == {"auto": False, "json": True, "jsonl": True, "text": False, "bytes": False}


def test_format_reaches_stderr_and_files() -> None:
    spaced, packed = (observed(b"", data, (file(b"f", data),)) for data in (b'{"a": 1}', b'{"a":1}'))
    assert hexdigest(spaced) == hexdigest(packed)
    assert hexdigest(spaced, "text") != hexdigest(packed, "text")


def test_bytes_has_no_tokens_noise_json_or_frames() -> None:
    frames = b'Traceback (most recent call last):\n  File "a", line %d, in f\nE'
    for one, other in [
        (b"a\ntook 1 ms\n", b"a\ntook 2 ms\n"),
        (b"[1]", b"[1 ]"),
        (frames % 1, frames % 2),
    ]:
        assert hexdigest(one, "text" if b"[" not in one else "auto") == hexdigest(other)
        assert hexdigest(one, "bytes") != hexdigest(other, "bytes")
    found = digested(b"$ROOT /w/tree\ntook 1 ms\n", "bytes")
    assert (found.noise_lines, found.changed_more_than_roots, found.not_json) == (0, False, False)
    moved = Tokens(((b"/w/tree", "TMP"),))
    assert hexdigest(b"/w/tree", "bytes") == hexdigest(b"/w/tree", "bytes", moved)
    assert hexdigest(b"/w/tree", "text") != hexdigest(b"/w/tree", "text", moved)


@pytest.mark.parametrize(
    ("stdout", "format", "not_json"),
    [
        (b"1", "json", False),
        (b"", "json", True),
        (b"oops", "json", True),
        (b'{"a":1,"a":1}', "json", True),
        (b"[" + b" " * BUFFER + b"]", "json", True),
        (b"oops", "auto", False),
        (b"oops", "text", False),
        (b"oops", "bytes", False),
        (b"", "jsonl", False),
        (b'{"a":1}\n\n \n[2]\r\n3', "jsonl", False),
        (b'{"a":1}\noops\n', "jsonl", True),
        (b"[" + b" " * BUFFER + b"]", "jsonl", True),
        ((b'"' + b"x" * 4000 + b'"\n') * 300, "jsonl", False),
    ],
)
def test_not_json_is_about_stdout(stdout: bytes, format: Format, not_json: bool) -> None:
    assert digested(stdout, format).not_json is not_json
    others = observed(b"[1]", b"oops", (file(b"f", b"oops"),))
    assert digested(others, format).not_json is False


def test_jsonl_is_json_a_line() -> None:
    one = b'{"b":1, "a":"/w/tree"}\n\n9007199254740993\r\noops /w/tree\n  \n[1 ,2]'
    expected = b'{"a":"$ROOT","b":1}\n\n9007199254740993\r\noops $ROOT\n  \n[1,2]'
    assert canonical_frames(observed(one), "jsonl", TOKENS, NOISE, 1000)[1] == ("stdout", expected)
    assert hexdigest(b"1\n2\n", "jsonl") != hexdigest(b"2\n1\n", "jsonl")
    assert hexdigest(b"[1]\r\n", "jsonl") != hexdigest(b"[1]\n", "jsonl")
    assert hexdigest(b"[1]\n", "jsonl") != hexdigest(b"[1]", "jsonl")
    assert hexdigest(b'["\\u0024ROOT"]\n', "jsonl") != hexdigest(b'["/w/tree"]\n', "jsonl")


def test_a_symlink_is_one_path() -> None:
    def link(target: bytes) -> Observation:
        return observed(files=(file(b"l", target, kind="symlink"),))

    assert hexdigest(link(b"/w/tree/x")) == hexdigest(link(b"/v/x"), "auto", Tokens(((b"/v", "ROOT"),)))
    assert hexdigest(link(b"pid 1")) != hexdigest(link(b"pid 2"))
    assert hexdigest(link(b"[1]")) != hexdigest(link(b"[ 1]"))
    assert digested(link(b"pid 1")).emptied is False


# Noise


def test_noise_is_dropped_counted_and_named() -> None:
    found = digested(observed(b"a\ntook 5 ms\nb\n", b"x\ntook 6 ms\npid 7\n"))
    assert found.digest == hexdigest(observed(b"a\nb\n", b"x\n"))
    assert (found.noise_lines, found.noise_hits, found.emptied) == (3, frozenset({0, 1}), False)
    assert found.changed_more_than_roots is True
    assert digested(b"took 5 ms\na").noise_hits == {0}  # keploy/keploy#2193: rule 1 is unused
    assert digested(b"a\nnothing took 5 ms\n").noise_lines == 0


def test_noise_sees_tokens_and_frames() -> None:
    noise = parse_noise(rb"^\$ROOT/log: " + b"\n" + rb"^\$FRAMES$")
    frames = b'Traceback (most recent call last):\n  File "a", line 1, in f\nE\n'
    found = digested(b"/w/tree/log: 1\n" + frames, noise=noise)
    assert found.digest == digested(b"Traceback (most recent call last):\nE\n").digest
    assert found.noise_hits == {0, 1}


def test_noise_sees_a_line_without_its_lf() -> None:
    noise = parse_noise(rb"5 ms$" + b"\n" + rb"6 ms\r$")
    found = digested(b"x\n5 ms\n5 ms\r\n6 ms\r\n6 ms\n5 ms", noise=noise)
    assert found.digest == hexdigest(b"x\n5 ms\r\n6 ms\n")
    assert digested(b"x\n5 ms\n5 ms \n", noise=parse_noise(rb"ms\s")).digest == hexdigest(b"x\n5 ms\n")


@pytest.mark.parametrize(
    ("observation", "emptied"),
    [
        (observed(b"took 1 ms\n"), True),
        (observed(b"a", b"took 1 ms\npid 2"), True),
        (observed(b"a", b"b", (file(b"f", b"pid 1\n"),)), True),
        (observed(b"took 1 ms\n\n"), False),
        (observed(b"", b""), False),
    ],
)
def test_emptied(observation: Observation, emptied: bool) -> None:
    assert digested(observation).emptied is emptied
    assert digested(observation, "bytes").emptied is False


def test_a_dropped_last_line_is_not_a_dropped_line_in_between() -> None:
    assert hexdigest(b"a\ntook 1 ms\n") != hexdigest(b"a")
    assert hexdigest(b"a\ntook 1 ms") == hexdigest(b"a\n")


def test_json_has_no_noise_lines() -> None:
    noise = parse_noise(rb'"time"')
    assert digested(b'{"time":1}', noise=noise).noise_lines == 0
    assert digested(b'{"time":1}\n"time" 1', "jsonl", noise).noise_lines == 1
    assert digested(b'{"time":1}', "text", noise).noise_lines == 1


def test_noise_passes_over_lines_that_are_too_long() -> None:
    def line(length: int) -> bytes:
        return b"pid " + b"7" * (length - 5) + b"\n"

    assert digested(b"a\n" + line(NOISE_LINE_LIMIT)).noise_lines == 1
    assert digested(b"a\n" + line(NOISE_LINE_LIMIT + 1)).noise_lines == 0
    assert digested(b"a\n" + line(2 * BUFFER)).noise_lines == 0


noisy = st.lists(
    st.sampled_from([b"a\n", b"took 1 ms\n", b"pid\n", b"pid 3\r\n", b"\n", b"/w/tree\n"]), max_size=12
)


@settings(max_examples=300, deadline=None)
@given(noisy, st.sampled_from(["auto", "text", "jsonl"]))
def test_the_digest_is_that_of_the_text_without_noise(lines: list[bytes], format: Format) -> None:
    kept = [line for line in lines if not line.startswith((b"took 1 ", b"pid "))]
    found = digested(b"".join(lines), format)
    assert found.digest == hexdigest(b"".join(kept), format)
    assert found.noise_lines == len(lines) - len(kept)
    assert found.emptied is (bool(lines) and not kept)


# Notes


@pytest.mark.parametrize(
    ("stdout", "format", "changed"),
    [
        (b"/w/tree $ROOT\n", "auto", False),
        (b'{"a":"/w/tree/x"}', "auto", False),
        (b'{"a": 1}', "auto", True),
        (b'{"a":1}\n', "auto", True),
        (b'{"a":1}\n', "jsonl", False),
        (b'{"a": 1}\n', "jsonl", True),
        (b'{"a": 1}', "text", False),
        (b"took 1 ms\na", "text", True),
        (b'Traceback (most recent call last):\n  File "a", line 1, in f\nE', "text", True),
    ],
)
def test_changed_more_than_roots(stdout: bytes, format: Format, changed: bool) -> None:
    assert digested(stdout, format).changed_more_than_roots is changed
    assert digested(observed(b"", stdout), format).changed_more_than_roots is changed


# Any size


FRAGMENTS = b"""took 1 ms
Traceback (most recent call last):
  File "a", line 1, in f
    x
Error: x
    at f (a:1:2)
"""


@settings(max_examples=300, deadline=None)
@given(st.data(), st.sampled_from(FORMATS))
def test_the_size_of_chunks_has_no_effect(data: st.DataObject, format: Format) -> None:
    words = [
        b"/w/tree",
        b"/x",
        b"$",
        b"ROOT",
        b" ",
        b"\n",
        b"\r\n",
        b"\xff",
        b'"',
        b'{"b":1, "a":2}',
        b"[1]\n",
    ]
    lines = FRAGMENTS.splitlines(keepends=True)
    fragment = st.sampled_from([*words, *lines])
    text = b"".join(data.draw(st.lists(fragment, max_size=20)))
    found = [digested(observed(Chunked(text, size), Chunked(text, size)), format) for size in (1, 7, 1 << 16)]
    assert found[0] == found[1] == found[2] == digested(observed(text, text), format)


@pytest.mark.parametrize("format", FORMATS)
def test_frames_over_the_buffer_are_read_in_pieces_of_any_size(format: Format) -> None:
    lines = b"took 7 ms\nsee /w/tree/x $ROOT\n" + b'{"b": 1}\nError: x\n    at f (a:1:2)\n'
    text = b"z" * 65_000 + b"\n" + lines * 3000 + b"/w/tree" * 200_000 + b"x /w/tree\n" + b"$ROOT " * 200_000
    found = [digested(observed(Chunked(text, size)), format) for size in (9973, 1 << 16, 1 << 20)]
    assert found[0] == found[1] == found[2]
    assert found[0].noise_lines == (0 if format == "bytes" else 3000)
    # The same text in two halves that are small enough to be held gives the same payload.
    head = lines * 3000
    small, large = (
        b"".join(canonical_bytes(observed(data), format, TOKENS, NOISE))
        for data in (head, head + (b"z" * 5000 + b"\n") * 220)
    )
    payload = small.split(b"\n", 2)[2].removesuffix(f"\n\nstderr {_kind(format)} 0\n\n".encode())
    assert len(head) < BUFFER
    assert large.split(b"\n", 2)[2].startswith(payload)


def _kind(format: Format) -> str:
    return format if format in ("jsonl", "bytes") else "text"


def test_nothing_is_truncated() -> None:
    for size in (BUFFER - 1, BUFFER, BUFFER + 1, 3 * BUFFER):
        for format in FORMATS:
            assert hexdigest(b"x" * size + b"1", format) != hexdigest(b"x" * size + b"2", format)


@pytest.mark.parametrize(
    "piece",
    [
        b"in /w/tree/x\n" + b"a line of ordinary text\n" * 40_000,
        b"no line ends " * 80_000,
        b"\n" * (1 << 20),
    ],
)
def test_64_mib_are_digested_in_8_mib(piece: bytes) -> None:
    source = Repeated(piece, (64 << 20) // len(piece) + 1)
    assert source.size > 64 << 20
    tracemalloc.start()
    try:
        found = digested(observed(source), noise=NoiseRules())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(found.digest) == 64
    assert peak < 8 << 20


def test_noise_and_frames_in_64_mib_are_dropped_in_8_mib() -> None:
    frames = b"Error: x\n" + b"    at f (a:1:2)\n" * 3
    piece = (b"pid 1\n" + frames + b"x" * 9000 + b"\n") * 100
    source = Repeated(piece, (64 << 20) // len(piece) + 1)
    tracemalloc.start()
    try:
        found = digested(observed(source))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.noise_lines == 100 * source.times
    assert peak < 8 << 20


@dataclass
class Growing:
    """A file that somebody still writes to."""

    reads: int = 0
    size: int = 2 * BUFFER

    def chunks(self) -> Iterator[bytes]:
        self.reads += 1
        return iter([b"x" * BUFFER, b"x" * (BUFFER + self.reads)])


@pytest.mark.parametrize("format", FORMATS)
def test_an_output_that_changes_meanwhile_is_an_error(format: Format) -> None:
    with pytest.raises(GateError, match="changed while it was read"):
        digested(observed(Growing()), format)


# For people


def test_frames_for_a_diff() -> None:
    files = (file(b"caf\xc3\xa9 \xff\n", b"x"),)
    found = canonical_frames(
        observed(b'{"b": [1,2], "a":"/w/tree"}', b"abcdef", files, 3), "auto", TOKENS, NOISE, 1000
    )
    assert found == [
        ("exit", b"3"),
        ("stdout", b'{\n"a":"$ROOT",\n"b":[\n1,\n2]}'),
        ("stderr", b"abcdef"),
        ('file created file "caf\\u00e9 \\udcff\\n"', b"x"),
    ]


def test_frames_of_a_program_that_was_stopped() -> None:
    """ocaml/dune#15352: it prints $PWD, then hangs."""
    observation = Observation("timeout", -9, InMemory(b"/w/tree\n"), InMemory(b""))
    found = canonical_frames(observation, "auto", TOKENS, NOISE, 100)
    assert found == [("exit", b"timeout"), ("stdout", b"$ROOT\n"), ("stderr", b"")]


@dataclass
class Counted:
    """64 MiB that remember how much of them was read."""

    read: int = 0
    size: int = 64 << 20

    def chunks(self) -> Iterator[bytes]:
        for _ in range(64):
            self.read += 1 << 20
            yield b"x" * (1 << 20)


def test_frames_for_a_diff_are_bounded() -> None:
    huge = Counted()
    found = canonical_frames(observed(huge, b'{"a":1}'), "bytes", TOKENS, NOISE, 5)
    assert found == [("exit", b"0"), ("stdout", b"xxxxx"), ("stderr", b'{"a":')]
    assert huge.read == 1 << 20
    found = canonical_frames(observed(b"x\n" * BUFFER, b'{"a":1}'), "auto", TOKENS, NOISE, 5)
    assert found == [("exit", b"0"), ("stdout", b"x\nx\nx"), ("stderr", b'{\n"a"')]
