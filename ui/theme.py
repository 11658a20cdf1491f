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
    # Streamlit says things in blue boxes: ours have the accent's colour.
    "blueBackgroundColor": "#e3eeea",
    "blueTextColor": "#0b4f4b",
}
DARK: Final = {
    "primaryColor": "#13807a",
    "backgroundColor": "#141311",
    "secondaryBackgroundColor": "#211f1b",
    "textColor": "#f1ede4",
    "borderColor": "#3a3731",
    "linkColor": "#5cc9c0",
    "blueBackgroundColor": "#16302d",
    "blueTextColor": "#a5e0da",
}
SHARED: Final = {"baseRadius": "10px", "buttonRadius": "10px", "showWidgetBorder": True}

CSS: Final = """
<style>
.stMainBlockContainer { padding-top: 4.4rem; padding-bottom: 3rem; max-width: 1500px; }
.st-key-head { flex-flow: row wrap; align-items: baseline; gap: .2rem 1.1rem; }
.st-key-head > * { width: auto; }
.st-key-head h1 { padding: 0; font-size: 2rem; letter-spacing: -.02em; }
.st-key-head p { opacity: .78; margin: 0; }
.st-key-head [data-testid="stMarkdownContainer"] { margin: 0; }
/* The primary colour carries white text; as text on a dark page it has too little contrast. */
.stMain .stButtonGroup.stButtonGroup button:is([aria-checked="true"], :hover, :focus),
.stMain [data-testid="stBaseButton-secondary"]:is(:hover, :focus),
.stMain [data-testid="stBaseButton-tertiary"]:is(:hover, :focus),
.stMain [data-testid="stSliderThumbValue"] { color: inherit; }
/* Under pointer or focus Streamlit makes it nearly black: a shade of the accent of both themes. */
.stMain [data-testid="stBaseButton-primary"]:is(:hover, :focus, :active):not(:disabled) {
  background: #0d625d; border-color: transparent; color: #fff;
}
/* Streamlit's own grey for captions falls short of 4.5:1 on this ground. */
.stMain [data-testid="stCaptionContainer"] { color: inherit; opacity: .78; }
.stMain :focus-visible, .stAppHeader :focus-visible, .stSidebar :focus-visible {
  outline: 2px solid currentColor; outline-offset: 2px;
}
/* A switch that is off is nearly the page's ground, and under the pointer wholly so. */
.stMain .stCheckbox label:has(input[role="switch"]:not(:checked)) > span + div {
  background: color-mix(in srgb, currentColor 52%, transparent);
}
/* How much may be typed yet lies on what is typed: below it there is room. */
.stMain [data-testid="InputInstructions"] { bottom: -1.1rem; }
/* Streamlit keeps the sentence on a file too large for screen readers alone. */
.stFileChip[aria-invalid="true"] { flex-wrap: wrap; height: auto; }
.stFileChip[aria-invalid="true"] [role="alert"] {
  position: static; clip: auto; clip-path: none; width: 100%; height: auto; margin: 0;
  white-space: normal; overflow: visible; font-size: .85rem;
}
.st-key-manners, .st-key-pages { display: none; }
div:has(> .st-key-pages) { display: contents; } /* what is not seen needs no gap */
/* Ten digits need the room of the buttons that count one up or down; the dice need no words. */
.st-key-seed [data-testid^="stNumberInputStep"] { display: none; }
.st-key-dice button [data-testid="stMarkdownContainer"] {
  position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden;
}
.quality { border-collapse: collapse; width: 100%; max-width: 46rem; font-size: .9rem; }
.quality caption { text-align: left; font-weight: 600; padding-bottom: .4rem; }
.quality thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; }
.quality th { font-weight: 400; text-align: left; }
.quality th, .quality td { padding: .22rem .8rem .22rem 0; border: 0; vertical-align: middle; }
.quality td:nth-child(2) { font-weight: 600; text-align: right; white-space: nowrap; }
.quality td:nth-child(3) { width: 34%; }
.quality td:nth-child(4) { opacity: .78; white-space: nowrap; }
.quality-more summary { cursor: pointer; padding: .35rem 0; font-size: .9rem; }
.quality th { width: 17rem; }
.quality.rank th { width: auto; }
.quality.rank thead { position: static; clip-path: none; }
.quality.rank td { text-align: right; width: auto; font-weight: 400; }
.quality .out td:last-child { font-weight: 600; }
.quality .band { position: relative; height: 6px; border-radius: 3px;
  background: color-mix(in srgb, currentColor 12%, transparent); }
.quality .band i { position: absolute; inset-block: 0; border-radius: 3px; background: #14857d; }
.quality .band b { position: absolute; top: -4px; width: 3px; height: 14px; margin-left: -1.5px;
  border-radius: 1px; background: currentColor; }
/* The roll marks the dialog that tells of a server that is gone. */
.stDialog[data-gone] h2 + div > * { display: none; }
.stDialog[data-gone] h2 + div::after { content: SERVER_GONE; }
/* Streamlit folds the links to the pages away in a drawer that covers the page. */
@media (max-width: 768px) {
  .stSidebar, [data-testid="stExpandSidebarButton"] { display: none; }
  .st-key-pages {
    display: flex; position: fixed; top: .55rem; left: .55rem; width: auto; z-index: 999991;
    flex-wrap: nowrap; gap: .1rem;
  }
  .st-key-pages > * { width: auto; flex: none; }
  .st-key-pages a { min-height: 2.5rem; }
  .st-key-pages a > :first-child:not(:last-child) { display: none; }
}
@media (max-width: 640px) {
  .stMainBlockContainer { padding: 4rem .9rem 2rem; }
  .quality td:nth-child(3) { display: none; }
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
