"""Every English sentence of the page *Train*."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from musicgen.studio.estimates import LIMIT_S

if TYPE_CHECKING:
    from musicgen.studio.estimates import Trying

TRAIN: Final = "Train"
LEDE: Final = (
    "A symbolic model of your own music: from MIDI files to something that plays like them"
)
ELSEWHERE: Final = (
    "Training is offered to the computer that the studio runs on: it reads folders there and keeps "
    "it busy for hours. Start the studio without --host and --behind, or use `musicgen train`."
)

MUSIC: Final = "Your music"
FILES: Final = "Files"
FOLDER: Final = "A folder"
UPLOAD: Final = "MIDI files, or zips of them"
UPLOAD_HELP: Final = (
    "Twenty pieces are a beginning; hours of music make a model worth hearing. A whole folder can "
    "be dropped here, or zipped before; what lies on this computer can be named under *A folder*."
)
CLEAR: Final = "Clear"
CLEAR_HELP: Final = "Take these files off the page"
PATH: Final = "Folder on this computer"
PATH_HELP: Final = "It is read at any depth, and never changed."
LOOK: Final = "Look it over"
TABLE: Final = {
    "table": "What becomes of each file",
    "file": "File",
    "what": "What becomes of it",
    "notes": "Notes",
    "more": "{n} files: scroll to see them all",
}
NOTHING_FOUND: Final = "The folder was not read to its end."
LOOKING: Final = "Looking at the music …"

TRY: Final = "How long, how much memory?"
TRY_HELP: Final = (
    "Tries a few steps on this computer, for less than a minute; nothing is trained yet."
)
TRY_BUSY: Final = "A run is at work: what is tried beside it would tell nothing."
TRY_END: Final = "End it here"
COLUMN_PARAMETERS: Final = "Parameters"
COLUMN_STEP: Final = "A step"
COLUMN_STEPS: Final = "Steps"
COLUMN_READ: Final = "Reads the music"
COLUMN_MEMORY: Final = "Memory"
COLUMN_VERDICT: Final = "On this computer"

SIZE: Final = "Size of the model"
SIZES: Final = {"tiny": "Tiny", "small": "Small", "medium": "Medium"}
BEGIN: Final = "Begin with"
NOTHING: Final = "Nothing"
A_MODEL: Final = "The piano model"
BEGIN_HELP: Final = (
    "From nothing it learns your music alone. From the piano model it begins with what that knows, "
    "which helps where there is little music; the size is that model's, and so is its licence."
)
TIME: Final = "Time"
TIME_HELP: Final = (
    "The run is planned for this long, and best at its end. It can be stopped before, and gone on "
    "with. Longer is better: the piano model took three hours on one core."
)
UNTIL: Final = "Until it stops improving"
UNTIL_HELP: Final = (
    "Twenty times in all the run looks at music that it does not learn from. After five looks "
    "without a better one it ends, and keeps the best model; at the latest it ends at its time."
)
MINUTES: Final = (1, 2, 5, 10, 20, 30, 60, 120, 240, 480)
FEW_MINUTES: Final = 10
"""A new model that is trained for less is a first try."""
FIRST_TRY: Final = (
    "So few minutes suffice for a first try only. For music worth hearing take half an hour or "
    "more, or begin with the piano model."
)
GO: Final = "Train"
GO_FIRST: Final = "Add some music first."
STOP: Final = "Stop and keep"
STOPPING: Final = "Stopping …"
GO_ON: Final = "Go on"
MORE_HELP: Final = (
    "A new run begins with this one's model and goes on with the same music. This one stays as it "
    "is."
)
NO_MODEL: Final = "That run has no model to go on with."
LOOK_ANEW: Final = "Look at the page anew."
USE: Final = "Use in Create"
IN_USE: Final = "Used in Create"
REMOVE: Final = "Remove"
REMOVE_SURE: Final = "This removes the run with all that it learned. It cannot be undone."
REMOVE_YES: Final = "Remove it"
RUNS: Final = "Runs"
EMPTY: Final = (
    "Add MIDI files on the left. You will see here which of them can be used, then how the model "
    "learns: music surprises it less and less, and pieces that it makes on the way can be heard. "
    "Training goes on when this page or the studio is closed."
)

# What the board says; it gets these with its data.
BOARD: Final = {
    "states": {
        "starting": "Beginning …",
        "reading": "Reading the music … {files_done} of {files} files",
        "measuring": "Finding out how long a step takes: {told_s} s …",
        "training": "Training",
        "stopped": "Stopped; what it learned is kept",
        "empty": "Stopped before its first step: it has learned nothing yet",
        "finished": "Finished",
        "failed": "It could not be trained",
        "lost": "Its process is gone; what was saved is kept",
    },
    "progress": "Steps done",
    "step": "step",
    "bits": "best bits a note, held out",
    "bitsBlind": "a blind guess: {n}",
    "bitsFirst": "this run's first look: {n}",
    "bitsPiano": "the piano model on its own music: {n}",
    "bitsUntouched": "the piano model untouched: {n}",
    "bitsBefore": "the model it began with: {n}",
    "left": "left",
    "speed": "events a second",
    "parameters": "parameters",
    "seconds": "{n} s",
    "minutes": "{n} min",
    "hours": "{n} h",
    "train": "music it learns from",
    "held": "music held out",
    "axes": "surprise in bits a note, over steps: lower is better",
    "curve": "Surprise over {steps} steps, now at step {step}; best held out: {bits} bits a note",
    "samples": "Made on the way",
    "gone": "That run is gone: it was removed.",
    "lost": "The studio does not answer. Is it still running in the terminal?",
}


def minutes(number: int) -> str:
    """Say a time that a run may take."""
    return f"{number} min" if number < 60 else f"{number // 60} h"


def at_most(number: int) -> str:
    """Say how long a run may take that ends when it does not get better."""
    return f"{minutes(number)} at most"


def more(number: int) -> str:
    """Offer to go on for a time."""
    return f"Train on for {minutes(number)}"


def child_title(parent: str, number: int) -> str:
    """Name a run that goes on with the model of another one.

    Args:
        parent: What that is called; foreign text, to be escaped on the page.
        number: Minutes that it is planned for.
    """
    return f"{parent} + {minutes(number)}"


def trying(step: Trying) -> str:
    """Say how a trial stands."""
    if not step.is_reading:
        found = f" {len(step.found)} tried." if step.found else ""
        return f"Trying a few steps: {step.seconds:.0f} s of at most {LIMIT_S:.0f}.{found}"
    told = f": {step.files_done:,} of {files(step.files)}" if step.files else ""
    return f"Reading the music{told}, {step.seconds:.0f} s …"


def tried_in_part(step: Trying, size: str | None) -> str:
    """Say why a trial did not come to its end, and what that means.

    Args:
        step: How it stands.
        size: What the size is called that is chosen, where the trial has not reached it.
    """
    if step.is_reading:
        return "It was ended while the music was read: nothing was tried yet."
    if size is None:
        if step.is_late:
            rest = "A size that is missing here is slower than the others."
            return f"The trial was ended after {step.seconds:.0f} s. {rest}"
        return "The trial was ended before all was tried."
    if not step.is_late:
        return f"{size} was not reached: the trial was ended before."
    told = f"{size} was not reached in {step.seconds:.0f} s"
    if step.found:
        return f"{told}: it is slower than what is listed. Take a smaller size, or much more time."
    return f"{told}: a few steps take longer than that on this computer now."


def sample_title(step: str) -> str:
    """Name a piece that was made on the way."""
    return f"Step {step}"


def measured(value: float | None, form: str) -> str:
    """Say a number; a dash where it could not be measured."""
    return "–" if value is None else form.format(value)


def more_files(number: int) -> str:
    """Say how many files a table does not show."""
    return f"and {files(number)} more; `musicgen corpus` has a line for each"


def files(number: int) -> str:
    """Say a number of files."""
    return "1 file" if number == 1 else f"{number:,} files"


def files_given(number: int) -> str:
    """Say a number of files of which it is not known how many are used."""
    return f"{files(number)} given"


def laid(title: str, n_bytes: int) -> str:
    """Say what was taken in.

    Args:
        title: What it is called, escaped.
        n_bytes: How much it is.
    """
    return f"**{title}** · {size(n_bytes)}"


def size(n_bytes: int) -> str:
    """Say how large files are, in the unit of the uploader's own figures."""
    return f"{n_bytes / 2**20:.1f} MB" if n_bytes >= 2**20 else f"{max(1, n_bytes >> 10)} kB"


def run_label(title: str, begun_s: float) -> str:
    """Tell a run, or the model that it made, from others of the same title.

    Args:
        title: What it is called; foreign text.
        begun_s: When it was begun, in seconds since 1970.
    """
    return f"{title} · {time.strftime('%d %b %H:%M:%S', time.localtime(begun_s))}"


def run_title(music: str, begin: str, time: str) -> str:
    """Name a run.

    Args:
        music: What it is trained on; foreign text, to be escaped on the page.
        begin: The size of its model, or what it begins with.
        time: How long it is planned for.
    """
    return f"{music} · {begin} · {time}"
