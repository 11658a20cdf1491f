"""The doctor's report as one HTML page that needs nothing else: no network, no script."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterator

from musicgen.corpus.diagnosis import KEPT, Diagnosis, FileLine
from musicgen.corpus.pictures import pictures

MOST_LINES = 2000
"""Lines of one reason on the page: a browser shows so many without trouble; JSON has them all."""
_OPEN_UP_TO = 40  # lines of a reason that are shown without a click

_STYLE = """
:root { color-scheme: light dark; --ink: #202128; --soft: #5c5f6c; --paper: #fff; --line: #e4e5eb;
  --kept: #00785c; --out: #a3214a; }
@media (prefers-color-scheme: dark) { :root { --ink: #ecedf2; --soft: #a6a9b6; --paper: #15161b;
  --line: #2f313a; --kept: #46d0a8; --out: #ff6e8c; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 1360px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.pictures { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fit, minmax(min(390px, 100%), 1fr)); }
.pictures img { width: 100%; height: auto; border: 1px solid var(--line); border-radius: 6px; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .6rem 0; }
summary { cursor: pointer; padding: .5rem .8rem; } summary b { margin-right: .6rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; padding: .3rem .8rem; border-top: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
.number { text-align: right; white-space: nowrap; } code { white-space: nowrap; }
td:first-child { min-width: 16rem; } .kept b { color: var(--kept); } .out b { color: var(--out); }
p.soft { color: var(--soft); }
"""


def diagnosis_page(diagnosis: Diagnosis) -> str:
    """Return the page; names of files are text in it, whatever they hold."""
    return "".join(_parts(diagnosis))


def _parts(diagnosis: Diagnosis) -> Iterator[str]:
    title = f"Corpus report: {_text(diagnosis.folder)}"
    yield "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
    # The page asks for nothing and runs nothing, and says so to the browser.
    yield "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; img-src data:; "
    yield "style-src 'unsafe-inline'\">\n"
    yield "<meta name=viewport content='width=device-width, initial-scale=1'>\n"
    yield f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    for sentence in diagnosis.summary():
        yield f"<p>{_text(sentence)}</p>\n"
    if diagnosis.by_code()[KEPT]:
        yield "<h2>What the kept files hold</h2>\n<div class=pictures>\n"
        light, dark = (pictures(diagnosis.figures, theme) for theme in ("light", "dark"))
        for (told, png), (_, dark_png) in zip(light, dark, strict=True):
            yield "<picture><source media='(prefers-color-scheme: dark)' "
            yield f"srcset='{_inline(dark_png)}'>"
            yield f"<img src='{_inline(png)}' alt='{_text(told)}' width=640 height=300></picture>\n"
        yield "</div>\n"
    yield "<h2>Every file</h2>\n"
    by_code: dict[str, list[FileLine]] = {code: [] for code in diagnosis.by_code()}
    for line in diagnosis.files:
        by_code[line.code].append(line)
    # What was left out is what one looks for.
    for code in sorted(by_code, key=lambda code: code == KEPT):
        if by_code[code]:
            yield from _section(code, by_code[code])
    yield "</body>\n</html>\n"


def _section(code: str, lines: list[FileLine]) -> Iterator[str]:
    kind = "kept" if code == KEPT else "out"
    is_open = " open" if len(lines) <= _OPEN_UP_TO else ""
    yield f"<details class={kind}{is_open}><summary><b>{_text(code)}</b>{len(lines):,}</summary>\n"
    yield "<div class=scroll><table>\n<tr><th>file<th>what became of it<th class=number>notes"
    yield "<th class=number>length<th>group</tr>\n"
    for line in lines[:MOST_LINES]:
        yield _row(line)
    yield "</table></div>\n"
    if len(lines) > MOST_LINES:
        more = len(lines) - MOST_LINES
        yield f"<p class=soft>{more:,} more are in corpus.json, beside this page.</p>\n"
    yield "</details>\n"


def _row(line: FileLine) -> str:
    notes = f"{line.notes:,}" if line.notes else ""
    length = f"{line.seconds:,.0f} s" if line.notes else ""
    return (
        f"<tr><td><bdi>{_text(line.path)}</bdi><td>{_text(line.message)}"
        f"<td class=number>{notes}<td class=number>{length}"
        f"<td><code>{_text(line.group)}</code></tr>\n"
    )


def _text(text: str) -> str:
    r"""Return a text for HTML: markup escaped, control and direction characters spelled out."""
    shown = "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in text
    )
    return html.escape(shown)


def _inline(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")
