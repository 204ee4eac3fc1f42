"""In what a test of the patch is weaker than the same test of the base (design, section 12)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from .inventory import Inventory, Test, function_id, ids_of, stands

#: What a comparison lets through that names no tolerance.
_DEFAULTS = {
    "rel": 1e-6,
    "abs": 1e-12,
    "rel_tol": 1e-9,
    "rtol": 1e-7,
    "places": -7,
    "decimal": -6,
    "in": float("inf"),
}


@dataclass(frozen=True)
class Weakness:
    """`skipped`: may not run; `weaker`: asserts less; `altered`: something may silence it, but need not."""

    kind: Literal["skipped", "weaker", "altered"]
    text: str


def weaknesses(base: Test, after: Test) -> Iterator[Weakness]:
    """What was found; nothing when the test was only rewritten."""
    for mark in sorted(after.marks.keys() - base.marks.keys()):
        skips = after.marks[mark]
        yield Weakness(
            "skipped" if skips else "weaker", f"has a new {'skip' if skips else 'mark'}: {mark[:80]}"
        )
    for name, count in sorted(after.checks.leaving.items()):
        if count > base.checks.leaving[name]:
            yield Weakness("skipped", f"may leave by {name}")
    yield from _assertions(base, after)
    if after.number_of_cases < base.number_of_cases:
        yield Weakness("weaker", f"has {after.number_of_cases} cases instead of {base.number_of_cases}")
    yield from (Weakness("altered", text) for text in _altered(base, after))


def _altered(base: Test, after: Test) -> Iterator[str]:
    if after.parameters < base.parameters:
        yield "has fewer parameters"
    if after.guards - base.guards:
        yield "is defined under a new condition"
    if after.checks.replacing > base.checks.replacing:
        yield "may replace what it tests"
    for package in sorted(base.checks.uses - after.checks.uses):
        yield f"no longer uses {package}"
    for what in sorted(after.surroundings):
        if after.surroundings[what] > base.surroundings.get(what, 0):
            yield f"may be changed from outside: {what[:80]}"


def _assertions(base: Test, after: Test) -> Iterator[Weakness]:
    before, now = base.checks, after.checks
    if after.lazy and not base.lazy:
        yield Weakness("weaker", "is a coroutine or generator now")
    if not _covers(now.possible, before.possible):
        yield Weakness("weaker", f"asserts less: {_told(before.possible)} -> {_told(now.possible)}")
    elif before.certain.total() and not now.certain.total():
        yield Weakness("weaker", "no assertion is certain to run")
    elif not _covers(now.certain, before.certain):
        yield Weakness("altered", "an assertion is no longer certain to run")
    gone = before.values.keys() - now.values.keys()
    if gone:
        yield Weakness("weaker", f"no longer compares with {min(gone)[:80]}")
    elif sum(now.values[value] for value in before.values) < before.values.total():
        yield Weakness("weaker", f"compares less often with {min(before.values - now.values)[:80]}")
    if before.calls and not now.calls:
        yield Weakness("weaker", "calls nothing any more")
    for kind in sorted({kind for kind, _ in now.tolerances}):
        widest, allowed = _values(now.tolerances, kind), _values(before.tolerances, kind)
        allowed += [_DEFAULTS.get(kind, 0.0)] * len(widest)
        if any(new > old for new, old in zip(widest, allowed, strict=False)):
            yield Weakness("weaker", f"accepts more by {kind}")


def _covers(now: Counter[int], before: Counter[int]) -> bool:
    """Whether for each strength there are as many assertions of at least that strength as before."""
    levels = range(1, 5)
    return all(
        sum(now[high] for high in levels if high >= level)
        >= sum(before[high] for high in levels if high >= level)
        for level in levels
    )


def _values(tolerances: Counter[tuple[str, float]], kind: str) -> list[float]:
    return sorted((value for (name, value) in tolerances.elements() if name == kind), reverse=True)


def _told(assertions: Counter[int]) -> str:
    return f"{assertions.total()} of strength {max((s for s, n in assertions.items() if n), default=0)}"


@dataclass(frozen=True)
class Sides:
    """Both inventories of base and patch: what the judge read, and what was collected.

    `base_listed` are the ids collected on the base, None when nothing could be; `patch_listed` those on
    the patch, once for each configuration; `skipped` are ids that only the patch's own run skipped.
    """

    base: Inventory
    patch: Inventory
    base_listed: frozenset[str] | None = None
    patch_listed: tuple[frozenset[str] | None, ...] = ()
    skipped: frozenset[str] = frozenset()

    @property
    def base_ids(self) -> set[str]:
        """Every id of the base."""
        return _ids(self.base, self.base_listed)

    @property
    def patch_ids(self) -> set[str]:
        """Every id of the patch."""
        return _ids(self.patch, *self.patch_listed)

    def is_gone(self, id: str) -> bool:
        """Whether one inventory has an id on the base and not on the patch."""
        test = self.base.get(id)
        if test and test.cases is None:  # it stands for cases that cannot be told
            read = id not in self.patch
        else:
            read = stands(id, self.base) and not stands(id, self.patch)
        collected = id in (self.base_listed or ())
        return read or (collected and any(listed is None or id not in listed for listed in self.patch_listed))

    def weaker(self, id: str) -> list[Weakness]:
        """In what a test (an id without its case) is weaker; nothing for one that cannot be read."""
        known = id in self.base and id in self.patch
        return list(weaknesses(self.base[id], self.patch[id])) if known else []


def _ids(tests: Inventory, *lists: frozenset[str] | None) -> set[str]:
    """All ids, without those that stand for cases which were collected."""
    collected = {id for listed in lists for id in listed or ()}
    cased = {function_id(id) for id in collected if "[" in id}
    return collected | (ids_of(tests) - cased)
