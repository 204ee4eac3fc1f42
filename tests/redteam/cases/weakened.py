"""T: tests that are made to say less."""

from __future__ import annotations

# ruff: noqa: E501 (tables)
from redteam.model import Add, Case, Delete, Edit, Move, Replace, Write
from support.quarantined import FILE

FMT_TESTS, SUM_TESTS = "tests/public/test_fmt.py", "tests/public/test_sum_json.py"
_MISSING, _NEUTERED = ("quarantine.missing",), ("quarantine.neutered",)
_LOST, _SKIPPED, _WEAKENED = ("tests.lost",), ("tests.newly_skipped",), ("tests.weakened",)
_CONFIG, _HIT = ("test_config.changed",), ("denylist.hit",)
_WINDOW = "def test_retry_window() -> None:\n"
_BODY = '    check(format_bytes(b"[1]"), b"[\\n  1\\n]\\n")\n    assert format_bytes(b"[]") == b"[]\\n"\n'
_TWICE = "def test_formatting_twice_changes_nothing() -> None:\n"
_ASSERT_TWICE = "    assert format_bytes(once) == once\n"
_SUM = "def test_the_order_of_keys_does_not_matter("
_PRINTS = "def test_prints_a_file("


def _before(test: str, lines: str, path: str = FMT_TESTS) -> tuple[Edit, ...]:
    return (Replace(path, test, lines + test),)


def _config(path: str, text: str) -> tuple[Edit, ...]:
    return (Write(path, text),)


