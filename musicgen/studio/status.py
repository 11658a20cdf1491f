"""How a training run stands, as its process writes it down for whoever looks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

State = Literal[
    "starting", "reading", "measuring", "training", "stopped", "finished", "failed", "lost"
]
"""Lost: its process is gone without a word (killed, a power cut); it goes on like a stopped one."""

_OPTIONS: Final = re.compile(r" \(--[^)]*\)")
_FEW_STEPS: Final = re.compile(
    r"Only [\d,]+ steps? fits? into the time; "
    r"(below [\d,]+ a model learns little\. )Take ([^.]*\.) ?"
)
"""What `few_steps_notice` says of a run to come, without its options."""

ENDED: Final = ("stopped", "finished", "failed", "lost")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingStatus:
    """How a training run stands.

    Attributes:
        version: Of this format.
        state: What is being done.
        files_done: Files read, while it reads.
        files: Files in all.
        step: Steps done.
        steps: Steps in all; 0 before that is known.
        loss: Of the last step, nats an event.
        bits_per_note: Of the last validation, on held-out music.
        events_per_s: Speed lately.
        seconds_left: By that speed.
        parameters: Trainable numbers of the model.
        music: What was read and left out, in a sentence.
        notice: Something to know, in a sentence, or empty.
        error: Why it failed, in a sentence, or empty.
        hint: What to do then.
    """

    version: Literal[1] = 1
    state: State
    files_done: int = 0
    files: int = 0
    step: int = 0
    steps: int = 0
    loss: float | None = None
    bits_per_note: float | None = None
    events_per_s: float = 0.0
    seconds_left: float | None = None
    parameters: int = 0
    music: str = ""
    notice: str = ""
    error: str = ""
    hint: str = ""

    @property
    def standing_notice(self) -> str:
        """The notice as it holds now: of the few steps of a run that is over it tells as done.

        What helps against them is left to whoever would train again; a run without a step has no
        such past, and tells nothing of it.
        """
        if self.state not in ENDED:
            return self.notice
        done = "1 step was" if self.step == 1 else f"{self.step:,} steps were"
        past = rf"Only {done} done; \1Next time take \2 " if self.step else ""
        return _FEW_STEPS.sub(past, self.notice).strip()


def without_options(sentence: str) -> str:
    """Return a sentence without what it says in brackets to who uses the command line."""
    return _OPTIONS.sub("", sentence)
