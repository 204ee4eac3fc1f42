"""oracle/noise.txt: what is a rule, what is refused and where the error points."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_gate.core.errors import GateError
from oracle_gate.core.noise import parse_noise


def test_rules_comments_and_blank_lines() -> None:
    rules = parse_noise(b"# times\n\ntook [0-9]+ ms\n   \n^Date: ")
    assert [rule.line for rule in rules.rules] == [3, 5]
    assert rules.hits(b"it took 12 ms") == [0]
    assert rules.hits(b"Date: took 3 ms") == [0, 1]
    assert rules.hits(b"on Date: x") == []
    assert parse_noise(b"").rules == ()


def test_crlf_checkout_gives_the_same_rules() -> None:
    """gkampitakis/go-snaps#63"""
    text = b"# c\ntook \\d+ ms$\n\n^Date: \n"
    unix, windows = parse_noise(text), parse_noise(text.replace(b"\n", b"\r\n"))
    assert unix == windows
    assert windows.hits(b"took 5 ms") == [0]


def test_only_lf_ends_a_rule() -> None:
    assert [rule.pattern.pattern for rule in parse_noise(b"a\x0cb\rc\xe2\x80\xa8d\n").rules] == [
        b"a\x0cb\rc\xe2\x80\xa8d"
    ]


CATCH_ALL = (
    rb".* . ^ $ |x x| x* \S \w [ ] \s [^x] (?!x) ^.{1,80}$ .{3} .{20} ^.$ \r$ ^\s (?s). ^\S+$ () \B \b"
)
CATCH_ALL += rb" ^$ \A\Z [\x00-\xff] [a-z0-9] ^\s*\S"


@pytest.mark.parametrize("rule", [b"[ ]", *CATCH_ALL.replace(b"[ ]", b"").split()])
def test_catch_all_is_refused_at_its_line(rule: bytes) -> None:
    with pytest.raises(GateError, match=r"^oracle/noise\.txt:3: the rule drops lines of any content; "):
        parse_noise(b"# c\ntook \\d+ ms\n" + rule + b"\n")


@pytest.mark.parametrize(
    "rule",
    [rb"took [0-9.]+ s", rb"^Date: .*$", b" #a", *rb"^\d+$ ^-+$ 0x[0-9a-f]+ pid\s\d+ x \xff ^\t".split()],
)
def test_particular_rules_are_taken(rule: bytes) -> None:
    assert len(parse_noise(rule).rules) == 1


@pytest.mark.parametrize(
    "rule", [b"(", b"[a", b"*x", b"a{2,1}", b"(?P<n>", b"(?<=a*)b", b"x{99999999999999999999}", b"[[a]"]
)
def test_malformed_regex_names_its_line(rule: bytes) -> None:
    with pytest.raises(GateError, match=r"^n\.txt:2: not a regular expression: .*; correct the rule$"):
        parse_noise(b"ok\n" + rule + b"\n", "n.txt")


@pytest.mark.parametrize("data", [b"ok\n\xff\n", b"ok\n# caf\xe9\n"])
def test_malformed_utf8_names_its_line(data: bytes) -> None:
    with pytest.raises(GateError, match=r"^oracle/noise\.txt:2: not UTF-8; "):
        parse_noise(data)


def test_byte_order_mark_is_refused() -> None:
    with pytest.raises(GateError, match=r"noise\.txt:1: starts with a byte order mark"):
        parse_noise(b"\xef\xbb\xbfDate: \n")


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="abc.*+?|^$()[]\\ #\r\n0", max_size=24))
def test_any_file_gives_rules_or_one_line_and_no_rule_drops_the_empty_line(text: str) -> None:
    try:
        rules = parse_noise(text.encode())
    except GateError as error:
        assert str(error).startswith("oracle/noise.txt:")
        assert "\n" not in str(error)
    else:
        assert rules.hits(b"") == []
        written = [line.removesuffix("\r") for line in text.split("\n")]
        assert [rule.pattern.pattern.decode() for rule in rules.rules] == [
            line for line in written if line.encode().strip() and not line.startswith("#")
        ]
