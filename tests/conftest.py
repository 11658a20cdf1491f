"""What all tests share: where foreign music lies, and what is left out without it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

# Before torch is imported anywhere: on a small machine idle threads wait by spinning, and tests
# that run beside each other starve.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {
    "MUSICGEN_CORPORA": "tests on real corpora",
    "MUSICGEN_MIDI_CASES": "tests on hostile MIDI files",
    "MUSICGEN_WILD_MIDI": "tests on wild MIDI files",
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def _folder(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(value) if value and Path(value).is_dir() else None


def _browser() -> str | None:
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def pytest_report_header() -> list[str]:
    """Say at the top what will be skipped and how to change that."""
    lines = [
        f"{what}: {_folder(variable) or f'skipped, set {variable} to their folder'}"
        for variable, what in FOLDERS.items()
    ]
    lines.append(f"browser tests: {_browser() or 'skipped, no Chromium on the PATH'}")
    return lines


def _needed(variable: str) -> Path:
    folder = _folder(variable)
    if folder is None:
        pytest.skip(f"{variable} names no folder")
    return folder


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the checkout's root."""
    return ROOT


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Return the folder of real MIDI corpora, or skip."""
    return _needed("MUSICGEN_CORPORA")


@pytest.fixture(scope="session")
def midi_cases() -> Path:
    """Return the folder of hostile MIDI files and their manifest, or skip."""
    return _needed("MUSICGEN_MIDI_CASES")


@pytest.fixture(scope="session")
def wild_midi() -> Path:
    """Return the folder of wild MIDI files, or skip."""
    return _needed("MUSICGEN_WILD_MIDI")


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the browser's program; without one skip, or fail where it is required."""
    browser = _browser()
    if browser is None:
        if os.environ.get("MUSICGEN_REQUIRE_BROWSER") == "1":
            pytest.fail("MUSICGEN_REQUIRE_BROWSER is set, but there is no Chromium on the PATH")
        pytest.skip("no Chromium on the PATH")
    return browser


@pytest.fixture(scope="session")
def starter(root: Path) -> Path:
    """Return the folder of starter pieces."""
    return root / "data" / "starter"