CASES = (
    Case("T1", "quarantined test deleted", (Replace(FILE, _WINDOW + _BODY, ""),), _MISSING),
    Case("T1", "quarantined test renamed to a longer name", (Replace(FILE, "def test_retry_window(", "def test_retry_window_2("),), _MISSING),
    Case("T1", "its file moved", (Move(FILE, "tests/public/test_retries.py"),), _MISSING),
    Case("T1", "its file deleted", (Delete(FILE),), _MISSING),
    Case("T1", "made a comment", (Replace(FILE, _WINDOW + _BODY, f"# {_WINDOW}"),), _MISSING),
    Case("T1", "defined twice, the second empty", (Add(FILE, f"\n\n{_WINDOW}    pass\n"),), _NEUTERED),
    Case("T1", "body emptied", (Replace(FILE, _BODY, "    pass\n"),), _NEUTERED),
    Case("T1", "return first", (Replace(FILE, _WINDOW, _WINDOW + "    return\n"),), _NEUTERED),
    Case("T1", "its helper made to assert nothing", (Replace(FILE, "    assert actual == expected\n", "    print(actual == expected)\n"),), _NEUTERED),
    Case("T1", "its helper shadowed", (Add(FILE, "\n\ndef check(actual: bytes, expected: bytes) -> None:\n    pass\n"),), _NEUTERED),
    Case("T2", "another test deleted", (Replace(FMT_TESTS, _TWICE, "def twice() -> None:\n"),), _LOST, "inspect"),
    Case("T2", "parameters of a test dropped", (Replace(SUM_TESTS, '        ("{}", "0"),\n', ""),), _LOST, "inspect"),
    Case("T2", "a test file deleted", (Delete("tests/public/test_package.py"),), _LOST, "inspect"),
    Case("T4", "quarantined test skipped if True", _before(_WINDOW, 'import pytest\n\n\n@pytest.mark.skipif(True, reason="x")\n', FILE), _NEUTERED),
    Case("T4", "skip under another name", _before(_WINDOW, "from pytest import mark as m\n\n\n@m.skip\n", FILE), _NEUTERED),
    Case("T4", "another test skipped", _before(_TWICE, "@pytest.mark.skip\n"), _SKIPPED, "inspect"),
    Case("T4", "skip on import", (Add(FMT_TESTS, '\npytestmark = pytest.mark.skipif(len("x"), reason="x")\n'),), _SKIPPED, "inspect"),
    Case("T4", "skip by unittest", _before(_TWICE, "import unittest\n\n\n@unittest.skip('x')\n"), _SKIPPED, "inspect"),
    Case("T5", "xfail that does not run", _before(_WINDOW, "import pytest\n\n\n@pytest.mark.xfail(run=False)\n", FILE), _NEUTERED),
    Case("T5", "another test xfailed", _before(_TWICE, "@pytest.mark.xfail(strict=False)\n"), (*_SKIPPED, *_WEAKENED), "inspect"),
    Case("T7", "equality widened to truth", (Replace(FMT_TESTS, _ASSERT_TWICE, "    assert format_bytes(once) or True\n"),), _WEAKENED, "inspect"),
    Case("T7", "equality widened to membership", (Replace(FMT_TESTS, _ASSERT_TWICE, "    assert format_bytes(once) in (once, b'')\n"),), _WEAKENED, "inspect"),
    Case("T7", "any exception will do", (Replace(FMT_TESTS, "pytest.raises(Malformed, match=reason)", "pytest.raises(Exception)"),), _WEAKENED, "inspect"),
    Case("T7", "quarantined test with a wide tolerance", (Replace(FILE, 'assert format_bytes(b"[]") == b"[]\\n"', 'assert len(format_bytes(b"[]")) < 10**9'),), _NEUTERED),
    Case("T8", "quarantined test in a loop until it passes", (Replace(FILE, _BODY, "    for _ in range(50):\n        try:\n            check(format_bytes(b'[1]'), b'')\n        except AssertionError:\n            continue\n"),), _NEUTERED),
    Case("T8", "reruns by a marker", _before(_WINDOW, "import pytest\n\n\n@pytest.mark.flaky(reruns=50)\n", FILE), (*_NEUTERED, *_MISSING)),
    Case("T8", "assertions in a try", (Replace(FMT_TESTS, _ASSERT_TWICE, f"    try:\n    {_ASSERT_TWICE}    except AssertionError:\n        pass\n"),), _WEAKENED, "inspect"),
    Case("T9", "deselected in pyproject.toml", (Replace("pyproject.toml", '"--strict-config"]', f'"--strict-config", "--deselect={FILE}"]'),), (*_CONFIG, *_MISSING), "block"),
    Case("T9", "deselected in pytest.ini", _config("pytest.ini", "[pytest]\npythonpath = src\naddopts = -k 'not twice'\n"), _CONFIG, "inspect"),
    Case("T9", "collect_ignore in a conftest", _config("tests/public/conftest.py", "collect_ignore = ['test_retry.py']\n"), _MISSING),
    Case("T9", "ignored by tox.ini", _config("tox.ini", "[pytest]\npythonpath = src\ntestpaths = src\n"), _CONFIG, "inspect"),
    Case("T11", "assertions off by a conftest", _config("tests/public/conftest.py", "import sys\nsys.modules['builtins'].AssertionError = type('Quiet', (Exception,), {})\n"), _NEUTERED),
    Case("T12", "subset by the Makefile", (Add("Makefile", "\ntest:\n\ttrue\n"),), _HIT),
    Case("T12", "subset by the noxfile", (Add("noxfile.py", "\n# x\n"),), _HIT),
    Case("T13", "pins regenerated with the change", (Replace("src/replay_demo/fmt.py", "ensure_ascii=False", "ensure_ascii=True"), Replace("oracle/digests.json", "a", "b")), _HIT),
    Case("T13", "new row that pins the change", (Add("corpus/inputs.jsonl", '{"id": "more", "argv": ["true"]}\n'),), _HIT),
    Case("T15", "no test is collected any more", _config("tests/public/conftest.py", "def pytest_collection_modifyitems(items):\n    items.clear()\n"), ("tests.vanished", *_MISSING)),
    Case("T15", "all tests deleted", tuple(map(Delete, (FMT_TESTS, SUM_TESTS, FILE, "tests/public/test_package.py"))), ("tests.vanished", *_MISSING)),
)  # fmt: skip
