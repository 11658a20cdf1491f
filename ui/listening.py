"""What can be heard of a piece while it is being made: passages of sound, on demand.

Nothing is kept between two of them. Whoever does not listen costs nothing, and a page that is
closed or drawn anew leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from musicgen.audio import BLOCK, SAMPLE_RATE, render_passage
from musicgen.errors import EmptyScoreError

if TYPE_CHECKING:
    from musicgen.audio import Passage
    from musicgen.ui.jobs import Heard, Job

_LONGEST = 12 * SAMPLE_RATE // BLOCK * BLOCK
_SHORTEST = SAMPLE_RATE // 8 // BLOCK * BLOCK  # less is not worth an answer, but at the end
_HAIR_S = 0.005  # so much earlier a note may stand on the ticks of a file


def is_passage(begin: int, length: int) -> bool:
    """Say whether the numbers, in samples, name a passage that may be asked for."""
    return begin >= 0 and 0 < length <= _LONGEST and not begin % BLOCK and not length % BLOCK


def can_be_heard(job: Job, begin: int, length: int) -> bool:
    """Say whether there is enough of a passage to play it."""
    heard = job.heard()
    return heard is not None and (heard.is_whole or _sure(heard, begin, length) > 0)


def heard_passage(
    job: Job, begin: int, length: int, play: Callable[..., Passage] = render_passage
) -> Passage | None:
    """Return the sound from a sample on, as far as it is sure; None where there is none.

    Args:
        job: What is being made, or was.
        begin: The first sample.
        length: The most samples that are wanted.
        play: Plays a passage, as `render_passage` does.

    Raises:
        AudioError: The synthesizers failed.
    """
    heard = job.heard()
    if heard is None:
        return None
    if not heard.is_whole:
        length = _sure(heard, begin, length)
    if length <= 0:
        return None
    try:
        return play(heard.midi(), begin=begin, length=length, is_whole=heard.is_whole)
    except EmptyScoreError:
        return None  # rests alone are sure yet: whoever listens waits for the first note
    except ValueError:  # behind the end
        return None


def _sure(heard: Heard, begin: int, length: int) -> int:
    """Return how many samples from `begin` on will not change; 0 where they are too few."""
    blocks = int((heard.until_s - _HAIR_S) * SAMPLE_RATE) // BLOCK
    sure = min(blocks * BLOCK - begin, length)
    return sure if sure >= min(_SHORTEST, length) else 0
