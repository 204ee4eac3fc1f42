"""An armed sample repository, made once a run and copied for each test."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.gate import Gate, armed_repository, copy_repository
from support.quick import armed_quick


@pytest.fixture(scope="session")
def armed_source(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    root = tmp_path_factory.getbasetemp()
    shared = root if worker_id == "master" else root.parent
    return armed_repository(shared / "armed")


@pytest.fixture
def gate(armed_source: Path, tmp_path: Path) -> Gate:
    """A repository of its own whose oracle is armed."""
    return copy_repository(armed_source, tmp_path / "repository")


@pytest.fixture(scope="session")
def quick_source(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    root = tmp_path_factory.getbasetemp()
    return armed_quick((root if worker_id == "master" else root.parent) / "armed-quick")


@pytest.fixture
def quick(quick_source: Path, tmp_path: Path) -> Gate:
    """A repository of its own with four quick rows, armed."""
    return copy_repository(quick_source, tmp_path / "repository")
