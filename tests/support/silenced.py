"""Trees whose tests are silenced in one way each, and trees in which they are only rewritten."""

from __future__ import annotations

NET = "tests/test_net.py"
HELPERS = "tests/helpers.py"
BASE = '''\
"""Retries."""

import unittest

import pytest

from app.net import retry
from tests.helpers import same

WINDOW = 3


def check(actual, expected):
    assert actual == expected


@pytest.fixture
def client():
    yield retry(0)


def test_window(client):
    """The window is kept."""
    result = retry(WINDOW)
    assert result == 3
    check(client, 0)
    same(result, 3)


@pytest.mark.parametrize("size", [1, 2])
def test_sizes(size):
    assert retry(size) == size


def test_smoke():
    retry(2)


class TestNet:
    def test_refuses(self):
        with pytest.raises(ValueError, match="negative"):
            retry(-1)
        assert retry(1) in (1, 2)


class NetCase(unittest.TestCase):
    def setUp(self):
        self.result = retry(WINDOW)

    def test_result(self):
        self.assertEqual(self.result, 3)
        self.assertAlmostEqual(retry(0.5), 0.5, places=5)
'''
TREE = {
    NET: BASE,
    HELPERS: "def same(actual, expected):\n    assert actual == expected\n",
    "tests/__init__.py": "",
    "src/app/net.py": "def retry(count):\n    return count\n",
}
WINDOW, SIZES = f"{NET}::test_window", f"{NET}::test_sizes[2]"
SMOKE = f"{NET}::test_smoke"
REFUSES, RESULT = f"{NET}::TestNet::test_refuses", f"{NET}::NetCase::test_result"


def edited(*edits: tuple[str, str], path: str = NET, **more: str) -> dict[str, str]:
    """The tree with texts of one file replaced."""
    text = TREE[path]
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return {**TREE, path: text, **more}


def before_window(text: str) -> dict[str, str]:
    """The tree with a text put before the test of the window, after all it needs."""
    return edited(("def test_window(client):", text + "def test_window(client):"))


def at_end(text: str) -> dict[str, str]:
    return {**TREE, NET: TREE[NET] + text}


def first(statement: str) -> dict[str, str]:
    """The tree with a first statement in the test of the window."""
    return edited(("    result = retry(WINDOW)\n", f"    {statement}\n    result = retry(WINDOW)\n"))


def instead(statements: str) -> dict[str, str]:
    """The tree with other statements in the place of the assertion about the window."""
    return edited((ASSERT, "".join(f"    {line}\n" for line in statements.split("\n"))))


def before(anchor: str, text: str) -> dict[str, str]:
    return edited((anchor, text + anchor))


def in_class(text: str) -> dict[str, str]:
    """The tree with a text at the start of the class."""
    return edited(("class TestNet:\n", "class TestNet:\n" + text))


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


CLASS = BASE[BASE.index("class TestNet") : BASE.index("class NetCase")]
ASSERT = "    assert result == 3\n"
HELPER = "    assert actual == expected\n"
RAISES = '        with pytest.raises(ValueError, match="negative"):\n            retry(-1)\n'
AUTOMATIC = "\n@pytest.fixture(autouse=True)\ndef quiet():\n    pytest.skip('x')\n"
EQUAL = "        self.assertEqual(self.result, 3)\n"
SETUP = "    def setUp(self):\n"
CHECK = "    check(client, 0)\n"
BODY = "    result = retry(WINDOW)\n    assert result == 3\n    check(client, 0)\n    same(result, 3)\n"
TEST = 'def test_window(client):\n    """The window is kept."""\n' + BODY


