"""Path tokens and stack frames: what is replaced, what only looks like it, in pieces of any size."""

from __future__ import annotations

import itertools
import re
import traceback
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_gate.core.canonical_node import collapse_places
from oracle_gate.core.canonical_text import LINE_LIMIT, collapse_frames, split_lines
from oracle_gate.core.canonical_tokens import Tokens, TokenStream

TREE = Tokens(((b"/tmp", "TMP"), (b"/tmp/w", "ROOT")))


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


def streamed(tokens: Tokens, chunks: Iterator[bytes]) -> bytes:
    stream = TokenStream(tokens)
    return b"".join([stream.feed(chunk) for chunk in chunks] + [stream.feed(b"", last=True)])


def collapsed(data: bytes, size: int = 1 << 16) -> bytes:
    return b"".join(piece.data for piece in collapse_frames(collapse_places(split_lines(pieces(data, size)))))


# Tokens


def test_longest_prefix_first() -> None:
    """astral-sh/uv#2678: the tree lies below the temporary folder, whatever order the prefixes come in."""
    reverse = Tokens(tuple(reversed(TREE.prefixes)))
    assert TREE.replace(b"/tmp/w/x /tmp/y") == reverse.replace(b"/tmp/w/x /tmp/y") == b"$ROOT/x $TMP/y"
    assert TREE.replace(b"/tmp/wx/y /tmp/w.txt") == b"$TMP/wx/y $TMP/w.txt"


def test_whole_path_components_only() -> None:
    """biomejs/biome#10832"""
    tokens = Tokens(((b"/build", "TMP"),))
    for kept in (
        b"!**/build /builder",
        b"/src/build",
        b"./build",
        b"../build",
        b"~/build",
        b"C:\\/build",
        b"a/build",
    ):
        assert tokens.replace(kept) == kept
    for kept in (
        b"/build.old",
        b"/build-2",
        b"/build_",
        b"/build~",
        b"/build\xc3\xa9",
        b"\xc3\xa9/build",
        b"$/build",
    ):
        assert tokens.replace(kept) == kept
    assert TREE.replace(b"/tmpl") != TREE.replace(b"/tmpm")


@pytest.mark.parametrize(
    "before", ["", " ", "\t", "\n", "\0", '"', "'", "`", ":", "=", "(", "[", "{", "<", ">", ",", ";"]
)
@pytest.mark.parametrize(
    "after", ["", "/", "/x", " ", "\n", "\r\n", "\0", '"', "'", ":", ")", "]", ">", ",", ".", ". ", "\\n"]
)
def test_boundaries(before: str, after: str) -> None:
    assert TREE.replace(f"{before}/tmp/w{after}".encode()) == f"{before}$ROOT{after}".encode()


@pytest.mark.parametrize(
    "url", [b"file://%b/x.mjs", b"sqlite:///%b/db", b"-I=%b", b"@%b", b"'%b'", b"x:%b:y", b"%b//%b"]
)
def test_paths_inside_other_syntax(url: bytes) -> None:
    paths = (b"/tmp/w",) * url.count(b"%b")
    kept = 1 if url == b"%b//%b" else len(paths)  # `//tmp/w` is the rest of the first path
    assert TREE.replace(url % paths).count(b"$ROOT") == kept


def test_a_literal_token_gets_one_more_dollar() -> None:
    text = b"$ROOT $$ROOT/x $TMP $FRAMES $ROOTS $HOME $ $$ /tmp/w $/tmp/w"
    assert TREE.replace(text) == b"$$ROOT $$$ROOT/x $$TMP $$FRAMES $$ROOTS $HOME $ $$ $ROOT $/tmp/w"
    assert Tokens().replace(b"$ROOT /tmp") == b"$$ROOT /tmp"


def test_a_trailing_slash_of_a_prefix_has_no_meaning() -> None:
    assert Tokens(((b"/tmp/w/", "ROOT"),)).replace(b"/tmp/w /tmp/w/") == b"$ROOT $ROOT/"


def test_a_prefix_is_no_regex() -> None:
    assert Tokens(((b"/t.p/(w)+", "ROOT"),)).replace(b"/t.p/(w)+/x /tmp/w/x") == b"$ROOT/x /tmp/w/x"


@pytest.mark.parametrize("prefix", [b"", b"/", b"//", b"tmp", b"/tmp\n/x"])
def test_unusable_prefixes_are_refused(prefix: bytes) -> None:
    with pytest.raises(ValueError, match="not a usable path prefix"):
        Tokens(((prefix, "TMP"),))


