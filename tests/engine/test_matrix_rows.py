"""Every kind of row and format, pinned by record and judged: what counts, what does not, what is said of noise."""

from __future__ import annotations

import json
from collections.abc import Mapping

from support.engine import record, run_engine
from support.gate import Gate
from support.gitenv import commit_all
from support.quick import SETTINGS, rows_text

DATA = {
    "a.json": '{"b": [1, 2.50], "a": "x"}\n',
    "b.jsonl": '{"b": 1, "a": 2}\n{"c": 3}\n',
    "none.json": "{1}\n",
    "c.bin": "took 5 ms\r\nno last newline",
}


def row(id: str, name: str, format: str) -> dict[str, object]:
    return {"id": id, "file": f"corpus/data/{name}", "format": format}


def arm(quick: Gate, program: str, rows: list[dict[str, object]], noise: str = "") -> str:
    """Makes this program src/prog.sh, which file rows run, and pins these rows; returns the warnings."""
    quick.write("src/prog.sh", program)
    quick.write("corpus/inputs.jsonl", rows_text(*rows))
    quick.write(
        "oracle/gate.toml", SETTINGS.replace("[replay]\n", '[replay]\nfile_argv = ["sh", "src/prog.sh"]\n')
    )
    quick.write("oracle/noise.txt", noise)
    for name, text in DATA.items():
        quick.write(f"corpus/data/{name}", text)
    for name in ("digests", "provenance"):
        quick.write(f"oracle/{name}.json", "{}\n")
    commit_all(quick.root, "Another corpus")
    done = record(quick.root)
    assert done.code == 0, done.stderr
    commit_all(quick.root, "Arm the oracle")
    return done.stderr


def statuses(quick: Gate, program: str) -> tuple[int, dict[str, str]]:
    """Judges another program: the exit code, and what became of each row."""
    quick.write("src/prog.sh", program)
    code = run_engine(quick.root, "judge").code
    return code, {found["id"]: found["status"] for found in quick.packet()["replay"]}


#: The same output with keys in another order and other blanks; with one number written otherwise.
RESPELT = (
    """sed -e 's/{"b": 1, "a": 2}/{"a": 2,"b":1}/' -e 's/{\\("b".*\\), \\("a".*\\)}/{\\2,  \\1}/' "$1"\n"""
)
RENUMBERED = """sed 's/2.50/2.5/; s/"c": 3/"c": 3.0/' "$1"\n"""


def test_each_format_sees_what_it_is_for(quick: Gate) -> None:
    """Spelling counts as text and as bytes, not as JSON; how a number is written counts everywhere."""
    rows = [row(f"{format} {name}", name, format)
            for name, formats in (("a.json", ("auto", "json", "text", "bytes")), ("b.jsonl", ("auto", "jsonl", "text")))
            for format in formats]  # fmt: skip
    arm(quick, 'cat "$1"\n', rows)
    code, found = statuses(quick, RESPELT)
    assert code == 1
    assert found == {
        "auto a.json": "match", "json a.json": "match", "text a.json": "drift", "bytes a.json": "drift",
        "auto b.jsonl": "drift", "jsonl b.jsonl": "match", "text b.jsonl": "drift",
    }  # fmt: skip
    code, found = statuses(quick, RENUMBERED)
    assert (code, set(found.values())) == (1, {"drift"})
    assert statuses(quick, 'cat -- "$1" # as before\n') == (0, dict.fromkeys(found, "match"))


def test_bytes_are_bytes(quick: Gate) -> None:
    """No noise, no token, no collapsed frame: with `bytes` the stream is digested as it stands."""
    rows = [row("bytes", "c.bin", "bytes"), row("text", "c.bin", "text")]
    arm(quick, 'cat "$1"\n', rows, noise="^took [0-9]+ ms\\r$\n")
    code, found = statuses(quick, """sed 's/5 ms/6 ms/' "$1"\n""")
    assert (code, found) == (1, {"bytes": "drift", "text": "match"})


def test_a_row_with_a_file_runs_the_configured_program(quick: Gate) -> None:
    arm(quick, 'cat "$1"\n', [row("file", "a.json", "text")])
    assert statuses(quick, 'tac "$1"; cat "$1"\n')[1] == {"file": "drift"}
    quick.write("oracle/gate.toml", SETTINGS)
    commit_all(quick.root, "No program for files")
    done = run_engine(quick.root, "judge")
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr == (
        "gate: corpus/inputs.jsonl:1: row 'file' needs [replay] file_argv; set it in oracle/gate.toml\n"
    )


def test_json_that_is_none_is_text_and_counted(quick: Gate) -> None:
    warnings = arm(quick, 'cat "$1"\n', [row("none", "none.json", "json"), row("some", "a.json", "json")])
    assert "gate: warning: 1 row(s) say json and are not: none\n" in warnings


#: A program that says how long it took, in as many lines as it likes, then what counts.
CLOCK = 'printf "took 1 ms\\n%.0s" 1 2; cat "$1"\n'


#: What else it may print, the exit code, and what is said.
NOISY: list[tuple[str, int, Mapping[str, set[str]]]] = [
    (CLOCK.replace("1 ms", "22 ms"), 0, {}),
    (CLOCK.replace("1 2", "1 2 3"), 5, {"noise.changed": {"file"}}),
    ('cat "$1"\n', 5, {"noise.changed": {"file"}}),
    (CLOCK.replace("took", "lost"), 1, {"replay.drift": {"file"}}),
]


def test_noise_is_dropped_and_its_amount_is_told(quick: Gate) -> None:
    arm(quick, CLOCK, [row("file", "a.json", "text")], noise="^took [0-9]+ ms$\n")
    provenance = json.loads((quick.root / "oracle/provenance.json").read_bytes())
    assert provenance["noise_lines"] == {"file": 2}
    for program, code, said in NOISY:
        found, _ = statuses(quick, program)
        rules: dict[str, set[str]] = {}
        for reason in quick.packet()["reasons"]:
            rules.setdefault(reason["rule"], set()).add(reason["subject"])
        assert (found, rules) == (code, said), program


def test_noise_that_empties_a_stream_is_no_evidence(quick: Gate) -> None:
    """A rule that drops all that a program says would pass any program."""
    arm(quick, CLOCK, [row("file", "a.json", "text")], noise="^took [0-9]+ ms$\n")
    code, found = statuses(quick, 'echo "took 3 ms"\n')
    assert (code, found) == (1, {"file": "drift"})
    assert quick.packet()["replay"][0]["detail"] == "noise rules drop all of a stream"
