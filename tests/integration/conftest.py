"""What the tests of training share: some music, and a run of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from musicgen.assets import asset_dir
from musicgen.training import train
from runs import RECIPE


@pytest.fixture(scope="session")
def music(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("music")
    for path in sorted((asset_dir("data") / "starter").glob("*.mid"))[:6]:
        shutil.copy(path, root)
    return root


@pytest.fixture(scope="session")
def unbroken(music: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "unbroken"
    list(train(music, run, RECIPE, device="cpu"))
    return run
