"""oracle/gate.toml: defaults, ranges, and complaints that name file and line."""

from __future__ import annotations

import pytest
from oracle_gate.core.errors import GateError
from oracle_gate.core.settings import Settings, parse_settings
from support.baking import SCAFFOLD


def test_an_empty_file_gives_the_defaults_of_the_design() -> None:
    settings = parse_settings(b"")
    assert settings == Settings()
    assert settings.view.hidden == ("oracle", "corpus", "sealed", "tools/metamorphic.py")
    assert settings.subject.path == ("src",)
    assert (settings.replay.timeout_s, settings.replay.output_bytes) == (10.0, 8 << 20)
    assert (settings.limits.patch_bytes, settings.limits.files) == (32 << 20, 2000)
    assert settings.limits.literal_bytes == 8 << 20
    assert settings.approvals.overridable == ()


def test_the_scaffold_asks_for_what_the_design_says() -> None:
    settings = parse_settings((SCAFFOLD / "oracle/gate.toml").read_bytes())
    assert settings.sandbox.require == "isolated"
    assert settings.lanes.required == ("denylist", "replay", "relations", "sealed")


def test_every_value_can_be_set() -> None:
    settings = parse_settings(
        b'[base]\nref = "refs/heads/trunk"\n[view]\nhidden = ["secret/", "a/b.txt"]\n'
        b'[subject]\npath = [".", "lib"]\npython = "/usr/bin/python3"\n'
        b"[replay]\ntimeout_s = 2.5\noutput_bytes = 1\nworkers = 64\n"
        b'[sandbox]\nrequire = "plain"\n[lanes]\nrequired = []\n[approvals]\noverridable = ["replay.drift"]\n'
        b"[limits]\npatch_bytes = 1\nfiles = 2\nliteral_bytes = 3\n"
    )
    assert settings.base.ref == "refs/heads/trunk"
    assert settings.view.hidden == ("secret/", "a/b.txt")
    assert settings.subject.path == (".", "lib")
    assert settings.replay.timeout_s == 2.5
    assert settings.lanes.required == ()
    assert (settings.limits.patch_bytes, settings.limits.files, settings.limits.literal_bytes) == (1, 2, 3)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("[base]\nref = \n", 2, "not TOML"),
        ("[replay]\ntimeout_s = 1\ntimeout_s = 2\n", 3, "not TOML"),
        ("[replay\n", 1, "not TOML"),
        ("a = 1" + "0" * 5000, 1, "not TOML"),
        ("a = " + "[" * 100_000, 1, "not TOML"),
        ("[replay]\n\n[surprise]\nx = 1\n", 3, "unknown key 'surprise'"),
        ("[replay]\nworkers = 1\ntimeout = 3\n", 3, "unknown key 'replay.timeout'"),
        ('replay = "x"\n', 1, "replay is not an object"),
        ('[replay]\n\ntimeout_s = "3"\n', 3, "replay.timeout_s is not a number"),
        ("[replay]\nworkers = 1.0\n", 2, "replay.workers is not a whole number"),
        ("[replay]\nworkers = true\n", 2, "replay.workers is not a whole number"),
        ('[view]\nhidden = "oracle"\n', 2, "view.hidden is not a list"),
        ('[sandbox]\nrequire = "none"\n', 2, "sandbox.require is not one of 'isolated', 'plain'"),
        ('[lanes]\nrequired = ["replay", "repaly"]\n', 2, "lanes.required[1] is not one of"),
        ("[replay]\ntimeout_s = 0\n", 2, "replay.timeout_s is not between 0 and 3600 seconds"),
        ("[replay]\ntimeout_s = -1\n", 2, "replay.timeout_s is not between"),
        ("[replay]\ntimeout_s = 3600.5\n", 2, "replay.timeout_s is not between"),
        ("[replay]\ntimeout_s = nan\n", 2, "replay.timeout_s is not a number"),
        ("[replay]\ntimeout_s = inf\n", 2, "replay.timeout_s is not a number"),
        ("[replay]\nworkers = -1\n", 2, "replay.workers is not between 0 and 64"),
        ("[replay]\nworkers = 65\n", 2, "replay.workers is not between 0 and 64"),
        ("[replay]\noutput_bytes = 0\n", 2, "replay.output_bytes is not between"),
        ("[replay]\noutput_bytes = 99999999999999999999\n", 2, "replay.output_bytes is not between"),
        ("[limits]\nfiles = 1\npatch_bytes = 99999999999999999999\n", 3, "limits.patch_bytes is not between"),
        ("[limits]\nfiles = 0\n", 2, "limits.files is not between"),
        ("[limits]\nliteral_bytes = -5\n", 2, "limits.literal_bytes is not between"),
        ("[view]\nhidden = []\n", 2, "view.hidden is empty"),
        ('[view]\nhidden = ["oracle", "."]\n', 2, "view.hidden names the whole repository"),
        ('[view]\nhidden = ["/oracle"]\n', 2, "holds '/oracle', not a path inside the repository"),
        ('[view]\nhidden = ["a//b"]\n', 2, "holds 'a//b', not a path inside the repository"),
        ('[view]\nhidden = [""]\n', 2, "view.hidden names the whole repository"),
        ('[subject]\npath = ["../src"]\n', 2, "holds '../src', not a path inside the repository"),
        ('[subject]\npath = ["src", "/usr"]\n', 2, "holds '/usr', not a path inside the repository"),
    ],
)
def test_a_complaint_names_file_and_line(text: str, line: int, what: str) -> None:
    with pytest.raises(GateError) as caught:
        parse_settings(text.encode())
    assert str(caught.value).startswith(f"oracle/gate.toml:{line}: ")
    assert what in str(caught.value)
    assert caught.value.todo


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(GateError, match=r"^oracle/gate.toml:2: not UTF-8"):
        parse_settings(b"[base]\nref = '\xe9'\n")
    with pytest.raises(GateError, match=r"^oracle/gate.toml:1: starts with a byte order mark"):
        parse_settings(b"\xef\xbb\xbf[base]\n")
