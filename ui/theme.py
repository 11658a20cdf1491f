"""How the app looks: the colours of both themes, and rules that Streamlit has no option for."""

from __future__ import annotations

import json
from typing import Final

from musicgen.ui import strings

LIGHT: Final = {
    "primaryColor": "#0f6f69",
    "backgroundColor": "#fbfaf7",
    "secondaryBackgroundColor": "#f1eee8",
    "textColor": "#1d1b17",
    "borderColor": "#ddd8cd",
    "linkColor": "#0f6f69",
}
DARK: Final = {
    "primaryColor": "#14857d",
    "backgroundColor": "#141311",
    "secondaryBackgroundColor": "#211f1b",
    "textColor": "#f1ede4",
    "borderColor": "#3a3731",
    "linkColor": "#5cc9c0",
}
SHARED: Final = {"baseRadius": "10px", "buttonRadius": "10px", "showWidgetBorder": True}

CSS: Final = """
<style>
.stMainBlockContainer { padding-top: 2.2rem; padding-bottom: 3rem; max-width: 1500px; }
.st-key-head { flex-flow: row wrap; align-items: baseline; gap: .2rem 1.1rem; }
.st-key-head > * { width: auto; }
.st-key-head h1 { padding: 0; font-size: 2rem; letter-spacing: -.02em; }
.st-key-head p { opacity: .78; margin: 0; }
.st-key-head [data-testid="stMarkdownContainer"] { margin: 0; }
/* The primary colour carries white text; as text on a dark page it has too little contrast. */
.stMain .stButtonGroup [aria-checked="true"],
.stMain [data-testid="stSliderThumbValue"] { color: inherit; }
.stMain :focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
/* Streamlit keeps the sentence on a file too large for screen readers alone. */
.stFileChip[aria-invalid="true"] { flex-wrap: wrap; height: auto; }
.stFileChip[aria-invalid="true"] [role="alert"] {
  position: static; clip: auto; clip-path: none; width: 100%; height: auto; margin: 0;
  white-space: normal; overflow: visible; font-size: .85rem;
}
.st-key-below .stCaptionContainer p, .st-key-settings .stCaptionContainer p { margin: 0; }
/* The roll marks the dialog that tells of a server that is gone. */
.stDialog[data-gone] h2 + div > * { display: none; }
.stDialog[data-gone] h2 + div::after { content: SERVER_GONE; }
@media (max-width: 640px) {
  .stMainBlockContainer { padding: 1rem .9rem 2rem; }
}
@media (prefers-reduced-motion: reduce) {
  .stMain * { animation: none !important; transition: none !important; }
}
</style>
""".replace("SERVER_GONE", json.dumps(strings.ROLL["lost"]))


def options() -> dict[str, object]:
    """Return the theme as Streamlit's configuration options."""
    found: dict[str, object] = {f"theme.{name}": value for name, value in SHARED.items()}
    for mode, colours in (("light", LIGHT), ("dark", DARK)):
        found.update({f"theme.{mode}.{name}": value for name, value in colours.items()})
    return found
