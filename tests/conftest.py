"""Fixtures for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.baking import bake, copy_template


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The template baked with its defaults; shared, so read it only."""
    return bake(tmp_path_factory.mktemp("bake"))


@pytest.fixture
def template(tmp_path: Path) -> Path:
    """A clean copy of the template that a test may change."""
    return copy_template(tmp_path / "template")