fragments = st.sampled_from(
    [
        b"$",
        b"ROOT",
        b"TMP",
        b"FRAMES",
        b"/tmp",
        b"/w",
        b"/tmp/w",
        b"/",
        b":",
        b"://",
        b" ",
        b".",
        b"a",
        b"\n",
        b"\xc3",
        b"*",
    ]
)
texts = st.lists(fragments | st.binary(max_size=3), max_size=24).map(b"".join)
ONE_OF_EACH = Tokens(((b"/tmp/w", "ROOT"), (b"/tmp", "TMP")))


@settings(max_examples=600, deadline=None)
@given(texts)
def test_escaping_is_injective(text: bytes) -> None:
    """A decoder that knows nothing but the rule finds the input again, so no two inputs share an output."""
    paths = {b"ROOT": b"/tmp/w", b"TMP": b"/tmp"}

    def decode(match: re.Match[bytes]) -> bytes:
        dollars, word = match[1], match[2]
        return paths[word] if len(dollars) == 1 else dollars[1:] + word

    assert re.sub(rb"(\$+)(ROOT|TMP|FRAMES)", decode, ONE_OF_EACH.replace(text)) == text


@settings(max_examples=600, deadline=None)
@given(texts, st.lists(st.integers(0, 200), max_size=12))
def test_the_size_of_chunks_has_no_effect_on_tokens(text: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    chunks = (text[start:end] for start, end in itertools.pairwise(edges))
    assert streamed(TREE, chunks) == TREE.replace(text)
    for tokens in (TREE, Tokens(), Tokens(((b"/w", "ROOT"),))):
        for size in (1, 7):
            assert streamed(tokens, pieces(text, size)) == tokens.replace(text)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from([" {} ", "'{}/x'", "\n{}:", "(", "a", "$ROOT", "({})", "/", "/src", "file://{}/"]),
        max_size=16,
    )
)
def test_two_trees_give_the_same_text(parts: list[str]) -> None:
    text = "".join(parts)
    short, long = (
        Tokens(((root.encode(), "ROOT"),)).replace(text.replace("{}", root).encode())
        for root in ("/w", "/home/a user/deep/tree.d")
    )
    assert short == long


# Lines


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"\r", b"\x0b\x0c\x85", b"\xff"]), max_size=40),
    st.integers(1, 9),
)
def test_lines_lose_nothing_and_end_in_lf_only(parts: list[bytes], size: int) -> None:
    text = b"".join(parts)
    found = list(split_lines(pieces(text, size)))
    assert b"".join(piece.data for piece in found) == text
    assert {piece.kind for piece in found} <= {"lines"}
    assert all(piece.data.endswith(b"\n") for piece in found[:-1])


@pytest.mark.parametrize("size", [7919, 1 << 16, 1 << 20])
@pytest.mark.parametrize(
    ("length", "long"), [(LINE_LIMIT - 1, False), (LINE_LIMIT, True), (3 * LINE_LIMIT, True)]
)
def test_which_line_is_too_long_does_not_depend_on_chunks(size: int, length: int, long: bool) -> None:
    text = b"first\n" + b"x" * length + b"\nlast"
    found = list(split_lines(pieces(text, size)))
    assert b"".join(piece.data for piece in found) == text
    assert ([piece.kind for piece in found].count("end") == 1) is long
    assert max(len(piece.data) for piece in found) <= LINE_LIMIT + (1 << 16)


# Python frames


def test_a_real_traceback_keeps_header_and_message() -> None:
    def fail() -> None:
        raise ValueError("first\n  second\n    at third (x:1:2)")

    try:
        fail()
    except ValueError:
        text = traceback.format_exc().encode()
    assert collapsed(text) == (
        b"Traceback (most recent call last):\n$FRAMES\nValueError: first\n  second\n    at third (x:1:2)\n"
    )


def test_recursion_and_chained_exceptions() -> None:
    def recurse() -> None:
        recurse()

    try:
        try:
            recurse()
        except RecursionError as error:
            raise KeyError("k") from error
    except KeyError:
        text = traceback.format_exc().encode()
    assert b"more times]" in text
    assert collapsed(text) == (
        b"Traceback (most recent call last):\n$FRAMES\nRecursionError: maximum recursion depth exceeded\n"
        b"\nThe above exception was the direct cause of the following exception:\n\n"
        b"Traceback (most recent call last):\n$FRAMES\nKeyError: 'k'\n"
    )


