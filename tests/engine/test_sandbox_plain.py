"""The plain layer: everything is where it is, and nothing is kept from a program."""

from __future__ import annotations

from pathlib import Path

from oracle_gate.sandbox.layer import Inside, Launch, Visible
from oracle_gate.sandbox.plain import Plain
from support.pools import pool_on, run, shell


def test_paths_inside_are_those_outside() -> None:
    visible = Visible(Path("/t"), Path("/s"), Path("/c"), (Path("/usr"),))
    assert Plain().launch(visible) == Launch(Inside("/t", "/s", "/c"))


def test_it_says_that_it_protects_nothing() -> None:
    assert (Plain().name, Plain().protects_tree) == ("plain", False)


def test_a_program_sees_what_is_outside(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("outside\n")
    with pool_on() as pool:
        assert run(pool, shell(f"cat {tmp_path}/file"))[0].stdout == b"outside\n"
