"""D: ways around the denylist."""

from __future__ import annotations

from redteam.model import Add, Case, Delete, Move, Replace, Write

# ruff: noqa: E501 (tables)
from support.patch_forms import binary, delete, edit, mailbox, mode, move, new

_HIT = ("denylist.hit",)
_LEDGER = ("freeze_ledger.changed",)
_FORBIDDEN = ("intake.forbidden_entry",)
_REJECTED = ("intake.rejected",)
_ROW = '{"id": "extra", "argv": ["true"]}\n'
_HONEST = new("src/replay_demo/extra.py")

CASES = (
    Case("D1", "untracked file in corpus/", (Write("corpus/data/new.json", "{}\n"),), _HIT, way="work tree"),
    Case("D1", "untracked file that .gitignore hides", (Write("oracle/x.pyc", "x"),), _HIT, way="work tree"),
    Case("D2", "staged edit of the corpus", (Add("corpus/inputs.jsonl", _ROW),), _HIT, way="staged"),
    Case("D3", "committed edit of the pins", (Replace("oracle/digests.json", "a", "b"),), _HIT, way="committed"),
    Case("D3", "commit of the pins, reverted by the next", (Write("oracle/digests.json", "{}\n"),), _HIT, way="reverted"),
    Case("D3", "second mail reverts the first", mailbox(new("oracle/x"), delete("oracle/x", "x\n"), _HONEST), _HIT),
    Case("D4", "accented name, quoted", new("corpus/é.json", quoted="corpus/\\303\\251.json"), _HIT),
    Case("D4", "folder name quoted in octal", new("corpus/x", quoted="\\143\\157\\162\\160\\165\\163/x"), _HIT),
    Case("D4", "header names another file than its hunk", edit("oracle/noise.txt", "a", "b", "diff --git a/x b/x"), (*_HIT, *_REJECTED)),
    Case("D7", "eol of the corpus by attribute", (Write(".gitattributes", "corpus/** text eol=crlf\n"),), _HIT),
    Case("D7", "attributes in a subfolder", (Write("src/.gitattributes", "* text eol=crlf\n"),), _HIT),
    Case("D8", "filter by attribute", (Write("src/replay_demo/.gitattributes", "*.py filter=x ident\n"),), _HIT),
    Case("D9", "export-ignore of the oracle", (Add(".gitattributes", "oracle/ export-ignore\n"),), _HIT),
    Case("D11", "symbolic link into the corpus", new("src/link", "../corpus", "120000"), _FORBIDDEN),
    Case("D11", "symbolic link in place of oracle/", new("oracle", "/tmp", "120000"), _HIT),
    Case("D13", "path out of the repository", new("../escaped"), _REJECTED),
    Case("D13", "absolute path", new("/tmp/escaped"), (*_REJECTED, *_HIT, *_FORBIDDEN)),
    Case("D14", "a hook of git", new(".git/hooks/pre-commit", mode="100755"), (*_REJECTED, *_FORBIDDEN)),
    Case("D14", "a hook of git, folded", new(".GIT/hooks/pre-commit", mode="100755"), (*_REJECTED, *_FORBIDDEN)),
    Case("D15", "freeze ledger in another case", new("Sealed/Freeze.json"), _LEDGER),
    Case("D15", "pins in another case", new("ORACLE/digests.json"), _HIT),
    Case("D16", "zero-width character", new("ora\u200bcle/x", quoted="ora\\342\\200\\213cle/x"), _HIT),
    Case("D16", "full-width letters", new("\uff4fracle/x", quoted="\\357\\275\\217racle/x"), _HIT),
    Case("D16", "trailing dot", new("oracle./x"), _HIT),
    Case("D16", "trailing space", new("corpus /x"), _HIT),
    Case("D16", "two spellings of one name", new("src/caf\u00e9") + new("src/cafe\u0301"), _FORBIDDEN),
    Case("D17", "submodule in src/", new("src/sub", "Subproject commit " + "1" * 40, "160000"), _FORBIDDEN),
    Case("D17", "submodule in place of corpus/", new("corpus", "Subproject commit " + "1" * 40, "160000"), _HIT),
    Case("D20", "context that does not match", edit("src/replay_demo/__init__.py", "no such line", "x"), _REJECTED),
    Case("D20", "one good hunk, one bad", _HONEST + edit("README.md", "no such line", "x"), _REJECTED),
    Case("D24", "denylist of comments", (Add("README.md", "More.\n"),), ("oracle.vacuous",), "hold", base="no denylist"),
    Case("D20", "2,001 files", b"".join(new(f"docs/{number}") for number in range(2001)), ("intake.too_large",)),
    Case("D", "rename out of the corpus", move("corpus/data/nested.json", "src/nested.json"), _HIT),
    Case("D", "rename into the corpus", (Move("README.md", "corpus/data/README.md"),), _HIT),
    Case("D", "copy of a sealed fixture", move("sealed/fixtures/weights.json", "src/w.json", "copy"), _HIT),
    Case("D", "copy under a header that lies", move("sealed/fixtures/weights.json", "src/w.json", "copy", ("src/a", "src/w.json")), (*_HIT, *_REJECTED)),
    Case("D", "mode of the pins alone", mode("oracle/digests.json", "100644", "100755"), _HIT),
    Case("D", "binary patch of a fixture", binary("sealed/fixtures/x.bin", "0000000..1111111", b"x"), _HIT),
    Case("D", "deleted ledger", (Delete("sealed/freeze.json"),), _LEDGER),
    Case("D", "edited ledger", (Replace("sealed/freeze.json", "[]", '[{"test_id": "x"}]'),), _LEDGER),
    Case("D", "renewed quarantine", (Replace("oracle/quarantine.json", "2026-10-06", "2036-10-06"),), _HIT),
    Case("D", "a signature nobody asked for", (Write("oracle/approvals/0123456789abcdef.json", "{}\n"),), _HIT),
    Case("D", "a name that ends in a bidi mark", new("src/a\u202e.py", quoted="src/a\\342\\200\\256.py"), _FORBIDDEN),
    Case("D", "a set-uid file", new("src/x", mode="104755"), (*_FORBIDDEN, *_REJECTED)),
)  # fmt: skip
