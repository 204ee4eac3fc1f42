"""The strict readers: what they refuse, where they say it is, and that writing and reading are inverse."""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle_gate.core import decode as reader
from oracle_gate.core.corpus import Row, parse_rows
from oracle_gate.core.decode import decode, decode_json, encode, parse_json, to_json, utf8
from oracle_gate.core.errors import Exit, GateError
from oracle_gate.core.packet import Packet
from oracle_gate.core.pins import Provenance, parse_digests, parse_provenance
from oracle_gate.core.settings import Settings, parse_settings

_MANY = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
_SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=6)
_JSON = st.recursive(
    _SCALARS | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
_WITHOUT_FLOATS = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=6), inner, max_size=2),
    max_leaves=4,
)


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Every value that a field of this type may hold in a file."""
    origin, arguments = get_origin(hint), get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return records(hint)
    if origin is types.UnionType:
        return st.none() | values(arguments[0])
    if origin is tuple:
        return st.lists(values(arguments[0]), max_size=2).map(tuple)
    if origin is Mapping:
        return st.dictionaries(st.text(max_size=6), values(arguments[1]), max_size=2)
    if origin is Literal:
        return st.sampled_from(arguments)
    simple: dict[Any, st.SearchStrategy[Any]] = {
        str: st.text(max_size=8),
        int: st.integers(),
        bool: st.booleans(),
        float: st.floats(allow_nan=False, allow_infinity=False),
        Any: _WITHOUT_FLOATS,
    }
    return simple[hint]


def records(cls: type[Any]) -> st.SearchStrategy[Any]:
    """Every value of a dataclass that a file may hold; internal fields keep their defaults."""
    hints = get_type_hints(cls)
    fields = [field for field in dataclasses.fields(cls) if not field.metadata.get("internal")]
    return st.builds(cls, **{field.name: values(hints[field.name]) for field in fields})


def refusal(read: Callable[[], object]) -> str:
    with pytest.raises(GateError) as caught:
        read()
    return str(caught.value)


@dataclasses.dataclass(frozen=True)
class Inner:
    ratio: float = 1.0
    kind: Literal["one", "two"] = "one"


@dataclasses.dataclass(frozen=True)
class Sample:
    name: str
    count: int = 0
    flag: bool = False
    maybe: str | None = None
    names: tuple[str, ...] = ()
    by_name: Mapping[str, Inner] = dataclasses.field(default_factory=dict)
    renamed: str = dataclasses.field(default="", metadata={"key": "class"})
    line: int = dataclasses.field(default=0, metadata={"internal": True})


def sample(text: str) -> Sample:
    return decode_json(Sample, text.encode(), "sample.json")


def test_a_document_becomes_a_record() -> None:
    assert sample(
        '{"name": "x", "by_name": {"k": {"ratio": 2, "kind": "two"}}, "names": ["a"], "class": "c"}'
    ) == (Sample("x", names=("a",), by_name={"k": Inner(2.0, "two")}, renamed="c"))


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("", "1", "empty file"),
        (" \n\n", "3", "empty file"),
        ('{"name": "x"', "1", "not JSON"),
        ('{"name":\n\n}', "3", "not JSON"),
        ('{"name": "x"} x', "1", "not JSON"),
        ('{"name": NaN}', "1", "NaN"),
        ('{"name": "x", "count": -Infinity}', "1", "Infinity"),
        ('{"name": "x",\n"count": 1,\n"count": 2}', "3", "duplicate key 'count'"),
        ('{"name": "x",\n"by_name": {"a": {}, "a": {}}}', "2", "duplicate key 'a'"),
        ('{"name": "x",\n "extra": 1}', "2", "unknown key 'extra'"),
        ('{"name": "x",\n "by_name": {\n"k": {"extra": 1}}}', "3", "unknown key 'by_name.k.extra'"),
        ('{"name": "x", "line": 3}', "1", "unknown key 'line'"),
        ('{"name": "x", "renamed": ""}', "1", "unknown key 'renamed'"),
        ('{"count": 1}', "1", "name is missing"),
        ("[]", "1", "the document is not an object"),
        ('"x"', "1", "the document is not an object"),
        ('{"name": 1}', "1", "name is not a string"),
        ('{"name": null}', "1", "name is not a string"),
        ('{"name": "x",\n"count": 1.0}', "2", "count is not a whole number"),
        ('{"name": "x", "count": true}', "1", "count is not a whole number"),
        ('{"name": "x", "flag": 1}', "1", "flag is not true or false"),
        ('{"name": "x", "names": "a"}', "1", "names is not a list"),
        ('{"name": "x", "names": ["a", 2]}', "1", "names[1] is not a string"),
        ('{"name": "x", "by_name": []}', "1", "by_name is not an object"),
        ('{"name": "x", "by_name": {"k": 1}}', "1", "by_name.k is not an object"),
        (
            '{"name": "x", "by_name": {"k": {"kind": "three"}}}',
            "1",
            "by_name.k.kind is not one of 'one', 'two'",
        ),
        ('{"name": "x", "by_name": {"k": {"ratio": "1"}}}', "1", "by_name.k.ratio is not a number"),
        ('{"name": "x", "by_name": {"k": {"ratio": 1' + "0" * 400 + "}}}", "1", "by_name.k.ratio"),
        ('{"name": "x", "count": 1' + "0" * 5000 + "}", "1", "not JSON"),
        ("[" * 200_000, "1", "nested too deeply"),
    ],
)
def test_a_refusal_names_file_line_and_fault(text: str, where: str, what: str) -> None:
    said = refusal(lambda: sample(text))
    assert said.startswith(f"sample.json:{where}: ")
    assert what in said
    assert "\n" not in said


def test_bytes_that_are_no_text() -> None:
    assert refusal(lambda: utf8(b"a\nb\n\xff", "f")).startswith("f:3: not UTF-8")
    assert refusal(lambda: utf8(b"\xed\xa0\x80", "f")).startswith("f:1: not UTF-8")
    assert refusal(lambda: utf8(b"\xef\xbb\xbf{}", "f")).startswith("f:1: starts with a byte order mark")
    assert utf8("é\n".encode(), "f") == "é\n"


def test_a_huge_file_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "LARGEST_FILE", 10)
    assert refusal(lambda: parse_json(b'"12345678 "', "f")).startswith("f: larger than 10 bytes")
    assert parse_json(b'"1234567"', "f") == "1234567"


def test_a_stated_line_replaces_the_counted_one() -> None:
    said = refusal(lambda: decode_json(Sample, b'{"name": 1}', "rows", line=7))
    assert said.startswith("rows:7: ")


def test_errors_are_one_line_and_usage_unless_said_otherwise() -> None:
    error = GateError("a\nb", where="f:1", todo="do\r\n c")
    assert str(error) == "f:1: a b; do c"
    assert error.exit_code is Exit.USAGE
    assert GateError("x", exit_code=Exit.HOLD).exit_code == 4


@_MANY
@given(records(Packet))
def test_a_packet_survives_writing_and_reading(packet: Packet) -> None:
    data = to_json(packet)
    assert decode_json(Packet, data, "packet") == decode(Packet, encode(packet), "packet") == packet
    assert to_json(decode_json(Packet, data, "packet")) == data
    assert data.isascii()


@_MANY
@given(records(Settings))
def test_settings_survive_writing_and_reading(value: Settings) -> None:
    assert decode(Settings, encode(value), "settings") == value


@_MANY
@given(records(Row) | records(Provenance))
def test_rows_and_provenance_survive_writing_and_reading(value: Row | Provenance) -> None:
    assert decode_json(type(value), to_json(value), "file") == value


def _near_misses(cls: type[Any]) -> st.SearchStrategy[Any]:
    """Documents of the class with one value replaced, or a key added."""

    def spoil(document: dict[str, Any], key: str, other: Any) -> dict[str, Any]:
        return {**document, key: other}

    names = [field.metadata.get("key", field.name) for field in dataclasses.fields(cls)]
    return st.builds(spoil, records(cls).map(encode), st.sampled_from([*names, "extra"]), _JSON)


_READERS: list[Callable[[bytes], object]] = [
    *(partial(decode_json, cls, where="f") for cls in (Packet, Settings, Row, Provenance)),
    parse_digests,
    parse_provenance,
    parse_settings,
    lambda data: list(parse_rows(data)),
]


def _read_or_refused(data: bytes) -> None:
    for read in _READERS:
        try:
            read(data)
        except GateError as error:
            assert str(error).startswith(("f:", "f ", "corpus/inputs.jsonl:", "oracle/"))
            assert "\n" not in str(error)


@_MANY
@given(st.one_of(_JSON, *(_near_misses(cls) for cls in (Packet, Settings, Row, Provenance))), st.data())
def test_any_json_is_read_or_refused(document: Any, data: st.DataObject) -> None:
    text = json.dumps(document).encode()
    _read_or_refused(text)
    _read_or_refused(text[: data.draw(st.integers(0, len(text)))])


@_MANY
@given(st.binary(max_size=40) | st.text(max_size=40).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    _read_or_refused(data)
