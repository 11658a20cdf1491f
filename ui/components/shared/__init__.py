"""Scripts and styles that several components have in common; a component reads what it needs."""

from __future__ import annotations

from pathlib import Path

from musicgen.figures import DARK, LIGHT, css

_HERE = Path(__file__).resolve().parent


def shared(*names: str) -> str:
    """Return files of this folder, joined in that order."""
    return "\n".join((_HERE / name).read_text(encoding="utf-8") for name in names)


def accent(root: str) -> str:
    """Return the style of `--new`, the colour of new music, as the library's pictures have it.

    Args:
        root: Selects the component's outermost element, which knows whether its page is dark.
    """
    light, dark = f"{root} {{ --new: {css(LIGHT.new)}; }}", f"--new: {css(DARK.new)};"
    return f"{light}\n{root}[data-dark] {{ {dark} }}"
