"""What a wheel holds: everything, inside `musicgen`, and it works away from the checkout."""

from __future__ import annotations

import email
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Where a folder of the checkout lies in the wheel.
PLACES = {"musicgen/": "musicgen/", "ui/": "musicgen/ui/", "data/": "musicgen/data/"}
PLACES["checkpoints/"] = "musicgen/checkpoints/"


def tracked() -> list[str]:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    # Built from tracked files alone, elsewhere: nothing forgotten in the checkout can help.
    copy = tmp_path_factory.mktemp("checkout")
    for name in tracked():
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target, follow_symlinks=False)
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--wheel-dir", str(out), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=out)
    assert done.returncode == 0, done.stdout + done.stderr
    [file] = out.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run(installed: Path, cwd: Path, *args: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, *args], cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_site_packages_get_musicgen_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"musicgen"}


def test_every_tracked_file_travels(wheel):
    inside = set(zipfile.ZipFile(wheel).namelist())
    missing = []
    for name in tracked():
        for folder, place in PLACES.items():
            if name.startswith(folder) and not (ROOT / name).is_symlink():
                packed = place + name[len(folder) :]
                if packed not in inside:
                    missing.append(name)
    assert missing == [], "add them to packages or package-data in pyproject.toml"


def test_no_test_cache_or_build_file_travels(wheel):
    for name in zipfile.ZipFile(wheel).namelist():
        assert "__pycache__" not in name
        assert not name.startswith("musicgen/tests/")
        assert not name.endswith((".pyc", ".orig", ".egg-info"))


def test_the_wheel_is_for_every_machine_and_of_a_decent_size(wheel):
    assert wheel.name.endswith("-py3-none-any.whl")
    assert wheel.stat().st_size < 80_000_000


def test_its_metadata_names_program_licence_and_python(wheel):
    with zipfile.ZipFile(wheel) as archive:
        [metadata_name] = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
        metadata = email.message_from_bytes(archive.read(metadata_name))
        points = archive.read(metadata_name.replace("METADATA", "entry_points.txt")).decode()
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata["License-Expression"] == "MIT"
    assert "musicgen = musicgen.__main__:main" in points
    needed = [line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]
    assert any(line.startswith("torch") and "<2.14" in line for line in needed)


def test_it_works_in_another_folder(installed, tmp_path):
    code = (
        "from musicgen.assets import asset_dir\n"
        "import musicgen.ui.launch, musicgen.audio\n"
        "print(*(asset_dir(n) for n in ('ui', 'data', 'checkpoints')), musicgen.ui.launch.__file__)"
    )
    for path in run(installed, tmp_path, "-c", code).split():
        assert Path(path).is_relative_to(installed / "musicgen")
    piece = installed / "musicgen" / "data" / "starter" / "04_lullaby.mid"
    [line] = run(installed, tmp_path, "-m", "musicgen", "info", str(piece), "--json").splitlines()
    assert json.loads(line)["notes"] == 109


def test_its_starter_script_works_where_it_lies(installed, tmp_path):
    script = installed / "musicgen" / "data" / "compose_starter.py"
    run(installed, tmp_path, str(script), str(tmp_path / "out"))
    assert len(list((tmp_path / "out").glob("*.mid"))) == 24


def test_a_checkout_imports_the_app_as_the_wheel_does(tmp_path):
    code = "import musicgen.ui.launch as launch; print(launch.__file__)"
    found = Path(run(ROOT, tmp_path, "-c", code).strip()).resolve()
    assert found == ROOT / "ui" / "launch.py"
