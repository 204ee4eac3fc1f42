"""Reports: whole documents that show what matters, and that no text of a patch can break out of."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
import xmlschema
from oracle_gate.core.decode import to_json
from oracle_gate.core.packet import Finding, Packet, Reason, SandboxFacts
from oracle_gate.core.policy import RULES
from oracle_gate.render import html, junit, markdown, terminal
from support.gate import Gate
from support.reported import HOSTILE, blocked, packet, row

VOID = {"meta"}


class Checker(HTMLParser):
    """Elements that are opened and closed in order; what is shown, and what would be loaded or run."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text = ""
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text += data


def parsed(document: str) -> Checker:
    checker = Checker()
    checker.feed(document)
    checker.close()
    assert checker.open == []
    return checker


def test_the_page_shows_what_a_human_needs() -> None:
    shown = parsed(html.render(blocked())).text
    assert "Replay gate: block" in shown
    for rule in ("denylist.hit", "replay.drift", "relations.broken", "replay.base_mismatch"):
        assert rule in shown
        assert RULES[rule].next_step in shown
    for part in (
        "-old row-1", "+new row-1", "row-1 rejects row-1", "artifacts/row-1", "sums add up row-1",
        "note row-1", "M row-1", "1 row(s) not run: row-4", "lane sealed: empty", "UNVERIFIED",
        "1 base_mismatch, 1 drift, 1 match, 1 not_run",
    ):  # fmt: skip
        assert part in shown, part


def test_a_page_without_a_reason() -> None:
    layers = SandboxFacts("bubblewrap", layers=("bubblewrap", "rlimits"))
    shown = parsed(html.render(packet(replay=(row("row-1", "match"),), sandbox=layers))).text
    assert "sandboxbubblewrap, rlimits\n" in shown
    assert "Replay gate: eligible" in shown
    assert "No rule was broken" in shown
    assert "Counterexamples" not in shown


@pytest.mark.parametrize("page", [blocked(), blocked(HOSTILE)], ids=["plain", "hostile"])
def test_the_page_is_alone_and_runs_nothing(page: Packet) -> None:
    document = html.render(page)
    checker = parsed(document)
    assert set(checker.seen) <= {
        "html", "head", "meta", "title", "style", "body", "main", "header", "section", "h1", "h2", "h3", "p",
        "strong", "span", "code", "pre", "ins", "del", "ul", "li", "dl", "dt", "dd",
    }  # fmt: skip
    assert {name for name, _ in checker.attributes} <= {
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "class",
    }
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in checker.attributes
    assert not re.search(r"https?:|url\(|@import|javascript:", document)


def test_hostile_text_is_shown_and_does_nothing() -> None:
    document = html.render(blocked(HOSTILE))
    assert "<script" not in document
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e\u2028\ud800]", document)
    assert "<script>alert(1)</script>\"'&]]>-->\\x1b[31m\\u202e\\x00\\ud800\\u2028" in parsed(document).text
    document.encode()


def test_a_phone_and_the_dark() -> None:
    document = html.render(blocked("x" * 500))
    assert "@media (prefers-color-scheme:dark)" in document
    assert 'content="width=device-width, initial-scale=1"' in document
    # Nothing is wider than the screen: long words break, and no table or unbroken line is used.
    assert "overflow-wrap:anywhere" in document
    assert "white-space:pre-wrap" in document
    assert "<table" not in document


def test_long_packets_are_bounded() -> None:
    rows = tuple(row(f"row-{n}", "drift", *(f"+line {k}" for k in range(300))) for n in range(60))
    document = html.render(packet(replay=rows))
    assert document.count("<pre>") == 40
    assert document.count("100 more line(s), see the packet") == 40
    assert "20 more, see the packet" in document
    assert "10 more, see the packet" in document


@cache
def schema() -> xmlschema.XMLSchema10:
    return xmlschema.XMLSchema10(str(Path(__file__).parents[1] / "support/junit.xsd"))


def suites(text: str) -> dict[str, ElementTree.Element]:
    """The suites by name, after the document and its counts are checked."""
    root = ElementTree.fromstring(text)  # noqa: S314 -- our own document
    schema().validate(root)
    for element in (root, *root):
        cases = list(element.iter("testcase"))
        assert int(element.attrib["tests"]) == len(cases)
        for name, tag in (("failures", "failure"), ("errors", "error")):
            assert int(element.attrib[name]) == sum(case.find(tag) is not None for case in cases)
    return {suite.attrib["name"]: suite for suite in root}


def problems(suite: ElementTree.Element) -> dict[str, list[str]]:
    return {
        f"{case.attrib['classname']} {case.attrib['name']}": [f"{p.tag} {p.attrib['type']}" for p in case]
        for case in suite
    }


def test_blocks_are_failures_and_holds_are_errors() -> None:
    found = suites(junit.render(blocked()))
    assert problems(found["replay"]) == {
        "replay row-1": ["failure replay.drift"], "replay row-2": [],
        "replay row-3": ["error replay.base_mismatch"], "replay row-4": ["error replay.not_run"],
    }  # fmt: skip
    assert problems(found["gate"])["denylist.hit row-1"] == ["failure denylist.hit"]
    assert problems(found["gate"])["dependencies.changed row-1"] == ["error dependencies.changed"]
    assert problems(found["gate"])["gate verdict"] == ["failure block"]
    assert "+new row-1" in (found["replay"][0][0].text or "")


