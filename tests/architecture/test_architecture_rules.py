"""The house's rules, read from the source: layers, sizes, no assert, no print, no blind except."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
MAX_LINES = 400
FORBIDDEN_NAMES = {"utils.py", "common.py", "helpers.py"}


def sources(*folders: str) -> list[Path]:
    return sorted(
        file
        for folder in folders
        for file in (ROOT / folder).rglob("*.py")
        if (ROOT / "musicgen" / "ui") not in file.parents  # a link to ui/
    )


LIBRARY = sources("musicgen", "ui")
EVERYTHING = sources("musicgen", "ui", "data", "docs", "benchmarks", "tests")


def of(files: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("file", files, ids=lambda f: str(f.relative_to(ROOT)))


def test_the_layers_hold():
    program = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    assert program, "import-linter is not installed: pip install '.[dev]'"
    done = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_layers_are_checked_for_the_app_too():
    # The app is part of the package only through the link musicgen/ui -> ui.
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(c for c in contracts if c["type"] == "layers")["layers"]
    named = {room for layer in layers for room in layer.split(" | ")}
    rooms = {
        f"musicgen.{path.stem}"
        for path in (ROOT / "musicgen").iterdir()
        if (path / "__init__.py").exists() or (path.suffix == ".py" and path.stem[0] != "_")
    }
    assert named == rooms
    assert (ROOT / "musicgen" / "ui").resolve() == (ROOT / "ui").resolve()


@of(EVERYTHING)
def test_a_file_is_not_too_long(file):
    lines = len(file.read_text(encoding="utf-8").splitlines())
    if "tests" in file.parts:
        return
    assert lines <= MAX_LINES, f"{lines} lines; would one know its room?"


@of(LIBRARY)
def test_the_library_asserts_prints_and_swallows_nothing(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        where = f"{file.name}:{getattr(node, 'lineno', 0)}"
        assert not isinstance(node, ast.Assert), where
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("print", "eval", "exec"), where
        if isinstance(node, ast.ExceptHandler):
            # A broad except that hands the error on needs a reasoned noqa for ruff; this one is for
            # what no reason excuses.
            idle = all(isinstance(inner, (ast.Pass, ast.Continue)) for inner in node.body)
            broad = node.type is None or ast.unparse(node.type) in ("Exception", "BaseException")
            assert not (broad and idle), f"{where} swallows anything"
        if isinstance(node, ast.Global):
            raise AssertionError(f"{where}: a changing global")


@of(LIBRARY)
def test_names_are_looked_at_in_one_place(file):
    """Guards tracebacks about names that are too long: pathlib's questions raise at them."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
            asked = node.func.attr
            assert asked not in ("exists", "is_file", "is_dir"), (
                f"{file.name}:{node.lineno}: ask musicgen.files instead of .{asked}()"
            )


@of(EVERYTHING)
def test_nothing_is_unfinished_or_nameless(file):
    assert file.name not in FORBIDDEN_NAMES
    text = file.read_text(encoding="utf-8")
    marks = re.findall(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b|Not" r"ImplementedError", text)
    assert not marks
    if file.name != "__init__.py" or text.strip():
        assert ast.get_docstring(ast.parse(text)), "a file says at its head what it is"


def test_no_path_of_a_machine_is_tracked():
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    found = subprocess.run(
        ["git", "grep", "-nIE", r"(^|[^A-Za-z0-9_./])/(work|farm|home/[a-z]+|Users)/[A-Za-z.]"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    ).stdout
    assert found == ""


IMPORT_RULES = {
    "musicgen": ("torch", "numpy", "symusic", "miditok", "streamlit", "pydantic"),
    "musicgen.errors": ("numpy",),
    "musicgen.midi": ("torch", "miditok", "pretty_midi", "streamlit"),
    # Decoding events needs neither miditok's import nor torch's.
    "musicgen.tokens": ("torch", "miditok", "streamlit"),
    "musicgen.figures": ("torch", "symusic", "streamlit"),
    "musicgen.audio": ("torch", "miditok", "streamlit"),
    "musicgen.model": ("symusic", "miditok", "streamlit"),
    "musicgen.engine": ("numba", "llvmlite", "symusic", "miditok", "streamlit"),
    "musicgen.generation": ("numba", "llvmlite", "streamlit"),
    "musicgen.pipeline.music": ("numba", "llvmlite", "streamlit"),
    "musicgen.evaluation": ("torch", "miditok", "streamlit"),
    "musicgen.inspection": ("torch", "miditok", "streamlit"),
    "musicgen.pipeline": ("torch", "miditok", "streamlit"),
    # The page is there a second before torch is, which is imported behind it.
    "musicgen.ui.resources": ("torch", "numba", "miditok"),
}


@pytest.mark.parametrize("room", IMPORT_RULES)
def test_a_room_imports_nothing_heavy_that_is_not_its_own(room):
    code = f"import sys, {room}; print([m for m in {IMPORT_RULES[room]} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stdout + done.stderr


def test_importing_has_no_side_effect(tmp_path):
    code = (
        "import logging, os, random, signal, warnings\n"
        "before = (dict(os.environ), random.getstate(), logging.root.handlers[:],"
        " signal.getsignal(signal.SIGINT), warnings.filters[:])\n"
        "import musicgen, musicgen.cli.app\n"
        "after = (dict(os.environ), random.getstate(), logging.root.handlers[:],"
        " signal.getsignal(signal.SIGINT), warnings.filters[:])\n"
        "print(before == after, os.listdir('.'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert done.stdout == "True []\n"
    assert done.stderr == ""
