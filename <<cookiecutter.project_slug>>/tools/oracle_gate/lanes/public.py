"""The public lane: the base's own tests over the patched sources, then the patch's (design, section 12).

Patched code runs in that process, so a green run proves nothing: the lane can only lower a verdict.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ..core.inventory import function_id
from ..core.packet import Public, PublicRun
from ..runner.public_tests import TestRun


def public(base: TestRun, base_tests: TestRun, own_tests: TestRun, apart: Collection[str] = ()) -> Public:
    """`base` is the base's tests on the base: what is not green there does not count.

    A skip counts against the patch in the base's tests; in its own the identities lane speaks of skips.
    """
    if base.problem:
        return Public(problem=base.problem)
    green = {id for id in base.ids or () if base.outcomes.get(id) == "passed"}
    red = (set(base.ids or ()) | base.outcomes.keys()) - green
    own = [*(own_tests.ids or ()), *own_tests.outcomes.keys() - set(own_tests.ids or ())]
    return Public(
        green_on_base=len(green),
        base_tests=_judged(base_tests, green, ("passed",), apart),
        own_tests=_judged(own_tests, (id for id in own if id not in red), ("passed", "skipped"), apart),
    )


def _judged(
    run: TestRun, expected: Iterable[str], good: tuple[str, ...], apart: Collection[str]
) -> PublicRun:
    if run.problem:
        return PublicRun(problem=run.problem)
    ended = {id: run.outcomes.get(id, "not reported") for id in sorted(expected)}
    bad = {id: how for id, how in ended.items() if how not in good}
    separate = {id for id in bad if {id, function_id(id)} & set(apart)}
    failed = {id: how for id, how in bad.items() if id not in separate}
    passed = sum(how == "passed" for how in ended.values())
    return PublicRun(passed, tuple(failed), failed, tuple(sorted(separate)))
