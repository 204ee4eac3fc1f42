"""canonical-v1: an observation -> the bytes whose SHA-256 is its digest (design, section 7; article A).

The bytes are `exit N` LF, then for stdout, stderr and each changed file, by path, a frame:

    NAME KIND LENGTH LF payload LF          NAME is stdout, stderr or: file STATE FILEKIND "PATH"

KIND is what the payload was treated as (text, json, jsonl, bytes), LENGTH the payload's canonical bytes.
NAME is one line, the path a JSON string; so two different lists of frames never give the same bytes.
Nothing is truncated: a frame over BUFFER bytes is read twice, once to learn its canonical length.
CRLF, the final newline, invalid UTF-8 and colour codes are kept (mitsuhiko/insta#171, ApprovalTests.cpp#50).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO

from .canonical_json import MAX_BYTES, canonical_json, one_value_a_line
from .canonical_node import collapse_places
from .canonical_text import collapse_frames, split_lines
from .canonical_tokens import Tokens, TokenStream
from .corpus import Format
from .errors import GateError
from .noise import NoiseRules
from .observation import ByteSource, Observation

__all__ = ["VERSION", "Digested", "Tokens", "canonical_bytes", "canonical_frames", "digest"]

VERSION = "canonical-v1"
BUFFER = MAX_BYTES
#: Noise rules see no longer line, so that it cannot keep a backtracking regex busy for hours.
NOISE_LINE_LIMIT = 1 << 16


@dataclass(frozen=True)
class Digested:
    """The digest (hex) and what the canonical form did on the way.

    `noise_hits` are the indexes of the rules that matched one of the dropped `noise_lines`. `emptied`: noise
    dropped all of a non-empty frame. `not_json`: the row says json or jsonl and *stdout* is not; stderr and
    files may be anything. `changed_more_than_roots`: JSON was respelt (be it by its final newline), lines
    were dropped or stack frames collapsed: differences that the digest does not see.
    """

    digest: str
    noise_lines: int
    noise_hits: frozenset[int]
    emptied: bool
    not_json: bool
    changed_more_than_roots: bool
    has_stack_frames: bool = False


def digest(observation: Observation, format: Format, tokens: Tokens, noise: NoiseRules) -> Digested:
    """The digest of an observation under the row's `format`. Raises ValueError unless it `exited`."""
    notes = _Notes()
    sha256 = hashlib.sha256(_exit_line(observation))
    for frame in _frames(observation, _Form(format, tokens, noise), notes):
        for piece in frame.encoded():
            sha256.update(piece)
    return Digested(
        digest=sha256.hexdigest(),
        noise_lines=notes.noise_lines,
        noise_hits=frozenset(notes.noise_hits),
        emptied=notes.emptied,
        not_json="stdout" in notes.not_json,
        changed_more_than_roots=notes.respelt or notes.noise_lines > 0,
        has_stack_frames=notes.stack_frames,
    )


def canonical_bytes(
    observation: Observation, format: Format, tokens: Tokens, noise: NoiseRules
) -> Iterator[bytes]:
    """The bytes that `digest` hashes, in pieces. Raises ValueError unless the observation `exited`."""
    yield _exit_line(observation)
    for frame in _frames(observation, _Form(format, tokens, noise), _Notes()):
        yield from frame.encoded()


def canonical_frames(
    observation: Observation, format: Format, tokens: Tokens, noise: NoiseRules, limit: int
) -> list[tuple[str, bytes]]:
    """For people: how it ended, then each frame's NAME and first `limit` payload bytes, JSON broken into lines.

    Also for a program that did not exit: what it wrote until then shows no path of this run (ocaml/dune#15352).
    """
    exited = observation.status == "exited"
    shown = [("exit", str(observation.exit_code if exited else observation.status).encode())]
    for frame in _frames(observation, _Form(format, tokens, noise), _Notes()):
        head = bytearray()
        for piece in frame.payload():
            head += one_value_a_line(piece) if frame.kind == "json" else piece
            if len(head) >= limit:
                break
        shown.append((frame.name, bytes(head[:limit])))
    return shown


@dataclass(frozen=True)
class _Form:
    format: Format
    tokens: Tokens
    noise: NoiseRules


