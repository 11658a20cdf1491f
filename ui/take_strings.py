"""Every English sentence about takes: the drawer, and two of them side by side."""

from __future__ import annotations

from typing import Final

COUNT: Final = "Takes at a press"
COUNT_HELP: Final = (
    "So many pieces are made one after the other. With a seed: that seed, the next one, and so on."
)
ZIP: Final = "All takes as one zip"
ZIP_NAME: Final = "musicgen-takes.zip"
OTHER_MODEL: Final = (
    "The model that made this take is not the one that is here now, so its attention cannot be "
    "shown."
)
OTHER_MODEL_HELP: Final = "Notes, sound and file are whole, and music can go on from it."
EVENTS_LOST: Final = "What the model saw of this take is damaged on the disk."
NO_PART: Final = "Nothing of the take is left to go on from there."
NO_PART_HELP: Final = "Move the playhead behind its first note."

# What the drawer says; it gets these with its data.
DRAWER: Final = {
    "takes": "Takes",
    "name": "Name of this take",
    "nameHelp": "Rename this take: Enter or leaving the field keeps the name, Esc the old one",
    "star": "Star",
    "starHelp": "A starred take never makes room for newer ones",
    "starred": "Starred",
    "all": "Show all",
    "strip": "Show one row",
    "on": "Go on from it",
    "onHelp": "New music behind the end of this take, as long as the settings say",
    "playhead": "here",
    "onHere": "Go on from {at}",
    "onHereHelp": "New music from the playhead on, as long as the settings say",
    "anew": "Make the rest anew from {at}",
    "anewHelp": "What is before the playhead stays; the rest is made again, as long as it was",
    "versus": "Compare A/B",
    "versusHelp": "Compare {one} with {other}",
    "remove": "Remove",
    "removed": "{title} is removed.",
    "undo": "Undo",
    "undoHelp": "Have {title} back",
    "back": "{title} is back.",
    "arrived": "{title} is ready.",
    "making": "Being made",
    "waiting": "Waiting: place {place}",
    "made_of": "{made} of {wanted} s",
    "show": "Show {title}",
    "yours": "Your file",
    "seed": "seed {seed}",
    "from": "from {title}",
    "fromAt": "from {title} at {at}",
    "votes": "{won} of {all} votes",
    "votesHelp": "Blind votes that this take won",
    "today": "today",
    "keys": "Arrow keys go from take to take, S gives a star, Delete removes.",
}

# What the roll says of going on from a point in a take; it gets these with its data.
HERE: Final = {
    "onHere": DRAWER["onHere"],
    "onHereHelp": "New music from this point on, as long as the settings say",
    "anewHere": "Make the rest anew",
    "anewHelp": "What is before this point stays; the rest is made again, as long as it was",
}

# What the comparison says.
VERSUS: Final = {
    "heading": "Two takes, one playhead",
    "play": "Play",
    "pause": "Pause",
    "wait": "Making the sound …",
    "start": "To the start",
    "listen": "Listen to",
    "switchHelp": "X goes from one to the other while it plays",
    "hidden": "hidden until you have voted",
    "better": "Which is better to hear?",
    "isBetter": "{letter} is better",
    "same": "No difference",
    "listenFirst": "Listen to both first: names, notes and order are hidden until you vote.",
    "sameUntil": "Up to {at} they are the same, so they are played from shortly before. Listen to "
    "both from there: names, notes and order are hidden until you vote.",
    "preferred": "You preferred {letter}: {title}. The vote is kept with both takes.",
    "equal": "No difference, you said. The vote is kept with both takes.",
    "reveal": "Show without a vote",
    "revealed": "Shown without a vote. To vote by ear alone, hide both again: which is A may "
    "change.",
    "again": "Hide both again",
    "close": "Close",
    "lane": "{letter}, {title}",
    "mute": "One of the two has no sound: {title}.",
    "keys": [["Space", "play"], ["X", "A/B"], ["← →", "seek"], ["Esc", "close"]],
}


def damaged(count: int) -> str:
    """Say that takes on the disk cannot be read."""
    what = "One take on the disk is" if count == 1 else f"{count} takes on the disk are"
    return f"{what} damaged and left out."


def kept(*, count: int, megabytes: float, most: int, most_megabytes: int) -> str:
    """Say what is kept of a visitor who has a cookie."""
    size = f"{megabytes:.1f} of" if megabytes >= 0.1 else f"{megabytes * 1024:.0f} KB of"
    return (
        f"{count} of at most {most} takes, {size} {most_megabytes} MB, kept on the "
        "studio's computer for this browser. Beyond that the oldest without a star make room."
    )


def kept_here(most: int) -> str:
    """Say what is kept of a visitor without a cookie."""
    return (
        f"This browser takes no cookie: the last {most} takes are there until the page is closed."
    )