SILENCED = {
    "deleted": edited((TEST, "")),
    "the file deleted": {path: text for path, text in TREE.items() if path != NET},
    "renamed to a longer name": edited(("def test_window(", "def test_window_longer(")),
    "renamed to no test": edited(("def test_window(", "def no_test_window(")),
    "moved to another file": edited((TEST, "")) | {"tests/test_other.py": BASE},
    "moved into a class": edited((TEST, "class TestIt:\n" + indented(TEST.replace("client):", "self, client):")))),
    "made a comment": edited((TEST, "\n".join("# " + line for line in TEST.splitlines()) + "\n")),
    "made a string": edited((TEST, f"TEXT = {TEST!r}\n")),
    "the file no longer parses": at_end("def broken(:\n"),
    "skip": before_window("@pytest.mark.skip\n"),
    "skip with a reason": before_window('@pytest.mark.skip(reason="flaky")\n'),
    "skip of another name for pytest": before_window("import pytest as p\n\n@p.mark.skip\n"),
    "skip of an imported mark": before_window("from pytest import mark as m\n\n@m.skip\n"),
    "skip under a name": before_window("later = pytest.mark.skip\n\n@later\n"),
    "skip under two names": before_window("m = pytest.mark\nlater = m.skip(reason='x')\n\n@later\n"),
    "skip by a function": before_window("def later(f):\n    return pytest.mark.skip(f)\n\n@later\n"),
    "skip by getattr": before_window('@getattr(pytest.mark, "sk" + "ip")\n'),
    "skipif of what is always true": before_window('@pytest.mark.skipif(1 < 2, reason="x")\n'),
    "skipif of a text": before_window('@pytest.mark.skipif("True", reason="x")\n'),
    "xfail without running": before_window("@pytest.mark.xfail(run=False)\n"),
    "xfail": before_window("@pytest.mark.xfail\n"),
    "unittest's skip": before_window('@unittest.skip("x")\n'),
    "unittest's expected failure": before_window("@unittest.expectedFailure\n"),
    "retried until green": before_window("import flaky\n\n@flaky.flaky(max_runs=50)\n"),
    "usefixtures of one that skips": before_window(
        "@pytest.fixture\ndef later():\n    pytest.skip('x')\n\n@pytest.mark.usefixtures('later')\n"
    ),
    "a wrapper that calls nothing": before_window("def quiet(f):\n    return lambda: None\n\n@quiet\n"),
    "a fixture": before_window("@pytest.fixture\n"),
    "pytestmark": at_end("pytestmark = pytest.mark.skip\n"),
    "a list of pytestmark": at_end('pytestmark = [pytest.mark.usefixtures(), pytest.mark.skipif(True, reason="x")]\n'),
    "importorskip": edited(("WINDOW = 3\n", 'WINDOW = 3\nx = pytest.importorskip("absent")\n')),
    "skip of the module": edited(("WINDOW = 3\n", 'WINDOW = 3\npytest.skip("x", allow_module_level=True)\n')),
    "SkipTest at import": edited(("WINDOW = 3\n", 'WINDOW = 3\nraise unittest.SkipTest("x")\n')),
    "SkipTest under a condition": edited(("WINDOW = 3\n", "WINDOW = 3\nif WINDOW:\n    raise unittest.SkipTest\n")),
    "pytest.skip": first('pytest.skip("x")'),
    "skip under another name": first("from pytest import skip as done; done()"),
    "pytest.xfail": first('pytest.xfail("x")'),
    "raise SkipTest": first('raise unittest.SkipTest("x")'),
    "raise pytest.skip.Exception": first('raise pytest.skip.Exception("x")'),
    "an exit": first("import sys; sys.exit(0)"),
    "importorskip inside": first('pytest.importorskip("absent")'),
    "skip in a helper": before(HELPER, '    pytest.skip("x")\n'),
    "skip in the fixture": edited(("    yield retry(0)\n", '    pytest.skip("x")\n    yield retry(0)\n')),
    "skip in an automatic fixture": at_end(AUTOMATIC),
    "skip in setup_module": at_end("\ndef setup_module():\n    raise unittest.SkipTest\n"),
    "early return": first("return"),
    "early return of a value": first("return None"),
    "return under a condition": first("if WINDOW: return"),
    "return in a loop": first("for _ in range(9): return"),
    "pass": edited((BODY, "    pass\n")),
    "dots": edited((BODY, "    ...\n")),
    "a docstring alone": edited((BODY, "")),
    "assert True": edited((BODY, "    assert True\n")),
    "assert of a constant": instead("assert 3 == 3"),
    "assert of named constants": instead("expected = 3\nassert WINDOW == expected"),
    "assert of a tuple": instead("assert (result == 3, 'text')"),
    "assert of itself": instead("assert result == result"),
    "assert or True": instead("assert result == 3 or True"),
    "assert of truth alone": instead("assert result"),
    "assert of a difference": instead("assert result != object()"),
    "assert of one of many": instead("assert result in range(100)"),
    "assert with ANY": instead("from unittest import mock\nassert result == mock.ANY"),
    "an assertion less": edited((ASSERT, "")),
    "assert of a copy of itself": instead("assert result == result[:]"),
    "assert of a sum of itself": instead("assert result == sum([result])"),
    "assert of a text joined of itself": instead('assert result == "".join([result])'),
    "assert of a second call": instead("assert result == retry(WINDOW)"),
    "assert of a length": instead("assert len(result) == 8"),
    "assert of an empty prefix": instead('assert result[:0] == b""'),
    "assert of a type": instead("assert type(result) == int"),
    "assert of a type, by isinstance": instead("assert isinstance(result, int) == True"),
    "assert of a difference that is true": instead("assert (result != 0) is True"),
    "assert of a difference that is not false": instead("assert (result != 0) is not False"),
    "assert of an assignment": instead("assert (outcome := 3) == 3"),
    "assert of a choice in a call": instead("assert bool(result == 3 or 1) == True"),
    "assert of all of nothing": instead("assert all(x == 1 for x in ()) == True"),
    "assert of a value that equals all": instead(
        'assert result == type("Any", (), {"__eq__": lambda *_: True})()'
    ),
    "assert of a chain": instead("assert 4 != result == result[:]"),
    "a helper called with a second call": edited((CHECK, "    check(client, retry(0))\n")),
    "a helper that compares with itself": edited((HELPER, "    assert actual == actual[:]\n")),
    "a helper that compares with a second call": edited((HELPER, "    assert actual == retry(0)\n")),
    "a helper that compares with something else": edited((HELPER, "    assert actual == [expected, actual][1]\n")),
    "an expected value less often": instead("assert result == retry(WINDOW)\nassert result == retry(3)"),
    "another expected value": instead("assert result == 4"),
    "under if False": instead("if False:\n    assert result == 3"),
    "under another condition": instead("if result == 3:\n    assert result == 3"),
    "under an empty loop": instead("for _ in []:\n    assert result == 3"),
    "under while": instead("while result == 3:\n    assert result == 3\n    break"),
    "a swallowed failure": instead("try:\n    assert result == 3\nexcept AssertionError:\n    pass"),
    "suppressed": instead("import contextlib\nwith contextlib.suppress(AssertionError):\n    assert result == 3"),
    "a failure that is expected": instead("with pytest.raises(AssertionError):\n    assert result == 3"),
    "in a function that is not called": instead("def later():\n    assert result == 3"),
    "in a lambda": edited((CHECK, "    lambda: check(client, 0)\n")),
    "in a generator that is not run": edited((CHECK, "    (check(client, x) for x in [0])\n")),
    "short-circuited": edited((CHECK, "    result and check(client, 0)\n")),
    "a coroutine": edited(("def test_window(", "async def test_window(")),
    "a generator": first("yield"),
    "a helper that is never awaited": edited(("def check(", "async def check(")),
    "a helper that asserts nothing": edited((HELPER, "    actual == expected\n")),
    "a helper of another file that asserts nothing": edited((HELPER, "    pass\n"), path=HELPERS),
    "a helper replaced": before_window("def check(actual, expected):\n    pass\n\n"),
    "a helper of another file replaced": edited(("from tests.helpers import same\n", "same = print\n")),
    "the tested function replaced": edited(("from app.net import retry\n", "def retry(count):\n    return count\n")),
    "the tested function shadowed": first("retry = lambda count: count"),
    "a helper called with constants": edited((CHECK, "    check(0, 0)\n")),
    "a helper called with one value twice": edited((CHECK, "    check(client, client)\n")),
    "the fixture replaced": edited(("    yield retry(0)\n", "    yield 0\n")),
    "the tested function patched": edited(
        ("def test_window(client):", "def test_window(client, monkeypatch):"),
        (CHECK, CHECK + "    monkeypatch.setattr('app.net.retry', int)\n"),
    ),
    "the tested function mocked": first("from unittest import mock; mock.patch('app.net.retry', int).start()"),
    "replaced by a decorator of another": at_end(
        "\n\ndef run(f):\n    global test_window\n    test_window = f\n\n\n@run\ndef more(client):\n    pass\n"
    ),
    "redefined": at_end("\ndef test_window(client):\n    pass\n"),
    "assigned": at_end("\ntest_window = None\n"),
    "assigned by an import": at_end("\nfrom os import getcwd as test_window\n"),
    "assigned by a loop": at_end("\nfor test_window in [1]:\n    pass\n"),
    "assigned by a walrus": at_end("\nif (test_window := None):\n    pass\n"),
    "assigned by with": at_end("\nwith open(__file__) as test_window:\n    pass\n"),
    "assigned under a condition": at_end("\nif WINDOW:\n    test_window = None\n"),
    "assigned by match": at_end("\nmatch 1:\n    case test_window:\n        pass\n"),
    "assigned by except": at_end("\ntry:\n    x = {}[0]\nexcept KeyError as test_window:\n    pass\n"),
    "del": at_end("\ndel test_window\n"),
    "del under a condition": at_end("\nif WINDOW:\n    del test_window\n"),
    "del by globals": at_end('\nglobals().pop("test_" + "window")\n'),
    "set by sys.modules": at_end("\nimport sys\nsetattr(sys.modules[__name__], 'test_window', None)\n"),
    "its code exchanged": at_end("\ntest_window.__code__ = (lambda client: None).__code__\n"),
    "an attribute of it set": at_end("\ntest_window.__test__ = False\n"),
    "the module is no test": at_end("\n__test__ = False\n"),
    "defined under if False": edited((TEST, "if False:\n" + indented(TEST))),
    "defined under TYPE_CHECKING": edited((TEST, "import typing\nif typing.TYPE_CHECKING:\n" + indented(TEST))),
    "defined inside a function": edited((TEST, "def tests():\n" + indented(TEST))),
    "pytest itself changed": at_end("\npytest.raises = print\n"),
    "fewer parameters": edited(("window(client):", "window(client=0):"), (CHECK, "    check(0, 0)\n")),
    "no client": edited(("def test_window(client):", "def test_window():"), (CHECK, "    check(retry(0), 0)\n")),
    "a new case list that is empty": before_window('@pytest.mark.parametrize("x", [])\n'),
    "a new case list": before_window('@pytest.mark.parametrize("x", [1])\n'),
    "collect_ignore": {**TREE, "tests/conftest.py": 'collect_ignore = ["test_net.py"]\n'},
    "collect_ignore_glob": {**TREE, "conftest.py": 'collect_ignore_glob = ["tests/*"]\n'},
    "a hook that deselects": {
        **TREE, "tests/conftest.py": "def pytest_collection_modifyitems(items):\n    items.clear()\n"
    },
    "a hook that reports": {**TREE, "conftest.py": "def pytest_runtest_makereport(item, call):\n    return None\n"},
    "a hook in the module": at_end("\ndef pytest_generate_tests(metafunc):\n    metafunc.parametrize('client', [])\n"),
    "a plugin": {**TREE, "conftest.py": 'pytest_plugins = ["evil"]\n'},
    "an automatic fixture of conftest": {
        **TREE, "tests/conftest.py": f"import pytest\n{AUTOMATIC}"
    },
}  # fmt: skip
IN_A_CLASS = {
    "the class renamed": edited(("class TestNet:", "class Net:")),
    "a constructor": in_class("    def __init__(self):\n        pass\n\n"),
    "importorskip in the class": in_class('    x = pytest.importorskip("absent")\n\n'),
    "the class is no test": in_class("    __test__ = False\n\n"),
    "pytestmark of the class": in_class("    pytestmark = pytest.mark.skip\n\n"),
    "a mark on the class": edited(("class TestNet:", "@pytest.mark.skip\nclass TestNet:")),
    "a base that marks": edited(
        ("class TestNet:", "class Quiet:\n    pytestmark = pytest.mark.skip\n\n\nclass TestNet(Quiet):")
    ),
    "a base from elsewhere": edited(("class TestNet:", "import evil\n\n\nclass TestNet(evil.Quiet):")),
    "a metaclass": edited(("class TestNet:", "import evil\n\n\nclass TestNet(metaclass=evil.Quiet):")),
    "setup_method skips": in_class("    def setup_method(self):\n        pytest.skip('x')\n\n"),
    "redefined in the class": edited(("in (1, 2)\n", "in (1, 2)\n\n    test_refuses = None\n")),
    "redefined in the class beside a test of that name": edited(
        ("in (1, 2)\n", "in (1, 2)\n\n    test_refuses = None\n\n\ndef test_refuses():\n    pass\n")
    ),
    "deleted from the class": at_end("\ndel TestNet.test_refuses\n"),
    "set on the class": at_end("\nTestNet.test_refuses = lambda self: None\n"),
    "the class under if False": edited((CLASS, "if False:\n" + indented(CLASS))),
    "the class redefined": at_end("\nclass TestNet:\n    pass\n"),
    "any exception": edited(('pytest.raises(ValueError, match="negative")', "pytest.raises(Exception)")),
    "any text": edited((', match="negative"', "")),
    "nothing raised": edited((RAISES, "")),
    "more values": edited(("in (1, 2)", "in (1, 2, 3, None)")),
    "a property": edited(("    def test_refuses", "    @property\n    def test_refuses")),
}  # fmt: skip
SMOKE_TEST = {
    "pass": edited(("    retry(2)\n", "    pass\n")),
    "under if": edited(("    retry(2)\n", "    if WINDOW < 0:\n        retry(2)\n")),
    "another call": edited(("    retry(2)\n", "    print(2)\n")),
    "in a lambda": edited(("    retry(2)\n", "    lambda: retry(2)\n")),
}
UNITTEST = {
    "skipped": edited(("    def test_result", '    @unittest.skip("x")\n    def test_result')),
    "the class skipped": edited(("class NetCase(", '@unittest.skipIf(True, "x")\nclass NetCase(')),
    "skipTest": before(EQUAL, '        self.skipTest("x")\n'),
    "setUp skips": edited(("        self.result = retry(WINDOW)\n", '        raise unittest.SkipTest("x")\n')),
    "setUpClass skips": before(SETUP, "    @classmethod\n    def setUpClass(cls):\n        raise unittest.SkipTest\n"),
    "no TestCase": edited(("class NetCase(unittest.TestCase):", "class NetCase:")),
    "renamed": edited(("def test_result", "def result")),
    "asserts truth": edited(("self.assertEqual(self.result, 3)", "self.assertTrue(self.result)")),
    "asserts a constant": edited(("self.assertEqual(self.result, 3)", "self.assertEqual(3, 3)")),
    "asserts less": edited((EQUAL, "")),
    "fewer places": edited(("places=5", "places=1")),
    "a wide delta": edited(("places=5", "delta=100")),
    "asserts a second call": edited(("assertEqual(self.result, 3)", "assertEqual(self.result, retry(WINDOW))")),
    "setUp without the program": edited(("        self.result = retry(WINDOW)\n", "        self.result = WINDOW\n")),
    "its own assertEqual": before(SETUP, "    def assertEqual(self, *values):\n        pass\n\n"),
}  # fmt: skip
CASES = {
    "a case less": edited(('"size", [1, 2]', '"size", [1]')),
    "another case": edited(('"size", [1, 2]', '"size", [1, 3]')),
    "a case that is skipped": edited(('"size", [1, 2]', '"size", [1, pytest.param(2, marks=pytest.mark.skip)]')),
    "no cases": edited(('"size", [1, 2]', '"size", []')),
    "not parametrised": edited(
        ('@pytest.mark.parametrize("size", [1, 2])\ndef test_sizes(size)', "def test_sizes(size=2)")
    ),
    "other names for cases": edited(('"size", [1, 2]', '"size", [1, 2], ids=["one", "two"]')),
}  # fmt: skip
ALL = [
    *((f"{name}", WINDOW, tree) for name, tree in SILENCED.items()),
    *((f"class: {name}", REFUSES, tree) for name, tree in IN_A_CLASS.items()),
    *((f"no assertion: {name}", SMOKE, tree) for name, tree in SMOKE_TEST.items()),
    *((f"unittest: {name}", RESULT, tree) for name, tree in UNITTEST.items()),
    *((f"cases: {name}", SIZES, tree) for name, tree in CASES.items()),
]
HONEST = {
    "nothing": TREE,
    "a comment moved": instead("# the window\nassert result == 3  # kept"),
    "another docstring": edited(("The window is kept.", "It is kept.")),
    "reformatted": instead("assert (\n    result\n    == 3\n), 'the window'"),
    "a renamed helper": edited(
        ("def check(", "def check_equal("), (CHECK, "    check_equal(client, 0)\n")
    ),
    "a renamed variable": edited((BODY, BODY.replace("result", "outcome"))),
    "a helper written another way": edited(
        ("    assert actual == expected\n", "    if actual != expected:\n        raise AssertionError(actual)\n")
    ),
    "a helper split": edited(
        ("    assert actual == expected\n", "    check_all([(actual, expected)])\n\n\ndef check_all(pairs):\n"
         "    first = pairs[0]\n    assert first[0] == first[1]\n")
    ),
    "a helper moved to another file": edited(
        ("def check(actual, expected):\n    assert actual == expected\n", "from tests.helpers import same as check\n")
    ),
    "the whole check moved into a helper": edited(
        (CHECK, "    check_none(0)\n"),
        ("def check(", "def check_none(wanted):\n    check(retry(0), wanted)\n\n\ndef check("),
    ),
    "an assertion moved into a helper": instead("check(result, 3)"),
    "an assertion moved into a method of keywords": instead("check(expected=3, actual=result)"),
    "an expected value by default": edited(
        ("def check(actual, expected):", "def check(actual, expected=0):"), (CHECK, "    check(client)\n")
    ),
    "is True": instead("assert (result == 3) is True"),
    "not unequal": instead("assert not result != 3"),
    "sides exchanged": instead("assert 3 == result"),
    "an assignment inside": edited(
        ("    result = retry(WINDOW)\n    assert result == 3\n", "    assert (result := retry(WINDOW)) == 3\n")
    ),
    "assertions joined": edited((ASSERT + CHECK, "    assert result == 3 and client == 0\n    assert client == 0\n")),
    "another loop over literals": edited(
        (CHECK + "    same(result, 3)\n", "    for a, b in ((client, 0), (result, 3)):\n        assert a == b\n")
    ),
    "assertions in a loop over literals": edited(
        (CHECK + "    same(result, 3)\n", "    for a, b in [(client, 0), (result, 3)]:\n        check(a, b)\n")
    ),
    "a name for a constant": edited(("    assert result == 3\n", "    wanted = 3\n    assert result == wanted\n")),
    "another assertion": edited((ASSERT, ASSERT + "    assert isinstance(result, int)\n")),
    "a new test": at_end("\n\ndef test_more():\n    assert retry(4) == 4\n"),
    "a new test that is skipped": at_end("\n\n@pytest.mark.skip\ndef test_more():\n    assert retry(4) == 4\n"),
    "a new class": at_end("\n\nclass TestMore:\n    def test_more(self):\n        assert retry(4) == 4\n"),
    "a new case": edited(('"size", [1, 2]', '"size", [1, 2, 3]')),
    "cases by a name": edited(("WINDOW = 3\n", "WINDOW = 3\nSIZES = [1, 2]\n"), ('"size", [1, 2]', '"size", SIZES')),
    "another import style": edited(
        ("import pytest\n", "import pytest as p\n"), ("@pytest.fixture", "@p.fixture"),
        ("@pytest.mark.param", "@p.mark.param"), ("pytest.raises", "p.raises"),
    ),
    "a conftest with a fixture": {
        **TREE, "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef server():\n    return 1\n"
    },
    "a conftest that ignores nothing": {**TREE, "tests/conftest.py": "collect_ignore = []\n"},
    "a new file": {**TREE, "tests/test_more.py": "def test_more():\n    assert 1 + 1 == 2\n"},
    "tests in another order": {**TREE, NET: BASE.replace(TEST, "") + "\n\n" + TEST},
}  # fmt: skip
