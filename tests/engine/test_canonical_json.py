"""JSON is equal exactly when it is meant equal: order and spelling aside, number text included."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_gate.core.canonical import Tokens, digest
from oracle_gate.core.canonical_json import MAX_BYTES, MAX_DEPTH, canonical_json, one_value_a_line
from oracle_gate.core.corpus import Format
from oracle_gate.core.noise import NoiseRules
from oracle_gate.core.observation import InMemory, Observation

TOKENS = Tokens(((b"/w/tree", "ROOT"), (b"/w/scratch", "TMP")))


def canonical(data: bytes | str, *, scalars: bool = True) -> bytes | None:
    raw = data.encode() if isinstance(data, str) else data
    found = canonical_json(raw, TOKENS.replace, scalars=scalars)
    return None if found is None else found.text


def hexdigest(data: bytes, format: Format = "auto", tokens: Tokens = TOKENS) -> str:
    return digest(
        Observation("exited", 0, InMemory(data), InMemory(b"")), format, tokens, NoiseRules()
    ).digest


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("9007199254740993", "9007199254740992"),  # evik42/serde-json-canonicalizer#13
        ("1.0", "1"),  # cyberphone/json-canonicalization#20
        ("1e5", "1E5"),
        ("-0", "0"),
        ("0.1", "0.10"),
        ("[1,1,1]", "[1,2,3]"),  # keploy/keploy#1391
        ("[1,2]", "[2,1]"),  # keploy/keploy#4349
        ('"1"', "1"),
        ("null", "false"),
        ("{}", "[]"),
        ('{"a":null}', "{}"),
        (r'"\ud800"', r'"\udc00"'),
        (r'"\ud83d\ude00"', r'"\ude00\ud83d"'),
    ],
)
def test_different_values_stay_different(one: str, other: str) -> None:
    first, second = canonical(one), canonical(other)
    assert first is not None
    assert second is not None
    assert first != second


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"b":1,"a":{"d":2,"c":3}}', ' {"a" : {"c":3, "d":2},\r\n\t"b":1}\n'),
        (r'"\u0041\/\n\u00e9"', '"A/\\u000aé"'),
        (r'"\ud83d\ude00"', '"😀"'),
    ],
)
def test_spellings_of_one_value_are_equal(one: str, other: str) -> None:
    assert canonical(one) == canonical(other) is not None


def test_number_of_5000_digits() -> None:
    """json.loads alone raises at 4,300 digits."""
    number = b"7" * 5000
    assert canonical(b"[" + number + b" ]") == b"[" + number + b"]"
    assert hexdigest(b"[" + number + b"]") != hexdigest(b"[" + number[:-1] + b"8]")


@pytest.mark.parametrize(
    "data",
    [
        b'{"a":1,"a":1}', rb'{"a":1,"\u0061":2}', b'[{"x":{"b":0,"b":0}}]', b"NaN", b"[Infinity]",
        b"[-Infinity]", b"[1]\x00",
        b'\xef\xbb\xbf{"a":1}', b'["\xff"]', b'["\xed\xa0\x80"]', b"", b" ", b"[1,]", b"[01]", b"[1] 2",
        b"{1:2}",
        b"['a']", b'["a\nb"]', b'["\x01"]', b"[1.]", b"[+1]", b'"\\x"', "[\uff11]".encode(),
        b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), b"[" * 100_000, b'{"a":' * 100_000,
        b"[" + b" " * MAX_BYTES + b"]",
    ],
)  # fmt: skip
def test_what_is_not_json_is_text_byte_by_byte(data: bytes) -> None:
    assert canonical(data) is None
    assert hexdigest(data, "json") != hexdigest(data + b" ", "json")


def test_deepest_and_longest_document() -> None:
    deep = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert canonical(deep) == deep
    assert canonical(b"[" + b" " * (MAX_BYTES - 2) + b"]") == b"[]"


@pytest.mark.parametrize("data", [b"1", b'"a"', b"null", b"true "])
def test_auto_takes_objects_and_arrays_only(data: bytes) -> None:
    assert canonical(data, scalars=False) is None
    assert canonical(data) == data.strip()
    assert hexdigest(data) != hexdigest(data + b"\n")
    assert hexdigest(data, "json") == hexdigest(data + b"\n", "json")


def test_tokens_go_into_decoded_strings() -> None:
    text = r'["/w/tree/x","a\n/w/tree","\/w\/tree","/w/treehouse","\u0024ROOT","$\u0052OOT","$ROOT"]'
    assert json.loads(canonical(text) or b"") == [
        "$ROOT/x", "a\n$ROOT", "$ROOT", "/w/treehouse", "$$ROOT", "$$ROOT", "$$ROOT"
    ]  # fmt: skip


def test_keys_are_sorted_after_tokens() -> None:
    """Else `/w/tree` and `/a` would swap places in a tree called /A."""
    document = '{{"{0}/x":1,"/a":2,"$":3}}'
    other = Tokens(((b"/A", "ROOT"),))
    first = canonical(document.format("/w/tree"))
    second = canonical_json(document.format("/A").encode(), other.replace, scalars=False)
    assert second is not None
    assert first == second.text


def test_two_prefixes_of_one_token_make_duplicate_keys() -> None:
    tokens = Tokens(((b"/a", "TMP"), (b"/b", "TMP")))
    assert canonical_json(b'{"/a/x":1,"/b/x":2}', tokens.replace, scalars=False) is None
    assert hexdigest(b'{"/a/x":1,"/b/x":2}', "auto", tokens) != hexdigest(
        b'{"/b/x":2,"/a/x":1}', "auto", tokens
    )


@pytest.mark.parametrize(
    ("data", "respelt"),
    [
        (b'{"a":[1.0,"/w/tree/x"]}', False),
        (rb'{"a":"x\n/w/tree/x"}', False),
        (b'{"$ROOT":1}', False),
        (b'{"a":1}\n', True),
        (b'{"a": 1}', True),
        (b'{"b":1,"a":2}', True),
        (rb'["\u0041"]', True),
        ('["é"]'.encode(), True),
    ],
)
def test_respelt_is_more_than_tokens(data: bytes, respelt: bool) -> None:
    found = canonical_json(data, TOKENS.replace, scalars=False)
    assert found is not None
    assert found.respelt is respelt


def test_one_value_a_line_breaks_outside_strings_only() -> None:
    assert one_value_a_line(rb'{"a,\"{":[1,2],"b":"\\"}') == b'{\n"a,\\"{":[\n1,\n2],\n"b":"\\\\"}'


# Values with their number text; an object is a list of members with different names.
numbers = st.from_regex(r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,4})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
strings = st.text(st.sampled_from('ab"\\/\n\x00é\u2028😀$\ud800') | st.characters(), max_size=6)
values = st.recursive(
    st.tuples(st.just("number"), numbers)
    | st.tuples(st.just("string"), strings)
    | st.tuples(st.just("word"), st.sampled_from(["true", "false", "null"])),
    lambda inner: (
        st.tuples(st.just("array"), st.lists(inner, max_size=4))
        | st.tuples(st.just("object"), st.dictionaries(strings, inner, max_size=4))
    ),
    max_leaves=12,
)


def spell(value: tuple[str, object], dice: random.Random) -> str:
    """One of the many ways to write a value."""

    def gap() -> str:
        return dice.choice(["", "", " ", "\n", "\t\r\n"])

    kind, content = value
    if kind == "string":
        assert isinstance(content, str)
        return '"' + "".join(_spell_character(c, dice) for c in content) + '"'
    if kind == "array":
        assert isinstance(content, list)
        return "[" + gap() + ",".join(gap() + spell(v, dice) + gap() for v in content) + "]"
    if kind == "object":
        assert isinstance(content, dict)
        members = list(content.items())
        dice.shuffle(members)
        spelt = [
            f"{gap()}{spell(('string', k), dice)}{gap()}:{gap()}{spell(v, dice)}{gap()}" for k, v in members
        ]
        return "{" + gap() + ",".join(spelt) + "}"
    assert isinstance(content, str)
    return content


def _spell_character(character: str, dice: random.Random) -> str:
    surrogate = "\ud800" <= character <= "\udfff"
    if surrogate or character in '"\\' or character < " " or dice.random() < 0.3:
        units = character.encode("utf-16-be", "surrogatepass")
        return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
    return "\\/" if character == "/" and dice.random() < 0.5 else character


def meaning(value: tuple[str, object]) -> str:
    """The same text for equal values only; written without the code under test."""
    kind, content = value
    if isinstance(content, list):
        return repr([kind, *map(meaning, content)])
    if isinstance(content, dict):
        return repr([kind, *sorted((k, meaning(v)) for k, v in content.items())])
    # A pair of surrogates, written as escapes, is one character.
    text = str(content).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return repr([kind, text])


@settings(max_examples=400, deadline=None)
@given(values, values, st.randoms(use_true_random=False))
def test_equal_exactly_when_meant_equal(
    one: tuple[str, object], other: tuple[str, object], dice: random.Random
) -> None:
    spellings = [spell(one, dice).encode() for _ in range(2)]
    found = [canonical_json(data, Tokens().replace, scalars=True) for data in spellings]
    different = canonical_json(spell(other, dice).encode(), Tokens().replace, scalars=True)
    assert found[0] is not None
    assert found[1] is not None
    assert found[0].text == found[1].text
    assert different is not None
    assert (found[0].text == different.text) == (meaning(one) == meaning(other))


@settings(max_examples=300, deadline=None)
@given(values, st.randoms(use_true_random=False))
def test_one_changed_leaf_changes_the_text(value: tuple[str, object], dice: random.Random) -> None:
    changed = ("array", [value, ("number", "1.0")])
    original = ("array", [value, ("number", "1.00")])
    assert hexdigest(spell(changed, dice).encode()) != hexdigest(spell(original, dice).encode())


@settings(max_examples=300, deadline=None)
@given(values, st.randoms(use_true_random=False))
def test_the_canonical_text_is_ascii_without_space_and_its_own_canonical_form(
    value: tuple[str, object], dice: random.Random
) -> None:
    found = canonical_json(spell(value, dice).encode(), Tokens().replace, scalars=True)
    assert found is not None
    assert found.text.isascii()
    assert canonical_json(found.text, Tokens().replace, scalars=True) == (found.text, False)


@settings(max_examples=300, deadline=None)
@given(values, st.randoms(use_true_random=False), st.data())
def test_a_repeated_key_is_never_json(
    value: tuple[str, object], dice: random.Random, data: st.DataObject
) -> None:
    name = data.draw(strings)
    member = f"{spell(('string', name), dice)}:{spell(value, dice)}"
    twice = f"[{{{member},{spell(('string', name), dice)}:0}}]"
    assert canonical_json(twice.encode(), Tokens().replace, scalars=True) is None