def test_exception_groups() -> None:
    def fail(error: Exception) -> Exception:
        try:
            raise error
        except Exception as caught:
            return caught

    try:
        raise ExceptionGroup("g", [fail(ValueError(1)), fail(ExceptionGroup("h", [fail(KeyError("k"))]))])
    except ExceptionGroup:
        text = traceback.format_exc().encode()
    assert collapsed(text).splitlines() == [
        b"  + Exception Group Traceback (most recent call last):",
        b"$FRAMES",
        b"  | ExceptionGroup: g (2 sub-exceptions)",
        b"  +-+---------------- 1 ----------------",
        b"    | Traceback (most recent call last):",
        b"$FRAMES",
        b"    | ValueError: 1",
        b"    +---------------- 2 ----------------",
        b"    | Exception Group Traceback (most recent call last):",
        b"$FRAMES",
        b"    | ExceptionGroup: h (1 sub-exception)",
        b"    +-+---------------- 1 ----------------",
        b"      | Traceback (most recent call last):",
        b"$FRAMES",
        b"      | KeyError: 'k'",
        b"      +------------------------------------",
    ]


def test_the_place_of_a_syntax_error_stays() -> None:
    try:
        compile("x = 1\nfoo bar\n", "<input>", "exec")
    except SyntaxError:
        text = traceback.format_exc().encode()
    shown = collapsed(text)
    assert shown.startswith(
        b'Traceback (most recent call last):\n$FRAMES\n  File "<input>", line 2\n    foo bar\n'
    )
    assert shown.splitlines()[4:] == text.splitlines()[-2:]
    assert b"SyntaxError: " in shown


def test_moved_code_gives_the_same_text_and_another_message_does_not() -> None:
    head = b"x\nTraceback (most recent call last):\n"
    one = b'  File "/a/b.py", line 3, in <module>\n    f()\n'
    two = b'  File "/a/c.py", line 33, in g\n    f(1,\n    ~~^^\n      2)\n  File "/a", line 1, in h\n'
    end = b"E: m\n"
    assert collapsed(head + one + end) == collapsed(head + two + end) == head + b"$FRAMES\n" + end
    assert collapsed(head + one + end) != collapsed(head + one + b"E: n\n")
    assert collapsed(head + end) == head + end


@pytest.mark.parametrize(
    "text",
    [
        b'  File "/a/b.py", line 3, in f\n    x\n',
        b'Traceback (most recent call last): no\n  File "/a/b.py", line 3, in f\n',
        b'Traceback (most recent call last):\nE: m\n  File "/a/b.py", line 3, in f\n',
        b'Traceback (most recent call last):\n    x\n  File "b", line 3\n    y\n',
        b'Traceback (most recent call last):\nplain\n\n    indented\n',
        b'| Traceback (most recent call last):\n  File "/a/b.py", line 3, in f\n',
        b'  [Previous line repeated 3 more times]\n',
    ],
)  # fmt: skip
def test_what_only_resembles_python_frames_stays(text: bytes) -> None:
    assert collapsed(text) == text


def test_a_frame_ends_with_its_traceback() -> None:
    frame = b'Traceback (most recent call last):\n  File "b", line 3, in f\nE\n'
    header = b"Traceback (most recent call last):\n    indented\n"
    assert collapsed(frame + header) == collapsed(frame) + header


@pytest.mark.parametrize("opening", [b"Traceback (most recent call last):\n", b"Error: x\n"])
@pytest.mark.parametrize("frame", [b'  File "b", line 3, in f\n', b"    at f (a:1:2)\n"])
def test_a_line_that_is_too_long_ends_a_traceback(opening: bytes, frame: bytes) -> None:
    text = opening + b"x" * LINE_LIMIT + b"\n" + frame
    assert collapsed(text) == text


def test_endings_of_the_last_frame_stay() -> None:
    text = b'Traceback (most recent call last):\r\n  File "b", line 3, in f\r\n    x\r\nE\r\n'
    assert collapsed(text) == b"Traceback (most recent call last):\r\n$FRAMES\r\nE\r\n"
    cut = b'Traceback (most recent call last):\n  File "b", line 3, in f'
    assert collapsed(cut) == b"Traceback (most recent call last):\n$FRAMES"


# Node frames


