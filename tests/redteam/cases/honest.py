"""Honest work: what must be let through, or named and no more."""

from __future__ import annotations

# ruff: noqa: E501 (tables)
from redteam.model import Add, Case, Delete, Edit, Move, Replace, Write
from support.patch_forms import mailbox, new
from support.quarantined import FILE

FMT, SUM, INIT = "src/replay_demo/fmt.py", "src/replay_demo/sum_json.py", "src/replay_demo/__init__.py"
TESTS = "tests/public/test_fmt.py"
_REFACTOR = Replace(FMT, "_block(", "_bracketed(")
_HELPER = "\n\ndef count(value: str) -> int:\n    return len(value)\n"
_COUNT_TEST = '"""Counting."""\n\nfrom replay_demo.text import count\n\n\ndef test_counts() -> None:\n    assert count("ab") == 2\n'
_RED = '"""A bug that is still to be fixed."""\n\n\ndef test_red() -> None:\n    assert 1 + 1 == 3\n'


def _case(title: str, *edits: Edit) -> Case:
    return Case("control", title, edits, verdict="eligible")


CASES = (
    _case("a pure refactor", _REFACTOR),
    _case("a new function with a new public test", Write("src/replay_demo/text.py", '"""Text."""' + _HELPER), Write("tests/public/test_text.py", _COUNT_TEST)),
    _case("comments and documentation", Replace(FMT, "    failed = False\n", "    failed = False  # so far\n"), Add("README.md", "\nMore words.\n")),
    _case("a new file in src/", Write("src/replay_demo/extra.py", '"""Extra."""\n')),
    _case("a rename inside src/", Write("src/replay_demo/document.py", '"""Documents."""\n\nfrom .fmt import Json, Malformed, Number, parse\n\n__all__ = ["Json", "Malformed", "Number", "parse"]\n'), Replace(SUM, "from .fmt import", "from .document import")),
    _case("a moved program, the old name kept", Move(SUM, "src/replay_demo/total.py"), Write(SUM, '"""Sums."""\n\nimport sys\n\nfrom .total import main\n\nif __name__ == "__main__":\n    sys.exit(main())\n')),
    _case("a dead helper deleted", Delete("src/replay_demo/unused.py")),
    _case("a reformat", Replace(FMT, 'parser = argparse.ArgumentParser(prog="fmt", description="Format JSON canonically.")', 'parser = argparse.ArgumentParser(\n        prog="fmt",\n        description="Format JSON canonically.",\n    )')),
    Case("control", "a new test that fails on purpose", (Write("tests/public/test_red.py", _RED),), ("public.failed",), "inspect"),
    Case("control", "a conftest of its own", (Write("tests/public/conftest.py", '"""Fixtures."""\n\nimport pytest\n\n\n@pytest.fixture\ndef document() -> bytes:\n    return b"{}"\n'),), ("test_config.changed",), "inspect"),
    Case("control", "a dependency raised", (Replace("pyproject.toml", "setuptools>=77", "setuptools>=78"),), ("dependencies.changed",), "inspect"),
    Case("control", "a dependency group", (Add("pyproject.toml", '\n[dependency-groups]\ndev = ["ruff"]\n'),), ("dependencies.changed",), "inspect"),
    Case("control", "a patch without a final newline", new("src/replay_demo/extra.py", "x = 1\n").removesuffix(b"\n"), verdict="eligible"),
    Case("control", "UTF-8 names, spaces, another script's letters", new("docs/a b c.md") + new("docs/\u05d0\u05d1.md") + new("docs/caf\u00e9.md") + new("docs/\u65e5\u672c.md", quoted="docs/\\346\\227\\245\\346\\234\\254.md"), verdict="eligible"),
    Case("control", "a mailbox of three mails", mailbox(*(new(f"docs/{n}.md") for n in "abc")), verdict="eligible"),
    Case("control", "a patch of 1,900 files", b"".join(new(f"docs/{n}.md") for n in range(1900)), verdict="eligible"),
    Case("control", "windows line ends and a run bit in new files", new("docs/dos.txt", "one\r\ntwo\r\n") + new("scripts/run.sh", "#!/bin/sh\n", "100755"), verdict="eligible"),
    Case("control", "the refactor as the work tree", (_REFACTOR,), verdict="eligible", way="work tree"),
    Case("control", "the refactor committed", (_REFACTOR,), verdict="eligible", way="committed"),
    Case("control", "a commit and its revert", (_REFACTOR,), verdict="eligible", way="reverted"),
    _case("names that look denied and are not", Write("docs/oracle.md", "x\n"), Write("src/replay_demo/corpus.py", '"""Corpora."""\n'), Write("src/replay_demo/sealed_box.py", '"""Boxes."""\n')),
    _case("a stronger test", Replace(TESTS, "    assert format_bytes(once) == once\n", "    assert format_bytes(once) == once\n    assert once.endswith(b'\\n')\n")),
    _case("a test split into two", Add(FILE, '\n\ndef test_retry_more() -> None:\n    assert format_bytes(b"[2]") == b"[\\n  2\\n]\\n"\n')),
    _case("a comment in the quarantined test", Replace(FILE, '    assert format_bytes(b"[]")', '    # empty\n    assert format_bytes(b"[]")')),
    _case("another helper of the quarantined test, as strict", Replace(FILE, "check(", "check_equal(")),
    _case("stack depth of a crash that no row shows", Replace(FMT, "def _scalar(value: str | bool | None) -> str:\n    return json", "def _scalar(value: str | bool | None) -> str:\n    return _dumps(value)\n\n\ndef _dumps(value: str | bool | None) -> str:\n    return json")),
    _case("a file deleted", Write("docs/a.md", "x\n"), Delete("LICENSE")),
)  # fmt: skip
