"""sealed/freeze.json: tests whose failures do not count for a while, each with an owner (article B)."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from .decode import decode_json, line_of
from .errors import GateError
from .inventory import function_id

WHERE = "sealed/freeze.json"


@dataclass(frozen=True)
class Frozen:
    """An entry as it is written; what is blank is for the policy to judge. `max_runs_seen_flaky` informs."""

    test_id: str
    reason: str = ""
    owner: str = ""
    expires_utc: str = ""
    parent_sha: str = ""
    max_runs_seen_flaky: int = 0

    def expired(self, moment: datetime.datetime) -> bool:
        """Whether the freeze is over at a UTC moment; one without an expiry never began."""
        return not self.expires_utc or _moment(self.expires_utc) <= moment


@dataclass(frozen=True)
class Ledger:
    """sealed/freeze.json as a whole."""

    schema: Literal["freeze-ledger-v1"]
    entries: tuple[Frozen, ...] = ()


def parse_freezes(data: bytes, where: str = WHERE) -> tuple[Frozen, ...]:
    """Reads the ledger; raises GateError with file and line."""
    entries = decode_json(Ledger, data, where).entries
    seen = set()
    for entry in entries:
        complaint = ""
        if not entry.test_id.strip() or not entry.test_id.isprintable():
            complaint = "is no test id"
        elif entry.test_id in seen:
            complaint = "is a duplicate test id"
        elif entry.expires_utc and not _is_moment(entry.expires_utc):
            complaint = f"expires at {entry.expires_utc!r}, not a moment such as 2026-09-28T00:00:00Z"
        if complaint:
            line = line_of(data.decode(), entry.test_id)
            raise GateError(
                f"{entry.test_id!r} {complaint}", where=f"{where}:{line}", todo="correct the entry"
            )
        seen.add(entry.test_id)
    return entries


def _moment(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text.removesuffix("Z") + "+00:00")


def _is_moment(text: str) -> bool:
    try:
        return bool(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z", text, re.A) and _moment(text))
    except ValueError:
        return False


def resolve_test_id(test_id: str, node_ids: Iterable[str]) -> tuple[str, ...]:
    """The node ids of the one test function that an id means, all its parameter sets; none if there is none.

    An id with `::` is a node id. A dotted one (article B: `public.test_network_retry`) names the function
    and, before it, any of its folders, module and classes in their order, always whole components. Raises
    GateError when it fits several functions.
    """
    matches = tuple(node for node in node_ids if _fits(test_id, node))
    functions = sorted({function_id(node) for node in matches})
    if len(functions) > 1:
        what = f"{test_id!r} means {functions[0]} and {functions[1]}"
        raise GateError(what, where=WHERE, todo="write the whole node id")
    return matches


def _fits(test_id: str, node: str) -> bool:
    if "::" in test_id:
        return test_id in (node, function_id(node))
    path, _, names = function_id(node).partition("::")
    *outer, function = [*path.removesuffix(".py").split("/"), *names.split("::")]
    *wanted, last = test_id.split(".")
    remaining = iter(outer)
    return last == function and all(name in remaining for name in wanted)