@dataclass
class _Notes:
    noise_lines: int = 0
    noise_hits: set[int] = field(default_factory=set)
    emptied: bool = False
    not_json: set[str] = field(default_factory=set)  # names of frames
    respelt: bool = False
    stack_frames: bool = False


@dataclass(frozen=True)
class _Frame:
    name: str
    kind: str
    length: int
    payload: Callable[[], Iterable[bytes]]

    def encoded(self) -> Iterator[bytes]:
        yield f"{self.name} {self.kind} {self.length}\n".encode()
        written = 0
        for piece in self.payload():
            written += len(piece)
            yield piece
        if written != self.length:
            raise GateError("an output changed while it was read", todo="run the command again")
        yield b"\n"


def _exit_line(observation: Observation) -> bytes:
    if observation.status != "exited":
        raise ValueError(f"an observation that ended as {observation.status} has no canonical form")
    return b"exit %d\n" % observation.exit_code


def _frames(observation: Observation, form: _Form, notes: _Notes) -> Iterator[_Frame]:
    yield _frame("stdout", observation.stdout, form, notes)
    yield _frame("stderr", observation.stderr, form, notes)
    for file in sorted(observation.files, key=lambda file: file.path):
        path = json.dumps(file.path.decode("utf-8", "surrogateescape"))
        # A symlink's target is one path: tokens apply, what is made for documents and logs does not.
        plain = file.kind == "symlink" and form.format != "bytes"
        file_form = _Form("text", form.tokens, NoiseRules()) if plain else form
        yield _frame(f"file {file.state} {file.kind} {path}", file.content, file_form, notes)


def _frame(name: str, source: ByteSource, form: _Form, notes: _Notes) -> _Frame:
    if form.format == "bytes":
        return _Frame(name, "bytes", source.size, source.chunks)
    kind = "jsonl" if form.format == "jsonl" else "text"
    if source.size > BUFFER:
        length = sum(map(len, _text(name, source.chunks(), form, notes)))
        frame = _Frame(name, kind, length, lambda: _text(name, source.chunks(), form, _Notes()))
    else:
        data = b"".join(source.chunks())
        if form.format in ("auto", "json"):
            document = canonical_json(data, form.tokens.replace, scalars=form.format == "json")
            if document is not None:
                notes.respelt |= document.respelt
                return _Frame(name, "json", len(document.text), lambda: (document.text,))
        payload = b"".join(_text(name, (data,), form, notes))
        frame = _Frame(name, kind, len(payload), lambda: (payload,))
    if form.format == "json":
        notes.not_json.add(name)
    notes.emptied |= source.size > 0 and frame.length == 0
    return frame


def _text(name: str, chunks: Iterable[bytes], form: _Form, notes: _Notes) -> Iterator[bytes]:
    long_lines = TokenStream(form.tokens)
    for piece in collapse_frames(collapse_places(split_lines(chunks))):
        if piece.kind == "part":
            yield long_lines.feed(piece.data)
        elif piece.kind == "end":
            yield long_lines.feed(piece.data, last=True)
            if form.format == "jsonl":
                notes.not_json.add(name)
        elif piece.kind == "frames":
            notes.respelt = notes.stack_frames = True
            yield _without_noise(piece.data, form.noise, notes)
        elif form.format == "jsonl":
            yield b"".join([_jsonl_line(name, line, form, notes) for line in BytesIO(piece.data)])
        else:
            yield _without_noise(form.tokens.replace(piece.data), form.noise, notes)


def _jsonl_line(name: str, line: bytes, form: _Form, notes: _Notes) -> bytes:
    body = line.rstrip(b"\r\n")
    if body.strip():
        document = canonical_json(body, form.tokens.replace, scalars=True)
        if document is not None:
            notes.respelt |= document.respelt
            return document.text + line[len(body) :]
        notes.not_json.add(name)
    return _without_noise(form.tokens.replace(line), form.noise, notes)


def _without_noise(lines: bytes, noise: NoiseRules, notes: _Notes) -> bytes:
    if not noise.rules:
        return lines
    kept = []
    for line in BytesIO(lines):
        hits = noise.hits(line.removesuffix(b"\n")) if len(line) <= NOISE_LINE_LIMIT else []
        if hits:
            notes.noise_lines += 1
            notes.noise_hits.update(hits)
        else:
            kept.append(line)
    return b"".join(kept)
