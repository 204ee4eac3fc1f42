"""A packet as one HTML file for humans: no script, no request, nothing of the packet unescaped.

It shows ids and outputs: it stays on the replay host (design, section 11).
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Sequence

from ..core.history import Past
from ..core.packet import Packet, Reason
from ..core.policy import RULES, verdict_line
from .visible import visible

#: More rows or lines than these are left to the packet.
_MOST_SUBJECTS, _MOST_DIFFS, _MOST_LINES = 50, 40, 200

_STYLE = """\
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--quiet:#57606a;--line:#d0d7de;--field:#f6f8fa;
--eligible:#116329;--block:#a40e26;--hold:#7d4e00;--inspect:#0550ae;--none:#57606a;--added:#dafbe1;--gone:#ffebe9}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--paper:#0d1117;--quiet:#9198a1;--line:#3d444d;
--field:#161b22;--eligible:#56d364;--block:#ff7b72;--hold:#e3b341;--inspect:#79c0ff;--none:#9198a1;
--added:#12361f;--gone:#4a1a1d}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:1rem;font:1rem/1.5 system-ui,sans-serif;color:var(--ink);
background:var(--paper);overflow-wrap:anywhere}
h1{font-size:1.6rem;margin:.5rem 0}
h2{font-size:1.2rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line)}
h3{font-size:1rem;margin:1rem 0 .25rem}
p,ul{margin:.25rem 0}
.quiet{color:var(--quiet)}
.eligible{color:var(--eligible)}.block{color:var(--block)}.hold{color:var(--hold)}
.inspect{color:var(--inspect)}.none{color:var(--none)}
code,pre{font:.875rem/1.4 ui-monospace,monospace}
pre{background:var(--field);border:1px solid var(--line);border-radius:.375rem;padding:.5rem;margin:.25rem 0;
white-space:pre-wrap}
ins,del{display:block;text-decoration:none}
ins{background:var(--added)}
del{background:var(--gone)}
dl{display:grid;grid-template-columns:minmax(6rem,max-content) 1fr;gap:.125rem 1rem;margin:.5rem 0}
dt{color:var(--quiet)}
dd{margin:0}
"""


def render(packet: Packet, history: Sequence[Past] = ()) -> str:
    """The report as a whole document; `history` are the statements of the base."""
    parts = [
        _head(packet), _reasons(packet), _lanes(packet), _diffs(packet), _counterexamples(packet),
        _approvals(packet), _history(history), _changes(packet), _unreached(packet),
    ]  # fmt: skip
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Replay gate: {_text(packet.verdict)}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>\n"
        f"<main>\n{''.join(parts)}</main>\n</body>\n</html>\n"
    )


def _text(value: object) -> str:
    return html.escape(visible(str(value)))


def _code(value: object) -> str:
    return f"<code>{_text(value)}</code>"


def _section(title: str, body: str) -> str:
    return f"<section>\n<h2>{_text(title)}</h2>\n{body}</section>\n" if body else ""


def _list(items: Iterable[str]) -> str:
    lines = "".join(f"<li>{item}</li>\n" for item in items)
    return f"<ul>\n{lines}</ul>\n" if lines else ""


def _terms(pairs: Iterable[tuple[str, str]]) -> str:
    return f"<dl>\n{''.join(f'<dt>{_text(name)}</dt><dd>{body}</dd>' for name, body in pairs)}\n</dl>\n"


def _head(packet: Packet) -> str:
    facts = [
        ("base", f"{_code(packet.parent_sha[:12])} ({_text(packet.base_from)})"),
        ("change", _code(packet.change_id[:16])),
        ("judged", _text(packet.inputs.get("evaluated_on", ""))),
        ("trust", _text(packet.trust)),
        ("workspace", "audited" if packet.workspace.verified else "<strong>UNVERIFIED</strong>"),
        ("sandbox", _text(", ".join(dict.fromkeys((packet.sandbox.mode, *packet.sandbox.layers))))),
    ]
    title = f'<h1>Replay gate: <span class="{_text(packet.verdict)}">{_text(packet.verdict)}</span></h1>\n'
    return f'<header>\n{title}<p class="quiet">{_text(verdict_line(packet))}</p>\n{_terms(facts)}</header>\n'


def _reasons(packet: Packet) -> str:
    by_rule: dict[str, list[Reason]] = {}
    for reason in packet.reasons:
        by_rule.setdefault(reason.rule, []).append(reason)
    body = ""
    for rule, found in by_rule.items():
        outcome = _text(found[0].outcome)
        subjects = [
            f"{_code(reason.subject)}{f': {_text(reason.detail)}' if reason.detail else ''}"
            for reason in found[:_MOST_SUBJECTS]
        ]
        subjects += (
            [f"{len(found) - _MOST_SUBJECTS} more, see the packet"] if len(found) > _MOST_SUBJECTS else []
        )
        meaning = f"{_text(RULES[rule].meaning)}. " if rule in RULES else ""
        body += f'<h3><span class="{outcome}">{outcome}</span> {_code(rule)} &times; {len(found)}</h3>\n'
        body += f"<p>{meaning}<strong>{_text(found[0].next_step)}</strong></p>\n{_list(subjects)}"
    nothing = "<p>No rule was broken: the change may be reviewed; whether it is wanted, a human says.</p>\n"
    return _section("Reasons", body or nothing)


def _lanes(packet: Packet) -> str:
    states = Counter(row.status for row in packet.replay)
    rows = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    pairs = []
    for name, lane in sorted(packet.lanes.items()):
        said = f"{lane.state}{', required' if lane.required else ''}"
        pairs.append((name, _text(f"{said}: {rows}" if name == "replay" and rows else said)))
    return _section("Lanes", _terms(pairs))


def _diffs(packet: Packet) -> str:
    changed = [row for row in packet.replay if row.diff]
    body = ""
    for row in changed[:_MOST_DIFFS]:
        lines = "".join(map(_diff_line, row.diff[:_MOST_LINES]))
        more = len(row.diff) - _MOST_LINES
        lines += f"… {more} more line(s), see the packet\n" if more > 0 else ""
        body += f"<h3>{_code(row.id)} {_text(row.status)}</h3>\n<pre>{lines}</pre>\n"
    if len(changed) > _MOST_DIFFS:
        body += f"<p>{len(changed) - _MOST_DIFFS} more, see the packet.</p>\n"
    return _section("What the rows give now: base (-) against change (+)", body)


def _diff_line(line: str) -> str:
    for sign, tag in (("+", "ins"), ("-", "del")):
        if line.startswith(sign) and not line.startswith(sign * 3):
            return f"<{tag}>{_text(line)}</{tag}>"
    return f"{_text(line)}\n"


def _counterexamples(packet: Packet) -> str:
    failed = [item for item in packet.properties if item.failed_fixtures or item.counterexample]
    lines = [
        f"{_code(item.id)} rejects {_text(', '.join(item.failed_fixtures))}"
        + (f"; shrunk: {_code(item.counterexample)}" if item.counterexample else "")
        for item in failed
    ]
    broken = [item for item in packet.relations if item.status == "broken"]
    lines += [f"{_code(item.id)} is broken: {_text(item.note)}" for item in broken]
    return _section("Counterexamples", _list(lines))


def _approvals(packet: Packet) -> str:
    lines = [
        f"{_code(fact.id)} {_text(fact.kind)} "
        + (
            f"by {_text(fact.signer)}: {_text(fact.note)}"
            if fact.valid
            else f"refused: {_text(fact.complaint)}"
        )
        for fact in packet.approvals
    ]
    return _section("Statements by humans", _list(lines))


def _history(history: Sequence[Past]) -> str:
    lines = [
        f"{_text(past.day or 'before')} {_code(past.name)} {_text(past.text)}"
        for past in history[:_MOST_SUBJECTS]
    ]
    more = len(history) - _MOST_SUBJECTS
    lines += [f"{more} more, see `report --history`"] if more > 0 else []
    return _section("What humans have let through before", _list(lines))


def _changes(packet: Packet) -> str:
    lines = [f"{_text(change.status)} {_code(change.path)}" for change in packet.changes[:_MOST_SUBJECTS]]
    more = len(packet.changes) - _MOST_SUBJECTS
    return _section("Changed paths", _list([*lines, *([f"{more} more, see the packet"] if more > 0 else [])]))


def _unreached(packet: Packet) -> str:
    """What the verdict does not speak about, as far as the packet knows."""
    not_run = [row.id for row in packet.replay if row.status == "not_run"]
    lines = [
        f"lane {_code(name)}: {_text(lane.state)}"
        for name, lane in sorted(packet.lanes.items())
        if lane.state != "ran"
    ]
    lines += [f"{len(not_run)} row(s) not run: {', '.join(map(_code, not_run[:10]))}"] if not_run else []
    lines.append(
        "Behaviour that none of the pinned inputs reaches: the packet does not know how much that is."
    )
    return _section("What no row reaches", _list(lines))