@pytest.mark.parametrize("rule", sorted(RULES))
def test_no_rule_is_green_or_skipped(rule: str) -> None:
    text = junit.render(packet(intake=(Finding(rule, "x"),)))
    wanted = "failure" if RULES[rule].outcome == "block" else "error"
    assert problems(suites(text)["gate"]) == {
        f"{rule} x": [f"{wanted} {rule}"], "gate verdict": [f"{wanted} {RULES[rule].outcome}"],
    }  # fmt: skip
    assert "<skipped" not in text


def test_a_green_file() -> None:
    found = suites(junit.render(packet(replay=(row("row-1", "match"), row("row-2", "approved")))))
    assert problems(found["replay"]) == {"replay row-1": [], "replay row-2": []}
    assert problems(found["gate"]) == {"gate verdict": []}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<failure ", "<skipped "), (' time="0"', ""), (' message="', ' cause="'), ("<testcase ", "<case "),
        ('tests="3"', 'tests="three"'), (' errors="1"', ""), ('name="row-2"', 'name="row-1"'),
        ("</testsuites>", "<properties/></testsuites>"), ('time="0"', 'time="-1"'), ('name="row-1"', 'name=""'),
    ],
)  # fmt: skip
def test_the_schema_refuses(old: str, new: str) -> None:
    rows = (row("row-1", "drift"), row("row-2", "match"), row("row-3", "base_mismatch"))
    text = junit.render(packet(replay=rows))
    suites(text)
    assert old in text
    changed = text.replace(old, new)
    if new == "<skipped ":
        changed = changed.replace("</failure>", "</skipped>")
    if new == "<case ":
        changed = changed.replace("</testcase>", "</case>")
    root = ElementTree.fromstring(changed)  # noqa: S314 -- our own document
    assert not schema().is_valid(root)


def test_two_findings_of_one_name_are_one_case() -> None:
    found = (Finding("intake.rejected", "x", "first"), Finding("intake.rejected", "x", "second"))
    gate = suites(junit.render(packet(intake=found)))["gate"]
    assert problems(gate) == {
        "intake.rejected x": ["failure intake.rejected"] * 2, "gate verdict": ["failure block"],
    }  # fmt: skip


def test_hostile_text_in_xml() -> None:
    forged = packet(replay=(row(HOSTILE, "drift", HOSTILE),))
    forged = replace(forged, reasons=(Reason(HOSTILE, "hold", HOSTILE, HOSTILE, HOSTILE),))
    assert problems(suites(junit.render(forged))["gate"])
    text = junit.render(blocked(HOSTILE))
    assert "\\x1b[31m\\u202e\\x00\\ud800" in suites(text)["replay"][0].attrib["name"]
    assert "<script" not in text
    text.encode()


def test_markdown_names_nothing() -> None:
    assert HOSTILE not in markdown.render(blocked(HOSTILE))
    assert "row-" not in markdown.render(blocked())


class Screen(io.StringIO):
    """A stream that says of itself whether it is a terminal."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


def shown(page: Packet, monkeypatch: pytest.MonkeyPatch, *, tty: bool = True, **options: bool) -> str:
    screen = Screen(tty)
    monkeypatch.setattr("sys.stdout", screen)
    terminal.show(page, **options)
    return screen.getvalue()


def test_colours_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CI", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    coloured = shown(blocked(), monkeypatch)
    plain = shown(blocked(), monkeypatch, tty=False)
    assert "verdict \x1b[1;31mblock\x1b[0m: " in coloured
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as one:
            one.setenv(name, value)
            assert shown(blocked(), one) == plain


def test_a_patch_does_not_speak_to_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    text = shown(blocked(HOSTILE), monkeypatch, tty=False)
    assert "alert" in text
    assert not re.search("[\x00\x1b\u202e]", text)


def test_ids_are_named_under_ci_on_request_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    plain = shown(blocked(), monkeypatch, tty=False)
    assert "replay.drift x1: " in plain
    assert "row-1" not in plain
    monkeypatch.delenv("CI")
    named = shown(blocked(), monkeypatch, tty=False)
    monkeypatch.setenv("CI", "true")
    assert shown(blocked(), monkeypatch, tty=False, verbose=True) == named
    assert "    +new row-1\n" in named


def test_quiet_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(blocked(), monkeypatch, tty=False, quiet=True)
    assert text.startswith("verdict block: ")
    assert text.count("\n") == 1


def test_the_command_and_the_files_beside_the_packet(quick: Gate, tmp_path: Path) -> None:
    quick.edit("src/prog.sh", "wc -l", "wc -c")
    done = quick.run("judge", "--quiet", check=1)
    assert (done.stdout.count("\n"), done.stdout[:28]) == (1, "verdict block: replay.drift ")
    for name, file in (("html", "report.html"), ("junit", "junit.xml"), ("md", "report.md")):
        printed = quick.run(
            "report", str(quick.root / ".gate/merge_packet.json"), "--format", name, check=0
        ).stdout
        assert printed == (quick.root / ".gate" / file).read_text(encoding="utf-8")
        assert "replay.drift" in printed
        if name == "junit":
            assert problems(suites(printed)["gate"])["gate verdict"] == ["failure block"]
    hostile = tmp_path / "packet.json"
    hostile.write_bytes(to_json(replace(blocked(HOSTILE))))
    for name in ("html", "junit", "md"):
        quick.run("report", str(hostile), "--format", name, check=0)
