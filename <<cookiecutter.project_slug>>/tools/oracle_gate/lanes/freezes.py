"""The freezes lane: does each frozen test have an owner, time left and a commit that justified it (article B)."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterable

from ..core.freeze_ledger import Frozen, resolve_test_id
from ..core.packet import Freeze

#: Whether a commit is an ancestor of the base; None when a shallow clone cannot tell.
IsAncestor = Callable[[str], bool | None]


def freezes(
    ledger: Iterable[Frozen], moment: datetime.datetime, is_ancestor: IsAncestor
) -> tuple[Freeze, ...]:
    """A row for every entry, as of a UTC moment."""
    rows = []
    for entry in ledger:
        ancestor = is_ancestor(entry.parent_sha)
        rows.append(
            Freeze(
                test_id=entry.test_id,
                has_owner=bool(entry.owner.strip()),
                expired=entry.expired(moment),
                parent_sha_present=ancestor is True,
                parent_unknown=ancestor is None,
            )
        )
    return tuple(rows)


def frozen_ids(rows: Iterable[Freeze], node_ids: Collection[str]) -> frozenset[str]:
    """The node ids of all valid freezes: their failures do not count as public failures.

    Raises GateError for an id that means several tests.
    """
    valid = (row for row in rows if row.has_owner and row.parent_sha_present and not row.expired)
    return frozenset(node for row in valid for node in resolve_test_id(row.test_id, node_ids))