def test_node_frames_of_all_kinds() -> None:
    text = b"""/w/a.js:2
  throw new TypeError("boom");
  ^

TypeError: boom
    at f (/w/a.js:2:35)
    at /w/a.js:10:65
    at Array.map (<anonymous>)
    at Array.map (native)
    at new Foo (file:///w/b.mjs:2:39)
    at Function.run [as runMain] (node:internal/modules/run_main:164:12)
    at eval (eval at <anonymous> (/w/c.js:1:1), <anonymous>:1:1)
    at async Promise.all (index 0)
    at async file:///w/b.mjs:3:1
    at <anonymous>
    ... 4 lines matching cause stack trace ...
    at node:internal/main/run_main_module:28:49 {
  code: 'E',
  [cause]: RangeError [ERR_X]: inner
      at [eval]:1:7
}

Node.js v20.20.2
"""
    assert (
        collapsed(text)
        == b"""$FRAMES

TypeError: boom
$FRAMES {
  code: 'E',
  [cause]: RangeError [ERR_X]: inner
$FRAMES
}

Node.js v20.20.2
"""
    )


def test_lists_of_node_errors() -> None:
    text = b"  [\n    Error: a\n        at f (/w/a.js:8:35),\n    Error: b\n        at /w/a.js:8:51\n  ]\n"
    assert collapsed(text) == b"  [\n    Error: a\n$FRAMES,\n    Error: b\n$FRAMES\n  ]\n"


def test_properties_end_the_frames_of_a_node_error() -> None:
    assert collapsed(b"Error: x\n    at f (a:1:2) {\n    at g (b:1:2)\n") == (
        b"Error: x\n$FRAMES {\n    at g (b:1:2)\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        b"    at f (/w/a.js:2:35)\n",
        b"We meet\n    at noon (room:1:2)\n",
        b"Error: boom\nplain\n    at f (/w/a.js:2:35)\n",
        b"Error: boom\n    at noon\n",
        b"Error: boom\n    at src/x.js:3:5\n",
        b"Error: boom\n   at f (/w/a.js:2:35)\n",
        b"Error: boom\n    at f (/w/a.js:2)\n",
        b"Error: a\n    at once    at b\nplain\n    at f (/w/a.js:1:2)\n",
        b"no Errors here\n    at f (/w/a.js:2:35)\n",
    ],
)
def test_what_only_resembles_node_frames_stays(text: bytes) -> None:
    assert collapsed(text) == text


REPORT = (b"/w/a.js:2\n", b"  source\n", b"    ^^\n", b"\n", b"Error: y\n", b"    at f (a:1:2)\n")


@pytest.mark.parametrize("missing", range(len(REPORT)))
def test_a_place_with_its_source_is_a_result_unless_an_error_with_frames_follows(missing: int) -> None:
    """A linter prints such places too, and then their numbers are what counts."""
    parts = [line for number, line in enumerate(REPORT) if number != missing]
    assert collapsed(b"".join(parts)).splitlines()[:3] == b"".join(parts).splitlines()[:3]
    assert collapsed(b"".join(REPORT)) == b"$FRAMES\n\nError: y\n$FRAMES\n"


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from([*REPORT, REPORT[0] * 2, b"".join(REPORT[:3]), b"cut"]), max_size=12),
       st.integers(1, 80))  # fmt: skip
def test_places_of_node_errors_are_found_wherever_they_stand(parts: list[bytes], size: int) -> None:
    text = b"".join(parts)
    report = re.compile(rb"^/.*:\d+\n.*\n *\^+\n(?=\n.*Error: y\n    at f \(a:1:2\)$)", re.MULTILINE)
    placeless = b"".join(p.data for p in collapse_places(split_lines(pieces(text, size))))
    assert placeless == report.sub(b"$FRAMES\n", text)


LINES = b"""Traceback (most recent call last):
  + Exception Group Traceback (most recent call last):
  File "a", line 1, in f
  |   File "a", line 1, in f
  File "a", line 1
    source
  [Previous line repeated 2 more times]
ValueError: x
Error: y\r
    at f (a:1:2)
    at f (a:1:2) {
    at home

text
text    at Traceback (most
"""
lines = st.sampled_from([*LINES.splitlines(keepends=True), b"cut"])


@settings(max_examples=400, deadline=None)
@given(st.lists(lines, max_size=14), st.integers(1, 80))
def test_the_size_of_chunks_has_no_effect_on_frames(parts: list[bytes], size: int) -> None:
    text = b"".join(parts)
    assert collapsed(text, size) == collapsed(text) == collapsed(text, 1)


@settings(max_examples=300, deadline=None)
@given(st.lists(lines, max_size=14))
def test_nothing_but_frames_is_lost(parts: list[bytes]) -> None:
    frame = re.compile(rb"    |(  \|)? +(File .*, in |\[Prev)")
    kept = [line for line in b"".join(parts).splitlines() if not frame.match(line)]
    found = [line for line in collapsed(b"".join(parts)).splitlines() if not frame.match(line)]
    assert [line for line in found if not line.startswith(b"$FRAMES")] == kept
