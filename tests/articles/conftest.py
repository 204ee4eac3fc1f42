"""An armed sample repository with a quarantined test, made once a run and copied for each test."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.gate import Gate, armed_repository, copy_repository
from support.quarantined import quarantine


@pytest.fixture(scope="session")
def armed(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    root = tmp_path_factory.getbasetemp()
    return armed_repository((root if worker_id == "master" else root.parent) / "armed")


@pytest.fixture(scope="session")
def quarantined(armed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return quarantine(copy_repository(armed, tmp_path_factory.mktemp("quarantined") / "repository")).root


@pytest.fixture
def gate(quarantined: Path, tmp_path: Path) -> Gate:
    """A repository of its own."""
    return copy_repository(quarantined, tmp_path / "repository")
