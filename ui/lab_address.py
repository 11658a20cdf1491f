"""What the attention lab shows, in the page's address; read as strictly as what *Create* has there.

A reload finds the sentence or the bar of music again, and a link shows others the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from musicgen.ui import lab_strings as strings
from musicgen.ui.address import MAX_SEED, Setting, Value, number_text, taken

MOST_CHARACTERS: Final = 80
WIDTHS: Final = (8, 16, 32, 64, 128, 256)
HEADS: Final = (1, 2, 4, 8)
EVENTS: Final = (3, 10)
_LATEST_S: Final = 24 * 3600
_LATEST_EVENT: Final = 9_999_999
_MOST: Final = 999  # layers and heads: what a model has less of, the page brings down
DEFAULTS: Final[dict[str, Any]] = {
    "lab_kind": "sentence",
    "lab_sentence": strings.DEFAULT_SENTENCE,
    "lab_d_model": 16,
    "lab_n_heads": 2,
    "lab_seed": 42,
    "lab_piece": None,
    "lab_from": 0.0,
    "lab_events": 6,
    "lab_reads": None,
    "lab_row": None,
    "lab_column": None,
    "lab_layer": 1,
    "lab_head": 1,
    "lab_mask": True,
    "lab_step": None,
}
"""What the page shows before anybody touches it, by the settings' names on it."""

_NUMBERS: Final = {
    "d_model": Setting(name="lab_d_model", low=WIDTHS[0], high=WIDTHS[-1], whole=True),
    "n_heads": Setting(name="lab_n_heads", low=HEADS[0], high=HEADS[-1], whole=True),
    "weights": Setting(name="lab_seed", low=0, high=MAX_SEED, whole=True),
    "from": Setting(name="lab_from", low=0, high=_LATEST_S, whole=False),
    "events": Setting(name="lab_events", low=EVENTS[0], high=EVENTS[1], whole=True),
    "reads": Setting(name="lab_reads", low=0, high=_LATEST_EVENT, whole=True),
    "row": Setting(name="lab_row", low=0, high=_LATEST_EVENT, whole=True),
    "column": Setting(name="lab_column", low=0, high=_LATEST_EVENT, whole=True),
    "layer": Setting(name="lab_layer", low=1, high=_MOST, whole=True),
    "head": Setting(name="lab_head", low=1, high=_MOST, whole=True),
}
_CHOICES: Final = {"d_model": WIDTHS, "n_heads": HEADS}
_WORDS: Final[dict[str, tuple[str, Mapping[str, Value]]]] = {
    "look": ("lab_kind", {kind: kind for kind in strings.KINDS}),
    "mask": ("lab_mask", {"off": 0}),
    "step": ("lab_step", {step: step for step in strings.STEPS}),
}
_TEXT, _PIECE = "text", "piece"
NAMES: Final = (*_WORDS, _TEXT, _PIECE, *_NUMBERS)
"""What all that is called in the address."""


def read(
    params: Mapping[str, Sequence[str]], piece: Callable[[str], str | None]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the settings that an address asks for, and what of it is not possible here.

    Args:
        params: The address's own parameters, each with all its values.
        piece: Returns the piece that an address names, None for none.

    Returns:
        Every setting by its name on the page, defaults where the address says nothing; and what was
        left out (foreign text, shortened).
    """

    def meant(name: str, text: str) -> Value:
        if name in _WORDS:
            return _WORDS[name][1].get(text)
        if name == _PIECE:
            return piece(text)
        if name == _TEXT:
            shown = "".join(char if char.isprintable() else " " for char in text)
            return " ".join(shown.split())[:MOST_CHARACTERS] or None
        value = _NUMBERS[name].read(text)
        return value if value in _CHOICES.get(name, (value,)) else None

    found, left_out = taken(params, meant)
    settings = dict(DEFAULTS)
    for name, value in found.items():
        settings[_on_page(name)] = value
    settings["lab_mask"] = bool(settings["lab_mask"])
    return settings, left_out


def written(settings: Mapping[str, Any], piece: str | None) -> dict[str, tuple[str, ...]]:
    """Return the parameters that say these settings; defaults are left out.

    Args:
        settings: By their names on the page.
        piece: What an address calls the piece that is looked at; None for nothing.
    """
    said = {name: settings[_on_page(name)] for name in NAMES if name != _PIECE}
    params = {
        name: number_text(float(value)) if name in _NUMBERS else str(value)
        for name, value in said.items()
        if value is not None and value != DEFAULTS[_on_page(name)]
    }
    if "mask" in params:
        params["mask"] = "off"
    if piece is not None and settings["lab_kind"] == "music":
        params[_PIECE] = piece
    return {name: (params[name],) for name in NAMES if params.get(name)}


def _on_page(name: str) -> str:
    if name in _WORDS:
        return _WORDS[name][0]
    return {_TEXT: "lab_sentence", _PIECE: "lab_piece"}.get(name) or _NUMBERS[name].name
