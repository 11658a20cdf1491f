"""All of a visitor's takes as one zip: the MIDI files, and what is known of them."""

from __future__ import annotations

import csv
import io
import json
import time
import zipfile
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from musicgen.studio.take_sheets import TakeSheet

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # a zip knows no time before


def safe_stem(title: str, fallback: str = "take") -> str:
    """Return a harmless file name, without its extension, from foreign text."""
    kept = "".join(c if c.isalnum() and c.isascii() else "-" for c in title.lower())
    return "-".join(part for part in kept.split("-") if part)[:40] or fallback


def bundle(takes: Iterable[tuple[TakeSheet, bytes]]) -> bytes:
    """Return a zip of MIDI files with `takes.json` and `takes.csv`.

    No name in it leads anywhere, and no cell of the table is a formula.

    Args:
        takes: The sheet and the MIDI file of each, in their order.
    """
    stored = io.BytesIO()
    rows: list[dict[str, Any]] = []
    with zipfile.ZipFile(stored, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, (sheet, midi) in enumerate(takes, start=1):
            name = f"{place:03d}-{safe_stem(sheet.title)}.mid"
            archive.writestr(_entry(name, sheet.made_s), midi)
            rows.append({"file": name, **_told(sheet)})
        now_s = time.time()
        listed = json.dumps({"version": 1, "takes": rows}, indent=2, ensure_ascii=False)
        archive.writestr(_entry("takes.json", now_s), listed + "\n")
        archive.writestr(_entry("takes.csv", now_s), _table(rows))
    return stored.getvalue()


def _told(sheet: TakeSheet) -> dict[str, Any]:
    """Return what goes home of a sheet: no path of this computer, no picture."""
    settings = asdict(sheet.settings)
    del settings["model_folder"]
    origin = sheet.origin
    return {
        "id": sheet.id,
        "title": sheet.title,
        "starred": sheet.is_starred,
        "made": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(sheet.made_s)),
        "asked": settings,
        **{name: value for name, value in asdict(sheet.facts).items() if name != "new_from"},
        "goes_on_from": None if origin is None else asdict(origin),
        "votes": [asdict(vote) for vote in sheet.votes],
        "midi_sha256": sheet.midi_sha256,
    }


def _table(rows: list[dict[str, Any]]) -> str:
    flat = [
        {
            **{f"asked_{name}": value for name, value in row["asked"].items()},
            **{name: value for name, value in row.items() if name != "asked"},
            "warnings": " ".join(row["warnings"]),
            "goes_on_from": "" if row["goes_on_from"] is None else row["goes_on_from"]["title"],
            "votes": " ".join(vote["verdict"] for vote in row["votes"]),
        }
        for row in rows
    ]
    names = ["file", "title", *sorted({name for row in flat for name in row} - {"file", "title"})]
    written = io.StringIO()
    table = csv.DictWriter(written, names)
    table.writeheader()
    table.writerows({name: _cell(value) for name, value in row.items()} for row in flat)
    return written.getvalue()


def _cell(value: Any) -> Any:
    """Return a value that no spreadsheet takes for a formula."""
    is_formula = isinstance(value, str) and value.lstrip(" ").startswith(_FORMULA)
    return f"'{value}" if is_formula else value


def _entry(name: str, made_s: float) -> zipfile.ZipInfo:
    try:
        when = time.localtime(made_s)[:6]
    except (OverflowError, ValueError, OSError):
        when = _EARLIEST
    entry = zipfile.ZipInfo(name, max(when, _EARLIEST))
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry
