"""Every English sentence of the app, in one place."""

from __future__ import annotations

from typing import Final

BRAND: Final = "musicgen"
CREATE: Final = "Create"
LEDE: Final = "**musicgen** · symbolic piano music from a model that runs on your own computer"

CLOSING: Final = "Closing the studio …"

ENTER_PASSWORD: Final = "This studio asks for a password: open its page."
PASSWORD: Final = "Password of this studio"
WRONG_PASSWORD: Final = "That is another password."
TOO_MANY_GUESSES: Final = (
    "Too many wrong passwords came from your address. Wait a few seconds, then try again."
)
COME_IN: Final = "Come in"
NOT_ENCRYPTED: Final = (
    "What you send here is not encrypted: do not use a password that opens anything else."
)

START: Final = "Start from"
SCRATCH: Final = "Scratch"
YOUR_MIDI: Final = "Your MIDI"
UPLOAD: Final = "MIDI file"
UPLOAD_HELP: Final = (
    "A .mid, .midi, .kar or .rmi file. Its notes are read as piano; what the model cannot use is "
    "said below, and stays in the file that you get back."
)
UPLOAD_FIRST: Final = "Add a MIDI file first: the music goes on where it ends."
DRUMS: Final = "Drums"
DRUMS_ONLY: Final = (
    "There is nothing in this file but drums, which the model does not hear: music cannot go on "
    "from it. Add another file."
)
DRUMS_ONLY_YET: Final = (
    "There is nothing but drums in what is used of this file, and the model does not hear them: "
    "use more of it."
)
USED: Final = "Used: {title}"
REMOVE: Final = "Remove"
REMOVE_HELP: Final = "Take this file off the page"
USE_FIRST: Final = "Use the first … seconds"
USE_EXACTLY: Final = "Use the first … seconds, exactly"
USE_FIRST_HELP: Final = "The music goes on from there. Notes that sound at the cut stay whole."
MODEL: Final = "Model"
MODEL_HELP: Final = "The shipped one, or one that was trained here."
LENGTH: Final = "Length of the new music"
VARIETY: Final = "Variety"
VARIETY_HELP: Final = (
    "The temperature: low is careful and repeats itself, high is adventurous and errs more often. "
    "1.0 is what the model learned."
)
ADVANCED: Final = "Advanced"
TOP_P: Final = "Top-p"
TOP_P_HELP: Final = (
    "Choose among the likeliest values that together have this probability, of every attribute of "
    "a note. Left empty: 0.95 of pitches, and all values of time, velocity and length."
)
TOP_P_EMPTY: Final = "Automatic"
TOP_K: Final = "Top-k"
TOP_K_HELP: Final = "Choose among this many of the likeliest values. 0 means all."
MIN_P: Final = "Min-p"
MIN_P_HELP: Final = "Leave out values less likely than this share of the likeliest one."
SEED: Final = "Seed"
SEED_HELP: Final = (
    "The same seed with the same settings makes the same piece. Empty: a new one each time."
)
SEED_EMPTY: Final = "new each time"
DICE: Final = "New seed"
DICE_HELP: Final = "Roll the dice for a new seed"
GENERATE: Final = "Generate"
CONTINUE: Final = "Continue"
STOP: Final = "Stop and keep"
STOPPING: Final = "Stopping …"

DOWNLOAD_MIDI: Final = "MIDI"
DOWNLOAD_WAV: Final = "WAV"
DOWNLOAD_MP3: Final = "MP3"
DOWNLOADS: Final = "Download"
NO_SOUND: Final = (
    "There is no sound for this piece: the synthesizer failed. "
    "The notes and the MIDI file are whole."
)
BEING_MADE: Final = (
    "A piece is already being made for you, in another tab or window. It is this one; "
    "Play lets it be heard here too."
)
NOTHING_MADE: Final = "Stopped before the first note: nothing was made."
UNEXPECTED: Final = "Something in musicgen broke; what was on screen is still here."
UNEXPECTED_HINT: Final = "Try again. If it stays, report it with the lines from the terminal."

ENDINGS: Final = {
    "end": "The model brought the piece to its end by itself.",
    "stopped": "Stopped by you; what was made is kept.",
    "event_limit": "The model no longer moved on in time, and was stopped.",
}

ABOUT_ATTENTION: Final = (
    "Attention shows which notes a head gathered from at that moment. It is not an explanation: it "
    "does not say why the note came."
)

# What a knob for the sound says; what plays gets these with its data.
VOLUME: Final = {
    "volume": "Volume",
    "soundOff": "Mute",
    "soundOn": "Unmute",
    "isOff": "muted",
}

# What the roll says; it gets these with its data.
ROLL: Final = {
    "roll": "Piano roll",
    "play": "Play",
    "pause": "Pause",
    "wait": "Making the sound …",
    "toStart": "To the start",
    "seam": "Play from just before the new music",
    "follow": "Follow",
    "followHelp": "Keep the playhead in view",
    "out": "Zoom out",
    "in": "Zoom in",
    "fit": "Fit",
    "fitHelp": "Show the whole piece",
    "prompt": "Your music",
    "made": "New music",
    "part": "Continuation {n}",
    "newPart": "Continuation {n} (new)",
    "promptTake": "Prompt",
    "example": "Made by the model",
    "pedal": "pedal",
    "here": "new music →",
    "examples": "Listen first",
    "hint": "Choose a note for its attention, or click an empty place to move the playhead.",
    "hintLive": "Notes appear as they are made.",
    "composing": "Composing",
    "queued": "Waiting: place {place} in the queue.",
    "queued_for": "Waiting: place {place} in the queue, about {wait} s.",
    "ending": "Trying several endings",
    "finishing": "Finishing",
    "loading": "Waking the model … {since} s",
    "preparing": "Getting the model ready … {since} s",
    "compiling": "A seed’s music needs the fast engine. Where that never ran before it is compiled "
    "now, which takes ten seconds to half a minute, once.",
    "waiting": "Waiting for the model: the music goes on when there is more.",
    "waits": "Waiting …",
    "made_of": "{made} of {wanted} s · {notes} notes",
    "mute": "This piece has no sound. The notes and the MIDI file are whole.",
    "keys": [
        ["Space", "play"],
        ["← →", "seek"],
        [", .", "notes"],
        ["Esc", "clear"],
    ],
    "velocity": "velocity",
    "seeks": "The studio was started anew, or needed the room of this piece: asking for it again …",
    "gone": "That piece is gone: the studio was started anew, or needed its room.",
    "asks": "Asking the model …",
    "lost": "The studio does not answer. Is it still running in the terminal?",
    "unseen": "The model did not see this note: "
    "it is a drum, or lies before what fits into its memory.",
    "moment": "Moment",
    "heads": "Heads",
    "layer": "Layer",
    "all": "All",
    "none": "None",
    "back": "{s} s back",
    "together": "struck with it",
    "itself": "itself",
    "first": "the start",
    "looks": "Head {head} looks most at {note}, {back}: {share}",
    "looksNone": "Head {head} looks at no note: {first} at the start",
    "maps": "Every layer and head",
    "mapsHelp": (
        "One map a head, layers from top to bottom. Across: the notes looked at; down: the notes "
        "that look. Each row is scaled by its own maximum."
    ),
    "map": "Layer {layer}, head {head}",
    "about": ABOUT_ATTENTION,
}
ALL_DESKS_BUSY: Final = "The studio is full: music is being made for everybody who is here."
ALL_DESKS_BUSY_HELP: Final = "Load the page again in a minute."
NO_ROOM: Final = "The studio holds as many files as it can. Try again later, or send a smaller one."


def note_count(notes: int) -> str:
    """Say a number of notes."""
    return f"{notes:,} note" + ("" if notes == 1 else "s")


def clock(seconds: float) -> str:
    """Say a time as minutes and seconds."""
    minutes, rest = divmod(round(max(seconds, 0.0)), 60)
    return f"{minutes}:{rest:02d}"


def take_title(number: int) -> str:
    """Name a take."""
    return f"Take {number}"


def still_used(name: str) -> str:
    """Say which file is used after another one could not be read.

    Args:
        name: Its name, escaped.
    """
    return f"Still used: **{name}**."


def file_facts(*, notes: int, seconds: float) -> str:
    """Say what a file holds."""
    return f"{note_count(notes)} · {clock(seconds)}"


def take_facts(*, notes: int, seconds: float, seed: int, model: str, made_s: float | None) -> str:
    """Say how a take was made.

    Args:
        notes: In all of it.
        seconds: Its length.
        seed: What it was made with.
        model: What its model is called, escaped.
        made_s: In what time it was made; None where that is not known.
    """
    facts = f"{note_count(notes)} · {clock(seconds)} · seed {seed} · model {model}"
    if made_s is None:
        return facts
    return (
        f"{facts} · made in {made_s:.0f} s" if made_s >= 10 else f"{facts} · made in {made_s:.1f} s"
    )


def remarks(sentences: list[str]) -> str:
    """List sentences as Markdown, one a line."""
    return "  \n".join(f":material/info: {sentence}" for sentence in sentences)
