"""What the parts of a piece are called: the prompt, and each continuation by its number.

A file that was gone on from twice has a track of its own for each continuation, all of one name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from musicgen.audio import GM_NAMES
from musicgen.pipeline import PART_NAME
from musicgen.ui import strings
from musicgen.ui.markup import one_line

if TYPE_CHECKING:
    from musicgen.midi import TrackFacts

_MOST = 128  # as many as can be muted


def part_names(
    tracks: Sequence[TrackFacts], *, new_track: int | None, before: str | None = None
) -> list[str]:
    """Return what a roll calls each track; no two are called alike.

    Args:
        tracks: Those of the file.
        new_track: The one that the model added last, which may be still to come; −1 where none is
            new, None where all of them are.
        before: What the take is called that the music began with, where that was no file.
    """
    if new_track is None:
        return [strings.ROLL["made"]] * min(len(tracks), _MOST)
    names = [_name(track) for track in tracks]
    old = [number for number in range(len(tracks)) if number != new_track]
    earlier = [number for number in old if number and tracks[number].name == PART_NAME]
    given = [number for number in old if number not in earlier]
    if len(given) == 1:
        names[given[0]] = before or strings.ROLL["prompt"]
    for count, number in enumerate(earlier, start=1):
        names[number] = strings.ROLL["part"].format(n=count)
    if new_track >= 0:
        last = strings.ROLL["newPart"].format(n=len(earlier) + 1)
        names[new_track : new_track + 1] = [last if earlier else strings.ROLL["made"]]
    return _told_apart(names[:_MOST])


def _name(track: TrackFacts) -> str:
    """Return what a track is called, or else what plays it; foreign text, to be escaped."""
    instrument = strings.DRUMS if track.is_drum else GM_NAMES[track.program % len(GM_NAMES)]
    return one_line(track.name, longest=40) or instrument


def _told_apart(names: list[str]) -> list[str]:
    """Number the names of which there are several."""
    count, seen = Counter(names), Counter[str]()
    found: list[str] = []
    for name in names:
        seen[name] += 1
        found.append(f"{name} {seen[name]}" if count[name] > 1 else name)
    return found
