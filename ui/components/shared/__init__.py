"""Scripts and styles that several components have in common; a component reads what it needs."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).resolve().parent


def shared(*names: str) -> str:
    """Return files of this folder, joined in that order."""
    return "\n".join((_HERE / name).read_text(encoding="utf-8") for name in names)
