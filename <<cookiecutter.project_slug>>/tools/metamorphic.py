"""Metamorphic relations of this project: identities between runs of the program.

A relation does not state an expected output; it says how two outputs belong together, such as
formatting a formatted document changes nothing. Whoever writes changes must not see this file.

Each function `relation_*` takes `run(argv, input=b"")`, which runs the judged program and returns
returncode, stdout and stderr, and names its identity in one sentence. An AssertionError, False or an
exception named Broken says that it does not hold. It must not hold for a program that crashes or that
prints random bytes: so it looks at exit codes as well. The working directory has the corpus in it.
"""
<%- if cookiecutter.sample_program == 'yes' %>

from __future__ import annotations

import json
from pathlib import Path
from typing import Protocol

FMT = ["python", "-m", "<< cookiecutter.package_name >>.fmt", "-"]
SUM = ["python", "-m", "<< cookiecutter.package_name >>.sum_json"]


class Result(Protocol):
    """What `run` returns."""

    returncode: int
    stdout: bytes
    stderr: bytes


class Run(Protocol):
    """Runs the judged program."""

    def __call__(self, argv: list[str], input: bytes = b"") -> Result: ...


def relation_formatting_is_idempotent(run: Run) -> None:
    """Formatting a formatted document changes nothing."""
    source = Path("corpus/data/nested.json").read_bytes()
    once = run(FMT, input=source)
    twice = run(FMT, input=once.stdout)
    assert once.returncode == twice.returncode == 0
    assert once.stdout == twice.stdout


def relation_formatting_keeps_the_document(run: Run) -> None:
    """A formatted document means what the document meant."""
    source = Path("corpus/data/permuted.json").read_bytes()
    formatted = run(FMT, input=source)
    assert formatted.returncode == 0
    assert json.loads(formatted.stdout) == json.loads(source)


def relation_key_order_does_not_matter(run: Run) -> None:
    """Documents that differ only in the order of keys are formatted alike."""
    members = {"b": [1, 2], "a": {"y": None, "x": "é"}, "c": 0}
    forwards = run(FMT, input=json.dumps(members).encode())
    backwards = run(FMT, input=json.dumps(dict(reversed(members.items()))).encode())
    assert forwards.returncode == backwards.returncode == 0
    assert forwards.stdout == backwards.stdout


def relation_sum_ignores_key_order(run: Run) -> None:
    """The sum of an object does not depend on the order of its keys."""
    straight = run([*SUM, "corpus/data/numbers.json"])
    permuted = run([*SUM, "corpus/data/permuted.json"])
    assert straight.returncode == permuted.returncode == 0
    assert straight.stdout == permuted.stdout
<%- endif %>
