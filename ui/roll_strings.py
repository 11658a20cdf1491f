"""What the roll and its attention say beyond `strings.ROLL`; the component gets both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

ROLL: Final = {
    "hintKeys": "Space plays or pauses, a question mark lists all keys.",
    "tracks": "Tracks",
    "muteHelp": "{track}: click to mute or unmute it; with Shift it alone is heard.",
    "noMute": "{track}. Tracks can be muted when the piece is made.",
    "muting": "Making the sound without what is muted …",
    "muted": "Muted: {tracks}",
    "more": "{n} more",
    "fewer": "Fewer",
    "unmute": "All are heard",
    "bars": "Bars",
    "barsHelp": "Count bars and beats, or seconds",
    "barsFree": "Count bars and beats, or seconds. The notes do not keep to this file's bars.",
    "barAt": "bar {bar}.{beat}",
    "help": "Keys",
    "helpTitle": "Keys of the piano roll",
    "close": "Close",
    "keysAll": [
        ["Space", "play or pause"],
        ["← →", "two seconds back or on; with Shift ten"],
        ["Home End", "to the start or the end"],
        ["N", "play from just before the new music"],
        ["Shift ↑ ↓", "louder or softer"],
        ["G", "go on from the chosen note, or from the playhead"],
        ["R", "make the rest anew from there"],
        [", .", "choose the note before or after"],
        ["↑ ↓", "choose the next note above or below"],
        ["Esc", "let go of the note"],
        ["+ −", "zoom in or out"],
        ["0", "show the whole piece"],
        ["PgUp PgDn", "move the view back or on"],
        ["F", "keep the playhead in view, or not"],
        ["B", "count bars or seconds"],
        ["1 … 9", "mute a track; with Shift it alone is heard"],
        ["U", "unmute all tracks"],
        ["W", "of the chosen note: what it looked at, or who looked at it"],
        ["M", "of the chosen note: when it was written, or right after it"],
        ["[ ]", "of the chosen note: the layer before or after"],
        ["?", "this list"],
    ],
    "keysMouse": "With a mouse: drag to move, Ctrl and the wheel to zoom, Shift and the wheel to "
    "move; click a note, or an empty place to move the playhead.",
    "way": "Ask",
    "from": "what it looked at",
    "to": "who looked at it",
    "wrote": "when notes were written",
    "after": "right after notes",
    "wroteHelp": "A note is written from the attention of the event before it",
    "afterHelp": "The note's own attention: from it the next event is chosen",
    "allLayers": "All",
    "how": "Show",
    "each": "each head",
    "mean": "their mean",
    "max": "their strongest",
    "head": "head",
    "allHeads": "All heads",
    "solo": "Solo",
    "soloHelp": "One head alone: first the one that looks most, then the one that is pressed",
    "count": "Strongest",
    "countHelp": "How many looks a head",
    "looksTo": "Head {head} looks at it most from {note}, {on}: {share}",
    "looksToNone": "Head {head}: no later note looks at it",
    "looksOne": "{heads} look most at {note}, {back}: {share}",
    "looksOneNone": "{heads} look at no note: {first} at the start",
    "looksOneTo": "{heads} look at it most from {note}, {on}: {share}",
    "looksOneToNone": "{heads}: no later note looks at it",
    "on": "{s} s later",
    "gaze": "What the model’s heads look at",
    "reading": "The model reads the piece …",
    "overview": "Every layer and head",
    "overviewAll": "A map of each head: {layers} layers from top to bottom, {heads} heads from "
    "left to right, over {which}. Choose one to see it large, and to read what it is in the habit "
    "of looking at. A note on the roll tells what the heads looked at from there.",
    "overviewFolded": "{layers} layers of {heads} heads have read {which}. “Maps and habits” shows "
    "a map of each, and what each is in the habit of looking at. A note on the roll tells what the "
    "heads looked at from there.",
    "moreMaps": "Maps and habits",
    "fewerMaps": "Less",
    "toLab": "The numbers of head {head} step by step, in the attention lab",
    "shade": "In each square",
    "shadeMaps": "a small map",
    "shadeHelp": "In each square: a small map of the head, or how much of its attention falls on",
    "habits": "Habits of the heads of layer {layer}, right after each note",
    "telling": "Layer {layer} is shown first, since its heads differ most from one another. What "
    "they look at most: {kinds}.",
    "notesAll": "all {n} notes that it heard",
    "notesPart": "{n} notes, {from} to {to}, as many as the model sees at once",
    "habitsHelp": "Measured right after each note, which a head can look at itself by then, over "
    "{which}: how much of a head’s attention falls on events of a kind, on average; what is "
    "further above chance stands out more. Chance is what a head would give that looks at "
    "everything before it alike. Kinds overlap: rows need not sum to 100%.",
    "chance": "chance",
    "kinds": {
        "first": "first event of all",
        "itself": "the note itself",
        "previous": "event just before",
        "together": "struck with it",
        "same_key": "same key before",
        "octave": "octaves away",
        "after_same": "after the same key",
        "beat": "one beat back",
        "bar": "one bar back",
    },
    "mapOf": "Layer {layer}, {heads}",
    "mapOfAll": "All layers, {heads}",
    "byEvents": "events",
    "byBars": "averages by bar",
    "bySpans": "averages over {s} s",
    "mapAxes": "Rows look, columns are looked at",
    "mapHelp": "Arrow keys move the crosshair, Enter chooses its note, plus and minus zoom.",
    "mapAt": "{note} looks at {other}: {share}",
    "mapAtBars": "{note} gives {share} of its attention to {other}",
    "barName": "bar {n}",
    "start": "the start",
    "theEnd": "the end of the piece",
    "endMark": "end",
    "rest": "a rest",
    "save": "Save",
    "saveArcs": "Save the arcs",
    "saveMap": "Save the map",
    "saveOverview": "Save the overview",
}


def clock(seconds: float) -> str:
    """Say a time with tenths."""
    minutes, rest = divmod(max(round(seconds, 1), 0.0), 60)
    return f"{minutes:.0f}:{rest:04.1f}"


def legend(name: str) -> str:
    """Call a head, or several as one, in a picture's legend."""
    return name if " " in name else f"head {name}"


def which_heads(layers: Sequence[int], heads: Sequence[int], how: str | None) -> str:
    """Say which heads of which layers are shown, and how.

    Args:
        layers: Counted from 0.
        heads: Counted from 0.
        how: As one, by their "mean" or "max"; None for each by itself.
    """
    layer = f"layer {layers[0] + 1}" if len(layers) == 1 else f"{len(layers)} layers"
    if len(heads) == 1:
        head = f"head {heads[0] + 1}"
    else:
        head = f"heads {', '.join(str(each + 1) for each in heads)}"
    several = len(layers) * len(heads) > 1
    return f"{layer}, {head}" + (f" ({how})" if several and how is not None else "")


def arcs_title(*, piece: str, note: str, seconds: float, way: str, moment: str, heads: str) -> str:
    """Say what a picture of arcs shows."""
    asked = ROLL["from"] if way == "from" else ROLL["to"]
    return f"{piece}: {note} at {clock(seconds)}, {asked} {ROLL[moment]} · {heads}"
