"""The identities lane: every test of the base, by exact id, is there and asserts no less (design, section 12)."""

from __future__ import annotations

from collections.abc import Collection

from ..core.inventory import function_id
from ..core.inventory_weaker import Sides
from ..core.packet import Tests


def identities(sides: Sides, apart: Collection[str] = (), problem: str = "") -> Tests:
    """`apart` are quarantined tests, which have a lane of their own; `problem` is handed on."""

    def ordinary(ids: Collection[str]) -> list[str]:
        return sorted(id for id in ids if not {id, function_id(id)} & set(apart))

    lost = tuple(id for id in ordinary(sides.base_ids) if sides.is_gone(id))
    added = tuple(ordinary(sides.patch_ids - sides.base_ids))
    skipped = dict.fromkeys(ordinary(sides.skipped), "in the patch's own run")
    weakened = {}
    for id in ordinary(sides.base.keys()):
        found = [weakness for weakness in sides.weaker(id) if weakness.kind != "altered"]
        text = "; ".join(weakness.text for weakness in found[:3])
        if any(weakness.kind == "skipped" for weakness in found):
            skipped = {other: why for other, why in skipped.items() if function_id(other) != id} | {id: text}
        elif found:
            weakened[id] = text
    listed_before, listed_now = bool(sides.base_listed), all(sides.patch_listed)
    return Tests(
        lost=lost,
        newly_skipped=tuple(sorted(skipped)),
        weakened=tuple(weakened),
        added=added,
        details=skipped | weakened,
        vanished=(listed_before and not listed_now) or (bool(sides.base) and not sides.patch),
        problem=problem,
    )
